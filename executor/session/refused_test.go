package session

import (
	"fmt"
	"testing"

	"kvsqld/catalog/sqlerr"
)

func TestRefusalsAreCountedByFeatureAndApplication(t *testing.T) {
	var r refusals
	r.add(sqlerr.Unsupported(0, "XML"), "a")
	r.add(sqlerr.Unsupported(3, "XML"), "a")
	r.add(sqlerr.Unsupported(0, "XML"), "b")
	r.add(sqlerr.New(sqlerr.DivisionByZero, "division by zero"), "a")
	r.add(sqlerr.New(sqlerr.FeatureNotSupported, "cached plan must not change result type"), "a") // as in PostgreSQL
	r.add(nil, "a")
	rows := r.rows()
	if len(rows) != 2 || rows[0].Count != 2 || rows[0].Application != "a" || rows[1].Count != 1 || rows[1].SQLState != "0A000" {
		t.Fatalf("%+v", rows)
	}
	for i := range 3 * maxRefusals {
		r.add(sqlerr.Unsupported(0, fmt.Sprint("feature ", i)), "a")
	}
	if n := len(r.rows()); n != maxRefusals+1 {
		t.Fatalf("%d rows are kept", n)
	}
}
