-- Errors of ALTER TABLE have no position where PostgreSQL has none: expressions and keys
-- that it looks at when the table is changed, not when the statement is analysed.
CREATE TABLE t (a int, b int);
ALTER TABLE t ADD CHECK (z > 3);
ALTER TABLE t ADD CONSTRAINT c CHECK (a > 'x');
ALTER TABLE t ADD COLUMN c int DEFAULT z;
ALTER TABLE t ADD COLUMN c int DEFAULT 'x';
ALTER TABLE t ADD COLUMN c int DEFAULT (SELECT 1);
ALTER TABLE t ADD COLUMN c int CHECK (z > 3);
ALTER TABLE t ADD COLUMN c int GENERATED ALWAYS AS (z * 4) STORED;
ALTER TABLE t ADD COLUMN c int GENERATED ALWAYS AS (t IS NULL) STORED;
ALTER TABLE t ADD COLUMN c serial DEFAULT 2;
ALTER TABLE t ALTER a SET DEFAULT 'x';
ALTER TABLE t ALTER a SET DEFAULT z;
ALTER TABLE t ADD UNIQUE (z);
ALTER TABLE t ADD UNIQUE (ctid);
ALTER TABLE t ADD UNIQUE (a, a);
ALTER TABLE t ADD PRIMARY KEY (z);
ALTER TABLE t ADD PRIMARY KEY (ctid);
ALTER TABLE t ADD EXCLUDE (z WITH =);
ALTER TABLE t ADD CHECK (false) DEFERRABLE;
ALTER TABLE t ADD UNIQUE (a) NOT VALID;
ALTER TABLE t ALTER CONSTRAINT x NO INHERIT;
CREATE TABLE w (a int, UNIQUE (a) NO INHERIT);
CREATE TABLE w (a int, b int GENERATED ALWAYS AS (w IS NULL) STORED);
CREATE TABLE w (a int, b int GENERATED ALWAYS AS (a) STORED) PARTITION BY RANGE ((w));
CREATE TABLE w (a int, EXCLUDE (a WITH =)) PARTITION BY RANGE (a);
CREATE VIEW v AS SELECT * FROM t;
ALTER VIEW v ALTER a SET DEFAULT 'x';
CREATE INDEX ON t ((a COLLATE "C"));
CREATE INDEX ON t USING nosuch (a);
CREATE TYPE ty AS (a int, b text);
CREATE TABLE tt OF ty (a WITH OPTIONS GENERATED ALWAYS AS (b * 2) STORED);
CREATE TABLE child () INHERITS (t);
ALTER TABLE t ALTER a TYPE int USING pg_column_size(t);

-- Keys of expressions as their index has them, names quoted where they need it.
CREATE UNIQUE INDEX i1 ON t ((a::text), (b * 2 + 1), abs(b));
INSERT INTO t VALUES (1, 2), (1, 2);
CREATE TABLE "T q" ("A x" int UNIQUE);
INSERT INTO "T q" VALUES (1), (1);
CREATE INDEX ON t USING rtree (point(a, b));
DROP RULE "_RETURN" ON v;

-- Messages call bpchar and bit by their names without a modifier.
SELECT 'a'::bpchar + 1;
SELECT 'a'::char(3) + 1;
SELECT nosuch('a'::bpchar, '1'::"bit", '{}'::bpchar[]);
DROP FUNCTION nosuch(bpchar, int);
SELECT COALESCE('a'::bpchar, 1::int);
COMMENT ON CAST (bpchar AS date) IS NULL;
SELECT format_type('bpchar'::regtype, -1), 'a'::bpchar;

-- The constraint that another derives from is the topmost.
CREATE TABLE fp (a int PRIMARY KEY) PARTITION BY RANGE (a);
CREATE TABLE fp1 PARTITION OF fp FOR VALUES FROM (0) TO (10);
CREATE TABLE fk (a int REFERENCES fp) PARTITION BY RANGE (a);
CREATE TABLE fk1 PARTITION OF fk FOR VALUES FROM (0) TO (10) PARTITION BY RANGE (a);
CREATE TABLE fk11 PARTITION OF fk1 FOR VALUES FROM (0) TO (5);
ALTER TABLE fk11 ALTER CONSTRAINT fk_a_fkey DEFERRABLE;

SELECT jsonb_path_query('"12:34"', '$.datetime("HH24aMI")');
SELECT jsonb_path_query('"12:34"', '$.datetime("HH24\"a\"MI")');
COPY (MERGE INTO t USING t s ON true WHEN MATCHED THEN DELETE) TO STDOUT;
CREATE TEMP TABLE tmp (a int PRIMARY KEY);
CREATE INDEX ON tmp (a);
VACUUM (PARALLEL 1) tmp;
