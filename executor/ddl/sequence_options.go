package ddl

import (
	"slices"
	"strings"

	"kvsqld/catalog"
	"kvsqld/catalog/sqlerr"
	"kvsqld/parser/ast"
	"kvsqld/planner"
)

// sequenceOptions reads the options of a sequence.
func (x *exec) sequenceOptions(s *catalog.SequenceSpec, opts []ast.Option) error {
	seen := map[string]bool{}
	for i := range opts {
		o := &opts[i]
		what := strings.TrimPrefix(o.Name, "no ")
		if seen[what] {
			return redundant(o)
		}
		seen[what] = true
		val := func(dst **int64) error {
			v, err := optionInt(o)
			if err == nil {
				*dst = &v
			}
			return err
		}
		var err error
		switch o.Name {
		case "as":
			t, e := planner.ResolveType(x.Planner(), optionType(o))
			if e != nil {
				return e
			}
			s.Type = t
		case "increment":
			if err = val(&s.Inc); err == nil && *s.Inc == 0 {
				err = sqlerr.New(sqlerr.InvalidParameterValue, "INCREMENT must not be zero")
			}
		case "minvalue":
			err = val(&s.Min)
		case "maxvalue":
			err = val(&s.Max)
		case "no minvalue":
			s.Min = nil
		case "no maxvalue":
			s.Max = nil
		case "start":
			err = val(&s.Start)
		case "restart":
			if o.X != nil {
				err = val(&s.Restart)
			}
		case "cache":
			err = val(&s.Cache)
		case "cycle":
			s.Cycle = o.X == nil || optionText(o) == "true"
		case "no cycle":
			s.Cycle = false
		case "sequence_name":
			s.Name = optionText(o)
			if ref, ok := o.X.(*ast.ColumnRef); ok {
				s.Name = ref.Parts[len(ref.Parts)-1]
				if len(ref.Parts) > 1 {
					s.Schema = ref.Parts[len(ref.Parts)-2]
				}
			}
		case "owned_by", "owned by":
			if optionText(o) == "none" {
				continue
			}
			if err = x.ownedBy(s, o); err != nil {
				return err
			}
		default:
			err = sqlerr.Unsupported(o.Pos(), "sequence option %s", o.Name)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func optionType(o *ast.Option) *ast.TypeName {
	if c, ok := o.X.(*ast.Cast); ok {
		return &c.Type
	}
	return &ast.TypeName{Off: ast.Off(o.X.Pos()), Name: ast.Name{Off: ast.Off(o.X.Pos()), Parts: strings.Split(optionText(o), ".")}}
}

func (x *exec) ownedBy(s *catalog.SequenceSpec, o *ast.Option) error {
	parts := strings.Split(optionText(o), ".")
	if len(parts) < 2 {
		return sqlerr.New(sqlerr.SyntaxError, "invalid OWNED BY option").WithHint("Specify OWNED BY table.column or OWNED BY NONE.")
	}
	n := len(parts) - 1
	t, err := x.ownerOfSequence(&ast.Name{Off: o.Off, Parts: parts[:n]})
	if err != nil {
		return err
	}
	switch {
	case t.Owner != s.Owner:
		return sqlerr.New(sqlerr.ObjectNotInPrerequisite, "sequence must have same owner as table it is linked to")
	case t.Schema != s.Schema:
		return sqlerr.New(sqlerr.ObjectNotInPrerequisite, "sequence must be in same schema as table it is linked to")
	}
	c := t.Col(parts[n])
	if c < 0 {
		return sqlerr.New(sqlerr.UndefinedColumn, "column \"%s\" of relation \"%s\" does not exist", parts[n], t.Name)
	}
	s.OwnerTable, s.OwnerCol = t.OID, c
	return nil
}

// ownerOfSequence returns the table that may own a sequence.
func (x *exec) ownerOfSequence(n *ast.Name) (*catalog.Table, error) {
	r, kind := x.lookup(n), ""
	switch r := r.(type) {
	case *catalog.Table:
		return r, nil
	case *catalog.View:
		return nil, sqlerr.Unsupported(n.Pos(), "a sequence owned by a view")
	case *catalog.Virtual: // in a schema that no sequence can be in
		return nil, sqlerr.New(sqlerr.ObjectNotInPrerequisite, "sequence must be in same schema as table it is linked to")
	case *catalog.Sequence:
		kind = "sequences"
	case nil:
		if x.findIndex(n) != nil || systemIndex(n) {
			kind = "indexes"
		} else if x.composite(n) != nil {
			kind = "composite types"
		}
	}
	if kind != "" {
		return nil, sqlerr.New(sqlerr.WrongObjectType, "sequence cannot be owned by relation \"%s\"", n.Last()).
			WithDetail("This operation is not supported for %s.", kind)
	}
	t, err := x.findTable(n)
	return t, withoutPosition(err)
}

// systemIndex reports whether a name stands for an index of a system relation.
func systemIndex(n *ast.Name) bool {
	return (n.Schema() == "" || n.Schema() == catalog.SchemaPgCatalog) &&
		slices.ContainsFunc(catalog.SystemIndexes(), func(ix catalog.SystemIndex) bool { return ix.Name == n.Last() })
}
