// Package plane is the geometry of the types point, lseg, line, box, path,
// polygon and circle, which lie in a plane with two coordinates of double
// precision: distances, crossings, containment, as PostgreSQL's documentation
// names them ("Geometric Functions and Operators"). It knows nothing of texts,
// protocols and NULL.
//
// Two rules hold everywhere:
//
//   - Coordinates that lie no further apart than Epsilon are equal, with the
//     comparisons of fuzzy.go. So equality is not transitive, and none of the
//     types can be sorted or hashed.
//   - Arithmetic that overflows or underflows is an error. A Calc does the
//     arithmetic and remembers the first error, so that formulas read as such;
//     whoever made it asks for Err at the end.
package plane
