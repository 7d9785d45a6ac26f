package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"kvsqld/catalog"
	"kvsqld/storage/table"
)

func newCheckCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "check",
		Short: "Verify that rows, indexes, files and catalog agree",
		Long: "Verify that every index entry has its row and every row its entries, that all keys and\n" +
			"values decode and have their checksum, and that catalog and files agree.",
		Args: cobra.NoArgs,
		RunE: runCheck,
	}
}

func runCheck(cmd *cobra.Command, _ []string) (err error) {
	l, err := openLocal(cmd)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	snap := l.srv.Catalog.Current()
	var tables []*catalog.Table
	for _, db := range snap.Databases() {
		for _, r := range snap.Relations(db.OID) {
			switch r := r.(type) {
			case *catalog.Table:
				tables = append(tables, r)
			case *catalog.View:
				if r.Materialized != nil {
					tables = append(tables, r.Materialized)
				}
			}
		}
	}
	out, faults := cmd.OutOrStdout(), 0
	report := func(text string) {
		faults++
		fmt.Fprintln(out, text)
	}
	if err := l.store.Check(cmd.Context(), report); err != nil {
		return err
	}
	s, err := l.store.Snapshot(cmd.Context())
	if err != nil {
		return err
	}
	defer s.Close()
	if err := l.srv.Tables.Check(cmd.Context(), s, tables, func(p table.Problem) { report(p.String()) }); err != nil {
		return err
	}
	if faults > 0 {
		return fmt.Errorf("%d faults found", faults)
	}
	fmt.Fprintf(out, "%d tables checked, no faults\n", len(tables))
	return nil
}
