package hadoop

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"

	"berth/internal/core/job"
)

// Comparator is the order of keys in a job.
type Comparator interface {
	// Compare returns a negative number, 0 or a positive number if a sorts before, with or after b.
	Compare(a, b []byte) int
	// Prefix maps a key to a number with the same order: Prefix(a) < Prefix(b) implies Compare(a, b) < 0. If the
	// prefixes are equal, the order is not known.
	Prefix(key []byte) uint64
}

// ByteOrder compares keys byte by byte, as Hadoop compares Text. It may be compared with ==.
var ByteOrder Comparator = byteOrder{}

// NewComparator returns the job's order of keys, which is ByteOrder unless options request another one.
func NewComparator(spec *job.MapReduceSpec) (Comparator, error) {
	switch spec.Comparator {
	case "", "bytes":
		return ByteOrder, nil
	case "keyfield":
		ks, err := parseKeySpecs("mapreduce.partition.keycomparator.options", spec.ComparatorOptions, spec.KeyFieldSeparator)
		if err != nil {
			return nil, err
		}
		if len(ks.specs) == 0 {
			return ByteOrder, nil
		}
		return &keyFieldOrder{ks}, nil
	default:
		return nil, job.ConfigError("comparator", fmt.Sprintf("%q is not known", spec.Comparator), `use "bytes" or "keyfield"`)
	}
}

type byteOrder struct{}

func (byteOrder) Compare(a, b []byte) int { return bytes.Compare(a, b) }

func (byteOrder) Prefix(key []byte) uint64 { return BytePrefix(key) }

// BytePrefix returns the first 8 bytes of b as a big-endian number, filled up with zeros.
func BytePrefix(b []byte) uint64 {
	if len(b) >= 8 {
		return binary.BigEndian.Uint64(b)
	}
	var p [8]byte
	copy(p[:], b)
	return binary.BigEndian.Uint64(p[:])
}

// keyFieldOrder is Hadoop's KeyFieldBasedComparator: it compares the parts of the keys that the specs name, one after
// the other. It differs where Hadoop's comparison is not an order: two keys that both lack a field are equal in it
// (in Hadoop each of them is smaller), and numbers are compared by value alone.
type keyFieldOrder struct{ keySpecs }

// Compare compares part by part; a key without the part sorts first, last when reversed.
func (o *keyFieldOrder) Compare(a, b []byte) int {
	for i := range o.specs {
		k := &o.specs[i]
		pa, oka := o.part(k, a)
		pb, okb := o.part(k, b)
		if r := comparePart(k, pa, oka, pb, okb); r != 0 {
			if k.reverse {
				return -r
			}
			return r
		}
	}
	return 0
}

func comparePart(k *keySpec, a []byte, oka bool, b []byte, okb bool) int {
	switch {
	case !oka && !okb:
		return 0
	case !oka:
		return -1
	case !okb:
		return 1
	case k.numeric:
		return compareNumbers(parseNumber(a), parseNumber(b))
	default:
		return bytes.Compare(a, b)
	}
}

// Prefix is made from the part that is compared first. A missing part is the smallest in both kinds of comparison.
func (o *keyFieldOrder) Prefix(key []byte) uint64 {
	k := &o.specs[0]
	var p uint64
	if part, ok := o.part(k, key); ok {
		if k.numeric {
			p = parseNumber(part).prefix()
		} else {
			p = BytePrefix(part)
		}
	}
	if k.reverse {
		return ^p
	}
	return p
}

// number is a decimal number in a key: [blanks][-]digits[.digits], followed by anything. A text in another form is 0.
// Numbers are compared digit by digit, so numbers of any length are exact.
type number struct {
	negative bool
	whole    []byte // digits before the point, without leading zeros
	fraction []byte // digits after the point, without trailing zeros
}

// parseNumber reads a number as KeyFieldBasedComparator and sort -n do. Like sort, and unlike Hadoop, it skips blanks
// before the number.
func parseNumber(b []byte) number {
	b = bytes.TrimLeft(b, " \t")
	var n number
	if len(b) > 0 && b[0] == '-' {
		n.negative = true
		b = b[1:]
	}
	w := digits(b)
	n.whole = bytes.TrimLeft(b[:w], "0")
	if w < len(b) && b[w] == '.' {
		f := b[w+1:]
		n.fraction = bytes.TrimRight(f[:digits(f)], "0")
	}
	if len(n.whole) == 0 && len(n.fraction) == 0 {
		n.negative = false // −0 is 0
	}
	return n
}

// digits returns the number of decimal digits at the beginning of b.
func digits(b []byte) int {
	for i, c := range b {
		if c < '0' || c > '9' {
			return i
		}
	}
	return len(b)
}

func compareNumbers(a, b number) int {
	switch {
	case a.negative && b.negative:
		a, b = b, a
	case a.negative:
		return -1
	case b.negative:
		return 1
	}
	return cmp.Or(len(a.whole)-len(b.whole), bytes.Compare(a.whole, b.whole), bytes.Compare(a.fraction, b.fraction))
}

// prefix returns 2⁶² ± the number in thousandths, cut towards zero and held below
// 10¹⁸. It grows with the number and is above the 0 of a missing part.
func (n number) prefix() uint64 {
	const zero, limit = 1 << 62, 1_000_000_000_000_000_000
	m := uint64(limit)
	if len(n.whole) <= 15 {
		m = decimal(n.whole, len(n.whole))*1000 + decimal(n.fraction, 3)
	}
	if n.negative {
		return zero - m
	}
	return zero + m
}

// decimal returns the first width digits of b as a number, zeros standing for missing ones.
func decimal(b []byte, width int) uint64 {
	var v uint64
	for i := range width {
		v *= 10
		if i < len(b) {
			v += uint64(b[i] - '0')
		}
	}
	return v
}
