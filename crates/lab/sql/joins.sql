-- 40 joins of 4 to 10 tables. Most have one row: counts and sums say whether an answer is right, and the least and
-- greatest values need the columns of every table. Each statement begins with a line `-- NAME: what it asks`.

-- j01: star of 4, a month and a frequent color
SELECT COUNT(*), SUM(s_amount), MIN(t_name)
FROM sale JOIN day ON s_day = d_id JOIN product ON s_product = p_id JOIN store ON s_store = t_id
WHERE d_year = 1995 AND d_month = 6 AND p_color = 'black' AND t_kind = 'mall';

-- j02: star of 4, a rare status
SELECT COUNT(*), SUM(s_amount), MIN(p_name), MAX(d_date)
FROM sale, day, product, store
WHERE s_day = d_id AND s_product = p_id AND s_store = t_id AND p_status = 'recalled' AND t_kind = 'outlet';

-- j03: star of 4, one day of all
SELECT COUNT(*), SUM(s_amount), MIN(p_name), MAX(u_name)
FROM sale, day, product, customer
WHERE s_day = d_id AND s_product = p_id AND s_customer = u_id AND d_date = '1996-02-29' AND u_segment = 'private';

-- j04: star of 4, a rare channel and a rare segment
SELECT s_id, p_name, u_name, t_name
FROM sale, product, customer, store
WHERE s_product = p_id AND s_customer = u_id AND s_store = t_id AND s_channel = 'phone' AND u_segment = 'state'
ORDER BY s_id LIMIT 20;

-- j05: star of 5 without a condition on the facts, grouped
SELECT d_year, t_kind, COUNT(*), SUM(s_amount)
FROM sale, day, store, product, promotion
WHERE s_day = d_id AND s_store = t_id AND s_product = p_id AND s_promotion = o_id AND o_kind = 'gift'
GROUP BY d_year, t_kind ORDER BY d_year, t_kind;

-- j06: promotion and month imply each other
SELECT COUNT(*), SUM(s_amount), MIN(p_name)
FROM sale, day, promotion, product, store
WHERE s_day = d_id AND s_promotion = o_id AND s_product = p_id AND s_store = t_id
  AND d_month = 12 AND o_month = 12 AND o_percent > 30 AND t_kind = 'street';

-- j07: promotion and month exclude each other
SELECT COUNT(*), SUM(s_amount), MIN(p_name)
FROM sale, day, promotion, product, store
WHERE s_day = d_id AND s_promotion = o_id AND s_product = p_id AND s_store = t_id AND d_month = 3 AND o_month = 9;

-- j08: snowflake of products, a frequent country of makers
SELECT COUNT(*), SUM(s_amount), MIN(b_name), MIN(m_name)
FROM sale, product, brand, maker, country
WHERE s_product = p_id AND p_brand = b_id AND b_maker = m_id AND m_country = n_id AND n_name = 'country 1'
  AND b_tier = 'luxury';

-- j09: snowflake of products, a rare country of makers
SELECT COUNT(*), SUM(s_amount), MIN(b_name), MIN(m_name)
FROM sale, product, brand, maker, country
WHERE s_product = p_id AND p_brand = b_id AND b_maker = m_id AND m_country = n_id AND n_name = 'country 27';

-- j10: snowflake of stores
SELECT e_name, COUNT(*), SUM(s_amount)
FROM sale, store, city, state, country
WHERE s_store = t_id AND t_city = c_id AND c_state = e_id AND e_country = n_id AND n_continent = 'Asia'
GROUP BY e_name ORDER BY e_name;

-- j11: snowflake of customers, a small state
SELECT c_name, COUNT(*), SUM(s_amount)
FROM sale, customer, city, state
WHERE s_customer = u_id AND u_city = c_id AND c_state = e_id AND e_name = 'state 57' AND u_segment = 'business'
GROUP BY c_name ORDER BY 3 DESC, c_name LIMIT 10;

-- j12: brand and category imply each other
SELECT COUNT(*), SUM(s_amount), MIN(p_name)
FROM sale, product, brand, category, day
WHERE s_product = p_id AND p_brand = b_id AND p_category = g_id AND s_day = d_id
  AND b_name = 'brand 3' AND g_name = 'category 4' AND d_year = 1994;

-- j13: brand and category exclude each other, mostly
SELECT COUNT(*), SUM(s_amount), MIN(p_name)
FROM sale, product, brand, category, day
WHERE s_product = p_id AND p_brand = b_id AND p_category = g_id AND s_day = d_id
  AND b_name = 'brand 3' AND g_name = 'category 30' AND d_year = 1994;

-- j14: returns of a department
SELECT a_text, COUNT(*), SUM(s_amount)
FROM returned, sale, product, category, reason
WHERE r_sale = s_id AND s_product = p_id AND p_category = g_id AND r_reason = a_id AND g_department = 'clothes'
GROUP BY a_text ORDER BY a_text;

-- j15: returns for a rare reason
SELECT COUNT(*), MIN(p_name), MAX(u_name), MIN(t_name)
FROM returned, sale, product, customer, store, reason
WHERE r_sale = s_id AND s_product = p_id AND s_customer = u_id AND s_store = t_id AND r_reason = a_id
  AND a_text = 'reason 19';

-- j16: returns within a week, by days of both
SELECT d2.d_weekday, COUNT(*), SUM(s_amount)
FROM returned, sale, day d1, day d2
WHERE r_sale = s_id AND s_day = d1.d_id AND r_day = d2.d_id AND d1.d_date >= '1997-01-01'
  AND d1.d_date < '1997-04-01' AND d2.d_date < d1.d_date + INTERVAL 7 DAY
GROUP BY d2.d_weekday ORDER BY d2.d_weekday;

-- j17: reviews of products that were returned by the reviewer
SELECT COUNT(*), MIN(p_name), AVG(v_stars)
FROM review, sale, returned, product
WHERE v_product = s_product AND v_customer = s_customer AND r_sale = s_id AND p_id = v_product AND v_stars <= 2;

-- j18: bad reviews of what is dear: there are none
SELECT COUNT(*), MIN(p_name), MIN(u_name)
FROM review, product, brand, customer
WHERE v_product = p_id AND p_brand = b_id AND v_customer = u_id AND b_tier = 'luxury' AND v_stars < 4;

-- j19: reviews by country of the maker and of the reviewer
SELECT COUNT(*), AVG(v_stars), MIN(m_name), MIN(c_name)
FROM review, product, brand, maker, customer, city, state
WHERE v_product = p_id AND p_brand = b_id AND b_maker = m_id AND v_customer = u_id AND u_city = c_id
  AND c_state = e_id AND e_country = m_country AND v_stars = 5;

-- j20: stock of popular products in large stores
SELECT COUNT(*), SUM(k_level), MIN(p_name), MIN(c_name)
FROM stock, product, store, city
WHERE k_product = p_id AND k_store = t_id AND t_city = c_id AND t_area > 3000 AND p_price > 100;

-- j21: what is sold out where it was sold
SELECT COUNT(*), SUM(s_amount), MIN(p_name), MIN(t_name)
FROM sale, stock, product, store
WHERE k_product = s_product AND k_store = s_store AND p_id = s_product AND t_id = s_store AND k_level = 0;

-- j22: customers who buy in their own city
SELECT c_name, COUNT(*), SUM(s_amount)
FROM sale, store, customer, city
WHERE s_store = t_id AND s_customer = u_id AND t_city = u_city AND c_id = t_city AND t_kind <> 'mall'
GROUP BY c_name ORDER BY c_name;

-- j23: customers who buy in their own state, a star of two snowflakes
SELECT e_name, COUNT(*), SUM(s_amount)
FROM sale, store, city c1, customer, city c2, state
WHERE s_store = t_id AND t_city = c1.c_id AND s_customer = u_id AND u_city = c2.c_id AND c1.c_state = c2.c_state
  AND e_id = c1.c_state AND u_segment = 'business'
GROUP BY e_name ORDER BY e_name;

-- j24: star of 6, each condition weak
SELECT COUNT(*), SUM(s_amount)
FROM sale, day, product, store, customer, city
WHERE s_day = d_id AND s_product = p_id AND s_store = t_id AND s_customer = u_id AND t_city = c_id
  AND d_weekday <> 'Sunday' AND p_color IN ('black', 'white', 'grey') AND t_area > 60 AND u_income > 20000
  AND c_people > 10000 AND s_count = 5;

-- j25: star of 6, one rare condition at the far end
SELECT COUNT(*), SUM(s_amount), MIN(p_name)
FROM sale, day, product, store, customer, city
WHERE s_day = d_id AND s_product = p_id AND s_store = t_id AND s_customer = u_id AND u_city = c_id
  AND c_name = 'city 1400' AND d_year >= 1993;

-- j26: snowflake of 7, stores of a continent and makers of another
SELECT COUNT(*), SUM(s_amount), MIN(m_name), MIN(c_name)
FROM sale, product, brand, maker, store, city, state
WHERE s_product = p_id AND p_brand = b_id AND b_maker = m_id AND s_store = t_id AND t_city = c_id
  AND c_state = e_id AND m_country = 9 AND e_country = 1;

-- j27: snowflake of 8, by year
SELECT d_year, COUNT(*), SUM(s_amount)
FROM sale, day, product, brand, maker, country, customer, city
WHERE s_day = d_id AND s_product = p_id AND p_brand = b_id AND b_maker = m_id AND m_country = n_id
  AND s_customer = u_id AND u_city = c_id AND n_continent = 'Oceania' AND c_people > 100000 AND p_status = 'new'
GROUP BY d_year ORDER BY d_year;

-- j28: snowflake of 8, rare at both ends
SELECT COUNT(*), SUM(s_amount), MIN(m_name), MIN(e_name)
FROM sale, product, brand, maker, country, store, city, state
WHERE s_product = p_id AND p_brand = b_id AND b_maker = m_id AND m_country = n_id AND s_store = t_id
  AND t_city = c_id AND c_state = e_id AND n_name = 'country 22' AND e_name = 'state 33';

-- j29: snowflake of 9, makers and customers of one country
SELECT COUNT(*), SUM(s_amount), MIN(u_name)
FROM sale, product, brand, maker, country, customer, city, state, day
WHERE s_product = p_id AND p_brand = b_id AND b_maker = m_id AND m_country = n_id AND s_customer = u_id
  AND u_city = c_id AND c_state = e_id AND e_country = n_id AND s_day = d_id AND d_holiday = 1;

-- j30: snowflake of 10 around returns
SELECT COUNT(*), SUM(s_amount), MIN(m_name), MIN(c_name)
FROM returned, reason, sale, day, product, category, brand, maker, store, city
WHERE r_reason = a_id AND r_sale = s_id AND s_day = d_id AND s_product = p_id AND p_category = g_id
  AND p_brand = b_id AND b_maker = m_id AND s_store = t_id AND t_city = c_id
  AND g_department = 'sports' AND d_year = 1996 AND a_text <> 'reason 1';

-- j31: snowflake of 10, every dimension, a rare promotion
SELECT COUNT(*), SUM(s_amount), MIN(u_name), MIN(e_name), MIN(m_name)
FROM sale, promotion, day, product, brand, maker, customer, city, state, country
WHERE s_promotion = o_id AND s_day = d_id AND s_product = p_id AND p_brand = b_id AND b_maker = m_id
  AND s_customer = u_id AND u_city = c_id AND c_state = e_id AND e_country = n_id AND o_id = 97;

-- j32: outer joins to what may be missing
SELECT t_kind, COUNT(*), COUNT(o_id), COUNT(r_sale), SUM(s_amount)
FROM sale JOIN store ON s_store = t_id LEFT JOIN promotion ON s_promotion = o_id
     LEFT JOIN returned ON r_sale = s_id LEFT JOIN reason ON r_reason = a_id
WHERE s_day BETWEEN 400 AND 430
GROUP BY t_kind ORDER BY t_kind;

-- j33: an outer join that a condition makes an inner one
SELECT COUNT(*), SUM(s_amount), MIN(a_text)
FROM sale LEFT JOIN returned ON r_sale = s_id LEFT JOIN reason ON r_reason = a_id
     JOIN product ON s_product = p_id
WHERE a_text = 'reason 12' AND p_color = 'red';

-- j34: products that were never returned
SELECT COUNT(*), SUM(p_price), MIN(b_name)
FROM product JOIN brand ON p_brand = b_id JOIN maker ON b_maker = m_id JOIN category ON p_category = g_id
WHERE m_country = 2 AND g_department = 'toys'
  AND NOT EXISTS (SELECT * FROM sale, returned WHERE r_sale = s_id AND s_product = p_id);

-- j35: products with a bad review and a return
SELECT COUNT(*), MIN(p_name), MIN(b_name)
FROM product JOIN brand ON p_brand = b_id JOIN maker ON b_maker = m_id JOIN country ON m_country = n_id
WHERE n_continent = 'Europe' AND EXISTS (SELECT * FROM review WHERE v_product = p_id AND v_stars = 1)
  AND p_id IN (SELECT s_product FROM sale, returned WHERE r_sale = s_id AND r_reason = 7);

-- j36: sales beside the average of their product
SELECT COUNT(*), SUM(s_amount)
FROM sale JOIN product ON s_product = p_id JOIN brand ON p_brand = b_id
     JOIN (SELECT s_product AS a_product, AVG(s_amount) AS a_amount FROM sale GROUP BY s_product) AS average
       ON a_product = p_id
WHERE b_tier = 'luxury' AND s_channel = 'phone' AND s_amount > 2 * a_amount;

-- j37: conditions that differ by kind of store
SELECT COUNT(*), SUM(s_amount)
FROM sale, store, product, customer
WHERE (s_store = t_id AND s_product = p_id AND s_customer = u_id AND t_kind = 'mall' AND p_color = 'violet'
       AND u_segment = 'state')
   OR (s_store = t_id AND s_product = p_id AND s_customer = u_id AND t_kind = 'outlet' AND p_color = 'orange'
       AND u_segment = 'business');

-- j38: two facts over one dimension, grouped before they meet
SELECT b_name, sold, stars
FROM brand
     JOIN maker ON b_maker = m_id
     JOIN (SELECT p_brand AS x_brand, SUM(s_amount) AS sold FROM sale, product
           WHERE s_product = p_id AND s_day > 2300 GROUP BY p_brand) AS x ON x_brand = b_id
     JOIN (SELECT p_brand AS y_brand, AVG(v_stars) AS stars FROM review, product
           WHERE v_product = p_id GROUP BY p_brand) AS y ON y_brand = b_id
WHERE m_country = 3
ORDER BY sold DESC, b_name LIMIT 10;

-- j39: the latest sales of a small city
SELECT s_id, d_date, p_name, u_name
FROM sale, day, product, customer, city
WHERE s_day = d_id AND s_product = p_id AND s_customer = u_id AND u_city = c_id AND c_name = 'city 1200'
ORDER BY d_date DESC, s_id DESC LIMIT 10;

-- j40: pairs of products that a customer bought on the same day
SELECT COUNT(*), MIN(p1.p_name), MAX(p2.p_name)
FROM sale s1, sale s2, product p1, product p2, customer
WHERE s1.s_customer = s2.s_customer AND s1.s_day = s2.s_day AND s1.s_id < s2.s_id AND s1.s_product = p1.p_id
  AND s2.s_product = p2.p_id AND u_id = s1.s_customer AND p1.p_status = 'recalled' AND u_segment <> 'state';
