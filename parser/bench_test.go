package parser

import "testing"

const pointSelect = "SELECT abalance FROM pgbench_accounts WHERE aid = 12345"

func BenchmarkParsePoint(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Parse(pointSelect); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkParseJoin(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Parse("SELECT c.name, count(*) FROM orders o JOIN customers c ON c.id = o.cust LEFT JOIN items i ON i.o = o.id WHERE o.total > 100 AND c.name LIKE 'a%' GROUP BY c.name ORDER BY 2 DESC LIMIT 10"); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkFingerprint(b *testing.B) {
	b.ReportAllocs()
	var f Fingerprinter
	for b.Loop() {
		if !f.Run(pointSelect) {
			b.Fatal("refused")
		}
	}
}

func BenchmarkParseValues(b *testing.B) {
	sql := []byte("INSERT INTO t (a, b, c) VALUES ")
	for i := range 1000 {
		if i > 0 {
			sql = append(sql, ',')
		}
		sql = append(sql, "(12345, 'some text here', 3.14)"...)
	}
	b.SetBytes(int64(len(sql)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Parse(string(sql)); err != nil {
			b.Fatal(err)
		}
	}
}
