package swf

import (
	"math"
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestNumbers compares parsed numbers with exact fractions.
func TestNumbers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`[+-]?([0-9]{1,9}(\.[0-9]{0,12})?|\.[0-9]{1,12})`).Draw(t, "text")
		exact, ok := new(big.Rat).SetString(strings.TrimPrefix(text, "+"))
		if !ok {
			t.Fatalf("%q is no fraction", text)
		}
		got, ok := parse(text)
		if !ok {
			t.Fatalf("%q is not read", text)
		}
		nanos := new(big.Rat).SetFrac(big.NewInt(int64(got)), big.NewInt(1e9))
		off, _ := new(big.Rat).Sub(exact, nanos).Float64()
		if math.Abs(off) >= 1e-9 {
			t.Fatalf("%q is %v, off by %v", text, got, off)
		}
		// The fast path through a whole line gives the same.
		l, err := Read(strings.NewReader(with(7, text, 18, text)), "", Options{})
		if err != nil || l.Jobs[0].Fields[Think] != got || l.Jobs[0].Fields[Mem] != got {
			t.Fatalf("%q in a line: %+v, %v", text, l, err)
		}
	})
}

func TestExponents(t *testing.T) {
	for number, want := range map[string]string{
		"1e+05": "100000 s", "1.5e3": "1500 s", "-2E2": "-200 s", "2.5e-1": "0.25 s", "1e-12": "0 s", "99.9999999999e0": "100 s",
		"1e": "", "e5": "", "1e5e": "", "1e400": "", "1e10": "", "--1": "", "+-1": "", "1-": "", "inf": "", "1_0": "", ".": "", "1..2": "", "": "",
	} {
		d, ok := parse(number)
		if ok != (want != "") || ok && text(d) != want {
			t.Errorf("%q: %s, %v; want %q", number, text(d), ok, want)
		}
	}
}
