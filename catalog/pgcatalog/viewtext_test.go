package pgcatalog

import (
	"testing"

	"kvsqld/catalog"
)

func TestViewsAreLaidOutAsPostgreSQLDoes(t *testing.T) {
	env := testEnv(t)
	for _, tt := range []struct {
		query, want string
		cols        []string
	}{
		{"SELECT o.id, c.email, sum(i.qty * i.price) AS total FROM orders AS o INNER JOIN customers AS c ON c.id = o.customer_id LEFT JOIN shop.items AS i ON i.order_id = o.id GROUP BY o.id, c.email",
			" SELECT o.id,\n    c.email,\n    sum(i.qty * i.price) AS total\n   FROM orders o\n     JOIN customers c ON c.id = o.customer_id\n     LEFT JOIN shop.items i ON i.order_id = o.id\n  GROUP BY o.id, c.email;",
			[]string{"id", "email", "total"}},
		{"SELECT s.id, c.cid FROM (SELECT a, b FROM t) AS s, c AS c(cid) WHERE s.id IS NOT DISTINCT FROM c.cid AND c.x = ' FROM '",
			" SELECT s.id AS p,\n    c.cid AS \"Q\"\n   FROM (SELECT a, b FROM t) s,\n    c c(cid)\n  WHERE s.id IS NOT DISTINCT FROM c.cid AND c.x = ' FROM ';",
			[]string{"p", "Q"}},
		{"SELECT c.id, c.name FROM customers AS c UNION ALL SELECT o.id, 'z' FROM orders AS o ORDER BY 1 LIMIT 5 OFFSET 2",
			" SELECT c.id,\n    c.name\n   FROM customers c\nUNION ALL\n SELECT o.id,\n    'z'\n   FROM orders o\n  ORDER BY 1\n OFFSET 2\n LIMIT 5;",
			[]string{"id", "name"}},
		{"SELECT DISTINCT ON (c.a) count(*), c.b AS x FROM c CROSS JOIN d HAVING count(*) > 1",
			" SELECT DISTINCT ON (c.a) count(*) AS count,\n    c.b AS x\n   FROM c\n     CROSS JOIN d\n HAVING count(*) > 1;",
			[]string{"count", "x"}},
		{"SELECT c.* FROM c", " SELECT c.a,\n    c.b\n   FROM c;", []string{"a", "b"}},
		{"SELECT * FROM c", " SELECT a\n   FROM c;", []string{"a"}},
		{"SELECT c.a FROM public.customers AS c INNER JOIN public.\"Nosuch\" ON c.a = 1, shop.items",
			" SELECT c.a\n   FROM customers c\n     JOIN \"Nosuch\" ON c.a = 1,\n    shop.items;", []string{"a"}},
		{"SELECT c.*, 1 FROM c", " SELECT c.*,\n    1\n   FROM c;", []string{"a", "b", "c"}},
		{"WITH q AS (SELECT 1 AS n) SELECT q.n FROM q", " WITH q AS (SELECT 1 AS n) SELECT q.n FROM q;", []string{"n"}},
		{"VALUES (1, 2)", " VALUES (1, 2);", []string{"column1", "column2"}},
		{"(SELECT 1) UNION (SELECT 2)", " (SELECT 1) UNION (SELECT 2);", []string{"x"}},
		{"SELECT 1 UNION ALL (SELECT 2 EXCEPT SELECT 3)", " SELECT 1 UNION ALL (SELECT 2 EXCEPT SELECT 3);", []string{"x"}},
		{"SELECT (1", " SELECT (1;", []string{"x"}},
	} {
		v := &catalog.View{Query: tt.query}
		for _, c := range tt.cols {
			v.Columns = append(v.Columns, catalog.Column{Name: c})
		}
		if got := env.viewText(v); got != tt.want {
			t.Errorf("%s\n got %s\nwant %s", tt.query, got, tt.want)
		}
	}
}
