-- The founding ideas, one table or index for each. README.md's chapter "The
-- founding ideas, in SQL" quotes these statements and what they cost.

-- A relation is a master file (primary key → the other attributes), unique
-- indexes (key → primary key) and other indexes (key + primary key → nothing).
CREATE TABLE poi (poi_id int, language int, poi_name varchar(100) NOT NULL, city text, PRIMARY KEY (poi_id, language));
CREATE UNIQUE INDEX poi_name ON poi (poi_name);
CREATE INDEX poi_city ON poi (city);

-- The same attributes in three layouts.
CREATE TABLE sale_row (id int PRIMARY KEY, a int NOT NULL, b int NOT NULL, note text, remark text);
CREATE TABLE sale_col (id int PRIMARY KEY, a int NOT NULL, b int NOT NULL, note text, remark text) WITH (layout = 'column');
CREATE TABLE sale_grp (id int PRIMARY KEY, a int NOT NULL, b int NOT NULL, note text, remark text) WITH (layout = 'column', groups = '(a, b)');

-- Two kinds of index over equal columns, and indexes by elements.
CREATE TABLE visit (id int PRIMARY KEY, n_bt int, n_inv int, tags text[], j jsonb);

-- Maps and arrays with a key for each element.
CREATE EXTENSION hstore;
CREATE TABLE profile (id int PRIMARY KEY, j jsonb STORAGE elements, a int[] STORAGE elements, m hstore STORAGE elements);

-- Keys and values; keys are entity:account:attribute.
CREATE TABLE ui (key text PRIMARY KEY, value text);

-- The restaurant: one reservation for each table and date.
CREATE TABLE reservation (reservation_id int PRIMARY KEY, table_id int, day date, guest text, UNIQUE (table_id, day));

-- Places in regions; names and events stored behind their place.
CREATE SCHEMA lbs;
CREATE TABLE lbs.geo (poi_id int PRIMARY KEY, latitude float8, longitude float8)
  WITH (regions = 'latitude, longitude', region_size = '0.5 x 0.5');
CREATE TABLE lbs.poi (poi_id int REFERENCES lbs.geo, language int, poi_name text, PRIMARY KEY (poi_id, language))
  WITH (cluster_with = 'lbs.geo');
