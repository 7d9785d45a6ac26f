// Package expr compiles bound expressions to vector kernels, and holds the
// implementations of PostgreSQL's functions, operators, casts and aggregates.
//
// In: a plan.Expr whose names and types are resolved. Out: an Eval, which maps
// a batch to one vector; a Pred, which narrows a batch's selection; an
// Aggregator, which folds vectors into groups; or a SetFunc, which yields rows.
//
// The registry is keyed by plan.Call.Proc.Src, PostgreSQL's prosrc. One family
// of functions lives in one file, registered by a function that registry.go
// lists; a function is an ordinary Go function over one row's values, lifted to
// vectors by the adapters of lift.go, unless it is hot enough to have a kernel
// of its own.
//
// Invariants:
//
//	E1 An evaluator never writes to its input: not to the batch, its selection
//	   or its columns. Predicates replace Batch.Sel, they do not edit it.
//	E2 Only selected rows of a result are meaningful; the others, and the
//	   values at NULL rows, may be anything. So a kernel must not fail on them.
//	E3 Strictness is handled in one place, the adapters: bodies of strict
//	   functions see no NULL.
//	E4 A result is valid until the same evaluator runs again, since evaluators
//	   own their scratch memory. They are not safe for concurrent use.
package expr
