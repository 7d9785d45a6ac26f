\set x random(0, 90)
\set y random(0, 90)
SELECT id, name FROM place WHERE x BETWEEN :x AND :x + 5 AND y BETWEEN :y AND :y + 1;
