package hadoop

import (
	"bytes"
	"fmt"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"berth/internal/core/job"
)

func keyFieldComparator(t interface{ Fatal(...any) }, options, sep string) Comparator {
	cmp, err := NewComparator(&job.MapReduceSpec{Comparator: "keyfield", ComparatorOptions: options, KeyFieldSeparator: sep})
	if err != nil {
		t.Fatal(err)
	}
	return cmp
}

// The vectors are those of Hadoop's TestMRKeyFieldBasedComparator.
func TestKeyFieldComparatorAsHadoop(t *testing.T) {
	one := []byte("123 -123 005120 123.9 0.01 0.18 010 10.0 4444.1 011 011 234")
	two := []byte("134 -12 005100 123.10 -1.01 0.19 02 10.1 4444")
	for _, c := range []struct {
		options string
		first   int
	}{
		{"-k1,1n", 1}, {"-k2,2n", 1}, {"-k2.2,2n", 2}, {"-k3.4,3n", 2},
		{"-k3.2,3.3n -k4,4n", 2}, {"-k3.2,3.3n -k4,4nr", 1}, {"-k2.4,2.4n", 2},
		{"-k7,7", 1}, {"-k7,7n", 2}, {"-k8,8n", 1}, {"-k9,9", 2}, {"-k11,11", 2}, {"-k10,10", 2},
	} {
		r := keyFieldComparator(t, c.options, " ").Compare(one, two)
		if c.first == 1 && r >= 0 || c.first == 2 && r <= 0 {
			t.Errorf("%s: got %d, want line %d first", c.options, r, c.first)
		}
	}
}

func TestKeyFieldComparator(t *testing.T) {
	for _, c := range []struct {
		options, a, b string
		want          int
	}{
		{"-n", "9", "10", -1},
		{"-n", "-9", "-10", 1},
		{"-n", "-0", "0", 0},
		{"-n", "-0.0", "0", 0},
		{"-n", "007", "7", 0},
		{"-n", "1.50", "1.5", 0},
		{"-n", "1.5", "1.49", 1},
		{"-n", "", "0", -1}, // an empty key has no part to be compared
		{"-n", "  5", "10", -1},
		{"-n", "5 apples", "5 pears", 0},
		{"-n", "apple", "0", 0},
		{"-n", "-", "0", 0},
		{"-n", "99999999999999999999999999", "99999999999999999999999998", 1},
		{"-n", "-99999999999999999999999999", "1", -1},
		{"-nr", "9", "10", 1},
		{"-r", "a", "b", 1},
		{"-k2,2", "x\ta", "a\tb", -1},
		{"-k2,2", "x", "x\ta", -1},
		{"-k2,2r", "x", "x\ta", 1},
		{"-k2,2", "x", "y", 0},
		{"-k2,2n -k1,1", "b\t1", "a\t1.0", 1},
	} {
		cmp := keyFieldComparator(t, c.options, "")
		if got := sign(cmp.Compare([]byte(c.a), []byte(c.b))); got != c.want {
			t.Errorf("%s: %q against %q: got %d, want %d", c.options, c.a, c.b, got, c.want)
		}
		if got := sign(cmp.Compare([]byte(c.b), []byte(c.a))); got != -c.want {
			t.Errorf("%s: %q against %q: got %d, want %d", c.options, c.b, c.a, got, -c.want)
		}
	}
}

func sign(n int) int { return max(-1, min(1, n)) }

func TestNewComparator(t *testing.T) {
	for _, spec := range []job.MapReduceSpec{
		{}, {Comparator: "bytes"}, {Comparator: "keyfield"},
		{Comparator: "bytes", ComparatorOptions: "-n"},
	} {
		cmp, err := NewComparator(&spec)
		if err != nil || cmp != ByteOrder {
			t.Errorf("%+v: got %v, %v, want ByteOrder", spec, cmp, err)
		}
	}
	for _, spec := range []job.MapReduceSpec{
		{Comparator: "length"}, {Comparator: "keyfield", ComparatorOptions: "-kq"},
	} {
		if _, err := NewComparator(&spec); job.CodeOf(err) != job.CodeConfig {
			t.Errorf("%+v: got %v, want a configuration error", spec, err)
		}
	}
}

// key draws keys that often agree in part.
var keyGen = rapid.Custom(func(t *rapid.T) []byte {
	field := rapid.OneOf(
		rapid.StringMatching(`-?[0-9]{0,3}(\.[0-9]{0,4})?`),
		rapid.StringMatching(`[ab\x00]{0,10}`),
		rapid.StringMatching(`-?[0-9]{14,20}`),
	)
	var key []byte
	for i, f := range rapid.SliceOfN(field, 0, 3).Draw(t, "fields") {
		if i > 0 {
			key = append(key, '\t')
		}
		key = append(key, f...)
	}
	return key
})

var optionsGen = rapid.SampledFrom([]string{
	"", "-n", "-r", "-nr", "-k1,1n", "-k2,2nr", "-k2,2", "-k2,2r", "-k1.2,1.3 -k2n", "-k3 -k1n", "-k2.2,2.4nr -k1,1r",
})

func TestComparatorIsAnOrderThatPrefixesKeep(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cmp := keyFieldComparator(t, optionsGen.Draw(t, "options"), "")
		a, b, c := keyGen.Draw(t, "a"), keyGen.Draw(t, "b"), keyGen.Draw(t, "c")
		ab, ba := sign(cmp.Compare(a, b)), sign(cmp.Compare(b, a))
		if ab != -ba {
			t.Fatalf("a against b is %d, b against a %d", ab, ba)
		}
		if bc := sign(cmp.Compare(b, c)); ab <= 0 && bc <= 0 && cmp.Compare(a, c) > 0 {
			t.Fatal("a ≤ b ≤ c, but a > c")
		}
		if cmp.Prefix(a) < cmp.Prefix(b) && ab >= 0 {
			t.Fatalf("prefix of a is smaller, a against b is %d", ab)
		}
	})
}

func TestNumbersCompareByValue(t *testing.T) {
	decimals := rapid.StringMatching(`-?[0-9]{1,25}(\.[0-9]{1,8})?`)
	rapid.Check(t, func(t *rapid.T) {
		a, b := decimals.Draw(t, "a"), decimals.Draw(t, "b")
		ra, _ := new(big.Rat).SetString(a)
		rb, _ := new(big.Rat).SetString(b)
		na, nb := parseNumber([]byte(a)), parseNumber([]byte(b))
		if got, want := sign(compareNumbers(na, nb)), ra.Cmp(rb); got != want {
			t.Fatalf("got %d, want %d", got, want)
		}
		if na.prefix() < nb.prefix() && ra.Cmp(rb) >= 0 {
			t.Fatalf("prefixes %d and %d", na.prefix(), nb.prefix())
		}
	})
}

func TestBytePrefix(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := rapid.SliceOfN(rapid.Byte(), 0, 10).Draw(t, "a")
		b := rapid.SliceOfN(rapid.Byte(), 0, 10).Draw(t, "b")
		pa, pb := ByteOrder.Prefix(a), ByteOrder.Prefix(b)
		if pa < pb && bytes.Compare(a, b) >= 0 {
			t.Fatal("prefix is smaller, key is not")
		}
		if pa != pb && ByteOrder.Compare(a, b) == 0 {
			t.Fatal("equal keys with different prefixes")
		}
	})
	if got := ByteOrder.Prefix([]byte("abcdefghi")); got != 0x6162636465666768 {
		t.Errorf("got %x", got)
	}
}

func BenchmarkKeyFieldCompare(b *testing.B) {
	for _, options := range []string{"-k2,2", "-k2,2n"} {
		b.Run(options, func(b *testing.B) {
			cmp := keyFieldComparator(b, options, "")
			x, y := []byte("host-17\t123456.25\tGET"), []byte("host-17\t123456.75\tGET")
			sum := 0
			for b.Loop() {
				sum += cmp.Compare(x, y)
			}
			if sum >= 0 {
				b.Fatal(fmt.Sprint(sum))
			}
		})
	}
}
