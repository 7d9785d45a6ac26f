package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"kvsqld/storage"
)

// README.md promises what the server does, so these tests run it: the SQL of its
// code blocks with the output printed there, the figures of its tables of
// examples, the tests that it names.

const readmePath = "../../README.md"

// readmeBlock is a fenced block of a chapter.
type readmeBlock struct {
	chapter, lang string
	line          int
	lines         []string
}

func readReadme(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(readmePath)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// readmeBlocks returns the blocks of the chapters, in order.
func readmeBlocks(text string) (list []readmeBlock) {
	chapter, open := "", false
	for i, line := range strings.Split(text, "\n") {
		if lang, ok := strings.CutPrefix(line, "```"); ok {
			if open = !open; open {
				list = append(list, readmeBlock{chapter: chapter, lang: lang, line: i + 1})
			}
			continue
		}
		if open {
			b := &list[len(list)-1]
			b.lines = append(b.lines, line)
		} else if name, ok := strings.CutPrefix(line, "## "); ok {
			chapter = name
		}
	}
	return list
}

// sameOutput compares without regard to spaces at line ends; a line "…" of want
// stands for any lines.
func sameOutput(want, got []string) bool {
	if len(want) == 0 {
		return len(got) == 0
	}
	if strings.TrimSpace(want[0]) == "…" {
		for i := 0; i <= len(got); i++ {
			if sameOutput(want[1:], got[i:]) {
				return true
			}
		}
		return false
	}
	return len(got) > 0 && strings.TrimRight(want[0], " ") == strings.TrimRight(got[0], " ") && sameOutput(want[1:], got[1:])
}

func outputLines(s string) []string {
	s = strings.TrimRight(s, "\n")
	if s == "" {
		return nil
	}
	return strings.Split(s, "\n")
}

// readmeChapter runs the blocks of one chapter, which share a data directory.
type readmeChapter struct {
	t    *testing.T
	psql string
	dir  string
	srv  *server // nil while a command has the directory
}

func (c *readmeChapter) start() {
	if c.srv == nil {
		s, err := openServer(storage.Options{Dir: c.dir, NoSync: true})
		if err != nil {
			c.t.Fatal(err)
		}
		c.srv = s
	}
}

func (c *readmeChapter) stop() {
	if c.srv != nil {
		c.srv.checkAndStop(c.t)
		c.srv = nil
	}
}

// run has psql execute statements, as typed at its prompt.
func (c *readmeChapter) run(sql string) string {
	c.start()
	host, port, _ := net.SplitHostPort(c.srv.addr)
	cmd := exec.Command(c.psql, "-X", "-h", host, "-p", port, "-U", "postgres", "postgres")
	cmd.Env = append(os.Environ(), "PGOPTIONS=", "PAGER=cat", "LC_ALL=C.UTF-8", "PGCLIENTENCODING=UTF8")
	cmd.Stdin = strings.NewReader(sql)
	out, err := cmd.CombinedOutput()
	if err != nil {
		c.t.Fatalf("psql: %v\n%s", err, out)
	}
	return string(out)
}

// quietly runs statements that print nothing but their command tags.
func (c *readmeChapter) quietly(sql string) {
	c.t.Helper()
	if out := c.run(sql); strings.Contains(out, "ERROR") {
		c.t.Fatalf("%s\n%s", sql, out)
	}
}

func (c *readmeChapter) file(path string) {
	c.t.Helper()
	sql, err := os.ReadFile(path)
	if err != nil {
		c.t.Fatal(err)
	}
	c.quietly(string(sql))
}

// shell runs a command line of kvsqld.
func (c *readmeChapter) shell(line string, want []string) (string, error) {
	args := strings.Fields(line)
	if args[0] != "kvsqld" {
		return "", errors.New("not a command of kvsqld")
	}
	if strings.Join(args[1:3], " ") == "catalog diff" {
		return c.diff(want)
	}
	c.stop()
	return command(append(args[1:], "--data", c.dir)...)
}

// diff gives the script of a catalog diff that has the printed statements as its
// difference: they are executed between the two exports.
func (c *readmeChapter) diff(statements []string) (string, error) {
	c.start()
	var files []string
	for _, name := range []string{"old.xml", "new.xml"} {
		var b bytes.Buffer
		if err := c.srv.ExportCatalog(context.Background(), &b); err != nil {
			return "", err
		}
		files = append(files, filepath.Join(c.t.TempDir(), name))
		if err := os.WriteFile(files[len(files)-1], b.Bytes(), 0o600); err != nil {
			return "", err
		}
		if name == "old.xml" {
			c.quietly(strings.Join(statements, "\n"))
		}
	}
	return command("catalog", "diff", files[0], files[1])
}

// prompt is psql's; the lines of a statement after the first have none.
const prompt = "postgres=# "

// prompts runs what was typed at psql's prompt, each statement to its semicolon.
func (c *readmeChapter) prompts(b readmeBlock) {
	for i := 0; i < len(b.lines); {
		first := i
		sql := strings.TrimPrefix(b.lines[i], prompt)
		for i++; !strings.HasSuffix(sql, ";") && i < len(b.lines); i++ {
			sql += "\n" + b.lines[i]
		}
		start := i
		for i < len(b.lines) && !strings.HasPrefix(b.lines[i], prompt) {
			i++
		}
		c.compare(b.line+1+first, sql, b.lines[start:i], c.run(sql))
	}
}

func (c *readmeChapter) compare(line int, input string, want []string, got string) {
	if !sameOutput(want, outputLines(got)) {
		c.t.Errorf("README.md:%d: %s\nprints:\n%s", line, input, got)
	}
}

// document looks for an excerpt, which is less indented, in the exported catalog.
func (c *readmeChapter) document(b readmeBlock) {
	c.start()
	var x bytes.Buffer
	if err := c.srv.ExportCatalog(context.Background(), &x); err != nil {
		c.t.Fatal(err)
	}
	unindent := func(s []string) (out []string) {
		for _, l := range s {
			out = append(out, strings.TrimLeft(l, " "))
		}
		return out
	}
	want := append(append([]string{"…"}, b.lines...), "…")
	if !sameOutput(unindent(want), unindent(outputLines(x.String()))) {
		c.t.Errorf("README.md:%d: the exported document has no such lines:\n%s", b.line, &x)
	}
}

// TestReadme runs README.md's blocks of SQL and of psql's and kvsqld's output. A
// chapter has a database of its own, with the sample of an application's
// configuration in it.
func TestReadme(t *testing.T) {
	bin, err := findPostgres()
	if errors.Is(err, errNoPostgres) && os.Getenv("CI") != "true" {
		t.Skip(err)
	} else if err != nil {
		t.Fatal(err)
	}
	var c *readmeChapter
	chapter, ran := "", 0
	defer func() {
		if c != nil {
			c.stop()
		}
	}()
	for _, b := range readmeBlocks(readReadme(t)) {
		if b.chapter == "Start" {
			continue // needs the whole sample; TestSample runs that script on a part of it
		}
		if b.chapter != chapter {
			if c != nil {
				c.stop()
			}
			chapter, c = b.chapter, &readmeChapter{t: t, psql: filepath.Join(bin, "psql"), dir: t.TempDir()}
			c.file("../../testdata/samples/config/schema.sql")
			c.file("../../testdata/samples/config/data.sql")
		}
		ran++
		switch {
		case b.lang == "sql":
			c.quietly(strings.Join(b.lines, "\n"))
		case b.lang == "xml":
			c.document(b)
		case strings.HasPrefix(b.lines[0], "$ "):
			got, err := c.shell(strings.TrimPrefix(b.lines[0], "$ "), b.lines[1:])
			if err != nil {
				t.Errorf("README.md:%d: %s: %v", b.line, b.lines[0], err)
			} else {
				c.compare(b.line, b.lines[0], b.lines[1:], got)
			}
		case strings.HasPrefix(b.lines[0], prompt):
			c.prompts(b)
		default:
			t.Errorf("README.md:%d: a block that is neither SQL nor what a prompt printed", b.line)
		}
	}
	if ran == 0 {
		t.Error("README.md has no blocks")
	}
}

// costLine is a file's line of EXPLAIN (ANALYZE, KV).
var costLine = regexp.MustCompile(`^ *KV (\S+): gets=(\d+) scans=(\d+) keys=(\d+) read=(\d+) written=(\d+) bytes$`)

// cost executes a statement and says per file what it did, without zeros: "poi.kv
// 1 get, 1 key, 33 bytes".
func cost(t *testing.T, srv *server, sql string) string {
	t.Helper()
	plan, err := srv.rows("EXPLAIN (ANALYZE, KV, COSTS off, TIMING off, SUMMARY off) " + sql)
	if err != nil {
		t.Errorf("%s: %v", sql, err)
		return ""
	}
	var files []string
	for _, l := range plan {
		m := costLine.FindStringSubmatch(l)
		if m == nil {
			continue
		}
		var parts []string
		for i, unit := range []string{"get", "scan", "key", "byte", "byte"} {
			n := m[i+2]
			if n == "0" {
				continue
			}
			if n != "1" {
				unit += "s"
			}
			if i == 4 {
				unit += " written"
			}
			parts = append(parts, n+" "+unit)
		}
		files = append(files, m[1]+" "+strings.Join(parts, ", "))
	}
	return strings.Join(files, "; ")
}

// rows answers a statement on a connection of its own.
func (s *server) rows(sql string) ([]string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), statementTimeout)
	defer cancel()
	c, err := s.connect(ctx, nil)
	if err != nil {
		return nil, err
	}
	defer c.Close(ctx)
	res, err := c.Exec(ctx, sql).ReadAll()
	var out []string
	for _, r := range res {
		for _, row := range r.Rows {
			out = append(out, string(row[0]))
		}
	}
	return out, err
}

// codeSpans are the `…` of a cell.
var codeSpans = regexp.MustCompile("`([^`]+)`")

// TestReadmeCosts verifies README.md's tables of founding ideas: the schema has
// the SQL of the second column, and the statement of the third costs what the
// fourth says.
func TestReadmeCosts(t *testing.T) {
	dir := "../../testdata/samples/ideas/"
	var schema string
	var srv *server
	for _, name := range []string{"schema.sql", "data.sql"} {
		sql, err := os.ReadFile(dir + name)
		if err != nil {
			t.Fatal(err)
		}
		schema += string(sql)
	}
	srv = startServer(t, storage.Options{Store: "mem"})
	if _, err := srv.rows(schema); err != nil {
		t.Fatal(err)
	}
	schema = strings.Join(strings.Fields(schema), " ")
	chapter, rows := "", 0
	for n, line := range strings.Split(readReadme(t), "\n") {
		if name, ok := strings.CutPrefix(line, "## "); ok {
			chapter = name
		}
		cells := strings.Split(strings.ReplaceAll(line, `\|`, "\x00"), "|")
		if chapter != "The founding ideas, in SQL" || len(cells) != 6 {
			continue
		}
		for i := range cells {
			cells[i] = strings.TrimSpace(strings.ReplaceAll(cells[i], "\x00", "|"))
		}
		example := codeSpans.FindStringSubmatch(cells[3])
		if example == nil {
			continue // the table's head
		}
		if rows++; strings.HasPrefix(example[1], "Test") {
			continue // TestReadmeNamesTests
		}
		for _, m := range codeSpans.FindAllStringSubmatch(cells[2], -1) {
			rest := schema
			for _, part := range strings.Split(m[1], "…") {
				i := strings.Index(rest, strings.TrimSpace(part))
				if i < 0 {
					t.Errorf("README.md:%d: no %q in the schema of %s", n+1, m[1], dir)
					break
				}
				rest = rest[i+len(strings.TrimSpace(part)):]
			}
		}
		if got := cost(t, srv, example[1]); got != cells[4] {
			t.Errorf("README.md:%d: %s\ncosts %s", n+1, example[1], got)
		}
	}
	if rows < 12 {
		t.Errorf("only %d rows", rows)
	}
}

// TestReadmeNamesTests finds each test that README.md names.
func TestReadmeNamesTests(t *testing.T) {
	have := map[string]bool{}
	decl := regexp.MustCompile(`(?m)^func (Test\w+)\(`)
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, m := range decl.FindAllStringSubmatch(string(text), -1) {
			have[m[1]] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	text := readReadme(t)
	for _, m := range regexp.MustCompile("`(Test\\w+)").FindAllStringSubmatch(text, -1) {
		if !have[m[1]] {
			t.Errorf("README.md names %s, which there is not", m[1])
		}
	}
	named := regexp.MustCompile("`((?:testdata|cmd|catalog|executor|storage|wire|planner)/[\\w./]+)`|\\]\\(([\\w./]+)\\)")
	for _, m := range named.FindAllStringSubmatch(text, -1) {
		if _, err := os.Stat(filepath.Join("../..", m[1]+m[2])); err != nil {
			t.Error(fmt.Errorf("README.md names a file that is not there: %w", err))
		}
	}
}
