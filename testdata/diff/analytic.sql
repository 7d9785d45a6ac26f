-- Joins of several tables with statistics: estimates decide on orders and methods, never on answers.
CREATE TABLE country (id int PRIMARY KEY, name text);
CREATE TABLE depot (id int PRIMARY KEY, country int REFERENCES country, note text);
CREATE TABLE item (id int PRIMARY KEY, kind text, box text, size int, price numeric(10,2));
CREATE TABLE stock (item int REFERENCES item, depot int REFERENCES depot, amount int, cost numeric(10,2), PRIMARY KEY (item, depot));
CREATE TABLE buyer (id int PRIMARY KEY, country int REFERENCES country, balance numeric(10,2));
CREATE TABLE purchase (id int PRIMARY KEY, buyer int REFERENCES buyer, day date, state char(1), note text);
CREATE TABLE line (purchase int REFERENCES purchase, n int, item int, depot int, amount numeric(10,2), sum numeric(10,2), mode text, sent date, got date, PRIMARY KEY (purchase, n));
INSERT INTO country SELECT i, 'C' || i FROM generate_series(1, 20) i;
INSERT INTO depot SELECT i, i % 20 + 1, CASE WHEN i % 17 = 0 THEN 'has complaints' END FROM generate_series(1, 100) i;
INSERT INTO item SELECT i, (ARRAY['tin','brass','steel','copper'])[i % 4 + 1], (ARRAY['S','M','L'])[i % 3 + 1] || i % 5, i % 50, i % 1000 / 7.0 FROM generate_series(1, 2000) i;
INSERT INTO stock SELECT i, (i + s * 25) % 100 + 1, i * s % 1000, (i * 31 + s) % 500 / 3.0 FROM generate_series(1, 2000) i, generate_series(0, 3) s;
INSERT INTO buyer SELECT i, i * 7 % 20 + 1, (i * 7919 % 10000 - 900) / 10.0 FROM generate_series(1, 1500) i;
INSERT INTO purchase SELECT i, i * 31 % 1000 + 1, date '2021-01-01' + i * 37 % 700, (ARRAY['F','O','P'])[i % 3 + 1], CASE i % 50 WHEN 0 THEN 'a special wish' ELSE 'none' END FROM generate_series(1, 12000) i;
INSERT INTO line SELECT p, n, (p * 13 + n * 7) % 2000 + 1, ((p * 13 + n * 7) % 2000 + 1 + n % 4 * 25) % 100 + 1, p * n % 50 + 1, (p * n % 997) * 1.25, (ARRAY['AIR','RAIL','SHIP','ROAD'])[p * n % 4 + 1], date '2021-01-01' + p * 37 % 700 + n, date '2021-01-01' + p * 37 % 700 + n + p % 20 FROM generate_series(1, 12000) p, generate_series(1, 6) n WHERE n <= p % 6 + 1;
CREATE INDEX ON line (item, depot);
CREATE INDEX ON line (sent);
CREATE INDEX ON purchase (buyer);
ANALYZE;
SELECT mode, count(*), sum(sum), avg(amount), min(sent), max(got) FROM line WHERE sent <= date '2022-11-30' - interval '90' day GROUP BY mode ORDER BY 1;
-- a join condition that each arm of a disjunction repeats
SELECT count(*), sum(sum) FROM line, item WHERE item.id = line.item AND kind = 'tin' AND amount < 10 OR item.id = line.item AND kind = 'brass' AND amount BETWEEN 20 AND 30 OR item.id = line.item AND box LIKE 'M%' AND size BETWEEN 3 AND 9 AND mode IN ('AIR', 'RAIL');
SELECT count(*) FROM line JOIN item ON (item.id = line.item AND kind = 'tin') OR (item.id = line.item AND size = 3);
SELECT count(*) FROM line LEFT JOIN item ON (item.id = line.item AND kind = 'tin') OR (item.id = line.item AND size = 3 AND kind IS NOT NULL);
SELECT count(*) FROM depot a, depot b WHERE (a.country = 3 AND b.country = 4) OR (a.country = 4 AND b.country = 3) OR (a.country = 5 AND b.country = 5 AND a.id < b.id);
SELECT count(*) FROM depot a, depot b WHERE (a.id = b.id) OR (a.id = b.id AND a.country = 3);
SELECT count(*) FROM depot WHERE (note IS NULL AND country = 3) OR (note IS NULL AND country = 4) OR (note IS NULL AND NULL::boolean);
SELECT count(*) FROM depot WHERE NOT ((note > 'a' AND country = 3) OR (note > 'a' AND country = 4));
-- a key of two columns
SELECT name, extract(year FROM day) AS y, sum(line.sum - cost * line.amount) FROM item, depot, line, stock, purchase, country WHERE depot.id = line.depot AND stock.depot = line.depot AND stock.item = line.item AND item.id = line.item AND purchase.id = line.purchase AND depot.country = country.id AND kind LIKE '%s%' GROUP BY name, y ORDER BY 1, 2 DESC;
SELECT count(*), sum(s.amount) FROM stock s JOIN line l USING (item, depot) WHERE s.amount > 500;
-- joins above joins below a group, over a table large enough to be read in parts
SELECT country.name, count(*), sum(sum) FROM line JOIN depot ON depot.id = line.depot JOIN country ON country.id = depot.country GROUP BY country.name ORDER BY 1;
SELECT c.name, sum(l.sum) FROM buyer b, purchase p, line l, depot d, country c WHERE b.id = p.buyer AND l.purchase = p.id AND l.depot = d.id AND b.country = d.country AND d.country = c.id AND p.day >= date '2021-06-01' AND p.day < date '2021-06-01' + interval '6' month GROUP BY c.name ORDER BY 2 DESC, 1;
-- correlated subqueries
SELECT state, count(*) FROM purchase WHERE day >= '2021-07-01' AND EXISTS (SELECT FROM line WHERE purchase = purchase.id AND sent < got) GROUP BY state ORDER BY 1;
SELECT count(*), sum(amount) FROM line WHERE amount < (SELECT 0.5 * avg(amount) FROM line x WHERE x.item = line.item);
SELECT item.id, price FROM item WHERE size = 7 AND price = (SELECT max(price) FROM item x WHERE x.kind = item.kind AND x.size = 7) ORDER BY 1;
SELECT count(*) FROM depot WHERE id IN (SELECT depot FROM stock WHERE item IN (SELECT id FROM item WHERE kind LIKE 'co%') AND amount > (SELECT 0.1 * sum(amount) FROM line WHERE line.item = stock.item AND line.depot = stock.depot));
SELECT c.name, count(*) FROM depot d, line l1, purchase p, country c WHERE d.id = l1.depot AND p.id = l1.purchase AND p.state = 'F' AND l1.got > l1.sent + 5 AND EXISTS (SELECT FROM line l2 WHERE l2.purchase = l1.purchase AND l2.depot <> l1.depot) AND NOT EXISTS (SELECT FROM line l3 WHERE l3.purchase = l1.purchase AND l3.depot <> l1.depot AND l3.got > l3.sent + 12) AND d.country = c.id GROUP BY c.name ORDER BY 2 DESC, 1 LIMIT 10;
SELECT country, count(*), sum(balance) FROM buyer WHERE balance > (SELECT avg(balance) FROM buyer WHERE balance > 0) AND NOT EXISTS (SELECT FROM purchase WHERE buyer = buyer.id) GROUP BY country ORDER BY 1;
SELECT n, count(*) FROM (SELECT b.id, count(p.id) AS n FROM buyer b LEFT JOIN purchase p ON p.buyer = b.id AND p.note NOT LIKE '%special%' GROUP BY b.id) AS x GROUP BY n ORDER BY 1;
WITH best AS (SELECT depot, sum(sum) AS total FROM line WHERE sent BETWEEN '2021-03-01' AND '2021-05-31' GROUP BY depot) SELECT depot, total FROM best WHERE total = (SELECT max(total) FROM best) ORDER BY 1;
SELECT kind, size, count(DISTINCT depot) FROM stock, item WHERE item.id = stock.item AND kind <> 'tin' AND size IN (3, 9, 14, 23) AND depot NOT IN (SELECT id FROM depot WHERE note LIKE '%complaints%') GROUP BY kind, size ORDER BY 3 DESC, 1, 2;
SELECT p.id, sum(l.amount) FROM purchase p, line l WHERE p.id IN (SELECT purchase FROM line GROUP BY purchase HAVING sum(amount) > 200) AND p.id = l.purchase GROUP BY p.id ORDER BY 2 DESC, 1 LIMIT 20;
-- DISTINCT arguments are sorted
SELECT string_agg(DISTINCT mode, ','), array_agg(DISTINCT depot % 7), json_agg(DISTINCT mode || 'x'), count(DISTINCT item) FROM line;
SELECT n, string_agg(DISTINCT mode, ',') FILTER (WHERE mode <> 'AIR'), array_agg(DISTINCT (mode, n)) FROM line GROUP BY n ORDER BY 1;
SELECT string_agg(DISTINCT mode, ',' ORDER BY mode DESC), array_agg(DISTINCT NULLIF(depot % 5, 2)) FROM line;
SELECT sum(DISTINCT x), string_agg(DISTINCT y, z), string_agg(DISTINCT y, z ORDER BY z DESC) FROM (VALUES (0.1::float8, 'c', '-'), (1e20, 'a', '+'), (-1e20, 'b', '-'), (0.3, 'a', '-')) v(x, y, z);
