package session

import (
	"context"
	"errors"
	"io"
	"strconv"
	"time"
	"unicode/utf8"

	"kvsqld/catalog"
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
	"kvsqld/executor"
	"kvsqld/executor/expr"
	"kvsqld/parser/ast"
	"kvsqld/planner"
	"kvsqld/planner/plan"
	"kvsqld/storage/kv"
	"kvsqld/wire"
)

const (
	// copyBatchRows is the number of rows that are stored at a time, fewer when
	// their data is longer than copyBatchBytes.
	copyBatchRows  = 2 * copyGroupRows
	copyBatchBytes = 1 << 20
	// copyPatience is how long complete rows wait for more before they are
	// stored: the client of a slow stream learns of a bad row soon.
	copyPatience = 20 * time.Millisecond
)

// copyFrom is COPY table FROM STDIN: it returns the number of rows stored.
func (s *Session) copyFrom(ctx context.Context, x *ast.Copy) (int64, error) {
	if rel, err := s.copyRelation(x.Table); err == nil {
		if _, ok := rel.(*catalog.Table); !ok {
			return 0, s.copyAside(ctx, x, rel)
		}
	}
	t, snap, err := s.copyTarget(ctx, x.Table)
	if err != nil {
		return 0, err
	}
	cols, err := copyColumns(t, x.Cols)
	if err != nil {
		return 0, err
	}
	if err := s.mayCopyInto(t, cols); err != nil {
		return 0, err
	}
	if s.snapshot().SubjectTo(t, s.user) {
		if s.settings.rowSecurityOff {
			return 0, s.snapshot().PoliciesCount(t, s.user)
		}
		return 0, sqlerr.New(sqlerr.FeatureNotSupported, "COPY FROM not supported with row-level security").WithHint("Use INSERT statements instead.")
	}
	if !catalog.IsTempSchema(t.Schema) {
		if err := s.writable("COPY FROM"); err != nil {
			return 0, err
		}
	}
	o, err := parseCopyOptions(x.Options, true, s.settings.enc)
	if err != nil {
		return 0, err
	}
	c, err := s.newCopyIn(ctx, snap, t, cols, o)
	if err != nil {
		return 0, err
	}
	if x.Where != nil {
		if err := c.where(s, snap, x.Where); err != nil {
			return 0, err
		}
	}
	r, done, err := s.copyInput(ctx, x, o.format == copyBinary, len(cols))
	if err != nil {
		return 0, err
	}
	defer done()
	if o.freeze {
		if err := s.mayFreeze(t); err != nil {
			return 0, err
		}
	}
	c.src.room = s.roomFn
	if err := c.load(r); err != nil {
		return 0, err
	}
	if t.Key != nil {
		s.countChanges(c.ins.Changes())
	} else if c.stored > 0 {
		s.countRows(t.OID, c.stored, c.stored)
	}
	return c.stored, nil
}

// copyAside refuses COPY FROM into a relation that is no table, when the data are asked
// for: a client that sends them whatever the answer is, as psql does in scripts, shall
// not have them taken for statements.
func (s *Session) copyAside(ctx context.Context, x *ast.Copy, rel catalog.Relation) error {
	cols, err := copyColumns(rel, x.Cols)
	if err != nil {
		return err
	}
	if err := s.mayCopyInto(rel, cols); err != nil {
		return err
	}
	o, err := parseCopyOptions(x.Options, true, s.settings.enc)
	if err != nil {
		return err
	}
	_, done, err := s.copyInput(ctx, x, o.format == copyBinary, len(cols))
	if err != nil {
		return err
	}
	done()
	return notCopied(rel, "to")
}

// mayFreeze applies PostgreSQL's rule for COPY FREEZE: nobody else can see the
// table's rows yet. Rows here need no freezing, so there is nothing more to do.
func (s *Session) mayFreeze(t *catalog.Table) error {
	if t.Key != nil {
		return sqlerr.New(sqlerr.FeatureNotSupported, "cannot perform COPY FREEZE on a partitioned table")
	}
	for p := range s.portals.all {
		if p.cursor != nil && !p.cursor.held {
			return sqlerr.New(sqlerr.InvalidTransactionState, "cannot perform COPY FREEZE because of prior transaction activity")
		}
	}
	before, saves := s.srv.Catalog.Current(), s.tx.saves
	if len(saves) > 0 {
		before = saves[len(saves)-1].snap
	}
	level, emptied := s.tx.emptied[t.OID]
	if before.Object(t.OID) != nil && !(emptied && level == len(saves)) {
		return sqlerr.New(sqlerr.ObjectNotInPrerequisite, "cannot perform COPY FREEZE because the table was not created or truncated in the current subtransaction")
	}
	return nil
}

// emptied remembers the tables that a TRUNCATE names.
func (s *Session) emptied(x *ast.Truncate) {
	if s.tx.emptied == nil {
		s.tx.emptied = make(map[types.OID]int)
	}
	for i := range x.Tables {
		if r, err := s.copyRelation(&x.Tables[i].Name); err == nil {
			s.tx.emptied[r.ObjectOID()] = len(s.tx.saves)
		}
	}
}

// copyTarget finds and locks the table; its definition is not older than the
// lock (S2).
func (s *Session) copyTarget(ctx context.Context, n *ast.Name) (*catalog.Table, *catalog.Snapshot, error) {
	for {
		if err := executor.Interrupted(ctx); err != nil {
			return nil, nil, err
		}
		snap := s.snapshot()
		rel, err := s.copyRelation(n)
		if err != nil {
			return nil, nil, err
		}
		t, ok := rel.(*catalog.Table)
		if !ok { // since copyAside was asked
			return nil, nil, notCopied(rel, "to")
		}
		tables := []*catalog.Table{t}
		if t.Key != nil {
			tables = snap.Tree(t)
		}
		keys := snap.KeyUses()
		for _, t := range tables {
			if err := s.holdTable(ctx, t, kv.RowExclusive); err != nil {
				return nil, nil, err
			}
			keys.Insert(t)
		}
		for _, u := range keys.List {
			if err := s.holdTable(ctx, u.Table, kv.RowShare); err != nil {
				return nil, nil, err
			}
		}
		if err := s.rebase(); err != nil {
			return nil, nil, err
		}
		if s.snapshot() == snap {
			return t, snap, nil
		}
	}
}

// copyIn is a running COPY FROM. Rows go from the client's bytes into the
// columns' vectors, and from there into the table batch by batch.
type copyIn struct {
	s     *Session
	table *catalog.Table
	opts  *copyOptions
	src   copySource
	lines lineReader
	text  textFields
	csv   csvFields
	bin   binaryFields

	cols     []*copyColumn // as the data has them
	live     []*copyColumn // per live column, nil where the data has none
	defaults []expr.Eval   // per live column, nil where the data has it or NULL serves
	pred     expr.Pred

	env     executor.Env
	exprEnv expr.Env
	ins     *executor.Inserter
	batch   vec.Batch
	numbers []int64  // line of each row of the batch
	raws    [][]byte // text of each row of the batch, nil in the binary format
	column  string   // being read, for errors
	field   []byte
	stored  int64
	rows    int  // that are stored together
	alone   bool // PostgreSQL stores each row before it reads the next one
}

// newCopyIn prepares a load of some columns of a table.
func (s *Session) newCopyIn(ctx context.Context, snap *catalog.Snapshot, t *catalog.Table, cols []int, o *copyOptions) (*copyIn, error) {
	c := &copyIn{s: s, table: t, opts: o, rows: copyBatchRows}
	s.fillEnv(ctx, &c.env, &c.exprEnv, &plannedStmt{q: &plan.Query{Tag: "COPY"}, snap: snap}, nil)
	ex, err := s.tableExprs(t)
	if err != nil {
		return nil, err
	}
	byCol := make(map[int]*copyColumn)
	for _, i := range cols {
		k := s.newCopyColumn(&t.Columns[i])
		byCol[i] = k
		c.cols = append(c.cols, k)
	}
	for _, f := range []struct {
		option string
		names  []string
		set    func(*copyColumn)
	}{
		{"FORCE_NOT_NULL", o.forceNotNull, func(k *copyColumn) { k.notNull = true }},
		{"FORCE_NULL", o.forceNull, func(k *copyColumn) { k.forceNull = true }},
	} {
		list, err := forcedColumns(t, f.option, f.names, cols)
		if err != nil {
			return nil, err
		}
		for _, i := range list {
			f.set(byCol[i])
		}
	}
	c.live, c.defaults = make([]*copyColumn, len(ex.Live)), make([]expr.Eval, len(ex.Live))
	c.batch.Cols = make([]*vec.Vec, len(ex.Live))
	for i, col := range ex.Live {
		if k := byCol[col]; k != nil {
			c.live[i], c.batch.Cols[i] = k, k.v
			continue
		}
		c.batch.Cols[i] = vec.NewConst(types.Null(t.Columns[col].Type))
		if e := ex.Defaults[i]; e != nil {
			if err := s.checkRights(&plan.Query{Calls: ex.DefaultCalls[i]}); err != nil {
				return nil, err
			}
			if c.defaults[i], err = expr.Compile(e); err != nil {
				return nil, err
			}
			c.seesStored(e)
		}
	}
	c.numbers, c.raws = make([]int64, copyBatchRows), make([][]byte, copyBatchRows)
	c.lines = newLineReader(&c.src, o)
	c.text = textFields{delim: o.delim, null: o.null}
	c.csv = csvFields{delim: o.delim, quote: o.quote, escape: o.escape, null: o.null}
	c.bin = binaryFields{src: &c.src}
	c.ins, err = executor.NewInserter(&c.env, t)
	return c, err
}

// where compiles the condition of COPY FROM … WHERE.
func (c *copyIn) where(s *Session, snap *catalog.Snapshot, x ast.Expr) error {
	e, err := planner.ColumnExpr(s.planContext(snap), x, c.table, types.TBool, "COPY FROM WHERE conditions")
	if err != nil {
		return err
	}
	if err := s.checkRights(&plan.Query{Calls: e.Calls}); err != nil {
		return err
	}
	for _, i := range e.Cols {
		if i >= 0 && c.table.Columns[i].Generated {
			return sqlerr.New(sqlerr.InvalidColumnReference, "generated columns are not supported in COPY FROM WHERE conditions").
				WithDetail("Column \"%s\" is a generated column.", c.table.Columns[i].Name)
		}
	}
	c.seesStored(e.X)
	c.pred, err = expr.CompilePredicate(e.X)
	return err
}

// load reads all data of the client and stores its rows.
func (c *copyIn) load(r wire.CopyReader) error {
	c.src.r = r
	if c.opts.format == copyBinary {
		if err := c.opts.binaryText(func(yield func(types.T) bool) {
			for _, k := range c.cols {
				if !yield(k.v.T) {
					return
				}
			}
		}); err != nil {
			return err
		}
		if err := c.bin.header(); err != nil {
			return err
		}
	} else if c.src.enc = c.opts.enc; c.opts.header != headerNone {
		if err := c.headerLine(); err != nil && err != io.EOF {
			return c.located(err)
		}
	}
	for ended := false; !ended; {
		n, err := c.fill()
		if ended = err == io.EOF; err != nil && !ended {
			failed := c.located(err)
			if err := c.s.again(c.env.Ctx, func() error { return c.trace(n, nil) }); err != nil {
				return err
			}
			return failed
		}
		if err := c.s.again(c.env.Ctx, func() error { return c.store(n) }); err != nil {
			return err
		}
		c.src.release()
	}
	if err := c.src.drain(); err != nil {
		return c.located(err)
	}
	return c.ins.Close()
}

// headerLine reads the first line and compares it with the columns if it must
// name them.
func (c *copyIn) headerLine() error {
	line, err := c.lines.next()
	if c.opts.header != headerMatch || err != nil && err != io.EOF {
		return err
	}
	if err == io.EOF { // what has no lines has an empty first one
		c.lines.number, line = 1, []byte{}
	}
	c.numbers[0], c.raws[0] = c.lines.number, line
	fields, err := c.split(line)
	if err != nil {
		return err
	}
	if len(fields) != len(c.cols) {
		return badCopy("wrong number of fields in header line: got %d, expected %d", len(fields), len(c.cols))
	}
	for i, f := range fields {
		got := "\"" + string(f) + "\""
		switch {
		case f == nil:
			got = "null value (\"" + c.opts.null + "\")"
		case string(f) == c.cols[i].name:
			continue
		}
		return badCopy("column name mismatch in header line field %d: got %s, expected \"%s\"", i+1, got, c.cols[i].name)
	}
	return nil
}

func (c *copyIn) split(line []byte) ([][]byte, error) {
	if c.opts.format == copyCSV {
		return c.csv.split(line)
	}
	return c.text.split(line)
}

// fill reads rows into the vectors until there is a batch; the error is io.EOF
// after the last row.
func (c *copyIn) fill() (n int, err error) {
	for _, k := range c.cols {
		k.reset(copyBatchRows)
	}
	c.text.arena.Reset()
	c.csv.arena.Reset()
	for n < c.rows && c.src.pos < copyBatchBytes && (n == 0 || c.src.ready()) {
		c.column, c.field = "", nil
		if c.opts.format == copyBinary {
			err = c.binaryRow(n)
		} else {
			err = c.textRow(n)
		}
		if err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

// textRow reads a row of text or csv into row n of the batch.
func (c *copyIn) textRow(n int) error {
	c.raws[n] = nil
	line, err := c.lines.next()
	c.numbers[n] = c.lines.number
	if err != nil {
		return err
	}
	c.raws[n] = line
	fields, err := c.split(line)
	if err != nil {
		return err
	}
	if len(fields) > len(c.cols) && len(c.cols)+len(line) > 0 {
		return badCopy("extra data after last expected column")
	}
	for i, k := range c.cols {
		if i >= len(fields) {
			return badCopy("missing data for column \"%s\"", k.name)
		}
		f := fields[i]
		switch {
		case f == nil && k.notNull:
			f = []byte(c.opts.null)
		case f != nil && k.forceNull && string(f) == c.opts.null:
			f = nil
		}
		if f == nil {
			k.v.Nulls.Set(n)
			continue
		}
		if err := k.text(n, f); err != nil {
			c.column, c.field = k.name, f
			return err
		}
	}
	return nil
}

// binaryRow reads a row of the binary format into row n of the batch.
func (c *copyIn) binaryRow(n int) error {
	err := c.bin.next(len(c.cols))
	c.numbers[n] = c.bin.row
	if err != nil {
		return err
	}
	for _, k := range c.cols {
		f, err := c.bin.field()
		if err == nil && f != nil {
			err = k.binary(n, f)
		}
		if err != nil {
			c.column = k.name
			return err
		}
		if f == nil {
			k.v.Nulls.Set(n)
		}
	}
	return nil
}

// store completes the first n rows of the vectors and puts them into the table.
func (c *copyIn) store(n int) error {
	if n == 0 {
		return nil
	}
	c.batch.N, c.batch.Sel = n, nil
	err := c.complete(&c.batch)
	if err == nil && c.batch.Rows() > 0 {
		err = c.ins.Insert(&c.batch)
	}
	if err != nil {
		return c.trace(n, err)
	}
	c.stored += int64(c.batch.Rows())
	return nil
}

// complete computes the defaults of rows and leaves those that the condition wants.
func (c *copyIn) complete(b *vec.Batch) error {
	for i, e := range c.defaults {
		if e == nil {
			continue
		}
		v, err := e.Eval(&c.exprEnv, b)
		if err != nil {
			return err
		}
		b.Cols[i] = v
	}
	if c.pred == nil {
		return nil
	}
	return c.pred.Select(&c.exprEnv, b)
}

// located says where in the data an error of reading it is.
func (c *copyIn) located(err error) error {
	number, raw := c.lines.number, []byte(nil)
	if c.opts.format == copyBinary {
		number = c.bin.row
	}
	for i, n := range c.numbers {
		if n == number {
			raw = c.raws[i]
		}
	}
	return c.at(err, number, raw)
}

// copyShown is the number of bytes of the data that an error shows.
const copyShown = 100

// at adds the place to an error, as PostgreSQL's context line.
func (c *copyIn) at(err error, number int64, raw []byte) error {
	var e *sqlerr.Error
	if !errors.As(err, &e) {
		return err
	}
	w := "COPY " + c.table.Name + ", line " + strconv.FormatInt(number, 10)
	shown := raw
	if c.column != "" {
		w += ", column " + c.column
		shown = c.field
	}
	switch {
	case shown != nil:
		w += ": \"" + clip(shown) + "\""
	case c.column != "" && raw != nil:
		w += ": null input"
	}
	out := *e
	if out.Where != "" {
		w = out.Where + "\n" + w
	}
	out.Where = w
	return &out
}

// clip shortens what is too long to be shown.
func clip(b []byte) string {
	if len(b) <= copyShown {
		return string(b)
	}
	end := copyShown
	for end > 0 && !utf8.RuneStart(b[end]) {
		end--
	}
	return string(b[:end]) + "..."
}
