-- Tables that are kept as keys and values in other ways than the default.
CREATE SCHEMA lbs;
CREATE TABLE lbs.geo (poi_id int PRIMARY KEY, latitude float8, "Long" float8)
  WITH (regions = 'latitude, "Long"', region_size = '0.5 x 0.25', region_rows = 100);
CREATE TABLE lbs.poi (poi_id int REFERENCES lbs.geo, language int, poi_name text, PRIMARY KEY (poi_id, language)) WITH (cluster_with = 'lbs.geo');
CREATE TABLE lbs.event (event_id int PRIMARY KEY, poi_id int NOT NULL, language int NOT NULL, name text,
  FOREIGN KEY (poi_id, language) REFERENCES lbs.poi) WITH (cluster_with = 'lbs.poi');
CREATE INDEX event_name ON lbs.event USING inverted (name);
CREATE TABLE wide (id int PRIMARY KEY, a int, b int, j jsonb STORAGE elements, tags text[]) WITH (layout = 'column', groups = '(a, b)');
CREATE INDEX wide_tags ON wide USING gin (tags);
INSERT INTO lbs.geo SELECT i, 46 + i % 50 * 0.05, 23 + i / 50 * 0.05 FROM generate_series(1, 1000) i;
INSERT INTO lbs.poi SELECT poi_id, l, 'Place ' || poi_id FROM lbs.geo, generate_series(1, 2) l;
INSERT INTO lbs.event SELECT poi_id * 3 + k, poi_id, 1, 'E' || poi_id % 7 FROM lbs.geo, generate_series(0, 2) k;
INSERT INTO wide SELECT i, i, -i, jsonb_build_object('k', i), ARRAY['t' || i % 5] FROM generate_series(1, 100) i;
