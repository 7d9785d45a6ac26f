package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"kvsqld/storage"
	"kvsqld/storage/backup"
	"kvsqld/storage/kv"
)

func newRestoreCmd() *cobra.Command {
	c := &cobra.Command{
		Use:   "restore FILE",
		Short: "Make a data directory of a backup",
		Long: "Make a data directory of a backup. It gets its name when everything in it has been verified;\n" +
			"until then, and after a failure, whatever has the name stays as it is.",
		Args: cobra.ExactArgs(1),
		RunE: runRestore,
	}
	c.Flags().Bool("force", false, "replace a data directory that is not empty")
	return c
}

func runRestore(cmd *cobra.Command, args []string) (err error) {
	dir, _ := cmd.Flags().GetString("data")
	force, _ := cmd.Flags().GetBool("force")
	dir = filepath.Clean(dir)
	if to, err := filepath.EvalSymlinks(dir); err == nil {
		dir = to // a link stays one
	}
	full, err := notEmpty(dir)
	if err != nil {
		return err
	}
	if full {
		if !force {
			return fmt.Errorf("%s is not empty; --force replaces it", dir)
		}
		// A damaged directory may be replaced, one in use, or of something else, may not.
		st, err := storage.Open(storage.Options{Dir: dir, Existing: true})
		if errors.Is(err, kv.ErrInUse) {
			return fmt.Errorf("--data %s: %w: stop that server first", dir, err)
		}
		if errors.Is(err, kv.ErrNoStore) {
			return fmt.Errorf("--data %s: the directory is not empty and has no data of this program, so it is not replaced: choose another --data", dir)
		}
		if err == nil {
			if err := st.Close(); err != nil {
				return err
			}
		}
	}
	part := dir + partSuffix
	if err := os.RemoveAll(part); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(part)) }()
	sum, err := restoreInto(cmd.Context(), cmd.OutOrStdout(), args[0], storage.Options{Dir: part})
	if err != nil {
		return err
	}
	if err := replaceDir(part, dir, full); err != nil {
		return err
	}
	fmt.Fprintf(cmd.OutOrStdout(), "%d files with %d pairs restored to %s\n", sum.Files, sum.Pairs, dir)
	return nil
}

// notEmpty reports whether there is something in a directory.
func notEmpty(dir string) (bool, error) {
	es, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	return len(es) > 0, err
}

// replaceDir gives the directory part the name dir, in one step; what had it
// before gets the name part.
func replaceDir(part, dir string, full bool) error {
	var err error
	if full {
		err = exchange(part, dir)
	} else {
		err = os.Rename(part, dir)
	}
	if err != nil {
		return fmt.Errorf("%s cannot take the place of %s: %w", part, dir, err)
	}
	return syncDir(filepath.Dir(dir))
}

// restoreInto makes a store of a backup file and verifies it.
func restoreInto(ctx context.Context, out io.Writer, file string, o storage.Options) (sum backup.Summary, err error) {
	f, err := os.Open(file)
	if err != nil {
		return sum, err
	}
	defer f.Close()
	st, err := storage.Open(o)
	if err != nil {
		return sum, err
	}
	if sum, err = backup.Restore(ctx, bufio.NewReaderSize(f, 1<<20), st); err != nil {
		return sum, errors.Join(fmt.Errorf("%s: %w", file, err), st.Close())
	}
	// The store is opened again, as a server would find it.
	if err = st.Close(); err != nil {
		return sum, err
	}
	if st, err = storage.Open(o); err != nil {
		return sum, err
	}
	l, err := serveLocal(ctx, st)
	if err != nil {
		return sum, fmt.Errorf("%s: %w", file, err)
	}
	return sum, errors.Join(l.check(ctx, out), l.Close())
}
