-- LIMIT and OFFSET that draw from a sequence draw once.
CREATE SEQUENCE ld;
CREATE TABLE lt (a int PRIMARY KEY, b int);
INSERT INTO lt SELECT i, i % 7 FROM generate_series(1, 50) i;
SELECT nextval('ld');
SELECT a FROM lt ORDER BY b, a LIMIT nextval('ld') OFFSET nextval('ld') - 2;
SELECT currval('ld');
SELECT a FROM lt ORDER BY b DESC, a LIMIT (SELECT nextval('ld'));
SELECT currval('ld');
SELECT lt.a, x.n FROM lt LEFT JOIN (SELECT b, count(*) n FROM lt GROUP BY b) x ON x.b = lt.b ORDER BY lt.a LIMIT nextval('ld') - 3;
SELECT currval('ld');
SELECT count(*) FROM (SELECT a FROM lt ORDER BY b OFFSET nextval('ld')) q;
SELECT currval('ld');
