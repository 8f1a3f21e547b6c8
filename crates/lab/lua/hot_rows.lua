-- Many clients, few rows: every event is one autocommitted UPDATE of one of --rows rows, chosen uniformly.
--
-- Each row counts its changes, so that the sum over the table tells how many updates took effect: it must equal the
-- number of events, whoever waited for whom.

sysbench.cmdline.options = {
   rows = {"Rows that all clients update", 10},
}

function prepare()
   local connection = sysbench.sql.driver():connect()
   connection:query("DROP TABLE IF EXISTS hot_rows")
   connection:query("CREATE TABLE hot_rows (id INT NOT NULL PRIMARY KEY, changes BIGINT NOT NULL, filler CHAR(100) NOT NULL)")
   for id = 1, sysbench.opt.rows do
      connection:query(string.format("INSERT INTO hot_rows VALUES (%d, 0, '%s')", id, string.rep("x", 100)))
   end
   connection:disconnect()
end

function cleanup()
   local connection = sysbench.sql.driver():connect()
   connection:query("DROP TABLE IF EXISTS hot_rows")
   connection:disconnect()
end

function thread_init()
   connection = sysbench.sql.driver():connect()
   update = connection:prepare("UPDATE hot_rows SET changes = changes + 1 WHERE id = ?")
   id = update:bind_create(sysbench.sql.type.INT)
   update:bind_param(id)
end

function event()
   id:set(sysbench.rand.uniform(1, sysbench.opt.rows))
   update:execute()
end

function thread_done()
   update:close()
   connection:disconnect()
end
