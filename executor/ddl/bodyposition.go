package ddl

import (
	"strings"

	"kvsqld/catalog/sqlerr"
	"kvsqld/parser/ast"
)

// inBody moves the position of an error in the text of a body to where the statement
// has it:
//
//	CREATE FUNCTION f() RETURNS int LANGUAGE sql AS 'SELECT nothing'
//	                                                       ^
//
// An error has no position where the body is written in a way that changes its text.
func inBody(s *ast.CreateFunction, err error) error {
	e, ok := err.(*sqlerr.Error)
	if !ok || e.Pos == 0 {
		return err
	}
	c := *e
	c.Pos = 0
	if at := literalOffset(s.BodyText, e.Pos-1); at >= 0 {
		c.Pos = int(s.BodyOff) + at + 1
	}
	return &c
}

// literalOffset is where a string constant has the byte at an offset of its value, -1
// where that is not known.
func literalOffset(lit string, off int) int {
	switch {
	case strings.HasPrefix(lit, "$"):
		return 2 + strings.IndexByte(lit[1:], '$') + off
	case !strings.HasPrefix(lit, "'"):
		return -1
	}
	at := 1
	for range off {
		if at >= len(lit)-1 {
			return -1
		}
		if lit[at] == '\'' { // the other of the two follows
			if at++; lit[at] != '\'' {
				return -1 // goes on in the next line
			}
		}
		at++
	}
	return at
}
