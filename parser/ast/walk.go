package ast

// Walk calls f for n and, where f returns true, for the statements, FROM items
// and expressions inside, in the order of the text. Nil nodes are passed over.
func Walk(n Node, f func(Node) bool) {
	w := walker{f}
	switch n := n.(type) {
	case Stmt:
		w.stmt(n)
	case Expr:
		w.expr(n)
	case FromItem:
		w.from(n)
	}
}

type walker struct{ f func(Node) bool }

func (w walker) exprs(l []Expr) {
	for _, x := range l {
		w.expr(x)
	}
}

func (w walker) sorts(l []SortItem) {
	for _, s := range l {
		w.expr(s.X)
	}
}

func (w walker) targets(l []Target) {
	for _, t := range l {
		w.expr(t.X)
	}
}

func (w walker) options(l []Option) {
	for _, o := range l {
		w.expr(o.X)
		w.exprs(o.List)
	}
}

func (w walker) query(q *Select) {
	if q != nil {
		w.stmt(q)
	}
}

func (w walker) typ(t *TypeName) {
	if t != nil {
		w.exprs(t.Mods)
	}
}

func (w walker) window(x *Window) {
	if x == nil {
		return
	}
	w.exprs(x.PartitionBy)
	w.sorts(x.OrderBy)
	if x.Frame != nil {
		w.expr(x.Frame.Start.X)
		w.expr(x.Frame.End.X)
	}
}

func (w walker) expr(x Expr) {
	if x == nil || !w.f(x) {
		return
	}
	switch x := x.(type) {
	case *Unary:
		w.expr(x.X)
	case *Binary:
		w.expr(x.L)
		w.expr(x.R)
	case *And:
		w.exprs(x.Args)
	case *Or:
		w.exprs(x.Args)
	case *Not:
		w.expr(x.X)
	case *Is:
		w.expr(x.X)
	case *Distinct:
		w.expr(x.L)
		w.expr(x.R)
	case *Between:
		w.expr(x.X)
		w.expr(x.Lo)
		w.expr(x.Hi)
	case *In:
		w.expr(x.X)
		w.exprs(x.List)
		w.query(x.Query)
	case *Quantified:
		w.expr(x.L)
		w.expr(x.Array)
		w.query(x.Query)
	case *Exists:
		w.query(x.Query)
	case *Subquery:
		w.query(x.Query)
	case *Case:
		w.expr(x.Operand)
		for _, a := range x.Whens {
			w.expr(a.Cond)
			w.expr(a.Result)
		}
		w.expr(x.Else)
	case *Cast:
		w.expr(x.X)
		w.typ(&x.Type)
	case *Collate:
		w.expr(x.X)
	case *Call:
		w.exprs(x.Args)
		w.sorts(x.OrderBy)
		w.expr(x.Filter)
		w.window(x.Over)
	case *Special:
		w.exprs(x.Args)
	case *Array:
		w.exprs(x.Elems)
	case *Row:
		w.exprs(x.Elems)
	case *Index:
		w.expr(x.X)
		w.expr(x.Lo)
		w.expr(x.Hi)
	case *Field:
		w.expr(x.X)
	}
}

func (w walker) froms(l []FromItem) {
	for _, it := range l {
		w.from(it)
	}
}

func (w walker) from(it FromItem) {
	if it == nil || !w.f(it) {
		return
	}
	switch it := it.(type) {
	case *TableRef:
		if ts := it.Tablesample; ts != nil {
			w.exprs(ts.Args)
			w.expr(ts.Seed)
		}
	case *SubqueryRef:
		w.query(it.Query)
	case *FuncRef:
		for _, c := range it.Calls {
			w.expr(c.X)
			w.colDefs(c.Cols)
		}
		w.colDefs(it.Cols)
	case *Join:
		w.from(it.L)
		w.from(it.R)
		w.expr(it.On)
	}
}

func (w walker) colDefs(l []ColDef) {
	for _, c := range l {
		w.typ(c.Type)
	}
}

func (w walker) with(x *With) {
	if x == nil {
		return
	}
	for _, c := range x.CTEs {
		w.stmt(c.Stmt)
		if c.Cycle != nil {
			w.expr(c.Cycle.Value)
			w.expr(c.Cycle.Default)
		}
	}
}

func (w walker) table(t *TableRef) {
	if t != nil {
		w.from(t)
	}
}

func (w walker) groups(l []GroupItem) {
	for _, g := range l {
		w.exprs(g.Exprs)
		w.groups(g.Sets)
	}
}

func (w walker) assignTargets(l []AssignTarget) {
	for _, t := range l {
		for _, s := range t.Path {
			w.expr(s.Lo)
			w.expr(s.Hi)
		}
	}
}

func (w walker) assigns(l []Assign) {
	for _, a := range l {
		w.assignTargets(a.Targets)
		w.expr(a.X)
	}
}

func (w walker) stmt(s Stmt) {
	if s == nil || !w.f(s) {
		return
	}
	switch s := s.(type) {
	case *Select:
		w.selectStmt(s)
	case *Insert:
		w.with(s.With)
		w.assignTargets(s.Cols)
		w.query(s.Query)
		if oc := s.OnConflict; oc != nil {
			for _, t := range oc.Targets {
				w.expr(t.X)
			}
			w.expr(oc.Where)
			w.assigns(oc.Set)
			w.expr(oc.UpdWhere)
		}
		w.targets(s.Returning)
	case *Update:
		w.with(s.With)
		w.table(s.Table)
		w.assigns(s.Set)
		w.froms(s.From)
		w.expr(s.Where)
		w.targets(s.Returning)
	case *Delete:
		w.with(s.With)
		w.table(s.Table)
		w.froms(s.Using)
		w.expr(s.Where)
		w.targets(s.Returning)
	case *Merge:
		w.with(s.With)
		w.table(s.Table)
		w.from(s.Using)
		w.expr(s.On)
		for _, m := range s.Whens {
			w.expr(m.Cond)
			w.assigns(m.Set)
			w.assignTargets(m.Cols)
			w.exprs(m.Values)
		}
	default:
		w.definition(s)
	}
}

func (w walker) selectStmt(s *Select) {
	w.with(s.With)
	if s.SetOp != nil {
		w.query(s.SetOp.L)
		w.query(s.SetOp.R)
	}
	for _, row := range s.Values {
		w.exprs(row)
	}
	w.exprs(s.DistinctOn)
	w.targets(s.Targets)
	w.froms(s.From)
	w.expr(s.Where)
	w.groups(s.GroupBy)
	w.expr(s.Having)
	for i := range s.Windows {
		w.window(&s.Windows[i])
	}
	w.sorts(s.OrderBy)
	w.expr(s.Limit)
	w.expr(s.Offset)
}

func (w walker) column(c *ColumnDef) {
	if c == nil {
		return
	}
	w.typ(&c.Type)
	for i := range c.Constraints {
		w.constraint(&c.Constraints[i])
	}
}

func (w walker) constraint(c *Constraint) {
	if c == nil {
		return
	}
	w.expr(c.Expr)
	for i := range c.Exclude {
		w.expr(c.Exclude[i].X)
	}
	w.expr(c.Where)
	w.options(c.With)
	w.options(c.SeqOptions)
}

func (w walker) params(l []FuncParam) {
	for i := range l {
		w.typ(&l[i].Type)
		w.expr(l[i].Default)
	}
}

func (w walker) tables(l []TableRef) {
	for i := range l {
		w.from(&l[i])
	}
}

func (w walker) bound(b *PartitionBound) {
	if b != nil {
		w.exprs(b.In)
		w.exprs(b.From)
		w.exprs(b.To)
	}
}

// definition walks the statements that are no queries and change no rows.
func (w walker) definition(s Stmt) {
	switch s := s.(type) {
	case *CreateTable:
		for i := range s.Columns {
			w.column(&s.Columns[i])
		}
		for i := range s.Constraints {
			w.constraint(&s.Constraints[i])
		}
		if k := s.PartitionBy; k != nil {
			for _, e := range k.Elems {
				w.expr(e.X)
			}
		}
		w.bound(s.Bound)
		w.options(s.With)
		w.query(s.As)
		if s.AsExecute != nil {
			w.stmt(s.AsExecute)
		}
	case *CreateIndex:
		for _, e := range s.Elems {
			w.expr(e.X)
		}
		w.options(s.With)
		w.expr(s.Where)
	case *CreateView:
		w.options(s.With)
		w.query(s.Query)
	case *CreateSequence:
		w.options(s.Options)
	case *AlterSequence:
		w.options(s.Options)
	case *CreateSchema:
		for _, e := range s.Elements {
			w.stmt(e)
		}
	case *CreateDatabase:
		w.options(s.Options)
	case *CreateType:
		for i := range s.Columns {
			w.column(&s.Columns[i])
		}
		w.options(s.Options)
	case *CreateDomain:
		w.typ(&s.Type)
		for i := range s.Constraints {
			w.constraint(&s.Constraints[i])
		}
	case *CreateAggregate:
		w.params(s.Params)
		w.params(s.OrderBy)
		w.options(s.Options)
	case *CreateOperator:
		w.options(s.Options)
	case *CreatePolicy:
		w.expr(s.Using)
		w.expr(s.Check)
	case *CreateStatistics:
		w.exprs(s.Exprs)
		w.froms(s.From)
	case *CreateCast:
		w.typ(&s.Source)
		w.typ(&s.Target)
		for i := range s.Args {
			w.typ(&s.Args[i])
		}
	case *CreateFunction:
		w.params(s.Params)
		w.typ(s.Returns)
		w.params(s.RetTable)
		w.options(s.Options)
		for _, b := range s.SQLBody {
			w.stmt(b)
		}
	case *CreateRole:
		w.options(s.Options)
	case *AlterRole:
		w.options(s.Options)
		if s.Set != nil {
			w.stmt(s.Set)
		}
	case *CreateExtension:
		w.options(s.Options)
	case *AlterTable:
		for i := range s.Actions {
			a := &s.Actions[i]
			w.column(a.Column)
			w.constraint(a.Constraint)
			w.typ(a.Type)
			w.expr(a.Using)
			w.expr(a.Expr)
			w.options(a.Options)
			w.bound(a.Bound)
		}
	case *AlterObject:
		w.options(s.Options)
	case *Truncate:
		w.tables(s.Tables)
	case *SetVar:
		w.exprs(s.Values)
	case *Prepare:
		w.stmt(s.Stmt)
	case *Execute:
		w.exprs(s.Args)
	case *Explain:
		w.options(s.Options)
		w.stmt(s.Stmt)
	case *Copy:
		w.stmt(s.Query)
		w.options(s.Options)
		w.expr(s.Where)
	case *DeclareCursor:
		w.query(s.Query)
	case *LockTable:
		w.tables(s.Tables)
	case *Vacuum:
		w.options(s.Options)
	case *CallProc:
		if s.Call != nil {
			w.expr(s.Call)
		}
	}
}
