\set id random(1, :rows)
SELECT a, b, c, d FROM bench WHERE id = :id;
