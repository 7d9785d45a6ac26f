-- The tables of near.sql: 10,000 places, each with its events and their show times
-- stored behind it.
CREATE TABLE geo (poi_id int PRIMARY KEY, latitude float8 NOT NULL, longitude float8 NOT NULL)
  WITH (regions = 'latitude, longitude', region_size = '0.5 x 0.5');
CREATE TABLE event (event_id int PRIMARY KEY, poi_id int NOT NULL REFERENCES geo, event_name text NOT NULL) WITH (cluster_with = 'geo');
CREATE TABLE showtime (event_id int REFERENCES event, start_time timestamp, end_time timestamp NOT NULL, PRIMARY KEY (event_id, start_time))
  WITH (cluster_with = 'event');
INSERT INTO geo SELECT i, 40 + i / 100 * 0.1, 10 + i % 100 * 0.1 FROM generate_series(0, 9999) i;
INSERT INTO event SELECT i, i / 3, 'Event ' || i % 5000 FROM generate_series(0, 29999) i;
INSERT INTO showtime SELECT i / 10, timestamp '2026-11-02 18:00' + (i * 11 % 56) * interval '1 day' + i % 10 * interval '2 hours', timestamp '2026-11-02 20:00'
  FROM generate_series(0, 299999) i ON CONFLICT DO NOTHING;
