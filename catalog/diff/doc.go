// Package diff finds the DDL that turns one schema into another.
//
// In: two catalog snapshots, usually read from XML documents, and a database of
// each. Out: SQL statements in an order in which they run, in one transaction,
// on a database of the first schema; afterwards it has the second one. Rows stay
// where their table and columns stay. Names decide what is the same object:
// nothing is taken for a renamed one.
//
// The order: what stands in the way is dropped, dependents first (policies, views,
// places among regions, foreign keys, indexes, constraints, defaults, operators, casts
// and functions that are made again, tables, columns, sequences); then schemas, types,
// sequences, functions, tables and columns are made and changed; then constraints,
// indexes, foreign keys, places, views and policies, then the grants on them all and
// the default privileges; then what functions, types, schemas and roles are left over
// goes. A function that was bound to tables or views is made behind them; bodies that
// are texts are made unchecked, as pg_dump makes them. Tables of a type are no such while
// something of them changes, and a layout is set when all columns are there. The old
// default privileges go first where they would reach what no statement names.
//
// ALTER TABLE adds columns at the end. A column that has another place in the new
// schema is added again there, gets the values of the old one, and the old one is
// dropped.
//
// A child is made behind the tables that it inherits from, by CREATE TABLE … INHERITS
// where that gives its columns' order, else alone; then it joins them when the checks are
// there. The columns of tables that inherit, or are inherited from, are not changed.
//
// A difference for which there is no DDL, or whose DDL would take away what stays, is
// an error that names the object: such are labels that leave an enum type, functions
// with another result that a table uses, and privileges that someone else than the
// owner granted. File names and statistics are no part of a schema and are not
// compared; passwords are in no document.
package diff
