package plan

// String names the access path as EXPLAIN prints it.
func (a Access) String() string {
	return [...]string{"full scan", "point get", "unique get", "range scan", "index range", "full index", "regions", "current row", "by ctid"}[a]
}

// String names the join's kind as EXPLAIN prints it.
func (k JoinKind) String() string {
	return [...]string{"inner", "left", "right", "full", "semi", "anti"}[k]
}
