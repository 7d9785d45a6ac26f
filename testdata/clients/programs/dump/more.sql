CREATE TABLE one (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, a text, b jsonb, c numeric(10,2), d timestamptz DEFAULT '2024-01-01 00:00:00+00', e bytea, f float8, g int[], h date);
INSERT INTO one (a, b, c, e, f, g, h) VALUES ('tab	and \ and
newline', '{"a": [1, null]}', 1.50, '\x00ff', 1e-300, '{1,NULL}', 'infinity'), (NULL, NULL, NULL, NULL, 'NaN', NULL, '0001-01-01 BC'), ('', 'null', -0.01, '', '-Infinity', '{}', NULL), ('é', '"x"', 0, NULL, 0.1, '{{1},{2}}', '2024-02-29');
CREATE TABLE one_more (LIKE one INCLUDING ALL EXCLUDING IDENTITY, one_id int REFERENCES one ON UPDATE CASCADE ON DELETE SET NULL);
