package catalog

// ClusterPositions numbers the columns that the row key of a clustered table is
// made of: columns with one number, of tables stored with each other, are equal in
// rows stored below each other. nil for other tables.
func (t *Table) ClusterPositions() map[int]int {
	if t.Cluster == nil {
		return nil
	}
	out, _ := t.clusterPositions()
	return out
}

func (t *Table) clusterPositions() (pos map[int]int, next int) {
	pos = map[int]int{}
	if fk := t.ClusterKey(); fk != nil && t.Cluster.parent != nil {
		var above map[int]int
		above, next = t.Cluster.parent.clusterPositions()
		for i, c := range fk.Cols {
			pos[c] = above[fk.RefCols[i]]
		}
	}
	for _, c := range t.PK {
		if _, has := pos[c]; !has {
			pos[c] = next
			next++
		}
	}
	return pos, next
}
