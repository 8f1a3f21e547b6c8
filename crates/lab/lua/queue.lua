-- A queue in a table: every event is a worker that takes the oldest job nobody else holds, does it, and posts a new one.
--
-- Taking is SELECT ... ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED; done is a DELETE in the same transaction. As each
-- event posts one job for the one it took, the table keeps its length: a job taken twice would make it longer.

sysbench.cmdline.options = {
   jobs = {"Jobs that wait in the queue", 1000},
   isolation = {"Isolation level of the workers", "REPEATABLE READ"},
}

local payload = string.rep("j", 100)

local function post(connection)
   connection:query("INSERT INTO queue (payload) VALUES ('" .. payload .. "')")
end

function prepare()
   local connection = sysbench.sql.driver():connect()
   connection:query("DROP TABLE IF EXISTS queue")
   connection:query("CREATE TABLE queue (id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY, payload CHAR(100) NOT NULL)")
   connection:query("BEGIN")
   for _ = 1, sysbench.opt.jobs do
      post(connection)
   end
   connection:query("COMMIT")
   connection:disconnect()
end

function cleanup()
   local connection = sysbench.sql.driver():connect()
   connection:query("DROP TABLE IF EXISTS queue")
   connection:disconnect()
end

function thread_init()
   connection = sysbench.sql.driver():connect()
   connection:query("SET SESSION TRANSACTION ISOLATION LEVEL " .. sysbench.opt.isolation)
   in_transaction = false
end

function event()
   -- sysbench begins an event again after an error that it ignores, such as a deadlock
   if in_transaction then
      connection:query("ROLLBACK")
   end
   connection:query("BEGIN")
   in_transaction = true
   local found = connection:query("SELECT id FROM queue ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED")
   if found.nrows > 0 then
      local job = found:fetch_row()[1]
      connection:query("DELETE FROM queue WHERE id = " .. job)
      post(connection)
   end
   connection:query("COMMIT")
   in_transaction = false
end

function thread_done()
   connection:disconnect()
end
