package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"kvsqld/storage"
)

// TestRandomConversations sends random messages, one after the other and ahead of
// answers, to kvsqld and to PostgreSQL and compares what comes back byte by byte: all
// messages in their order, but for object numbers and where in its source PostgreSQL
// raises an error. A conversation that differs is reported with as few messages as it
// still differs with. A run is determined by KVSQLD_TALKS_SEED; KVSQLD_TALKS_N is the
// number of conversations.
func TestRandomConversations(t *testing.T) {
	pg := requirePostgres(t)
	seed, count := diffEnv("KVSQLD_TALKS_SEED", 1), diffEnv("KVSQLD_TALKS_N", 400)
	ctx := context.Background()
	admin, err := pg.connect(ctx, "postgres", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer admin.Close(ctx)
	for _, q := range []string{"DROP DATABASE IF EXISTS conversations", "CREATE DATABASE conversations TEMPLATE template0"} {
		if _, err := admin.Exec(ctx, q).ReadAll(); err != nil {
			t.Fatal(err)
		}
	}
	srv := startServer(t, storage.Options{Store: "mem"})
	want := &talker{t: t, network: "unix", addr: filepath.Join(pg.dir, ".s.PGSQL."+postgresPort), db: "conversations"}
	got := &talker{t: t, network: "tcp", addr: srv.addr, db: "postgres"}
	want.connect = func(ctx context.Context) (*pgconn.PgConn, error) { return pg.connect(ctx, want.db, nil) }
	got.connect = func(ctx context.Context) (*pgconn.PgConn, error) { return srv.connect(ctx, nil) }
	for _, k := range []*talker{want, got} {
		if k.admin, err = k.connect(ctx); err != nil {
			t.Fatal(err)
		}
		defer func() { k.admin.Close(ctx) }()
	}
	differs := func(c conversation) bool {
		return !sameAnswers(want.hold(c), got.hold(c))
	}
	differ := 0
	for i := range count {
		c := newTalkGen(seed + i).conversation()
		if !differs(c) {
			continue
		}
		differ++
		c = c.shrink(differs)
		t.Errorf("seed %d:\n%s", seed+i, sideBySide(want.hold(c), got.hold(c)))
	}
	t.Logf("seed %d: %d conversations, %d of them differ", seed, count, differ)
}

// sameAnswers compares what PostgreSQL and kvsqld have said, but for faults of PostgreSQL
// itself, and for three things behind which both have their own way: a failed block has an
// unnamed portal behind a simple query; statements that use no snapshot, and commit by
// themselves, may count as earlier ones.
func sameAnswers(a, b string) bool {
	crashed := strings.HasSuffix(a, "\nclosed\n") && !strings.Contains(a, "SFATAL")
	if a == b || crashed || strings.Contains(a, "CXX000") || strings.Contains(b, "EXECUTE of a transaction's statement is not supported") {
		return true
	}
	al, bl := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range min(len(al), len(bl)) {
		switch {
		case al[i] == bl[i]:
		case (strings.Contains(al[i], "C25P02") || strings.Contains(al[i], `portal \"\" cannot be run`)) && strings.Contains(bl[i], `portal \"\" does not exist`):
		default:
			return strings.Contains(al[i], "cannot be executed within a pipeline") || strings.Contains(al[i]+bl[i], "ISOLATION LEVEL must be called before any query")
		}
	}
	return len(al) == len(bl)
}

// frontendMessage is one message of a client, with what a report prints for it.
type frontendMessage struct {
	text  string
	bytes []byte
}

// A conversation is parts that are each sent as a whole before their answers are read.
type conversation [][]frontendMessage

// shrink leaves out parts, then messages, as long as the conversation differs.
func (c conversation) shrink(differs func(conversation) bool) conversation {
	limit := time.Now().Add(time.Minute)
	for size := len(c) / 2; size > 0; size /= 2 {
		for i := 0; i+size <= len(c) && time.Now().Before(limit); {
			if less := append(c[:i:i], c[i+size:]...); differs(less) {
				c = less
			} else {
				i++
			}
		}
	}
	for p := range c {
		for i := 0; i < len(c[p]) && len(c[p]) > 1 && time.Now().Before(limit); {
			less := append(conversation{}, c...)
			if less[p] = append(c[p][:i:i], c[p][i+1:]...); differs(less) {
				c = less
			} else {
				i++
			}
		}
	}
	return c
}

// talker holds conversations with one server, each on a connection of its own and on
// tables made for it.
type talker struct {
	t             *testing.T
	network, addr string
	db            string
	connect       func(context.Context) (*pgconn.PgConn, error)
	admin         *pgconn.PgConn
}

// talkSetup are the tables of each conversation.
const talkSetup = `DROP SCHEMA IF EXISTS public CASCADE; CREATE SCHEMA public;
	CREATE TABLE t (id int PRIMARY KEY, n int, s text);
	INSERT INTO t VALUES (1, 10, 'one'), (2, 20, NULL), (3, 30, 'three'), (4, 40, '');
	CREATE TABLE u (k int8 UNIQUE DEFERRABLE INITIALLY DEFERRED, v numeric(6,2) CHECK (v < 100), d date, b bool NOT NULL DEFAULT true);
	CREATE TABLE w (a text, b text, c int);
	CREATE PROCEDURE p (INOUT a int) LANGUAGE sql AS 'SELECT a + 1';
	CREATE FUNCTION f (int) RETURNS int LANGUAGE sql AS 'SELECT 100 / $1';`

// setUp makes the tables. PostgreSQL may be starting again: some conversations end it.
func (k *talker) setUp() {
	k.t.Helper()
	ctx, limit := context.Background(), time.Now().Add(statementTimeout)
	for {
		_, err := k.admin.Exec(ctx, talkSetup).ReadAll()
		if err == nil {
			return
		}
		if k.network != "unix" || !k.admin.IsClosed() {
			k.t.Fatalf("%s: %v", k.addr, err)
		}
		for {
			c, err := k.connect(ctx)
			if err == nil {
				k.admin = c
				break
			}
			if time.Now().After(limit) {
				k.t.Fatal(err)
			}
		}
	}
}

// hold returns what was said, all answers below the messages they were read behind.
func (k *talker) hold(c conversation) string {
	k.t.Helper()
	k.setUp()
	nc, err := net.Dial(k.network, k.addr)
	if err != nil {
		k.t.Fatal(err)
	}
	defer nc.Close()
	nc.SetDeadline(time.Now().Add(statementTimeout))
	body := append(binary.BigEndian.AppendUint32(nil, 3<<16), "user\x00postgres\x00database\x00"+k.db+"\x00\x00"...)
	nc.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(body)+4)), body...))
	readUntil(k.t, nc, 'Z')
	// A part ends with what ends whatever is open: COPY, what is skipped to Sync. The
	// answer to the empty query is the last one of all.
	end := append(append(message('c', ""), message('S', "")...), message('Q', "\x00")...)
	var out strings.Builder
	for _, part := range c {
		var sent bytes.Buffer
		for _, m := range part {
			fmt.Fprintf(&out, "> %s\n", m.text)
			sent.Write(m.bytes)
		}
		sent.Write(end)
		wrote := make(chan struct{})
		go func() {
			defer close(wrote)
			nc.Write(sent.Bytes())
		}()
		err := readAnswers(nc, &out)
		<-wrote
		if err != nil {
			out.WriteString("closed\n")
			break
		}
	}
	nc.Write(message('X', ""))
	// The next one must not meet this one's locks.
	io.Copy(io.Discard, nc)
	return out.String()
}

// readAnswers prints messages up to the ReadyForQuery behind the answer to an empty query.
func readAnswers(nc net.Conn, out *strings.Builder) error {
	empty := false
	for {
		var head [5]byte
		if _, err := io.ReadFull(nc, head[:]); err != nil {
			return err
		}
		body := make([]byte, binary.BigEndian.Uint32(head[1:])-4)
		if _, err := io.ReadFull(nc, body); err != nil {
			return err
		}
		fmt.Fprintf(out, "%c %s\n", head[0], answerText(head[0], body))
		if head[0] == 'Z' && empty {
			return nil
		}
		empty = head[0] == 'I' || head[0] == 'C' && empty
		if head[0] == 'E' && bytes.Contains(body, []byte("unexpected message type 0x51 during COPY")) {
			empty = true // the empty query ended in a COPY
		}
	}
}

// answerText is a message's body without what differs between servers.
func answerText(typ byte, body []byte) string {
	switch typ {
	case 'E', 'N':
		var b strings.Builder
		for f := range strings.SplitSeq(strings.TrimRight(string(body), "\x00"), "\x00") {
			if f != "" && !strings.ContainsRune("FLR", rune(f[0])) && !strings.HasPrefix(f, "HIncrease the configuration parameter") &&
				!strings.HasPrefix(f, "HPrepared statements execute each other") {
				fmt.Fprintf(&b, "%q ", f)
			}
		}
		return b.String()
	case 'T':
		var b strings.Builder
		n, p := int(binary.BigEndian.Uint16(body)), body[2:]
		for range n {
			end := bytes.IndexByte(p, 0)
			name, f := string(p[:end]), p[end+1:]
			table := min(binary.BigEndian.Uint32(f), 1)
			fmt.Fprintf(&b, "%q table=%d column=%d type=%d size=%d mod=%d format=%d; ", name, table, binary.BigEndian.Uint16(f[4:]),
				binary.BigEndian.Uint32(f[6:]), int16(binary.BigEndian.Uint16(f[10:])), int32(binary.BigEndian.Uint32(f[12:])), binary.BigEndian.Uint16(f[16:]))
			p = f[18:]
		}
		return b.String()
	case 'A':
		return fmt.Sprintf("%q", body[4:])
	}
	return fmt.Sprintf("%q", body)
}
