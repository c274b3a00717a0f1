package extsort

import (
	"math/rand/v2"
	"testing"
)

// randomRecords is n records of 100 bytes, printable and random.
func randomRecords(n int) []byte {
	b := make([]byte, n*100)
	r := rand.NewChaCha8([32]byte{1})
	_, _ = r.Read(b) // never fails
	for i := range b {
		b[i] = '!' + b[i]%94
	}
	for i := 99; i < len(b); i += 100 {
		b[i] = '\n'
	}
	return b
}

// BenchmarkEntries sorts the entries of a full buffer of random records.
func BenchmarkEntries(b *testing.B) {
	input := randomRecords(1_000_000)
	mem := make([]byte, 160<<20)
	var e []entry
	buf := testBuffer(mem, nil, 1)
	buf.flush = func([]entry) error { return nil }
	for b.Loop() {
		b.StopTimer()
		buf.n, buf.text, buf.fill, buf.scan = 0, 0, 0, 0
		if _, err := buf.Write(input); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
		e = buf.sorted()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(e)), "ns/record")
}
