package boltkv

// The tests write little, so they write pages in bulk from little on.
func init() { bulkBytes = 20 << 10 }
