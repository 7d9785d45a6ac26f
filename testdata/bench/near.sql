\set lat random(4000, 4990) / 100.0
\set lon random(1000, 1990) / 100.0
SELECT g.poi_id, e.event_name, s.start_time FROM geo g JOIN event e ON e.poi_id = g.poi_id JOIN showtime s ON s.event_id = e.event_id
WHERE s.start_time >= timestamp '2026-11-16' AND s.start_time < timestamp '2026-11-23' AND distance(g.latitude, g.longitude, :lat, :lon) <= 2000;
