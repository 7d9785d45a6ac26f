-- Every place is a point of interest with a name in one or two languages.
INSERT INTO geo SELECT city_id, latitude, longitude FROM city;

INSERT INTO poi
  SELECT city_id, 1, substring(name FROM 1 FOR 100), feature_code, substring(name FROM 1 FOR 100) FROM city;
INSERT INTO poi
  SELECT city_id, 2, substring(alt_name FROM 1 FOR 100), feature_code, substring(name FROM 1 FOR 100)
  FROM city WHERE alt_name IS NOT NULL AND alt_name <> '' AND alt_name <> name;

-- 500 events in five categories.
INSERT INTO event
  SELECT i, 'Event ' || i, 1 + i % 2, (ARRAY['concert', 'cinema', 'theatre', 'sport', 'fair'])[1 + i % 5]
  FROM generate_series(1, 500) AS i;

-- Three show times a place, spread over eight weeks from Monday, 2 November 2026.
INSERT INTO showtime
  SELECT city_id,
         1 + (city_id * 7 + k * 131) % 500,
         timestamp '2026-11-02 18:00' + ((city_id * 3 + k * 19) % 56) * interval '1 day' + (k * 2) * interval '1 hour',
         timestamp '2026-11-02 18:00' + ((city_id * 3 + k * 19) % 56) * interval '1 day' + (k * 2 + 2) * interval '1 hour'
  FROM city, generate_series(0, 2) AS k;

DROP TABLE city;
ANALYZE;
