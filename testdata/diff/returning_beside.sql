-- RETURNING of UPDATE ... FROM and DELETE ... USING, and MERGE: whole rows and system
-- columns of the entries beside the table.
CREATE TABLE rb (id int PRIMARY KEY, a int);
CREATE TABLE rs (id int PRIMARY KEY, b text);
CREATE TABLE rp (id int PRIMARY KEY, c int) PARTITION BY RANGE (id);
CREATE TABLE rp1 PARTITION OF rp FOR VALUES FROM (0) TO (2);
CREATE TABLE rp2 PARTITION OF rp FOR VALUES FROM (2) TO (9);
INSERT INTO rb VALUES (1, 10), (2, 20), (3, 30);
INSERT INTO rs VALUES (1, 'x'), (2, NULL);
INSERT INTO rp VALUES (1, 1), (3, 3);
UPDATE rb SET a = a + 1 FROM rs s LEFT JOIN rp p ON p.id = s.id WHERE rb.id = s.id
  RETURNING rb.id, s, p, p IS NULL, p::text, to_json(p), s.ctid IS NULL, p.ctid IS NULL, p.xmin IS NULL, p.tableoid::regclass, s.tableoid::regclass;
UPDATE rb SET a = a + 1 FROM (SELECT 1 AS k) o LEFT JOIN (SELECT id, b FROM rs WHERE id > 5) q ON true WHERE rb.id = o.k
  RETURNING rb.id, q, q IS NULL, coalesce(q::text, 'none'), (SELECT q IS NULL), (SELECT count(q)), o;
UPDATE rb SET a = a + 1 FROM (VALUES (1), (2)) v(k) LEFT JOIN generate_series(5, 6) g ON g = v.k WHERE rb.id = v.k
  RETURNING rb.id, g, v, (SELECT count(*) FROM rs WHERE rs.id = v.k);
DELETE FROM rb USING rs s FULL JOIN rp p ON p.id = s.id WHERE rb.id = p.id AND rb.id = 3
  RETURNING rb, s, p, s IS NULL, (p).c, p.tableoid::regclass, rb.tableoid::regclass, s.xmin IS NULL;
UPDATE rp SET c = c + 1 FROM rb LEFT JOIN rs ON rs.id = rb.id + 1 WHERE rp.id = rb.id
  RETURNING rp, rp.tableoid::regclass, rs, rb.ctid IS NULL, rs.ctid IS NULL, (SELECT max(z.c) FROM rp z WHERE z.tableoid = rp.tableoid);
UPDATE rb SET a = 0 FROM rp WHERE rp.id = rb.id RETURNING rb.id, rp.tableoid::regclass, (SELECT rp.tableoid::regclass::text || rb.id);
-- Views over it.
CREATE VIEW rv AS SELECT id AS k, a FROM rb WHERE a < 1000;
UPDATE rv SET a = rv.a + 1 FROM rs LEFT JOIN rp ON rp.id = rs.id WHERE rv.k = rs.id RETURNING rv, rs, rp, rp.ctid IS NULL;
DELETE FROM rv USING rp LEFT JOIN rs ON false WHERE rv.k = 99 RETURNING rv, rs, rp.tableoid;
-- Parameters are known from RETURNING alone.
PREPARE r1 AS UPDATE rb SET a = a FROM rs WHERE rs.id = rb.id AND rb.id = $1 RETURNING rb.id, rs.b = $2, $3::int;
EXECUTE r1 (1, 'x', 5);
-- MERGE.
MERGE INTO rb USING rs s LEFT JOIN rp p ON p.id = s.id ON s.id = rb.id
  WHEN MATCHED AND p.ctid IS NULL AND p.tableoid IS NULL AND rb.tableoid = 'rb'::regclass THEN UPDATE SET a = CASE WHEN p IS NULL AND p::text IS NULL THEN 100 ELSE 200 END
  WHEN MATCHED AND p.tableoid = 'rp1'::regclass THEN UPDATE SET a = length(rb::text) + length(p::text) + length(s::text)
  WHEN NOT MATCHED THEN INSERT VALUES (s.id, length(s::text));
TABLE rb ORDER BY id;
ALTER TABLE rs ADD note text;
MERGE INTO rs USING (VALUES (1), (7)) v(k) ON v.k = rs.id
  WHEN MATCHED THEN UPDATE SET note = rs::text || v::text || coalesce(rs.b, '?')
  WHEN NOT MATCHED AND v IS NOT NULL THEN INSERT VALUES (k, v::text);
TABLE rs ORDER BY id;
MERGE INTO rp USING rs ON rs.id = rp.id
  WHEN MATCHED AND rp.tableoid = 'rp1'::regclass AND rs.xmin IS NOT NULL THEN UPDATE SET c = 77
  WHEN MATCHED THEN DELETE
  WHEN NOT MATCHED AND (SELECT rs.ctid IS NOT NULL) THEN INSERT VALUES (rs.id, (SELECT count(*) FROM rp z WHERE z.tableoid = 'rp1'::regclass));
SELECT *, tableoid::regclass FROM rp ORDER BY id;
MERGE INTO rb USING (SELECT * FROM rs WHERE id < 0) e ON e.id = rb.id WHEN NOT MATCHED THEN INSERT VALUES (e.id, rb.a);
MERGE INTO rb USING rs ON rs.id = rb.id WHEN NOT MATCHED THEN INSERT VALUES (rs.id, (SELECT rb.a));
