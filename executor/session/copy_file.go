package session

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"kvsqld/catalog/sqlerr"
	"kvsqld/parser/ast"
	"kvsqld/wire"
)

// undefinedFile is the code of a file that is not there.
const undefinedFile sqlerr.Code = "58P01"

// ServerFiles is the directory whose files COPY may read and write. Nothing
// outside of it can be reached, by symbolic links neither.
type ServerFiles struct {
	dir  string // absolute
	root *os.Root
}

// OpenServerFiles opens the directory.
func OpenServerFiles(dir string) (*ServerFiles, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(abs)
	if err != nil {
		return nil, err
	}
	return &ServerFiles{dir: abs, root: root}, nil
}

// Close ends the use of the directory.
func (f *ServerFiles) Close() error { return f.root.Close() }

// local is a path within the directory, which a relative path starts from.
func (f *ServerFiles) local(path string) (string, error) {
	if !filepath.IsAbs(path) {
		return path, nil
	}
	rel, err := filepath.Rel(f.dir, path)
	if err != nil || !filepath.IsLocal(rel) {
		return "", sqlerr.New(sqlerr.InsufficientPrivilege, "path \"%s\" is outside of the directory of server files", path).
			WithHint("The server was started with --server-files \"%s\".", f.dir)
	}
	return rel, nil
}

// mayCopyFile refuses COPY of a file or a program by name, by rights, or by path.
func (s *Session) mayCopyFile(x *ast.Copy) error {
	role, what := "pg_write_server_files", "to a file"
	if x.From {
		role, what = "pg_read_server_files", "from a file"
	}
	if x.Program {
		return sqlerr.Unsupported(x.Pos(), "COPY of a PROGRAM")
	}
	if s.srv.opts.Files == nil {
		dir, other := "from", "FROM STDIN"
		if !x.From {
			dir, other = "to", "TO STDOUT"
		}
		return sqlerr.Unsupported(x.Pos(), "COPY %s a server file", dir).
			WithHint("Start the server with --server-files DIR, or use COPY %s, or psql's \\copy.", other)
	}
	if !s.isSuper(s.user) && !s.snapshot().HasRole(s.db, s.user, role) {
		return sqlerr.New(sqlerr.InsufficientPrivilege, "must be superuser or have privileges of the %s role to COPY %s", role, what).
			WithHint("Anyone can COPY to stdout or from stdin. psql's \\copy command also works for anyone.")
	}
	return nil
}

// copyInput opens what a COPY FROM reads: the client's data, or a file.
func (s *Session) copyInput(ctx context.Context, x *ast.Copy, binary bool, columns int) (wire.CopyReader, func(), error) {
	if x.File == "" {
		r, err := s.w.CopyIn(binary, columns)
		return r, func() {}, err
	}
	f, err := s.srv.opts.Files.open(x.File)
	if err != nil {
		return nil, nil, err
	}
	return &fileReader{ctx: ctx, f: f, buf: make([]byte, 64<<10)}, func() { _ = f.Close() }, nil
}

func (f *ServerFiles) open(path string) (*os.File, error) {
	name, err := f.local(path)
	if err != nil {
		return nil, err
	}
	file, err := f.root.Open(name)
	if err != nil {
		return nil, fileError(path, "FROM", "for reading", err)
	}
	if st, err := file.Stat(); err == nil && st.IsDir() {
		_ = file.Close()
		return nil, sqlerr.New(sqlerr.WrongObjectType, "\"%s\" is a directory", path)
	}
	return file, nil
}

func (f *ServerFiles) create(path string) (*os.File, error) {
	name, err := f.local(path)
	if err != nil {
		return nil, err
	}
	if st, err := f.root.Stat(name); err == nil && st.IsDir() {
		return nil, sqlerr.New(sqlerr.WrongObjectType, "could not open file \"%s\" for writing: Is a directory", path)
	}
	file, err := f.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o644)
	if err != nil {
		return nil, fileError(path, "TO", "for writing", err)
	}
	return file, nil
}

// fileError is a failure to open a file; dir is FROM or TO.
func fileError(path, dir, purpose string, err error) error {
	code, reason := sqlerr.IOError, err.Error()
	var p *fs.PathError
	if errors.As(err, &p) {
		reason = p.Err.Error()
	}
	verb := map[string]string{"FROM": "read", "TO": "write"}[dir]
	switch {
	case errors.Is(err, fs.ErrNotExist):
		code, reason = undefinedFile, "No such file or directory"
	case errors.Is(err, fs.ErrPermission):
		code, reason = sqlerr.InsufficientPrivilege, "Permission denied"
	case strings.Contains(reason, "escapes"):
		code = sqlerr.InsufficientPrivilege
	}
	return sqlerr.New(code, "could not open file \"%s\" %s: %s", path, purpose, reason).
		WithHint("COPY %s instructs the PostgreSQL server process to %s a file. You may want a client-side facility such as psql's \\copy.", dir, verb)
}

// fileReader is a file as the data of a COPY FROM.
type fileReader struct {
	ctx context.Context
	f   *os.File
	buf []byte
}

// Next implements wire.CopyReader.
func (r *fileReader) Next() ([]byte, error) {
	if r.ctx.Err() != nil {
		return nil, context.Cause(r.ctx)
	}
	n, err := r.f.Read(r.buf)
	if n > 0 {
		return r.buf[:n], nil
	}
	if err != nil && err != io.EOF {
		return nil, sqlerr.New(sqlerr.IOError, "could not read from COPY file: %s", err)
	}
	return nil, io.EOF
}

// Await implements wire.CopyReader: a file does not let wait.
func (r *fileReader) Await(time.Duration) bool { return true }

// fileWriter is a file as the destination of a COPY TO.
type fileWriter struct {
	f   *os.File
	buf []byte
}

// Write implements wire.CopyWriter.
func (w *fileWriter) Write(p []byte) (int, error) {
	w.buf = append(w.buf, p...)
	if len(w.buf) < 64<<10 {
		return len(p), nil
	}
	return len(p), w.flush()
}

func (w *fileWriter) flush() error {
	_, err := w.f.Write(w.buf)
	w.buf = w.buf[:0]
	if err != nil {
		return sqlerr.New(sqlerr.IOError, "could not write to COPY file: %s", err)
	}
	return nil
}

// Close implements wire.CopyWriter.
func (w *fileWriter) Close() error {
	err := w.flush()
	if cerr := w.f.Close(); err == nil && cerr != nil {
		err = sqlerr.New(sqlerr.IOError, "could not close file \"%s\": %s", w.f.Name(), cerr)
	}
	return err
}
