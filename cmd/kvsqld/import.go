package main

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"kvsqld/parser/ast"
)

func newImportCmd() *cobra.Command {
	c := &cobra.Command{
		Use:   "import --table TABLE FILE.csv",
		Short: "Copy a CSV file (or .csv.gz) into a table",
		Long:  "Copy a CSV file with a header line into a table, in one transaction. A file named .gz is unpacked on the way.",
		Args:  cobra.ExactArgs(1),
		RunE:  runImport,
	}
	c.Flags().String("table", "", "table to copy into, possibly as schema.table")
	c.Flags().String("dsn", "", "connection URL of a running server, instead of --data")
	c.Flags().String("database", "postgres", "database of the table, with --data")
	c.Flags().Bool("no-header", false, "the file has no header line")
	c.Flags().String("delimiter", ",", "character between values")
	c.MarkFlagRequired("table")
	return c
}

func runImport(cmd *cobra.Command, args []string) (err error) {
	f, err := os.Open(args[0])
	if err != nil {
		return err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return err
	}
	var in io.Reader = f
	if term.IsTerminal(int(os.Stderr.Fd())) {
		bar := progressbar.DefaultBytes(st.Size(), "importing")
		defer bar.Close()
		in = io.TeeReader(f, bar)
	}
	if strings.HasSuffix(args[0], ".gz") {
		z, err := gzip.NewReader(in)
		if err != nil {
			return fmt.Errorf("%s: %w", args[0], err)
		}
		defer z.Close()
		in = z
	}
	conn, err := connect(cmd, true)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	table, _ := cmd.Flags().GetString("table")
	var quoted []string
	for _, p := range strings.SplitN(table, ".", 2) {
		quoted = append(quoted, ast.QuoteIdent(p))
	}
	noHeader, _ := cmd.Flags().GetBool("no-header")
	delim, _ := cmd.Flags().GetString("delimiter")
	sql := fmt.Sprintf("COPY %s FROM STDIN (FORMAT csv, HEADER %t, DELIMITER %s)", strings.Join(quoted, "."), !noHeader, ast.QuoteLiteral(delim))
	tag, err := conn.CopyFrom(cmd.Context(), in, sql)
	if err != nil {
		return fmt.Errorf("%s: %w", args[0], err)
	}
	fmt.Fprintf(cmd.OutOrStdout(), "%d rows imported into %s\n", tag.RowsAffected(), table)
	return nil
}
