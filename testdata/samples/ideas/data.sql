INSERT INTO poi SELECT i, 1, 'place ' || i, 'city ' || i % 50 FROM generate_series(1, 1000) i;
INSERT INTO sale_row SELECT i, i % 7, i % 11, 'note ' || i, repeat('remark ', 10) FROM generate_series(1, 1000) i;
INSERT INTO sale_col SELECT * FROM sale_row;
INSERT INTO sale_grp SELECT * FROM sale_row;
INSERT INTO visit SELECT i, i % 20, i % 20, ARRAY['t' || i % 10, 'u' || i % 8], jsonb_build_object('k' || i % 25, i) FROM generate_series(1, 2000) i;
INSERT INTO profile SELECT id, jsonb_object_agg('k' || i, i), array_agg(i ORDER BY i), hstore(array_agg('k' || i), array_agg(i::text)) FROM generate_series(1, 20) id, generate_series(1, 200) i GROUP BY id;
INSERT INTO ui SELECT 'ui:' || a || ':' || k, 'v' FROM generate_series(1, 100) a, unnest('{language,theme,zoom}'::text[]) k;
INSERT INTO reservation SELECT d * 10 + t, t, date '2026-12-01' + d, 'guest ' || d * 10 + t FROM generate_series(0, 29) d, generate_series(1, 9) t;
INSERT INTO lbs.geo SELECT i, 45 + i % 50 * 0.05, 20 + i / 50 * 0.05 FROM generate_series(1, 2000) i;
INSERT INTO lbs.poi SELECT i, l, 'place ' || i FROM generate_series(1, 2000) i, generate_series(1, 2) l;
-- Made of rows that are there, an inverted index has lists from the beginning.
CREATE INDEX visit_bt ON visit USING btree (n_bt);
CREATE INDEX visit_inv ON visit USING inverted (n_inv);
CREATE INDEX visit_tags ON visit USING gin (tags);
CREATE INDEX visit_j ON visit USING gin (j);
ANALYZE;
