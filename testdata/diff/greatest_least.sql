CREATE TABLE gl (id int PRIMARY KEY, a int, b bigint, n numeric, m numeric(10, 2), f float8, t text, v varchar(5), d date, ts timestamptz, iv interval, ar int[], j jsonb, u uuid, by bytea, bo bool, bp char(4));
INSERT INTO gl SELECT i, nullif(i % 5, 0), i * 3 - 20, i / 3.0, i * 1.25, sin(i), 't' || i % 7, 'v' || i % 4, date '2020-01-01' + i, timestamptz '2020-01-01 00:00Z' + i * interval '1 hour', i * interval '7 hours', array[i % 3, i], jsonb_build_object('a', i % 4), md5(i::text)::uuid, decode(md5(i::text), 'hex'), i % 2 = 0, 'c' || i % 3 FROM generate_series(1, 30) AS i;
INSERT INTO gl (id) VALUES (99);
SELECT id, greatest(a, b), least(a, b, 5), greatest(n, m, a), least(n, m), greatest(f, 0.5), least('NaN'::float8, f), greatest(f, 'NaN') FROM gl ORDER BY id;
SELECT id, greatest(t, v, 'u'), least(t, v, NULL), greatest(d, '2020-01-15'), least(ts, '2020-01-01 12:00Z'), greatest(iv, '3 days') FROM gl ORDER BY id;
SELECT id, greatest(ar, '{1,5}'), least(j, '{"a": 2}'), greatest(u, '80000000-0000-0000-0000-000000000000'), least(by, '\x80'), greatest(bo, false), least(bp, 'c1', 'c1  '), greatest(NULL, a, NULL), least(NULL::int, NULL) FROM gl ORDER BY id;
SELECT greatest(1.0, 1.00), least(1.00, 1.0), greatest('a '::char(3), 'a'), greatest(1, 2.5, 3::float4), least(interval '30 days', interval '1 month');
SELECT count(*), greatest(max(a), min(id)), sum(least(id, 10)) FROM gl WHERE greatest(id, a) > 4;
DROP TABLE gl;
