package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"kvsqld/storage/backup"
)

func newBackupCmd() *cobra.Command {
	c := &cobra.Command{
		Use:   "backup FILE",
		Short: "Copy everything into one file while the server runs",
		Long: "Copy the newest committed state of all databases into one compressed file with checksums:\n" +
			"from a running server, whose clients go on writing, or from a data directory.",
		Args: cobra.ExactArgs(1),
		RunE: runBackup,
	}
	c.Flags().String("dsn", "", "connection URL of a running server, as a superuser, instead of --data")
	c.Flags().String("database", "postgres", "database to connect to, with --data")
	return c
}

// partSuffix ends the name of a file or directory that is not whole yet.
const partSuffix = ".part"

func runBackup(cmd *cobra.Command, args []string) (err error) {
	conn, err := connect(cmd, false)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	name := args[0]
	f, err := os.OpenFile(name+partSuffix, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(name+partSuffix))
		}
	}()
	if _, err = conn.CopyTo(cmd.Context(), f, "BACKUP TO STDOUT"); err == nil {
		err = f.Sync()
	}
	if err != nil {
		return errors.Join(err, f.Close())
	}
	// What lies on the disk now has to be what was sent.
	if _, err = f.Seek(0, 0); err != nil {
		return errors.Join(err, f.Close())
	}
	sum, err := backup.Verify(bufio.NewReaderSize(f, 1<<20))
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if err = os.Rename(name+partSuffix, name); err != nil {
		return err
	}
	if err = syncDir(filepath.Dir(name)); err != nil {
		return err
	}
	fmt.Fprintf(cmd.OutOrStdout(), "%d files with %d pairs, as of commit %d\n", sum.Files, sum.Pairs, sum.Seq)
	return nil
}

// syncDir makes the names in a directory durable.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
