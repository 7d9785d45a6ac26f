package executor

import (
	"time"

	"kvsqld/catalog"
	"kvsqld/catalog/spatial"
	"kvsqld/catalog/types/vec"
	"kvsqld/storage/kv"
)

// NodeStats are the counters of one plan node. Time is inclusive of the node's
// inputs; Files is exclusive of them.
type NodeStats struct {
	Rows, Loops int64         // rows returned, times opened, over all loops
	Time        time.Duration // wall time inside the node and its inputs
	Mem         int64         // most bytes accounted for
	Spilled     int64         // bytes written to temporary files
	Files       map[string]*kv.FileStats
	Regions     []string // visited, of a region-clustered table
	Narrowed    string   // what was read instead of the whole table
	Turned      int64    // left rows that a lookup join had when it turned to a hash table; 0: it did not

	kv kv.Stats
}

// Stats collects NodeStats by plan.Base.ID. It belongs to one statement.
type Stats struct {
	nodes map[int]*NodeStats
	cur   *kv.Stats // attached to the transaction now
}

// NewStats returns an empty collection.
func NewStats() *Stats { return &Stats{nodes: make(map[int]*NodeStats)} }

func (s *Stats) node(id int) *NodeStats {
	n := s.nodes[id]
	if n == nil {
		n = &NodeStats{}
		s.nodes[id] = n
	}
	return n
}

// Nodes returns the counters by node ID.
func (s *Stats) Nodes() map[int]*NodeStats {
	for _, n := range s.nodes {
		spaces := n.kv.Spaces()
		n.Files = make(map[string]*kv.FileStats, len(spaces))
		for _, sp := range spaces {
			n.Files[sp.File] = n.kv.File(sp)
		}
	}
	return s.nodes
}

// NodeStats returns the counters by node ID, nil when none were collected.
func (r *Run) NodeStats() map[int]*NodeStats {
	if r.env == nil || r.env.Stats == nil {
		return nil
	}
	return r.env.Stats.Nodes()
}

// memoryUser is implemented by operators that keep rows.
type memoryUser interface {
	memStats() (peak, spilled int64)
}

// statsOp counts what one operator does.
type statsOp struct {
	Operator
	id    int
	env   *Env
	stats *NodeStats
}

// enter attaches the node's counters to the transaction; the function returned
// puts the former ones back and adds the time that has passed.
func (s *statsOp) enter() func() {
	all := s.env.Stats
	prev := all.cur
	all.cur = &s.stats.kv
	if s.env.Txn != nil {
		s.env.Txn.SetStats(all.cur)
	}
	start := time.Now()
	return func() {
		s.stats.Time += time.Since(start)
		all.cur = prev
		if s.env.Txn != nil {
			s.env.Txn.SetStats(prev)
		}
	}
}

// Open counts a loop.
func (s *statsOp) Open(env *Env) error {
	s.env = env
	s.stats = env.Stats.node(s.id)
	s.stats.Loops++
	defer s.enter()()
	return s.Operator.Open(env)
}

// Next counts rows.
func (s *statsOp) Next() (*vec.Batch, error) {
	defer s.enter()()
	b, err := s.Operator.Next()
	if b != nil {
		s.stats.Rows += int64(b.Rows())
	}
	return b, err
}

// regionReader is implemented by operators that read some regions of a
// region-clustered table; root names it.
type regionReader interface {
	regionCodes() []spatial.Range
	regionRoot() *catalog.Table
}

// noteRegions names the regions visited. Reading their file is not counted.
func (s *statsOp) noteRegions() {
	r, ok := s.Operator.(regionReader)
	if !ok || s.stats == nil || r.regionCodes() == nil || s.env.Txn == nil {
		return
	}
	prev := s.env.Stats.cur
	s.env.Txn.SetStats(nil)
	defer s.env.Txn.SetStats(prev)
	d, err := s.env.Tables.For(r.regionRoot())
	if err != nil {
		return
	}
	if names, err := d.RegionsIn(s.env.Ctx, s.env.Txn, r.regionCodes()); err == nil {
		s.stats.Regions = names
	}
}

// Close takes the memory figures before the operator forgets them.
func (s *statsOp) Close() {
	s.noteRegions()
	if sc, ok := s.Operator.(*scan); ok && s.stats != nil && sc.narrowed != nil {
		s.stats.Narrowed = sc.narrowedTo()
	}
	if l, ok := s.Operator.(*lookupJoin); ok && s.stats != nil && l.turn.to != nil {
		s.stats.Turned = l.turn.seen
	}
	if m, ok := s.Operator.(memoryUser); ok && s.stats != nil {
		peak, spilled := m.memStats()
		s.stats.Mem = max(s.stats.Mem, peak)
		s.stats.Spilled = max(s.stats.Spilled, spilled)
	}
	s.Operator.Close()
}
