package main

import (
	"fmt"
	"strings"
)

// viewsOfShapes returns views over a table of nearly every form that a query can have.
// Their texts are what the catalog keeps and what a difference compares.
func (g *schemaGen) viewsOfShapes(tables []string) (out []string) {
	shapes := []string{
		"%[1]s (x) AS VALUES (1), (2)",
		"%[1]s (x, y) AS VALUES (1, 'it''s'), (NULL, E'back\\\\slash')",
		"%[1]s AS VALUES (1, now(), '{}'::int[]) ORDER BY 1 LIMIT 1",
		"%[1]s AS SELECT k FROM %[2]s UNION ALL VALUES (1), (2) ORDER BY 1 DESC NULLS LAST",
		"%[1]s AS (SELECT k FROM %[2]s EXCEPT SELECT 3) INTERSECT (SELECT 1 UNION SELECT 2 LIMIT 1)",
		"%[1]s (x) AS WITH RECURSIVE r (n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM r WHERE n < 5) SELECT n FROM r",
		"%[1]s AS WITH w AS MATERIALIZED (SELECT k FROM %[2]s) SELECT w.k, x.k AS \"other K\" FROM w JOIN w AS x USING (k)",
		"%[1]s AS SELECT a.k, l.n FROM %[2]s a CROSS JOIN LATERAL (SELECT count(*) AS n FROM %[2]s b WHERE b.k > a.k) l",
		"%[1]s AS SELECT k, b.%[3]s AS other FROM %[2]s a FULL JOIN %[2]s b USING (k)",
		"%[1]s AS SELECT * FROM (%[2]s a NATURAL JOIN %[2]s b) AS j",
		"%[1]s AS SELECT k, row_number() OVER w AS r, sum(k) FILTER (WHERE k > 1) OVER (w ROWS BETWEEN 1 PRECEDING AND CURRENT ROW EXCLUDE TIES) FROM %[2]s WINDOW w AS (ORDER BY k DESC)",
		"%[1]s AS SELECT DISTINCT ON (k) k, %[3]s FROM %[2]s ORDER BY k, %[3]s DESC OFFSET 1",
		"%[1]s AS SELECT grouping(k) AS g, k, count(*) FILTER (WHERE k <> 2), percentile_disc(0.5) WITHIN GROUP (ORDER BY k) FROM %[2]s GROUP BY ROLLUP (k) HAVING count(*) > 0",
		"%[1]s AS SELECT a AS whole, (a).k, a.*::text AS txt FROM %[2]s a",
		"%[1]s AS SELECT CASE k WHEN 1 THEN 'one' ELSE 'more' END AS c, ARRAY(SELECT k FROM %[2]s) AS l, EXISTS (SELECT FROM %[2]s) AS e, k = ANY ('{1,2}') AS y, (k, 1) < (2, 3) AS z FROM %[2]s",
		"%[1]s AS SELECT o, n, x FROM ROWS FROM (generate_series(1, 2), unnest('{a,b}'::text[])) WITH ORDINALITY AS f (o, n, x)",
		"%[1]s AS SELECT * FROM json_to_recordset('[{\"a\": 1}]') AS j (a int, b text COLLATE \"C\")",
		"%[1]s AS SELECT extract(year FROM now()), now() AT TIME ZONE 'UTC' AS u, interval '1 day' * k AS i, k::numeric(9,2) AS n, position('b' IN 'abc'), trim(both 'x' FROM 'xax') FROM %[2]s TABLESAMPLE system (50) REPEATABLE (1)",
		"%[1]s AS SELECT k, coalesce(k, 0) AS c, nullif(k, 1), greatest(k, 2), k IS DISTINCT FROM 3 AS d, k BETWEEN 1 AND 5 AS b, 'a' LIKE 'b' ESCAPE '!' AS l, current_user AS u FROM %[2]s FOR UPDATE SKIP LOCKED",
	}
	for i := range len(tables) {
		if !g.chance("shape", 2) {
			continue
		}
		kind, name := g.pick("kind of view", "VIEW", "VIEW", "MATERIALIZED VIEW"), fmt.Sprintf("shape%d", i)
		t := g.pick("table of the view", tables...)
		out = append(out, "CREATE "+kind+" "+strings.NewReplacer("%[1]s", name, "%[2]s", t, "%[3]s", g.pick("column", g.names...)).Replace(g.pick("shape of the view", shapes...)))
		switch g.pick("change of the view", "", "column", "comment", "reader", "renamed table") {
		case "column":
			out = append(out, "ALTER "+kind+" "+name+" RENAME COLUMN k TO \"a Key\"")
		case "comment":
			out = append(out, "COMMENT ON "+kind+" "+name+" IS 'of a shape'", "COMMENT ON COLUMN "+name+".k IS E'a\\nkey'")
		case "reader":
			out = append(out, "CREATE VIEW \"Reader"+name+"\" AS SELECT * FROM "+name+" AS \"Some\"")
		case "renamed table":
			out = append(out, "ALTER TABLE "+t+" RENAME COLUMN "+g.pick("column", g.names...)+" TO \"Now ''\"\"so\"")
		}
	}
	return out
}
