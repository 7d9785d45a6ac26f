// Package regex matches PostgreSQL's regular expressions: the advanced ones, with
// lookaround, back references and non-greedy quantifiers, the extended and the
// basic ones of POSIX, and literal strings.
//
// In: a pattern with its flags, then texts in UTF-8. Out: where the pattern
// matches, as byte offsets. Letters are those of ASCII, as with collation C.
//
// A pattern goes through these steps:
//
//  1. parse.go reads it into a tree of nodes.
//  2. golang.go writes the tree in the syntax of package regexp when that says the
//     same: no lookaround, no back references, no one-sided word boundaries. Then
//     package regexp finds out whether there is a match, and, for a pattern that
//     prefers the longest match, where.
//  3. Otherwise program.go makes an automaton, which dfa.go makes deterministic while it
//     runs over the text, or simulate.go runs where it has lookaround: the leftmost match,
//     of these the longest, or the shortest for a pattern that prefers it. The time is
//     proportional to the text's length.
//  4. Where the groups are wanted, divide.go divides the match between the parts of
//     the pattern: the parts that begin earlier first, each of them as long (or as
//     short) as its own greediness asks for and the rest allows.
//
// Back references alone can make step 4 go back: a match of the automaton may turn
// out to be none. That can take very long; poll, which the caller gives, ends it.
package regex
