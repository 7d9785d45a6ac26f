// Package ast is the syntax tree of a PostgreSQL statement, as written: names
// are unresolved, types are names with modifiers, operators are symbols.
//
// Every node knows its byte offset in the statement's text (Off). The tree
// imports nothing of ours: whether a table, a function or a type exists is the
// planner's question. Format prints a tree back to SQL; parsing that text
// gives the same tree but for offsets.
package ast

// Off is a byte offset in the statement's text; -1 when the node was not
// written by the user.
type Off int

// Pos returns the offset as an int.
func (o Off) Pos() int { return int(o) }

// Node is any part of the tree.
type Node interface{ Pos() int }

// Stmt is one SQL statement.
type Stmt interface {
	Node
	stmt()
}

// Expr is a value expression.
type Expr interface {
	Node
	expr()
}

// FromItem is an entry of a FROM list.
type FromItem interface {
	Node
	fromItem()
}

// Name is an object's name: [catalog.][schema.]name. Identifiers are folded
// (unquoted to lower case) and truncated to 63 bytes already.
type Name struct {
	Off
	Parts []string // 1 to 3
}

// Last returns the object's own name.
func (n Name) Last() string { return n.Parts[len(n.Parts)-1] }

// Schema returns the schema part, or "".
func (n Name) Schema() string {
	if len(n.Parts) > 1 {
		return n.Parts[len(n.Parts)-2]
	}
	return ""
}

// TypeName is a type as written: varchar(10)[], pg_catalog.int4, interval day
// to second(3). Names of the grammar are canonical already (int → int4,
// character varying → varchar, double precision → float8, char → bpchar with
// modifier 1 when none was written …) and then have Schema pg_catalog.
type TypeName struct {
	Off
	Name     Name
	Mods     []Expr // as written, constants for every type of ours
	Dims     int    // number of [] pairs
	Interval string // fields of an interval, upper case: "DAY TO SECOND"
	SetOf    bool   // SETOF, in function definitions
	In       bool   // of an argument of a routine that is named by its input arguments
	PctType  bool   // table.column%TYPE
}
