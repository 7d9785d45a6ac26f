package planner

import (
	"kvsqld/catalog"
	"kvsqld/parser/ast"
)

// Body returns the statements of a function's body. That of one in the language
// internal is the call of the built-in function that implements it:
//
//	CREATE FUNCTION plus(int, int) RETURNS int LANGUAGE internal AS 'int4pl'
//	SELECT pg_catalog.int4pl($1, $2)
func Body(t TextParser, f *catalog.Function) ([]ast.Stmt, error) {
	pr := f.Internal()
	if pr == nil {
		return t.ParseBody(f.Body, f.Standard)
	}
	name := pr.Name
	if pr.Hidden != "" { // an extension's, which has no other name
		name = pr.Hidden
	}
	call := &ast.Call{Off: -1, Name: ast.Name{Off: -1, Parts: []string{pr.In(), name}}, Variadic: pr.Variadic != 0}
	for i := range pr.Args {
		call.Args = append(call.Args, &ast.Param{Off: -1, Num: i + 1})
	}
	return []ast.Stmt{&ast.Select{Off: -1, Targets: []ast.Target{{X: call}}}}, nil
}
