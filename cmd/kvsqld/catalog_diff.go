package main

import (
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"kvsqld/catalog"
	"kvsqld/catalog/diff"
	"kvsqld/catalog/types"
)

func newCatalogDiffCmd() *cobra.Command {
	c := &cobra.Command{
		Use:   "diff OLD.xml NEW.xml",
		Short: "Print the DDL that turns one schema into another",
		Long: "Print the DDL that turns the schema of OLD.xml into that of NEW.xml: a script for\n" +
			"kvsqld load or psql --single-transaction. Rows stay where tables and columns keep\n" +
			"their names. What no DDL can do is an error.",
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			db, _ := cmd.Flags().GetString("database")
			return diffFiles(args[0], args[1], db, cmd.OutOrStdout())
		},
	}
	c.Flags().String("database", "", "database to compare, where the documents have several")
	return c
}

// diffFiles compares two documents and prints the statements.
func diffFiles(oldFile, newFile, database string, out io.Writer) error {
	old, err := readCatalog(oldFile)
	if err != nil {
		return err
	}
	to, err := readCatalog(newFile)
	if err != nil {
		return err
	}
	oldDB, db, err := databasesToCompare(old, to, database)
	if err != nil {
		return err
	}
	list, err := diff.Statements(old, oldDB, to, db)
	if err != nil {
		return err
	}
	for _, s := range list {
		if _, err := fmt.Fprintln(out, s); err != nil {
			return err
		}
	}
	return nil
}

// readCatalog reads a document into a catalog of its own.
func readCatalog(file string) (*catalog.Snapshot, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	c := catalog.New(nil)
	doc, err := catalog.Import(f, c.Current(), c, "postgres")
	if err == nil {
		err = c.Publish(doc.Delta)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return c.Current(), nil
}

// databasesToCompare chooses the database: the one named, or the only one that
// differs. Each server starts with the same databases, so that a document always
// has "postgres", if perhaps an empty one.
func databasesToCompare(old, to *catalog.Snapshot, name string) (oldDB, db types.OID, err error) {
	find := func(s *catalog.Snapshot, name string) (types.OID, error) {
		if d := s.Database(name); d != nil {
			return d.OID, nil
		}
		return 0, fmt.Errorf("database %q is only in one of the documents: CREATE DATABASE and DROP DATABASE cannot be part of a script", name)
	}
	if name == "" {
		var names, differ []string
		for _, s := range []*catalog.Snapshot{old, to} {
			for _, d := range s.Databases() {
				template := d.OID == catalog.OIDTemplate0 || d.OID == catalog.OIDTemplate1
				if !template && !slices.Contains(names, d.Name) {
					names = append(names, d.Name)
				}
			}
		}
		for _, n := range names {
			a, err := find(old, n)
			if err != nil {
				return 0, 0, err
			}
			b, err := find(to, n)
			if err != nil {
				return 0, 0, err
			}
			list, err := diff.Statements(old, a, to, b)
			if err != nil || len(list) > 0 {
				differ = append(differ, n)
			}
		}
		switch len(differ) {
		case 0:
			name = "postgres"
		case 1:
			name = differ[0]
		default:
			return 0, 0, fmt.Errorf("databases %q differ: choose one with --database", differ)
		}
	}
	if oldDB, err = find(old, name); err == nil {
		db, err = find(to, name)
	}
	return oldDB, db, err
}
