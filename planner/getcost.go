package planner

import (
	"kvsqld/catalog"
	"kvsqld/planner/plan"
)

// What a get of a row costs that an index leads to depends on where the one before it was.
// Given
//
//	CREATE TABLE log (id bigserial PRIMARY KEY, at timestamptz, level text)
//	CREATE INDEX ON log (at)            rows of a time lie next to each other
//	CREATE INDEX ON log (level, at)     … with rows of other levels between them

// costNear is a get of the row that lies behind the one before.
const costNear = 3.0

// getCost is what a get costs of a row that a range of an index leads to: the less, the
// more the entries are in the order of the rows, and the fewer rows are between those of
// the range.
func (p *planner) getCost(r *rel, ix *catalog.Index, ranges []plan.KeyRange) float64 {
	if ix.Kind != catalog.KindBtree || ix.Where != "" || len(ranges) > 1 || r.table.Cluster != nil {
		return costGet
	}
	fixed, share := 0, 1.0
	if len(ranges) == 1 {
		rels := map[int]*rel{r.id: r}
		fixed = len(ranges[0].Eq)
		for i, x := range ranges[0].Eq {
			if ix.Keys[i].Col < 0 {
				return costGet
			}
			share *= p.eqSel(&plan.Var{Rel: r.id, Col: ix.Keys[i].Col}, x, rels)
		}
		if ranges[0].EqAny != nil {
			return costGet
		}
	}
	together := 1.0 // entries with one key are in the order of the rows
	if fixed < len(ix.Keys) {
		st := p.colStats(r, ix.Keys[fixed].Col)
		if st == nil {
			return costGet
		}
		together = st.Correlation * st.Correlation
	}
	near := min(costGet, costNear+1/max(share, 1e-6)-1)
	return near + (costGet-near)*(1-together)
}
