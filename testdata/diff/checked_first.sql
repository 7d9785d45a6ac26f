-- What is wrong with a statement in two ways is told in PostgreSQL's order.
CREATE TABLE first_of (a int, description text);
ALTER TABLE first_of ADD COLUMN description text CHECK (description <> '');
ALTER TABLE first_of ADD COLUMN IF NOT EXISTS description text CHECK (description <> '');
DELETE FROM first_of WHERE nothing IN (SELECT id FROM absent);
SELECT 1 FROM first_of WHERE (nothing, a) IN (SELECT nobody FROM first_of);
SELECT 1 FROM first_of WHERE nothing = ANY (SELECT a, description FROM first_of);
GRANT SELECT ON absent TO nobody_there;
GRANT SELECT ON first_of TO nobody_there;
REVOKE ALL ON SCHEMA absent FROM nobody_there;
ALTER ROLE nobody_there IN DATABASE nowhere SET work_mem = '1MB';
DROP TABLE first_of;
-- A view's query comes before its schema, a MERGE's clauses before its tables, and a number
-- beyond 32 bits is no position.
CREATE VIEW nowhere.v AS SELECT * FROM nowhere.t;
CREATE MATERIALIZED VIEW nowhere.v AS SELECT * FROM nowhere.t;
CREATE VIEW nowhere.v AS SELECT 1;
CREATE TABLE nowhere.v AS SELECT * FROM nowhere.t;
MERGE INTO absent USING others ON true WHEN MATCHED THEN DELETE WHEN MATCHED THEN DO NOTHING;
WITH w AS (SELECT nothing) MERGE INTO absent USING w ON true WHEN MATCHED THEN DELETE WHEN MATCHED THEN DO NOTHING;
SELECT 1 ORDER BY 99999999999999999999;
SELECT 1 ORDER BY 2147483647;
SELECT 1 ORDER BY 2147483648;
SELECT 1 GROUP BY 2147483648;
SELECT 1 UNION SELECT 2 ORDER BY 2147483648;
SELECT DISTINCT ON (2147483648) 1;
