-- Events of the week from Monday, 16 November 2026, inside the box around Cluj-Napoca.
SELECT p.poi_name, e.event_name, e.category, s.start_time
FROM geo g
JOIN poi p ON p.poi_id = g.poi_id AND p.language = 1
JOIN showtime s ON s.poi_id = g.poi_id
JOIN event e ON e.event_id = s.event_id
WHERE g.latitude BETWEEN 46.6 AND 46.9
  AND g.longitude BETWEEN 23.4 AND 23.8
  AND s.start_time >= timestamp '2026-11-16' AND s.start_time < timestamp '2026-11-23'
ORDER BY s.start_time, p.poi_name;
