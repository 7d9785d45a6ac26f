package executor

import (
	"kvsqld/catalog"
	"kvsqld/catalog/types/vec"
	"kvsqld/planner/plan"
	"kvsqld/storage/table"
)

// Inserter stores rows in one table without a plan, as COPY does: generated
// columns, NOT NULL, CHECK, unique and foreign keys as for INSERT. It belongs to
// one statement, whose Env it keeps.
type Inserter struct {
	run *Run
	w   *tableWriter
}

// NewInserter returns an inserter for the table. The caller has locked the table.
func NewInserter(env *Env, t *catalog.Table) (*Inserter, error) {
	r := &Run{query: &plan.Query{}, env: env}
	r.build = &builder{run: r}
	r.attach(env)
	w, err := r.writer(t)
	if err != nil {
		return nil, err
	}
	return &Inserter{run: r, w: w}, nil
}

// Insert stores the selected rows of a batch of the table's live columns, in
// order; what it has for generated columns is not read. The batch may have more
// than vec.BatchSize rows. After an error nothing of the batch is stored, so that
// the caller may look for the row at fault by giving them one by one.
func (in *Inserter) Insert(b *vec.Batch) error {
	env := in.run.env
	if err := ctxErr(env.Ctx); err != nil {
		return err
	}
	rows, err := in.w.complete(b)
	if err == nil {
		_, err = in.w.insert(rows, table.InsertOpt{})
	}
	return wrapErr(env.Ctx, err)
}

// Close ends the statement: it runs the checks of foreign keys, or leaves them
// for the end of the transaction where they are deferred.
func (in *Inserter) Close() error {
	return wrapErr(in.run.env.Ctx, in.run.fks.finish(in.run.env))
}
