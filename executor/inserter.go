package executor

import (
	"kvsqld/catalog"
	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
	"kvsqld/planner/plan"
	"kvsqld/storage/table"
)

// Inserter stores rows in one table without a plan, as COPY does: generated
// columns, NOT NULL, CHECK, unique and foreign keys as for INSERT. It belongs to
// one statement, whose Env it keeps.
type Inserter struct {
	run     *Run
	w       *tableWriter
	members *members // of a partitioned table, else nil
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
	in := &Inserter{run: r, w: w}
	if t.Partitioned() {
		if in.members, err = r.newMembers(t); err != nil {
			return nil, err
		}
	}
	return in, nil
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
	if in.members != nil {
		return wrapErr(env.Ctx, in.insertParts(b))
	}
	rows, err := in.w.complete(b)
	if err == nil {
		_, err = in.w.insert(rows, table.InsertOpt{})
	}
	return wrapErr(env.Ctx, err)
}

// Check is the part of Insert that looks at each row by itself, before it is stored:
// its partition, NOT NULL, CHECK and what generated columns and domains compute.
func (in *Inserter) Check(b *vec.Batch) error {
	var err error
	if in.members != nil {
		err = in.members.insert(b, false, func(*member, *vec.Batch) error { return nil })
	} else {
		_, err = in.w.complete(b)
	}
	return wrapErr(in.run.env.Ctx, err)
}

// insertParts stores rows in the partitions that they belong to.
func (in *Inserter) insertParts(b *vec.Batch) error {
	mark := in.run.env.Txn.Savepoint()
	err := in.members.insert(b, false, func(x *member, rows *vec.Batch) error {
		_, err := x.w.insert(rows, table.InsertOpt{})
		in.run.count(x.w.table, RowChange{Inserted: int64(rows.Rows())})
		return err
	})
	if err != nil {
		in.run.env.Txn.RollbackTo(mark)
	}
	return err
}

// Changes returns how many rows were stored in each partition; nil for other
// tables.
func (in *Inserter) Changes() map[types.OID]RowChange { return in.run.Changes() }

// Close ends the statement: it runs the checks of foreign keys, or leaves them
// for the end of the transaction where they are deferred.
func (in *Inserter) Close() error {
	return wrapErr(in.run.env.Ctx, in.run.fks.finish(in.run.env))
}
