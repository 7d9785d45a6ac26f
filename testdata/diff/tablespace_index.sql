-- A tablespace that is not there is refused wherever one is named.
CREATE TABLE placed (a int, b int);
CREATE INDEX ON placed (a) TABLESPACE nowhere;
CREATE INDEX ON placed (a) TABLESPACE pg_global;
CREATE INDEX ON placed (a) TABLESPACE pg_default;
CREATE TABLE placed_key (a int PRIMARY KEY USING INDEX TABLESPACE nowhere);
CREATE TABLE placed_key (a int, UNIQUE (a) USING INDEX TABLESPACE nowhere);
CREATE TABLE placed_key (a int, UNIQUE (a) WITH (fillfactor = 70) USING INDEX TABLESPACE pg_default);
CREATE TABLE placed_apart (a int, EXCLUDE USING btree (a WITH =) USING INDEX TABLESPACE nowhere);
ALTER TABLE placed ADD UNIQUE (b) USING INDEX TABLESPACE nowhere;
CREATE MATERIALIZED VIEW placed_view TABLESPACE nowhere AS SELECT 1 AS x;
CREATE MATERIALIZED VIEW placed_view USING nothing AS SELECT 1 AS x;
CREATE MATERIALIZED VIEW placed_view USING heap TABLESPACE pg_default AS SELECT 1 AS x;
SELECT indexdef FROM pg_indexes WHERE tablename LIKE 'placed%' ORDER BY 1;
DROP TABLE placed, placed_key;
DROP MATERIALIZED VIEW placed_view;
