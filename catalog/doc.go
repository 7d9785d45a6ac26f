// Package catalog is the description of everything the server stores:
// databases, schemas, tables with their files, indexes and constraints, views,
// sequences, types, functions and roles, and the signatures of the built-in
// functions and operators.
//
// In: changes as values (Delta), made by the constructors of Change. Out:
// immutable snapshots that are looked up without locks, and XML: one fragment
// per object for the store, or one document for people.
//
// Invariants. A Snapshot never changes after it was published; an object never
// changes after it became part of one. Every published snapshot passes the
// rules C1 to C9 of validate.go. The order of a table's columns is its attnum
// order and dropped columns keep their place, because stored rows refer to
// columns by position.
package catalog
