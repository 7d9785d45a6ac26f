package session

import (
	"context"
	"log/slog"
	"strconv"
	"strings"
	"testing"

	"kvsqld/storage"
)

// TestNumbersAscendOverRestarts: a server that begins after another one, ended in order
// or not, gives its transactions higher numbers.
func TestNumbersAscendOverRestarts(t *testing.T) {
	ctx := context.Background()
	st, err := storage.Open(storage.Options{Store: "mem"})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	last := 0
	for run, orderly := range []bool{false, true, false} {
		srv, err := Open(ctx, st, Options{Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		c := srv.client(t)
		for range 3 {
			text := c.sql("SELECT pg_current_xact_id()::text || '!' AS n")
			digits, _, _ := strings.Cut(text[strings.IndexAny(text, "0123456789"):], "!")
			n, err := strconv.Atoi(digits)
			if err != nil || n <= last {
				t.Fatalf("run %d: %s after %d, %v", run, text, last, err)
			}
			last = n
		}
		if got := c.sql("SELECT pg_xact_status('" + strconv.Itoa(last) + "')"); !strings.Contains(got, "committed") {
			t.Errorf("run %d: the status of %d is %s", run, last, got)
		}
		if orderly {
			if err := srv.Close(ctx); err != nil {
				t.Fatal(err)
			}
		} else {
			srv.stop()
			<-srv.analyzerDone
		}
	}
}
