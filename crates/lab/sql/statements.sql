-- Statements that have a fast way. `{numbers N STEP}` is a list of N whole numbers from 1 on, `{decimals N STEP}` one of
-- hundredths, STEP apart; `{rows N}` is N at scale 1. Each statement begins with a line `-- NAME: what it asks`.

-- max_index: the end of an index
SELECT MAX(k) FROM big;

-- min_max_index: both ends
SELECT MIN(a), MAX(a) FROM big;

-- min_index_range: the end of a range of an index
SELECT MIN(k) FROM big WHERE k > 345;

-- group_max: the greatest of each group, by an index
SELECT g, MAX(id) FROM big GROUP BY g;

-- correlated_max: the latest row of each group
SELECT COUNT(*), SUM(x) FROM few AS o WHERE id = (SELECT MAX(id) FROM few AS i WHERE i.k = o.k);

-- or_indexes: OR over two indexes
SELECT COUNT(*), SUM(x) FROM big WHERE k = 77 OR b = 99;

-- and_indexes: AND over two indexes
SELECT COUNT(*), SUM(x) FROM big WHERE a = 500 AND b = 99;

-- derived_condition: a condition from outside a derived table
SELECT k, c, s FROM (SELECT k, COUNT(*) AS c, SUM(x) AS s FROM big GROUP BY k) AS t WHERE k = 333;

-- derived_range: the same with a range
SELECT SUM(c), SUM(s) FROM (SELECT k, COUNT(*) AS c, SUM(x) AS s FROM big GROUP BY k) AS t WHERE k BETWEEN 100 AND 120;

-- union_limit: a few rows of a union
SELECT COUNT(*) FROM (SELECT id, x FROM half UNION ALL SELECT id, x FROM half LIMIT 5) AS t;

-- union_derived_limit: a few rows of a derived union
SELECT * FROM (SELECT id, x FROM few WHERE id <= 5 UNION ALL SELECT id, x FROM half) AS t LIMIT 5;

-- group_index_limit: the first groups in the order of an index
SELECT k, COUNT(*) FROM big GROUP BY k ORDER BY k LIMIT 5;

-- group_few_limit: the same with large groups
SELECT g, COUNT(*) FROM big GROUP BY g ORDER BY g LIMIT 5;

-- group_primary: groups by the beginning of a primary key
SELECT COUNT(*), SUM(c) FROM (SELECT l_purchase, COUNT(*) AS c FROM line GROUP BY l_purchase) AS t;

-- distinct_index: the different values of an index
SELECT DISTINCT g FROM big;

-- count_distinct_index: their number
SELECT COUNT(DISTINCT a) FROM big;

-- count_distinct_two: of two columns
SELECT COUNT(DISTINCT g, word) FROM big;

-- distinct_two: the different pairs
SELECT COUNT(*) FROM (SELECT DISTINCT a, word FROM big) AS t;

-- range_all: all rows by a secondary index's range
SELECT SUM(x) FROM big WHERE k >= 0;

-- range_tenth: a tenth of the rows
SELECT SUM(x) FROM big WHERE d < '1992-09-07';

-- range_narrow: some rows by a secondary index
SELECT SUM(x) FROM big WHERE k BETWEEN 1000 AND 1100;

-- rare_value: a rare value of a skewed index
SELECT SUM(x) FROM big WHERE a = 998;

-- frequent_value: the most frequent one
SELECT SUM(x) FROM big WHERE a = 0;

-- in_decimals: a list of 1,000 decimals without an index
SELECT COUNT(*) FROM purchase WHERE p_price IN ({decimals 1000 977});

-- in_numbers: a list of 20,000 numbers without an index
SELECT COUNT(*) FROM big WHERE u IN ({numbers 20000 241});

-- in_key: a list of 20,000 keys
SELECT COUNT(*), SUM(x) FROM big WHERE id IN ({numbers 20000 2});

-- in_texts: a list of texts
SELECT COUNT(*) FROM big WHERE word IN ('amber', 'fern', 'hazel', 'oak', 'pine');

-- in_select: a semi-join without an index
SELECT COUNT(*) FROM half WHERE u IN (SELECT w FROM few);

-- not_in_select: an anti-join without an index
SELECT COUNT(*) FROM half WHERE u NOT IN (SELECT w FROM few);

-- semi_two: two semi-joins
SELECT COUNT(*), SUM(x) FROM half
WHERE k IN (SELECT k FROM few WHERE g = 7) AND id IN (SELECT w FROM few WHERE g = 9);

-- semi_duplicates: a semi-join with many equal rows
SELECT COUNT(*) FROM few WHERE g IN (SELECT g FROM big WHERE a < 3);

-- exists_key: EXISTS over the beginning of a key
SELECT COUNT(*) FROM purchase WHERE EXISTS (SELECT 1 FROM line WHERE l_purchase = p_id AND l_count > 45);

-- exists_rare: EXISTS for few rows
SELECT COUNT(*) FROM purchase
WHERE p_day = '1995-05-05' AND EXISTS (SELECT 1 FROM line WHERE l_purchase = p_id AND l_count > 25);

-- not_exists: what has no children
SELECT COUNT(*), SUM(p_price) FROM purchase WHERE NOT EXISTS (SELECT 1 FROM line WHERE l_purchase = p_id);

-- left_is_null: the same as an outer join
SELECT COUNT(*), SUM(p_price) FROM purchase LEFT JOIN line ON l_purchase = p_id WHERE l_purchase IS NULL;

-- order_text: a sort by a text with a common beginning
SELECT id, name FROM big ORDER BY name, id LIMIT {rows 2500000}, 3;

-- order_text_first: the first rows of it
SELECT id, name FROM big ORDER BY name, id LIMIT 10;

-- order_double: the first rows by a double
SELECT id, f FROM big ORDER BY f, id LIMIT 10;

-- order_decimal: the first rows by a decimal
SELECT id, x FROM big ORDER BY x DESC, id LIMIT 10;

-- order_number: a sort by a number
SELECT id, u FROM big ORDER BY u, id LIMIT {rows 2500000}, 3;

-- order_index: the first rows in the order of an index
SELECT id, k FROM big ORDER BY k, id LIMIT 10;

-- offset_key: rows after a million
SELECT id, x FROM big ORDER BY id LIMIT {rows 1000000}, 5;

-- window_rank: the number of each row in its group
SELECT COUNT(*), SUM(r) FROM (SELECT ROW_NUMBER() OVER (PARTITION BY g ORDER BY u, id) AS r FROM big) AS t;

-- window_lag: the row before
SELECT COUNT(*), SUM(x - p) FROM (SELECT x, LAG(x) OVER (ORDER BY id) AS p FROM half) AS t;

-- window_sum: a running sum
SELECT COUNT(*), MAX(s) FROM (SELECT SUM(x) OVER (PARTITION BY k ORDER BY id) AS s FROM half) AS t;

-- window_top: the first three of each group
SELECT COUNT(*), SUM(x) FROM (SELECT x, RANK() OVER (PARTITION BY k ORDER BY x DESC) AS r FROM half) AS t WHERE r <= 3;

-- count_all: all rows
SELECT COUNT(*) FROM big;

-- aggregate_all: sums over all rows
SELECT SUM(x), AVG(x), MAX(x), MIN(x), COUNT(u) FROM big;

-- like_middle: a part of a text
SELECT COUNT(*) FROM big WHERE name LIKE '%99%';

-- like_beginning: the beginning of a text
SELECT COUNT(*) FROM big WHERE name LIKE 'name of a customer 0000%';

-- group_half_million: groups by a number
SELECT COUNT(*), SUM(c) FROM (SELECT k, COUNT(*) AS c FROM big IGNORE INDEX (k) GROUP BY k) AS t;

-- group_rows: as many groups as rows, nearly
SELECT COUNT(*), MAX(c) FROM (SELECT u, COUNT(*) AS c, SUM(x) AS s FROM big GROUP BY u) AS t;

-- group_texts: groups by a text
SELECT COUNT(*), MAX(c) FROM (SELECT name, COUNT(*) AS c FROM big WHERE id <= {rows 400000} GROUP BY name) AS t;

-- group_date: groups by a date's year and month
SELECT YEAR(d), MONTH(d), COUNT(*), SUM(x) FROM big GROUP BY YEAR(d), MONTH(d) ORDER BY 1, 2;

-- hash_join_half: a million with a million, without an index
SELECT COUNT(*), SUM(h.x) FROM half AS h JOIN half AS i ON h.u = i.w;

-- hash_join_big: all rows with all rows, without an index
SELECT COUNT(*), SUM(h.x) FROM big AS h JOIN big AS i ON h.u = i.u WHERE i.g < 90;

-- join_big: by a key, all rows
SELECT COUNT(*), SUM(x), SUM(l_count) FROM line JOIN big ON id = l_item;

-- join_key: by a key, many rows
SELECT COUNT(*), SUM(half.x) FROM few JOIN half ON half.id = few.w;

-- left_join_five: outer joins by keys
SELECT COUNT(*), COUNT(h1.id), COUNT(h2.id), COUNT(h3.id), COUNT(h4.id)
FROM few LEFT JOIN half AS h1 ON h1.id = few.w LEFT JOIN half AS h2 ON h2.id = h1.u
     LEFT JOIN half AS h3 ON h3.id = h2.u LEFT JOIN half AS h4 ON h4.id = h3.u
WHERE few.g < 50;

-- self_join: neighbours
SELECT COUNT(*), SUM(j.x - i.x) FROM half AS i JOIN half AS j ON j.id = i.id + 1;

-- correlated_key: a scalar subquery by a key
SELECT SUM((SELECT x FROM half WHERE half.id = few.w)) FROM few;

-- correlated_scan: a scalar subquery without an index
SELECT COUNT(*) FROM few AS o WHERE o.id <= 100 AND o.x > (SELECT AVG(x) FROM few AS i WHERE i.g = o.g);

-- union_distinct: a union without repetitions
SELECT COUNT(*) FROM (SELECT u FROM half UNION SELECT w FROM half) AS t;

-- union_sum: a sum over a union
SELECT SUM(x), COUNT(*) FROM (SELECT x FROM half UNION ALL SELECT x FROM few UNION ALL SELECT x FROM half) AS t;

-- recursion: a table that makes itself
WITH RECURSIVE r (n, m) AS (SELECT 1, id FROM few WHERE id <= 1000 UNION ALL SELECT n + 1, m FROM r WHERE n < 900)
SELECT COUNT(*), SUM(n * m) FROM r;
