package main

import (
	"errors"
	"fmt"
	"os"
	"unicode/utf8"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/spf13/cobra"

	"kvsqld/catalog/sqlerr"
	"kvsqld/parser"
)

func newLoadCmd() *cobra.Command {
	c := &cobra.Command{
		Use:   "load FILE.sql…",
		Short: "Run SQL scripts in one transaction",
		Long: "Run SQL scripts in one transaction: all of them take effect, or none.\n" +
			"An error names the file, line and column.",
		Args: cobra.MinimumNArgs(1),
		RunE: runLoad,
	}
	c.Flags().String("dsn", "", "connection URL of a running server, instead of --data")
	c.Flags().String("database", "postgres", "database to load into, with --data")
	return c
}

func runLoad(cmd *cobra.Command, files []string) (err error) {
	conn, err := connect(cmd, true)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	if _, err := conn.Exec(cmd.Context(), "BEGIN").ReadAll(); err != nil {
		return err
	}
	n := 0
	for _, f := range files {
		k, err := loadFile(cmd, conn, f)
		if err != nil {
			return err
		}
		n += k
	}
	if _, err := conn.Exec(cmd.Context(), "COMMIT").ReadAll(); err != nil {
		return err
	}
	fmt.Fprintf(cmd.OutOrStdout(), "%d statements loaded\n", n)
	return nil
}

// loadFile runs the statements of a file one by one.
func loadFile(cmd *cobra.Command, conn *client, file string) (int, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return 0, err
	}
	sql := string(text)
	list, err := parser.Parse(sql)
	if err != nil {
		var se *sqlerr.Error
		if errors.As(err, &se) {
			return 0, placed(file, sql, se.Pos-1, se.Message, se.Detail, se.Hint)
		}
		return 0, fmt.Errorf("%s: %w", file, err)
	}
	for _, st := range list {
		if _, err := conn.Exec(cmd.Context(), st.Text).ReadAll(); err != nil {
			off := st.Off
			var pe *pgconn.PgError
			if !errors.As(err, &pe) {
				return 0, fmt.Errorf("%s: %w", file, err)
			}
			if pe.Position > 0 {
				off += byteOffset(st.Text, int(pe.Position)-1)
			}
			return 0, placed(file, sql, off, pe.Message, pe.Detail, pe.Hint)
		}
	}
	return len(list), nil
}

// placed is an error on one line: file:line:column, the message, and what to do.
func placed(file, sql string, off int, msg, detail, hint string) error {
	if off < 0 {
		off = 0
	}
	line, col := parser.LineCol(sql, off)
	for _, s := range []string{detail, hint} {
		if s != "" {
			msg += " (" + s + ")"
		}
	}
	return fmt.Errorf("%s:%d:%d: %s", file, line, col, msg)
}

// byteOffset turns a number of characters into a number of bytes.
func byteOffset(s string, chars int) int {
	i := 0
	for ; chars > 0 && i < len(s); chars-- {
		_, w := utf8.DecodeRuneInString(s[i:])
		i += w
	}
	return i
}
