-- An identity column can own an ordinary sequence, too.
CREATE TABLE own_t (k int GENERATED ALWAYS AS IDENTITY, v int);
CREATE SEQUENCE own_o OWNED BY own_t.k;
SELECT pg_get_serial_sequence('own_t', 'k');
ALTER SEQUENCE own_o OWNED BY NONE;
ALTER SEQUENCE own_o OWNED BY own_t.k;
ALTER SEQUENCE own_o OWNED BY own_t.v;
SELECT pg_get_serial_sequence('own_t', 'v');
ALTER SEQUENCE own_o OWNED BY own_t.k;
ALTER SEQUENCE own_t_k_seq OWNED BY NONE;
ALTER SEQUENCE own_t_k_seq OWNED BY own_t.v;
DROP SEQUENCE own_t_k_seq;
ALTER TABLE own_t ALTER k DROP IDENTITY;
SELECT relname FROM pg_class WHERE relname IN ('own_o', 'own_t_k_seq');
DROP TABLE own_t;
SELECT relname FROM pg_class WHERE relname IN ('own_o', 'own_t_k_seq');
