package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"kvsqld/catalog"
	"kvsqld/storage/table"
)

func newInspectCmd() *cobra.Command {
	c := &cobra.Command{
		Use:   "inspect [TABLE|INDEX]",
		Short: "Print the keys and values of a table's or index's file, or the totals of all files",
		Args:  cobra.MaximumNArgs(1),
		RunE:  runInspect,
	}
	c.Flags().Int("limit", 10, "entries to print, 0 for all")
	c.Flags().Int("width", 200, "characters to print of a key or value, 0 for all")
	c.Flags().String("database", "postgres", "database of the table")
	return c
}

func runInspect(cmd *cobra.Command, args []string) (err error) {
	l, err := openLocal(cmd, false)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	snap := l.srv.Catalog.Current()
	name, _ := cmd.Flags().GetString("database")
	db := snap.Database(name)
	if db == nil {
		return fmt.Errorf("there is no database %q", name)
	}
	if len(args) == 0 {
		return inspectTotals(cmd, l, db)
	}
	schema, rel, ok := strings.Cut(args[0], ".")
	if !ok {
		schema, rel = "public", args[0]
	}
	var t *catalog.Table
	var ix *catalog.Index
	switch r := snap.Relation(db.OID, schema, rel).(type) {
	case *catalog.Table:
		t = r
	case *catalog.View:
		t = r.Materialized
	default:
		t, ix = snap.IndexByName(db.OID, schema, rel)
	}
	if t == nil {
		return fmt.Errorf("there is no table or index %q in database %q", args[0], name)
	}
	d, err := l.srv.Tables.For(t)
	if err != nil {
		return err
	}
	var o table.InspectOpt
	o.Limit, _ = cmd.Flags().GetInt("limit")
	o.Width, _ = cmd.Flags().GetInt("width")
	if t.Cluster != nil && ix == nil {
		for _, other := range snap.Tables(db.OID) {
			if other.Cluster == nil || other.Space != t.Space || other == t {
				continue
			}
			b, err := l.srv.Tables.For(other)
			if err != nil {
				return err
			}
			o.Beside = append(o.Beside, b)
		}
	}
	s, err := l.store.Snapshot(cmd.Context())
	if err != nil {
		return err
	}
	defer s.Close()
	return d.Inspect(cmd.Context(), s, ix, o, cmd.OutOrStdout())
}

// inspectTotals prints the totals of the database's files and of those that every
// store has.
func inspectTotals(cmd *cobra.Command, l *local, db *catalog.Database) error {
	s, err := l.store.Snapshot(cmd.Context())
	if err != nil {
		return err
	}
	defer s.Close()
	for _, r := range l.srv.Catalog.Current().Relations(db.OID) {
		t, ok := r.(*catalog.Table)
		if v, is := r.(*catalog.View); is && v.Materialized != nil {
			t, ok = v.Materialized, true
		}
		if !ok {
			continue
		}
		d, err := l.srv.Tables.For(t)
		if err != nil {
			return err
		}
		if err := d.Totals(cmd.Context(), s, cmd.OutOrStdout()); err != nil {
			return err
		}
	}
	return table.SystemTotals(cmd.Context(), s, cmd.OutOrStdout())
}
