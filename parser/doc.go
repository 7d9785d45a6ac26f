// Package parser turns the text of SQL statements into trees of parser/ast.
//
// What comes in is UTF-8 text in PostgreSQL 15's dialect, a script of any
// number of statements; what goes out are the statements with their byte
// offsets, or a *sqlerr.Error with PostgreSQL's SQLSTATE, message and position.
// Names are not resolved here: whether a table, type or function exists is the
// planner's question.
//
// The stages of one statement:
//
//  1. lexer.go cuts the text into tokens, on demand, by PostgreSQL's rules.
//  2. statement.go looks at the first word. Definitions, COPY, SET, transaction
//     control and the like are read by hand (create.go, alter.go, session.go, …).
//  3. Expressions are read by binding power (expr.go, primary.go, special.go) and
//     become trees of ast at once.
//  4. The core of a SELECT, INSERT, UPDATE or DELETE is reduced to its structure
//     (skeleton.go): each expression becomes :vN, each name or FROM item `tN`,
//     the keywords stay. github.com/xwb1989/sqlparser decides how these are
//     put together: the order of the clauses, which condition belongs to which
//     join, which label to which column. Its tree leads back to ours through N.
//  5. What its grammar lacks stands around the core: WITH, set operations,
//     VALUES, ORDER BY, LIMIT, locking, RETURNING, ON CONFLICT, MERGE (query.go,
//     dml.go). Lists of plain literals in VALUES are read without any of this
//     (values.go).
//
// The invariant of stage 4: the skeleton holds nothing of the user's text but
// keywords, so that quoting, escapes, case and reserved words of the other
// grammar cannot matter, and an error of it names a token of ours.
//
// Beyond PostgreSQL's grammar, CREATE TABLE takes STORAGE words in a column's
// definition (STORAGE elements), and any name may be an option of WITH (…)
// or EXPLAIN (…), and any word an index method.
//
// Constructs that PostgreSQL has and kvsqld has not are refused by name: as
// ast.Unsupported when they are whole statements (CREATE TRIGGER), else with
// 0A000 (XMLTABLE, TREAT, …). What is no SQL is 42601.
//
// Nesting is bounded (54001): the recursion never exhausts the stack, and no
// tree is deeper than the bound on chains of operators.
//
// Fingerprinter (fingerprint.go) is the fast way around all of it: one pass that
// takes the literals out of a statement and yields a key for a plan cache.
package parser
