package plan

import "strings"

// Shape describes what a plan does, whatever the values of its constants and
// parameters: its operators with their details, in which each part of an expression that
// does not depend on a row is a question mark. Plans of one statement that have the same
// shape read the same files in the same way.
func Shape(q *Query) string {
	x := &explainer{speller: speller{DeparseOptions{Other: valueless}}}
	for _, c := range q.CTEs {
		x.node(c.Plan, 0)
		if c.Step != nil {
			x.node(c.Step, 0)
		}
	}
	x.node(q.Root, 0)
	return strings.Join(x.out, "\n")
}

// valueless is DeparseOptions.Other of a shape.
func valueless(e Expr, _ func(Expr, bool) string) (string, bool) {
	if e == nil {
		return "", false
	}
	fixed := true
	Visit(e, func(x Expr) bool {
		switch x.(type) {
		case *Col, *Var, *SubPlan, *CaseVal:
			fixed = false
		}
		return fixed
	})
	return "?", fixed
}
