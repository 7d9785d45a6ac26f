package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"kvsqld/catalog"
)

func newInspectCmd() *cobra.Command {
	c := &cobra.Command{
		Use:   "inspect TABLE|INDEX",
		Short: "Print the keys and values of a table's or index's file",
		Args:  cobra.ExactArgs(1),
		RunE:  runInspect,
	}
	c.Flags().Int("limit", 10, "entries to print, 0 for all")
	c.Flags().String("database", "postgres", "database of the table")
	return c
}

func runInspect(cmd *cobra.Command, args []string) (err error) {
	l, err := openLocal(cmd)
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
	limit, _ := cmd.Flags().GetInt("limit")
	s, err := l.store.Snapshot(cmd.Context())
	if err != nil {
		return err
	}
	defer s.Close()
	return d.Inspect(cmd.Context(), s, ix, limit, cmd.OutOrStdout())
}
