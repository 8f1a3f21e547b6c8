-- Not MySQL: what is in a trace is this planner's own. Costs are left out here.
DROP DATABASE IF EXISTS golden_optimizer_trace_steps;
CREATE DATABASE golden_optimizer_trace_steps;
USE golden_optimizer_trace_steps;
CREATE TABLE t (a INT PRIMARY KEY, b INT, c INT, KEY (b));
CREATE TABLE u (a INT PRIMARY KEY, b INT, KEY (b));
INSERT INTO t VALUES (1, 1, 1), (2, 2, 2), (3, 3, 3);
INSERT INTO u VALUES (1, 1), (2, 2), (3, 3);
SET optimizer_trace = 'enabled=on,one_line=on';
SELECT t.a FROM t JOIN u ON t.b = u.a WHERE u.b = 2 AND t.c > 0;
SELECT TRACE->>'$.steps[0].join_preparation.steps[0].expanded_query' FROM information_schema.OPTIMIZER_TRACE;
SELECT TRACE->'$.steps[*].rewriting.steps[*].rule' FROM information_schema.OPTIMIZER_TRACE;
SELECT TRACE->'$.steps[*].join_optimization.steps[*].rows_estimation[*].table' FROM information_schema.OPTIMIZER_TRACE;
SELECT TRACE->'$.steps[*].join_optimization.steps[*].rows_estimation[*].considered_access_paths[*].access_type' FROM information_schema.OPTIMIZER_TRACE;
SELECT TRACE->'$.steps[*].join_optimization.steps[*].considered_execution_plans[*].joined' FROM information_schema.OPTIMIZER_TRACE;
SELECT TRACE->'$.steps[*].join_optimization.steps[*].considered_execution_plans[*].chosen' FROM information_schema.OPTIMIZER_TRACE;
SELECT TRACE->'$.steps[*].join_optimization.steps[*].chosen_plan.join_order' FROM information_schema.OPTIMIZER_TRACE;
SELECT TRACE->'$.steps[*].join_optimization.steps[*].chosen_plan.plan.join_algorithm' FROM information_schema.OPTIMIZER_TRACE;
SET optimizer_trace_features = 'greedy_search=off,range_optimizer=off';
SELECT t.a FROM t JOIN u ON t.b = u.a WHERE u.b = 2 AND t.c > 0;
SELECT JSON_LENGTH(TRACE, '$.steps[1].join_optimization.steps'), TRACE->'$.steps[*].join_optimization.steps[*].rows_estimation' FROM information_schema.OPTIMIZER_TRACE;
SET optimizer_trace_features = default;
-- A semi-join, a derived table and a constant condition are rewritten.
SELECT COUNT(*) FROM (SELECT * FROM t WHERE 1 = 1) d WHERE d.a IN (SELECT b FROM u WHERE u.a > 1) AND d.c = d.c + 0;
SELECT TRACE->'$.steps[*].rewriting.steps[*].rule' FROM information_schema.OPTIMIZER_TRACE;
-- A statement of which a plan is kept is planned anew for its trace.
PREPARE p FROM 'SELECT c FROM t WHERE b = ?';
SET @b = 2;
EXECUTE p USING @b;
EXECUTE p USING @b;
SELECT QUERY, TRACE->'$.steps[*].join_optimization.steps[*].chosen_plan.plan.index' FROM information_schema.OPTIMIZER_TRACE;
UPDATE t SET c = 4 WHERE b = 3;
SELECT QUERY, TRACE->'$.steps[*].join_optimization.steps[*].chosen_plan.plan.access_type' FROM information_schema.OPTIMIZER_TRACE;
SET optimizer_trace_max_mem_size = 200;
SELECT t.a FROM t JOIN u ON t.b = u.a WHERE u.b = 2 AND t.c > 0;
SELECT JSON_VALID(TRACE), MISSING_BYTES_BEYOND_MAX_MEM_SIZE > 200 FROM information_schema.OPTIMIZER_TRACE;
DROP DATABASE golden_optimizer_trace_steps;
