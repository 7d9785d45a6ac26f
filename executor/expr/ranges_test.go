package expr_test

import (
	"testing"

	"kvsqld/catalog"
	"kvsqld/catalog/types"
	"kvsqld/planner/plan"
)

// TestRanges calls the functions of ranges directly; "" stands for NULL.
func TestRanges(t *testing.T) {
	ir, nr, i4 := types.Of(3904), types.Of(3906), types.TInt4
	tests := []struct {
		src  string
		args []types.T
		in   []string
		ret  types.T
		want string
	}{
		{"range_constructor2", []types.T{i4, i4}, []string{"1", "5"}, ir, "[1,5)"},
		{"range_constructor3", []types.T{i4, i4, types.TText}, []string{"1", "5", "[]"}, ir, "[1,6)"},
		{"range_constructor2", []types.T{i4, i4}, []string{"5", "1"}, ir, "ERROR 22000 range lower bound must be less than or equal to range upper bound"},
		{"range_constructor3", []types.T{i4, i4, types.TText}, []string{"1", "5", "x"}, ir, "ERROR 42601 invalid range bound flags"},
		{"range_overlaps", []types.T{ir, ir}, []string{"[1,5)", "[4,8)"}, types.TBool, "t"},
		{"range_overlaps", []types.T{ir, ir}, []string{"[1,5)", "[5,8)"}, types.TBool, "f"},
		{"range_contains_elem", []types.T{ir, i4}, []string{"[1,5)", "3"}, types.TBool, "t"},
		{"range_contains_elem", []types.T{ir, i4}, []string{"[1,5)", "5"}, types.TBool, "f"},
		{"elem_contained_by_range", []types.T{i4, ir}, []string{"3", "[1,5)"}, types.TBool, "t"},
		{"range_contains", []types.T{ir, ir}, []string{"[1,9)", "[2,3)"}, types.TBool, "t"},
		{"range_before", []types.T{ir, ir}, []string{"[1,5)", "[5,8)"}, types.TBool, "t"},
		{"range_after", []types.T{ir, ir}, []string{"[1,5)", "[5,8)"}, types.TBool, "f"},
		{"range_adjacent", []types.T{ir, ir}, []string{"[1,5)", "[5,8)"}, types.TBool, "t"},
		{"range_overleft", []types.T{ir, ir}, []string{"[1,5)", "[2,8)"}, types.TBool, "t"},
		{"range_overright", []types.T{ir, ir}, []string{"[1,5)", "[2,8)"}, types.TBool, "f"},
		{"range_union", []types.T{ir, ir}, []string{"[1,5)", "[4,8)"}, ir, "[1,8)"},
		{"range_union", []types.T{ir, ir}, []string{"[1,5)", "[6,8)"}, ir, "ERROR 22000 result of range union would not be contiguous"},
		{"range_intersect", []types.T{ir, ir}, []string{"[1,5)", "[4,8)"}, ir, "[4,5)"},
		{"range_minus", []types.T{ir, ir}, []string{"[1,5)", "[4,8)"}, ir, "[1,4)"},
		{"range_minus", []types.T{ir, ir}, []string{"[1,9)", "[4,6)"}, ir, "ERROR 22000 result of range difference would not be contiguous"},
		{"range_lower", []types.T{ir}, []string{"[1,5)"}, i4, "1"},
		{"range_upper", []types.T{ir}, []string{"[1,5)"}, i4, "5"},
		{"range_lower", []types.T{ir}, []string{"(,5)"}, i4, "NULL"},
		{"range_lower", []types.T{ir}, []string{"empty"}, i4, "NULL"},
		{"range_upper", []types.T{ir}, []string{"[1,)"}, i4, "NULL"},
		{"range_upper", []types.T{nr}, []string{"[1.5,2.5]"}, types.TNumeric, "2.5"},
		{"range_constructor2", []types.T{i4, i4}, []string{"3", "3"}, ir, "empty"},
		{"range_constructor2", []types.T{types.TNumeric, types.TNumeric}, []string{"1.5", "2"}, nr, "[1.5,2)"},
		{"range_constructor2", []types.T{types.TDate, types.TDate}, []string{"-infinity", "2024-01-02"}, types.Of(3912), "[-infinity,2024-01-02)"},
		{"range_overlaps", []types.T{ir, ir}, []string{"empty", "(,)"}, types.TBool, "f"},
		{"range_overlaps", []types.T{nr, nr}, []string{"[1,5)", "[5,8)"}, types.TBool, "f"},
		{"range_contains", []types.T{ir, ir}, []string{"[1,5)", "empty"}, types.TBool, "t"},
		{"range_contained_by", []types.T{ir, ir}, []string{"[2,5)", "[2,)"}, types.TBool, "t"},
		{"range_empty", []types.T{ir}, []string{"empty"}, types.TBool, "t"},
		{"range_lower_inc", []types.T{ir}, []string{"[1,5)"}, types.TBool, "t"},
		{"range_upper_inf", []types.T{ir}, []string{"[1,)"}, types.TBool, "t"},
		{"range_eq", []types.T{ir, ir}, []string{"[1,5)", "[1,4]"}, types.TBool, "t"},
		{"range_lt", []types.T{ir, ir}, []string{"[1,5)", "[2,3)"}, types.TBool, "t"},
	}
	for _, tt := range tests {
		call := &plan.Call{At: plan.At{T: tt.ret}, Proc: catalog.ProcBySrc(tt.src)}
		for k, s := range tt.in {
			d, err := types.Parse(tt.args[k], s, types.DefaultFmt)
			if err != nil {
				t.Fatal(err)
			}
			call.Args = append(call.Args, &plan.Const{At: plan.At{T: tt.args[k]}, Val: d})
		}
		if got := answer(evaluate(call)); got != tt.want {
			t.Errorf("%s%v: got %s, want %s", tt.src, tt.in, got, tt.want)
		}
	}
}
