package ddl

import (
	"kvsqld/catalog"
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/parser/ast"
)

// internalCost is the cost of a function in the language internal that says nothing
// of it.
const internalCost = 1

// createInternal is CREATE FUNCTION … LANGUAGE internal: another name for a built-in
// function, with the types that it has.
func (x *exec) createInternal(f *catalog.Function, s *ast.CreateFunction) error {
	if r := x.snap().Role(x.User); r == nil || !r.Super {
		return sqlerr.New(sqlerr.InsufficientPrivilege, "permission denied for language internal")
	}
	switch {
	case s.SQLBody != nil:
		return invalidFunction("inline SQL function body only valid for language SQL")
	case s.Body2 != "":
		return invalidFunction("only one AS item needed for language \"%s\"", f.Language)
	case !s.HasBody:
		return invalidFunction("no function body specified")
	}
	if f.Body = s.Body; f.Body == "" {
		f.Body = f.Name
	}
	if f.Cost == 0 {
		f.Cost = internalCost
	}
	if f.Internal() == nil {
		var args []types.OID
		for _, t := range f.Inputs() {
			args = append(args, t.OID)
		}
		if _, any := catalog.InternalProc(f.Body, args, f.Kind()); any {
			return sqlerr.Unsupported(s.Pos(), "the built-in function \"%s\" with other types than its own", f.Body)
		}
		return sqlerr.New(sqlerr.UndefinedFunction, "there is no built-in function named \"%s\"", f.Body)
	}
	_, err := x.Change.CreateFunction(f, s.OrReplace)
	return err
}
