-- Defaults and checks that name the sequence of a column of the same table
CREATE TABLE serials (id bigserial PRIMARY KEY, seq serial, x int DEFAULT nextval('serials_id_seq'), y int DEFAULT currval('serials_seq_seq'));
SELECT adnum, pg_get_expr(adbin, adrelid) FROM pg_attrdef WHERE adrelid = 'serials'::regclass ORDER BY adnum;
INSERT INTO serials (y) VALUES (DEFAULT), (7) RETURNING *;
CREATE TABLE serials_2 (x int DEFAULT nextval('serials_2_b_seq'), a int GENERATED ALWAYS AS IDENTITY (SEQUENCE NAME s2 START 5), b serial, c int DEFAULT nextval('s2'));
INSERT INTO serials_2 DEFAULT VALUES RETURNING *;
SELECT pg_get_serial_sequence('serials_2', 'a'), pg_get_serial_sequence('serials_2', 'b');
CREATE TEMP TABLE serials_3 (a serial, b int DEFAULT nextval('serials_3_a_seq'));
INSERT INTO serials_3 DEFAULT VALUES RETURNING *;
ALTER TABLE serials_3 ADD c serial, ADD d int DEFAULT nextval('serials_3_c_seq');
SELECT * FROM serials_3;
CREATE TABLE serials_4 (a serial, b int DEFAULT nextval('nowhere'));
SELECT count(*) FROM pg_class WHERE relname ~ '^serials_4';
DROP TABLE serials, serials_2;
SELECT count(*) FROM pg_class WHERE relname ~ '^serials_' AND relkind = 'S';
