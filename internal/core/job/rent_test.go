package job

import "testing"

// TestMoney checks that no cost is written as if it were none.
func TestMoney(t *testing.T) {
	for x, want := range map[float64]string{0: "0.00", 0.00423: "0.0042", 0.0099: "0.0099", 0.01: "0.01", 12.499: "12.50", 1e6: "1000000.00"} {
		if got := Money(x); got != want {
			t.Errorf("%g is written %s, want %s", x, got, want)
		}
	}
}
