package sqlerr

import "testing"

func raise(code Code, format string, args ...any) *Error { return New(code, format, args...) }

// TestSource: the lines are those of this file.
func TestSource(t *testing.T) {
	for _, c := range []struct {
		err     *Error
		line    int
		routine string
	}{
		{New(UniqueViolation, "duplicate key value violates unique constraint %q", "k"), 14, "_bt_check_unique"},
		{New(UndefinedColumn, "column \"a\" of relation \"t\" does not exist"), 15, "checkInsertTargets"},
		{New(UndefinedColumn, "column \"a\" does not exist"), 16, "errorMissingColumn"},
		{New(InvalidTextRepresentation, "invalid input syntax for type uuid: %q", "x"), 17, "string_to_uuid"},
		{Unsupported(3, "CREATE %s", "TRIGGER"), 18, "TestSource"},
		{raise(DataException, "odd"), 5, "raise"},
		{Raise(Error{Code: DataException}), 20, "TestSource"},
		{&Error{Code: DeadlockDetected, Message: "deadlock detected"}, 0, "DeadLockReport"},
		{&Error{Code: UniqueViolation, Routine: "other"}, 0, "other"},
	} {
		want := "source_test.go"
		if c.line == 0 {
			want = ""
		}
		file, line, routine := c.err.Source()
		if file != want || routine != c.routine || line != c.line {
			t.Errorf("%s: %s, %s:%d, want %s, %s:%d", c.err.Message, routine, file, line, c.routine, want, c.line)
		}
	}
}
