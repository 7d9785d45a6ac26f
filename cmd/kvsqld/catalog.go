package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"
)

func newCatalogCmd() *cobra.Command {
	c := &cobra.Command{Use: "catalog", Short: "Export, import or compare XML catalogs"}
	c.AddCommand(&cobra.Command{
		Use:   "export FILE.xml",
		Short: "Write the catalog as one XML document (- for standard output)",
		Args:  cobra.ExactArgs(1),
		RunE:  runCatalogExport,
	}, &cobra.Command{
		Use:   "import FILE.xml",
		Short: "Create the databases and tables of an XML document",
		Args:  cobra.ExactArgs(1),
		RunE:  runCatalogImport,
	}, newCatalogDiffCmd())
	return c
}

func runCatalogExport(cmd *cobra.Command, args []string) (err error) {
	l, err := openLocal(cmd, false)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	out := cmd.OutOrStdout()
	if args[0] != "-" {
		f, err := os.Create(args[0])
		if err != nil {
			return err
		}
		defer f.Close()
		out = f
	}
	return l.srv.ExportCatalog(cmd.Context(), out)
}

func runCatalogImport(cmd *cobra.Command, args []string) (err error) {
	f, err := os.Open(args[0])
	if err != nil {
		return err
	}
	defer f.Close()
	l, err := openLocal(cmd, true)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	n, err := l.srv.ImportCatalog(cmd.Context(), f)
	if err != nil {
		return fmt.Errorf("%s: %w", args[0], err)
	}
	fmt.Fprintf(cmd.OutOrStdout(), "%d tables created\n", n)
	return nil
}
