// Package planner turns a syntax tree into a plan.
//
// In: an ast statement, a catalog snapshot, the session's search path. Out: a
// plan.Query, or a *sqlerr.Error with SQLSTATE and position.
//
// First the statement is bound (bind*.go): names become range-table entries and
// ordinals, operators and functions are resolved by PostgreSQL's rules, types
// are made to agree. The result is a query of blocks, in which a column is a
// plan.Var: the number of a range-table entry, unique in the statement, and a
// column number. A subquery inside an expression stays a logical query
// (subquery), so that the steps may turn it into a join.
//
// Then each block goes through the paper's five steps (steps.go lists them):
// filter each table, join order, join, GROUP BY, SORT. A step turns a piece of
// the block into plan nodes and says what it chose in the query's notes.
//
// Invariants:
//
//	P1 Vars never leave the planner: every finished plan has only Cols.
//	P2 A range-table entry's number is unique in the statement, so a Var whose
//	   entry is not in the block under planning belongs to an enclosing one.
//	P3 An enclosing block replaces the Vars of its entries in a subquery by
//	   parameters before it plans the subquery.
//	P4 A conjunct is applied exactly once, at the first place where all its
//	   columns are there, and never below the nullable side of an outer join.
package planner
