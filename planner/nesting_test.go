package planner

import (
	"strings"
	"testing"
)

// TestNestingPlansInPolynomialTime plans each way of nesting so deep that whoever
// looks at an inner query or expression twice would never come to an end.
func TestNestingPlansInPolynomialTime(t *testing.T) {
	c := testContext(t)
	const deep = 60
	nest := func(before, middle, after string) string {
		return strings.Repeat(before, deep) + middle + strings.Repeat(after, deep)
	}
	for _, sql := range []string{
		"SELECT " + nest("(SELECT ", "1", ")"),
		"SELECT " + nest("1 + (SELECT ", "x", " FROM (SELECT 1 x) y)") + " FROM (SELECT 1 x) y",
		"SELECT 1 WHERE " + nest("EXISTS (SELECT 1 WHERE ", "true", ")"),
		"SELECT 1 WHERE " + nest("NOT EXISTS (SELECT 1 WHERE ", "true", ")"),
		"SELECT 1 WHERE " + nest("1 IN (SELECT 1 WHERE ", "true", ")"),
		"SELECT a FROM t WHERE " + nest("a = ANY (SELECT a FROM t WHERE ", "true", ")"),
		"SELECT * FROM " + nest("(SELECT * FROM ", "t", " WHERE a = 1) x"),
		"SELECT a FROM " + nest("(SELECT max(a) AS a FROM ", "t", ") x"),
		nest("(SELECT 1 UNION ", "SELECT 1", ")"),
		nest("WITH q AS (", "SELECT 1 AS a", ") SELECT * FROM q"),
		"VALUES (" + nest("(VALUES (", "1", "))") + ")",
		"SELECT 1 ORDER BY " + nest("(SELECT 1 ORDER BY ", "1", ")"),
		"SELECT 1 LIMIT " + nest("(SELECT 1 LIMIT ", "1", ")"),
		"SELECT 1 HAVING " + nest("(SELECT count(*) FROM (SELECT 1 HAVING ", "true", ") x) = 1"),
		"SELECT " + nest("nullif(", "1", ", 2)"),
		"SELECT " + nest("coalesce(", "'1'", ", '2')"),
		"SELECT " + nest("CASE WHEN (SELECT true) THEN ", "1", " END"),
		"SELECT " + nest("abs(", "a", ")") + " FROM t",
		"SELECT " + nest("(", "c", " || 'x')") + " FROM t",
		"SELECT a FROM t WHERE " + nest("(a = 1 OR (b = 2 AND ", "true", "))"),
	} {
		if _, err := planSQL(t, c, sql); err != nil {
			t.Errorf("%s…: %v", sql[:50], err)
		}
	}
}
