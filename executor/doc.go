// Package executor runs plans: one operator per node of planner/plan, all of
// them passing batches of typed columns (catalog/types/vec) upward on demand.
//
// In: a plan.Query, whose expressions are compiled by executor/expr, and a
// transaction of storage/kv that storage/table reads and writes rows through.
// Out: batches of result rows, the number of rows affected, counters.
//
// Invariants, cited in the code by number:
//
//	X1  A batch that Next returns is valid until the next call of Next or Close
//	    of the same operator. Whoever keeps values longer copies them, bytes
//	    included (rowStore does): they may alias the snapshot, an operator's
//	    buffer or an expression's scratch memory.
//	X2  An operator may be opened again after Close. Build compiles once; Open
//	    evaluates what depends on parameters. Apply, subplans and the plan cache
//	    rest on this.
//	X3  Every operator that keeps more than a batch accounts for it (account in
//	    memory.go). Past Env.WorkMem it spills or, where its answer must be in
//	    memory at once, goes on until Memory refuses with 53200.
//	X4  The context is looked at by every leaf and by every operator that loops
//	    without asking a child, at least once per batch.
//	X5  Data-modifying operators read all of their input before the first write,
//	    so a statement never sees its own effects. Where the input does not see them
//	    anyway, or its volatile functions are to, and nothing else of it, it is read
//	    as it is written: its scans read the state before the statement then.
//	X6  Row order is that of the plan: an operator documented in plan/node.go as
//	    keeping order keeps it, also where work is split over goroutines.
package executor
