package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"kvsqld/catalog"
	"kvsqld/storage"
	"kvsqld/storage/table"
)

func newCheckCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "check [BACKUP]",
		Short: "Verify that rows, indexes, files and catalog agree",
		Long: "Verify that every index entry has its row and every row its entries, that all pages, keys\n" +
			"and values decode and have their checksum, and that catalog and files agree: in the data\n" +
			"directory, or in a backup, which is restored to a temporary directory for that.",
		Args: cobra.MaximumNArgs(1),
		RunE: runCheck,
	}
}

func runCheck(cmd *cobra.Command, args []string) (err error) {
	if len(args) == 1 {
		dir, err := os.MkdirTemp("", "kvsqld-check-")
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
		_, err = restoreInto(cmd.Context(), cmd.OutOrStdout(), args[0], storage.Options{Dir: dir, NoSync: true})
		return err
	}
	l, err := openLocal(cmd, false)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	return l.check(cmd.Context(), cmd.OutOrStdout())
}

// check verifies the whole store; out gets a line for each fault, and one at
// the end if there is none.
func (l *local) check(ctx context.Context, out io.Writer) error {
	tables := storedTables(l.srv.Catalog.Current())
	faults := 0
	report := func(text string) {
		faults++
		fmt.Fprintln(out, text)
	}
	if err := l.store.Check(ctx, report); err != nil {
		return err
	}
	s, err := l.store.Snapshot(ctx)
	if err != nil {
		return err
	}
	defer s.Close()
	problem := func(p table.Problem) { report(p.String()) }
	if err := l.srv.CheckTables(ctx, s, tables, problem); err != nil {
		return err
	}
	if err := l.srv.Tables.CheckFiles(ctx, tables, problem); err != nil {
		return err
	}
	if faults > 0 {
		return fmt.Errorf("%d faults found", faults)
	}
	fmt.Fprintf(out, "%d tables checked, no faults\n", len(tables))
	return nil
}

// storedTables lists the tables with files of all databases.
func storedTables(snap *catalog.Snapshot) []*catalog.Table {
	var tables []*catalog.Table
	for _, db := range snap.Databases() {
		if metadata, pages := snap.LargeObjects(db.OID); metadata != nil {
			tables = append(tables, metadata, pages)
		}
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
	return tables
}
