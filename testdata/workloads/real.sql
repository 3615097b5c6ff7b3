-- A real program at ordinary work: load, index, join, update, delete.
PRAGMA journal_mode = DELETE;
PRAGMA synchronous = FULL;
CREATE TABLE customer(id INTEGER PRIMARY KEY, name TEXT, region TEXT);
CREATE TABLE purchase(id INTEGER PRIMARY KEY, customer_id INTEGER, amount REAL, note TEXT);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < :rows / 20)
  INSERT INTO customer SELECT i, printf('customer %06d', i), 'region ' || (i % 17) FROM n;
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < :rows)
  INSERT INTO purchase
  SELECT i, 1 + (i * 7919) % (:rows / 20), (i * 31 % 10000) / 100.0,
         printf('%08x-%s', i * 2654435761 % 4294967296, substr('abcdefghijklmnopqrstuvwxyz', 1 + i % 20, 6))
  FROM n;
CREATE INDEX purchase_customer ON purchase(customer_id);
SELECT region, count(*), round(sum(amount), 2)
  FROM purchase JOIN customer ON customer.id = purchase.customer_id
  GROUP BY region ORDER BY 3 DESC LIMIT 5;
SELECT count(*) FROM purchase WHERE note LIKE '%mnop%';
SELECT name, count(*) AS c, round(avg(amount), 3)
  FROM customer JOIN purchase ON customer.id = purchase.customer_id
  GROUP BY customer.id ORDER BY c DESC, name LIMIT 3;
UPDATE purchase SET amount = amount * 1.01 WHERE id % 5 = 0;
DELETE FROM purchase WHERE id % 11 = 0;
SELECT count(*), round(sum(amount), 2) FROM purchase;
