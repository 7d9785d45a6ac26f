-- Numbers and truth values that are read from text, of jsonb and else.
CREATE TABLE tn (id int PRIMARY KEY, t text, j jsonb);
INSERT INTO tn VALUES (1, '12', '{"a": 12, "b": "x", "c": null, "": 1}'), (2, '-5', '{"a": "-5", "b": "", "t": true}'), (3, NULL, NULL),
  (4, '007', '{"a": 1.50, "b": {"a": [1, 2]}}'), (5, '0', '[1, 2]'), (6, ' 8 ', '{"a": "\u00e9\n", "ab": 3}'), (7, '+9', '"a"'), (8, '-0', '{}');
SELECT id, t::int, t::smallint, t::bigint FROM tn ORDER BY id;
SELECT id, j->'a', j->>'a', j->'b', j->>'b', j->>'c', j->>'', j->'ab' FROM tn ORDER BY id;
SELECT id, (j->>'a')::numeric, (j->'b'->>'a') IS NULL FROM tn WHERE id < 5 ORDER BY id;
SELECT sum((j->>'a')::int) FROM tn WHERE id < 4;
SELECT (j->>'a')::int FROM tn WHERE id = 4;
SELECT (j->>'t')::bool, (j->>'b')::bool FROM tn WHERE id = 2;
SELECT (j->>'t')::bool, count(*) FROM tn GROUP BY 1 ORDER BY 1;
SELECT x, x::bool FROM unnest(ARRAY['t', 'f', 'true', 'false', 'TRUE', 'yes', 'off', '1', '0', ' t ', 'fal']) x;
SELECT x::bool FROM unnest(ARRAY['t', 'maybe']) x;
SELECT x::smallint FROM unnest(ARRAY['32767', '-32768']) x;
SELECT x::smallint FROM unnest(ARRAY['32768']) x;
SELECT x::int FROM unnest(ARRAY['2147483647', '-2147483648', '000000000000000000000000012']) x;
SELECT x::int FROM unnest(ARRAY['2147483648']) x;
SELECT x::bigint FROM unnest(ARRAY['9223372036854775807', '-9223372036854775808', '999999999999999999', '1000000000000000000']) x;
SELECT x::bigint FROM unnest(ARRAY['9223372036854775808']) x;
SELECT x::int FROM unnest(ARRAY['1', '']) x;
SELECT x::int FROM unnest(ARRAY['1', '-']) x;
SELECT x::int FROM unnest(ARRAY['1', '1.0']) x;
SELECT j->(t || '') FROM tn ORDER BY id;
SELECT array_to_string(ARRAY[1, NULL, 3], ','), array_to_string(ARRAY['a', NULL, ''], '-', '*'), array_to_string('{}'::int[], ','), array_to_string(ARRAY[[1, 2], [3, 4]], ' '), array_to_string(NULL::int[], ',');
