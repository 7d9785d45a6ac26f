package wire

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"kvsqld/catalog/sqlerr"
)

type stateError struct{}

func (stateError) Error() string    { return "row not there" }
func (stateError) SQLState() string { return "02000" }

func TestAsSQL(t *testing.T) {
	canceled, cancel := context.WithCancelCause(t.Context())
	cancel(canceledByUser())
	plain, stop := context.WithCancel(t.Context())
	stop()
	tests := []struct {
		name     string
		ctx      context.Context
		err      error
		code     sqlerr.Code
		message  string
		internal bool
	}{
		{"a SQL error", t.Context(), sqlerr.New("22012", "division by zero"), "22012", "division by zero", false},
		{"a wrapped one", t.Context(), fmt.Errorf("scan: %w", sqlerr.New("22012", "division by zero")), "22012", "division by zero", false},
		{"an error with a state", t.Context(), stateError{}, "02000", "row not there", false},
		{"a cancelled context tells its cause", canceled, fmt.Errorf("scan: %w", context.Canceled), "57014", "canceling statement due to user request", false},
		{"a context without a cause", plain, context.Canceled, "XX000", "internal error", true},
		{"anything else stays inside", t.Context(), errors.New("bolt: page 7 freed"), "XX000", "internal error", true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e, internal := asSQL(tt.ctx, tt.err)
			if e.Code != tt.code || e.Message != tt.message || internal != tt.internal {
				t.Errorf("got %s %q internal=%v", e.Code, e.Message, internal)
			}
		})
	}
}

func TestFieldsHoldCleanText(t *testing.T) {
	m := errorResponse(sqlerr.New("22021", "a\x00b\xffc"), severityError, nil)
	if m.Message != "ab\uFFFDc" {
		t.Errorf("got %q", m.Message)
	}
}
