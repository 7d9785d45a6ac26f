package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// A history of transactions over lists shows its own order: each appended value
// is unique, so that a list tells in which order its versions were made and what
// a reader has seen. Transactions become nodes of a graph with the edges
//
//	ww  appended the next value of a list
//	wr  read the version that the other one made
//	rw  read the version before the one that the other one made
//	so  came next in the same session
//
// and circles in it are Adya's phenomena: G0 of ww alone, G1c of ww and wr,
// G-single with one rw, G-nonadjacent with rw edges that never follow each other,
// G2 with any.

// listOp is one operation; a read has the list that it found.
type listOp struct {
	key    int
	append int // the value, 0: a read
	list   []int
}

// listTxn is one transaction of a history.
type listTxn struct {
	id      int
	session int
	ops     []listOp
	state   txnState
	left    bool // the client did not wait for its end, and went on with the next one
}

type txnState uint8

const (
	committed txnState = iota
	aborted
	unknown // the connection was lost while it committed
)

// forbidden lists the phenomena that PostgreSQL's levels exclude, beside those
// that no level allows.
var forbidden = map[string][]string{
	"read committed":  {"G0", "G1c"},
	"repeatable read": {"G0", "G1c", "G-single", "G-nonadjacent"},
	"serializable":    {"G0", "G1c", "G-single", "G-nonadjacent", "G2"},
}

type edgeKind uint8

const (
	ww edgeKind = iota
	wr
	so
	rw
)

func (k edgeKind) String() string { return [...]string{"ww", "wr", "so", "rw"}[k] }

type edge struct {
	to   int // index into txns
	kind edgeKind
}

// listHistory is a history under examination.
type listHistory struct {
	level  string
	txns   []*listTxn
	writer map[[2]int]int // (key, value) → index into txns
	order  map[int][]int  // key → values
	edges  [][]edge
	faults []string
}

func (h *listHistory) fault(format string, args ...any) {
	h.faults = append(h.faults, fmt.Sprintf(format, args...))
}

// checkLists returns what is wrong with a history at an isolation level. The last
// transaction must have read all lists after the others had ended.
func checkLists(level string, txns []*listTxn) []string {
	h := &listHistory{level: level, txns: txns, writer: map[[2]int]int{}, order: map[int][]int{}}
	for i, t := range txns {
		for _, o := range t.ops {
			if o.append != 0 {
				h.writer[[2]int{o.key, o.append}] = i
			}
		}
	}
	h.versions()
	for i, t := range txns {
		if t.state != aborted {
			h.reads(i, t)
		}
	}
	h.lost()
	if len(h.faults) > 0 {
		return h.faults // the graph would say the same in many ways
	}
	h.build()
	for _, name := range forbidden[level] {
		if path := h.circle(name); path != nil {
			h.fault("%s: %s", name, h.describe(path))
			break
		}
	}
	return h.faults
}

// versions takes each list's order from its longest read, decides by it which of
// the transactions of unknown outcome have happened, and compares all reads with it.
func (h *listHistory) versions() {
	for _, t := range h.txns {
		for _, o := range t.ops {
			if o.append == 0 && t.state == committed && len(o.list) > len(h.order[o.key]) {
				h.order[o.key] = o.list
			}
		}
	}
	for _, t := range h.txns {
		if t.state == unknown {
			t.state, t.left = aborted, true
			for _, o := range t.ops {
				if o.append != 0 && slices.Contains(h.order[o.key], o.append) {
					t.state = committed
				}
			}
		}
		for _, o := range t.ops {
			all := h.order[o.key]
			if o.append == 0 && t.state == committed && (len(o.list) > len(all) || !slices.Equal(o.list, all[:len(o.list)])) {
				h.fault("incompatible order: T%d read %v of list %d, another transaction %v", t.id, o.list, o.key, all)
			}
		}
	}
	for key, all := range h.order {
		seen := map[int]bool{}
		for _, v := range all {
			if seen[v] {
				h.fault("duplicate: value %d is twice in list %d", v, key)
			}
			seen[v] = true
		}
	}
}

// reads looks for what no level allows: values that were rolled back (G1a), half
// of what a transaction appended (G1b), own writes that are not seen.
func (h *listHistory) reads(at int, t *listTxn) {
	own := map[int][]int{}
	for _, o := range t.ops {
		if o.append != 0 {
			own[o.key] = append(own[o.key], o.append)
			continue
		}
		for _, v := range o.list {
			w, ok := h.writer[[2]int{o.key, v}]
			if !ok {
				h.fault("garbage: T%d read %d of list %d, which nobody appended", t.id, v, o.key)
				continue
			}
			if h.txns[w].state == aborted {
				h.fault("G1a: T%d read %d of list %d, which T%d had rolled back", t.id, v, o.key, h.txns[w].id)
			}
		}
		if n := len(own[o.key]); n > 0 && (len(o.list) < n || !slices.Equal(o.list[len(o.list)-n:], own[o.key])) {
			h.fault("internal: T%d read %v of list %d after it had appended %v", t.id, o.list, o.key, own[o.key])
		}
		if len(o.list) == 0 {
			continue
		}
		last := o.list[len(o.list)-1]
		if w, ok := h.writer[[2]int{o.key, last}]; ok && w != at {
			if end := h.txns[w].lastAppend(o.key); end != last {
				h.fault("G1b: T%d read list %d up to %d, but T%d went on to %d", t.id, o.key, last, h.txns[w].id, end)
			}
		}
	}
}

func (t *listTxn) lastAppend(key int) (v int) {
	for _, o := range t.ops {
		if o.key == key && o.append != 0 {
			v = o.append
		}
	}
	return v
}

// lost looks for committed values that the last read does not have.
func (h *listHistory) lost() {
	for _, t := range h.txns {
		for _, o := range t.ops {
			if t.state == committed && o.append != 0 && !slices.Contains(h.order[o.key], o.append) {
				h.fault("lost: T%d appended %d to list %d, and it is not there", t.id, o.append, o.key)
			}
		}
	}
}

// build draws the edges.
func (h *listHistory) build() {
	h.edges = make([][]edge, len(h.txns))
	add := func(from, to int, k edgeKind) {
		e := edge{to, k}
		if from != to && !slices.Contains(h.edges[from], e) {
			h.edges[from] = append(h.edges[from], e)
		}
	}
	writer := func(key, i int) int { return h.writer[[2]int{key, h.order[key][i]}] }
	for key, all := range h.order {
		for i := 1; i < len(all); i++ {
			add(writer(key, i-1), writer(key, i), ww)
		}
	}
	last := map[int]int{}
	for at, t := range h.txns {
		if t.state == aborted {
			continue
		}
		if before, ok := last[t.session]; ok {
			add(before, at, so)
		}
		if !t.left {
			last[t.session] = at
		}
		for _, o := range t.ops {
			if o.append != 0 {
				continue
			}
			if n := len(o.list); n > 0 {
				add(writer(o.key, n-1), at, wr)
			}
			if n := len(o.list); n < len(h.order[o.key]) {
				add(at, writer(o.key, n), rw)
			}
		}
	}
}

// circle returns a circle of the named kind as a list of nodes, or nil.
func (h *listHistory) circle(name string) []int {
	plain := func(k edgeKind) bool { return k == ww || k == wr || k == so }
	for from := range h.edges {
		for _, e := range h.edges[from] {
			var path []int
			switch name {
			case "G0":
				if e.kind == ww {
					path = h.path(e.to, from, false, func(_, k edgeKind) bool { return k == ww })
				}
			case "G1c":
				if plain(e.kind) {
					path = h.path(e.to, from, false, func(_, k edgeKind) bool { return plain(k) })
				}
			case "G-single":
				if e.kind == rw {
					path = h.path(e.to, from, false, func(_, k edgeKind) bool { return plain(k) })
				}
			case "G-nonadjacent": // after the rw edge and before it stands another kind
				if e.kind == rw {
					path = h.path(e.to, from, true, func(before, k edgeKind) bool { return plain(k) || before != rw })
				}
			case "G2":
				path = h.path(e.to, from, false, func(_, _ edgeKind) bool { return true })
			}
			if path != nil {
				return append([]int{from}, path...)
			}
		}
	}
	return nil
}

// path searches, breadth first, a way between two nodes along edges that ok
// allows after the edge before. The first edge follows an rw edge; with plainEnd
// the last one is none.
func (h *listHistory) path(from, to int, plainEnd bool, ok func(before, k edgeKind) bool) []int {
	type place struct {
		node   int
		before edgeKind
	}
	start := place{from, rw}
	came := map[place]place{start: start}
	queue := []place{start}
	for len(queue) > 0 {
		p := queue[0]
		queue = queue[1:]
		if p.node == to && !(plainEnd && p.before == rw) {
			path := []int{p.node}
			for p != start {
				p = came[p]
				path = append(path, p.node)
			}
			slices.Reverse(path)
			return path
		}
		for _, e := range h.edges[p.node] {
			next := place{e.to, e.kind}
			if _, seen := came[next]; !seen && ok(p.before, e.kind) {
				came[next] = p
				queue = append(queue, next)
			}
		}
	}
	return nil
}

// String shows an append as key+value and a read as key:length of the list.
func (o listOp) String() string {
	if o.append != 0 {
		return fmt.Sprintf("%d+%d", o.key, o.append)
	}
	return fmt.Sprintf("%d:%d", o.key, len(o.list))
}

func (h *listHistory) describe(path []int) string {
	var b strings.Builder
	for i, at := range path {
		if i > 0 {
			var kinds []string
			for _, e := range h.edges[path[i-1]] {
				if e.to == at {
					kinds = append(kinds, e.kind.String())
				}
			}
			fmt.Fprintf(&b, " -%s-> ", strings.Join(kinds, "/"))
		}
		t := h.txns[at]
		fmt.Fprintf(&b, "T%d of session %d %v", t.id, t.session, t.ops)
	}
	return b.String()
}

// TestListChecker plants each phenomenon in a small history.
func TestListChecker(t *testing.T) {
	a := func(key, v int) listOp { return listOp{key: key, append: v} }
	r := func(key int, list ...int) listOp { return listOp{key: key, list: list} }
	tx := func(ops ...listOp) *listTxn { return &listTxn{ops: ops} }
	rolledBack := func(ops ...listOp) *listTxn { return &listTxn{ops: ops, state: aborted} }
	lostConn := func(ops ...listOp) *listTxn { return &listTxn{ops: ops, state: unknown} }
	const rc, rr, ser = "read committed", "repeatable read", "serializable"
	tests := []struct {
		name  string
		txns  []*listTxn
		found map[string]string // level → what is found; "" or absent: nothing
	}{
		{"clean", []*listTxn{tx(r(1), a(1, 1)), tx(r(1, 1), a(1, 2)), tx(r(1, 1, 2))}, nil},
		{"G0", []*listTxn{tx(a(1, 1), a(2, 1)), tx(a(1, 2), a(2, 2)), tx(r(1, 1, 2), r(2, 2, 1))},
			map[string]string{rc: "G0", rr: "G0", ser: "G0"}},
		{"G1a", []*listTxn{rolledBack(a(1, 1)), tx(r(1, 1)), tx(r(1, 1))}, map[string]string{rc: "G1a", rr: "G1a", ser: "G1a"}},
		{"G1b", []*listTxn{tx(a(1, 1), a(1, 2)), tx(r(1, 1)), tx(r(1, 1, 2))}, map[string]string{rc: "G1b", rr: "G1b", ser: "G1b"}},
		{"G1c", []*listTxn{tx(a(1, 1), r(2, 1)), tx(a(2, 1), r(1, 1)), tx(r(1, 1), r(2, 1))},
			map[string]string{rc: "G1c", rr: "G1c", ser: "G1c"}},
		{"read skew", []*listTxn{tx(a(1, 1), a(2, 1)), tx(r(1), r(2, 1)), tx(r(1, 1), r(2, 1))},
			map[string]string{rr: "G-single", ser: "G-single"}},
		{"lost update", []*listTxn{tx(r(1), a(1, 1)), tx(r(1), a(1, 2)), tx(r(1, 1, 2))},
			map[string]string{rr: "G-single", ser: "G-single"}},
		{"long fork", []*listTxn{tx(a(1, 1)), tx(a(2, 1)), tx(r(1, 1), r(2)), tx(r(1), r(2, 1)), tx(r(1, 1), r(2, 1))},
			map[string]string{rr: "G-nonadjacent", ser: "G-nonadjacent"}},
		{"write skew", []*listTxn{tx(r(1), a(2, 1)), tx(r(2), a(1, 1)), tx(r(1, 1), r(2, 1))}, map[string]string{ser: "G2"}},
		{"orders that differ", []*listTxn{tx(a(1, 1)), tx(a(1, 2)), tx(r(1, 2)), tx(r(1, 1, 2))},
			map[string]string{rc: "incompatible order", rr: "incompatible order", ser: "incompatible order"}},
		{"lost", []*listTxn{tx(a(1, 1)), tx(a(1, 2)), tx(r(1, 2))}, map[string]string{rc: "lost", rr: "lost", ser: "lost"}},
		{"twice", []*listTxn{tx(a(1, 1)), tx(r(1, 1, 1))}, map[string]string{rc: "duplicate", rr: "duplicate", ser: "duplicate"}},
		{"garbage", []*listTxn{tx(r(1, 7))}, map[string]string{rc: "garbage", rr: "garbage", ser: "garbage"}},
		{"own write unseen", []*listTxn{tx(a(1, 1), r(1)), tx(r(1, 1))}, map[string]string{rc: "internal", rr: "internal", ser: "internal"}},
		{"unknown and there", []*listTxn{lostConn(a(1, 1)), tx(r(1, 1))}, nil},
		{"unknown and not there", []*listTxn{lostConn(a(1, 1)), tx(r(1))}, nil},
		{"half of an unknown one", []*listTxn{lostConn(a(1, 1), a(2, 1)), tx(r(1, 1), r(2))},
			map[string]string{rc: "lost", rr: "lost", ser: "lost"}},
	}
	for _, tt := range tests {
		for _, level := range isolationLevels {
			var txns []*listTxn
			for i, x := range tt.txns {
				c := *x
				c.id, c.session = i, i
				txns = append(txns, &c)
			}
			got := checkLists(level, txns)
			want := tt.found[level]
			if want == "" && len(got) > 0 || want != "" && (len(got) == 0 || !strings.HasPrefix(got[0], want)) {
				t.Errorf("%s at %s: want %q, got %q", tt.name, level, want, got)
			}
		}
	}
}
