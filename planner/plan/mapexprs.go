package plan

// MapExprs replaces every expression of the node itself (not of its children)
// by f's result.
func MapExprs(n Node, f func(Expr) Expr) {
	one := func(e *Expr) {
		if *e != nil {
			*e = f(*e)
		}
	}
	list := func(l []Expr) {
		for i := range l {
			one(&l[i])
		}
	}
	keys := func(l []SortKey) {
		for i := range l {
			one(&l[i].X)
		}
	}
	agg := func(a *Agg) {
		list(a.Args)
		one(&a.Filter)
		keys(a.OrderBy)
	}
	checks := func(l []RowCheck) {
		for i := range l {
			one(&l[i].Cond)
		}
	}
	parts := func(l []Part) {
		for i := range l {
			for k := range l[i].Keys {
				one(&l[i].Keys[k].X)
			}
		}
	}
	ranges := func(l []KeyRange) {
		for i := range l {
			r := &l[i]
			list(r.Eq)
			one(&r.EqAny)
			one(&r.Elems)
			one(&r.Lo)
			one(&r.Hi)
			one(&r.Like)
			one(&r.Test)
			list(r.LoRest)
			list(r.HiRest)
		}
	}
	switch n := n.(type) {
	case *Scan:
		parts(n.Parts)
		ranges(n.Ranges)
		if n.Tail != nil {
			l := []KeyRange{*n.Tail}
			ranges(l)
			n.Tail = &l[0]
		}
		one(&n.EntryFilter)
		one(&n.Filter)
		one(&n.Limit)
		one(&n.Skip)
		if s := n.Sample; s != nil {
			n.Sample = &Sample{Percent: s.Percent, Seed: s.Seed}
			one(&n.Sample.Percent)
			one(&n.Sample.Seed)
		}
		n.Area.Exprs(one)
		n.Nearest.exprs(one)
	case *ClusterScan:
		n.Area.Exprs(one)
		list(n.Key)
		n.Nearest.exprs(one)
		for i := range n.Levels {
			ranges(n.Levels[i].Ranges)
			one(&n.Levels[i].Filter)
		}
	case *IndexUnion:
		parts(n.Parts)
		one(&n.Filter)
	case *VirtualScan:
		list(n.KeyVals)
		one(&n.Filter)
	case *Values:
		for _, r := range n.Rows {
			list(r)
		}
	case *FuncScan:
		list(n.Funcs)
	case *Append:
		keys(n.Keys)
		if n.Prune != nil {
			n.Prune.Cond.exprs(one)
		}
	case *Project:
		list(n.Exprs)
	case *ProjectSet:
		list(n.Exprs)
	case *Filter:
		one(&n.Cond)
	case *Kept:
		list(n.Keys)
		list(n.Vals)
		one(&n.Cond)
	case *HashJoin:
		list(n.LeftKeys)
		list(n.RightKeys)
		one(&n.Residual)
	case *LookupJoin:
		parts(n.Parts)
		list(n.Keys)
		one(&n.EntryFilter)
		one(&n.Filter)
		one(&n.Residual)
		if t := n.Turn; t != nil {
			list(t.LeftKeys)
			list(t.RightKeys)
			MapExprs(t.Right, f)
		}
	case *MergeJoin:
		list(n.LeftKeys)
		list(n.RightKeys)
		one(&n.Residual)
	case *LoopJoin:
		one(&n.Cond)
	case *Apply:
		for i := range n.Outer {
			one(&n.Outer[i].X)
		}
		one(&n.Cond)
	case *Group:
		list(n.Keys)
		for i := range n.Aggs {
			agg(&n.Aggs[i])
		}
	case *Window:
		list(n.Partition)
		keys(n.OrderBy)
		for i := range n.Funcs {
			agg(&n.Funcs[i].Agg)
			one(&n.Funcs[i].Frame.Start)
			one(&n.Funcs[i].Frame.End)
		}
		one(&n.Stop)
	case *Sort:
		keys(n.Keys)
		one(&n.Limit)
		one(&n.Offset)
	case *Limit:
		one(&n.Count)
		one(&n.Offset)
		keys(n.TieKeys)
	case *Insert:
		list(n.Returning)
		checks(n.Checks)
		if c := n.OnConflict; c != nil {
			list(c.Set)
			one(&c.Where)
			checks(c.Existing)
			checks(c.Checks)
		}
	case *Update:
		parts(n.Parts)
		list(n.Returning)
		checks(n.Checks)
	case *Delete:
		list(n.Returning)
	case *Merge:
		for i := range n.Whens {
			one(&n.Whens[i].Cond)
			list(n.Whens[i].Values)
			checks(n.Whens[i].Existing)
			checks(n.Whens[i].Checks)
		}
	}
}

// MapInputs replaces the inputs of a node that only reads by f's results.
func MapInputs(n Node, f func(Node) Node) {
	switch n := n.(type) {
	case *Project:
		n.Input = f(n.Input)
	case *ProjectSet:
		n.Input = f(n.Input)
	case *Filter:
		n.Input = f(n.Input)
	case *HashJoin:
		n.Left, n.Right = f(n.Left), f(n.Right)
	case *LookupJoin:
		n.Left = f(n.Left)
	case *MergeJoin:
		n.Left, n.Right = f(n.Left), f(n.Right)
	case *LoopJoin:
		n.Left, n.Right = f(n.Left), f(n.Right)
	case *Apply:
		n.Left, n.Right = f(n.Left), f(n.Right)
	case *Group:
		n.Input = f(n.Input)
	case *Distinct:
		n.Input = f(n.Input)
	case *Window:
		n.Input = f(n.Input)
	case *Sort:
		n.Input = f(n.Input)
	case *Limit:
		n.Input = f(n.Input)
	case *Append:
		for i, in := range n.Inputs {
			n.Inputs[i] = f(in)
		}
	case *SetOp:
		n.Left, n.Right = f(n.Left), f(n.Right)
	}
}
