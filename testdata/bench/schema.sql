CREATE TABLE bench (id integer PRIMARY KEY, a integer, b integer, c integer, d integer);
CREATE INDEX bench_c ON bench (c);
CREATE TABLE dim (d integer PRIMARY KEY, name text);
INSERT INTO dim SELECT i, 'name ' || i FROM generate_series(0, 99999) AS i;
CREATE TABLE log (id bigserial PRIMARY KEY, a integer, b text);
CREATE TABLE entry (id bigserial PRIMARY KEY, a integer, b text);
CREATE INDEX entry_a ON entry (a);
INSERT INTO entry (a, b) SELECT i * 31 % 10007, 'a note' FROM generate_series(1, 500000) AS i;
CREATE TABLE place (id integer PRIMARY KEY, x double precision, y double precision, name text);
INSERT INTO place SELECT i, i::bigint * 7919 % 100000 / 1000.0, i::bigint * 104729 % 100000 / 1000.0, 'place ' || i FROM generate_series(1, 100000) AS i;
CREATE INDEX place_xy ON place (x, y);
-- The tables that pgbench -i makes, at scale 10.
CREATE TABLE pgbench_branches (bid integer PRIMARY KEY, bbalance integer, filler char(88));
CREATE TABLE pgbench_tellers (tid integer PRIMARY KEY, bid integer, tbalance integer, filler char(84));
CREATE TABLE pgbench_accounts (aid integer PRIMARY KEY, bid integer, abalance integer, filler char(84));
CREATE TABLE pgbench_history (tid integer, bid integer, aid integer, delta integer, mtime timestamp, filler char(22));
INSERT INTO pgbench_branches SELECT i, 0 FROM generate_series(1, 10) AS i;
INSERT INTO pgbench_tellers SELECT i, (i - 1) / 10 + 1, 0 FROM generate_series(1, 100) AS i;
INSERT INTO pgbench_accounts SELECT i, (i - 1) / 100000 + 1, 0, '' FROM generate_series(1, 1000000) AS i;
