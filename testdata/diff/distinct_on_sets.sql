-- Sets in the select list of DISTINCT ON: with ORDER BY they are those of the first
-- row of each group, without it the rows to choose from.
CREATE TABLE ls (a int, b int, c text);
INSERT INTO ls VALUES (1, 2, 'x'), (1, 1, 'y'), (3, 4, 'z'), (NULL, 5, 'w');
SELECT DISTINCT ON (a) a, generate_series(1, 3) FROM ls ORDER BY a, b;
SELECT DISTINCT ON (a) a, c, generate_series(1, b) AS g FROM ls ORDER BY a, b DESC;
SELECT DISTINCT ON (a) a, c, generate_series(1, b) + 1 AS g, unnest(ARRAY[c, 'q']) FROM ls ORDER BY a, b LIMIT 5;
SELECT DISTINCT ON (a) a, generate_series(1, b), b FROM ls ORDER BY a DESC NULLS LAST, b OFFSET 1 LIMIT 3;
SELECT DISTINCT ON (a) generate_series(1, 2) AS g FROM ls ORDER BY a, b DESC;
SELECT DISTINCT ON (a) a, generate_series(1, 3) FROM ls ORDER BY a, 2 DESC;
SELECT DISTINCT ON (generate_series(1, 2)) a, generate_series(1, 2) FROM ls WHERE a = 3 ORDER BY 2;
SELECT DISTINCT ON (a, sum(b)) a, sum(b), generate_series(1, 2) FROM ls GROUP BY a ORDER BY a, sum(b);
SELECT DISTINCT ON (a) a, row_number() OVER (ORDER BY b), generate_series(1, 2) FROM ls ORDER BY a, b;
SELECT count(*) FROM (SELECT DISTINCT ON (a) a, generate_series(1, 3) FROM ls ORDER BY a, b) s;
DROP TABLE ls;
