package session

import (
	"context"
	"slices"

	"kvsqld/catalog"
	"kvsqld/catalog/sqlerr"
	"kvsqld/parser/ast"
)

// copyStmt is COPY: between a table, or the rows of a query, and the client.
//
// In: COPY data in text, csv or binary form (copy_lines.go cuts it into lines,
// copy_text.go, copy_csv.go and copy_binary.go into fields, copy_column.go reads
// fields into vectors). Out: the same forms, and the number of rows.
func (s *Session) copyStmt(ctx context.Context, _ *call, x *ast.Copy) (tag string, n int64, err error) {
	if x.Program || x.File != "" {
		if err := s.mayCopyFile(x); err != nil {
			return "", 0, err
		}
	}
	if x.Table != nil {
		if _, err := s.copyRelation(x.Table); err != nil {
			return "", 0, err
		}
	}
	if x.From {
		n, err = s.copyFrom(ctx, x)
		return "COPY", n, err
	}
	o, err := parseCopyOptions(x.Options, false, s.settings.enc)
	if err != nil {
		return "", 0, err
	}
	n, err = s.copyTo(ctx, x, o)
	return "COPY", n, err
}

// copyRelation finds the relation that a COPY names.
func (s *Session) copyRelation(n *ast.Name) (catalog.Relation, error) {
	snap := s.snapshot()
	if schema := n.Schema(); schema != "" {
		if schema == "pg_temp" {
			schema = s.tempName()
		}
		if err := s.usable(schema); err != nil {
			return nil, err
		}
		if r := snap.Relation(s.db, schema, n.Last()); r != nil {
			return r, nil
		}
		if _, ix := snap.IndexByName(s.db, schema, n.Last()); ix != nil {
			return nil, sqlerr.New(sqlerr.WrongObjectType, "\"%s\" is an index", ix.Name)
		}
		if snap.Schema(s.db, schema) == nil {
			return nil, sqlerr.New(sqlerr.InvalidSchemaName, "schema \"%s\" does not exist", schema)
		}
		return nil, sqlerr.New(sqlerr.UndefinedTable, "relation \"%s.%s\" does not exist", schema, n.Last())
	}
	for _, schema := range s.searchPath(true) {
		if r := snap.Relation(s.db, schema, n.Last()); r != nil {
			return r, nil
		}
		if _, ix := snap.IndexByName(s.db, schema, n.Last()); ix != nil {
			return nil, sqlerr.New(sqlerr.WrongObjectType, "\"%s\" is an index", ix.Name)
		}
	}
	return nil, sqlerr.New(sqlerr.UndefinedTable, "relation \"%s\" does not exist", n.Last())
}

// notCopied refuses a relation that is no table; dir is "to" or "from".
func notCopied(r catalog.Relation, dir string) error {
	_, name := r.RelName()
	kind, hint := "system catalog", ""
	switch x := r.(type) {
	case *catalog.View:
		kind = "view"
		if x.Materialized != nil {
			kind = "materialized view"
		}
		if dir == "from" {
			hint = "Try the COPY (SELECT ...) TO variant."
		} else if x.Materialized == nil {
			hint = "To enable copying to a view, provide an INSTEAD OF INSERT trigger."
		}
	case *catalog.Sequence:
		kind = "sequence"
	}
	e := sqlerr.New(sqlerr.WrongObjectType, "cannot copy %s %s \"%s\"", dir, kind, name)
	e.Hint = hint
	return e
}

// copyColumns resolves the column list of COPY to indexes into the relation's
// columns; without one it is all that are not generated.
func copyColumns(r catalog.Relation, names []string) ([]int, error) {
	all := r.RelColumns()
	out := make([]int, 0, len(all))
	if names == nil {
		for i := range all {
			if !all[i].Dropped && !all[i].Generated {
				out = append(out, i)
			}
		}
		return out, nil
	}
	for _, n := range names {
		i, err := copyColumnOf(r, n)
		if err != nil {
			return nil, err
		}
		if slices.Contains(out, i) {
			return nil, sqlerr.New(sqlerr.DuplicateColumn, "column \"%s\" specified more than once", n)
		}
		out = append(out, i)
	}
	return out, nil
}

func copyColumnOf(r catalog.Relation, name string) (int, error) {
	all := r.RelColumns()
	for i := range all {
		if all[i].Dropped || all[i].Name != name {
			continue
		}
		if all[i].Generated {
			return 0, sqlerr.New(sqlerr.InvalidColumnReference, "column \"%s\" is a generated column", name).
				WithDetail("Generated columns cannot be used in COPY.")
		}
		return i, nil
	}
	_, rel := r.RelName()
	return 0, sqlerr.New(sqlerr.UndefinedColumn, "column \"%s\" of relation \"%s\" does not exist", name, rel)
}

// forcedColumns resolves the names of a force option among the columns copied.
func forcedColumns(r catalog.Relation, option string, names []string, cols []int) ([]int, error) {
	var out []int
	for _, n := range names {
		i, err := copyColumnOf(r, n)
		if err != nil {
			return nil, err
		}
		if slices.Contains(out, i) {
			return nil, sqlerr.New(sqlerr.DuplicateColumn, "column \"%s\" specified more than once", n)
		}
		if !slices.Contains(cols, i) {
			return nil, sqlerr.New(sqlerr.InvalidColumnReference, "%s column \"%s\" not referenced by COPY", option, n)
		}
		out = append(out, i)
	}
	return out, nil
}
