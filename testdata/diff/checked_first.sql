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
