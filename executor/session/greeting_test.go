package session

import (
	"strings"
	"testing"

	"kvsqld/wire"
)

// TestLongApplicationName: a name that is too long is cut with a notice, also the one
// that a client connects with.
func TestLongApplicationName(t *testing.T) {
	srv := newServer(t)
	long := strings.Repeat("x", 62) + "éy"
	cut := strings.Repeat("x", 62)
	c := srv.client(t, wire.Parameter{Name: "application_name", Value: long})
	list := c.s.Notices()
	if len(list) != 1 || list[0].Code != "42622" || list[0].Message != "identifier \""+long+"\" will be truncated to \""+cut+"\"" {
		t.Errorf("notices %v", list)
	}
	if again := c.s.Notices(); again != nil {
		t.Errorf("told twice: %v", again)
	}
	c.want("SHOW application_name", "(application_name)", cut, "SHOW", "I")
	if got := c.sql("SET application_name = '" + long + "'"); !strings.Contains(got, "will be truncated") {
		t.Error(got)
	}
	quiet := srv.client(t, wire.Parameter{Name: "application_name", Value: long}, wire.Parameter{Name: "client_min_messages", Value: "warning"})
	if list := quiet.s.Notices(); len(list) > 0 {
		t.Errorf("notices %v", list)
	}
}
