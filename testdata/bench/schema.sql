CREATE TABLE bench (id integer PRIMARY KEY, a integer, b integer, c integer, d integer);
CREATE INDEX bench_c ON bench (c);
CREATE TABLE dim (d integer PRIMARY KEY, name text);
INSERT INTO dim SELECT i, 'name ' || i FROM generate_series(0, 99999) AS i;
CREATE TABLE log (id bigserial PRIMARY KEY, a integer, b text);
