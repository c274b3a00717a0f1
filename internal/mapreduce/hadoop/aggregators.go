package hadoop

import (
	"bytes"
	"maps"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
)

// aggregator folds the values of one key.
type aggregator interface {
	// add adds a value. It returns an error if the value is not valid.
	add(value []byte) error
	// report appends the final result.
	report(dst []byte) []byte
	// partial emits values that represent all added ones.
	partial(emit func(value []byte) error) error
}

const aggregatorNames = "LongValueSum, LongValueMax, LongValueMin, DoubleValueSum, " +
	"StringValueMax, StringValueMin, UniqValueCount, ValueHistogram"

// newAggregator returns the aggregator with this name, or nil. The case of the name does not matter, as in Hadoop.
func newAggregator(name string) aggregator {
	switch strings.ToLower(name) {
	case "longvaluesum":
		return &longFold{fold: func(a, b int64) int64 { return a + b }}
	case "longvaluemax":
		return &longFold{value: math.MinInt64, fold: func(a, b int64) int64 { return max(a, b) }}
	case "longvaluemin":
		return &longFold{value: math.MaxInt64, fold: func(a, b int64) int64 { return min(a, b) }}
	case "doublevaluesum":
		return &doubleSum{}
	case "stringvaluemax":
		return &stringBest{sign: 1}
	case "stringvaluemin":
		return &stringBest{sign: -1}
	case "uniqvaluecount":
		return &uniqueCount{}
	case "valuehistogram":
		return histogram{}
	default:
		return nil
	}
}

// longFold is LongValueSum (which wraps around, as Java's long), LongValueMax or LongValueMin.
type longFold struct {
	value int64
	fold  func(a, b int64) int64
}

func (l *longFold) add(value []byte) error {
	v, err := strconv.ParseInt(string(bytes.TrimSpace(value)), 10, 64)
	if err != nil {
		return err
	}
	l.value = l.fold(l.value, v)
	return nil
}

func (l *longFold) report(dst []byte) []byte { return strconv.AppendInt(dst, l.value, 10) }

func (l *longFold) partial(emit func([]byte) error) error { return emit(l.report(nil)) }

// doubleSum is DoubleValueSum. The sum is exact until it is rounded for the report, so it does not depend on the order
// of the values or on combiners.
type doubleSum struct {
	finite  big.Float
	special float64 // sum of the values that were infinite or NaN; 0: none
}

// exactBits is the precision of a sum of doubles that is exact: from the least bit of the least to the greatest bit of the sum of 2⁶⁴ of the greatest.
const exactBits = 1074 + 1024 + 64

func (d *doubleSum) add(value []byte) error {
	v, err := strconv.ParseFloat(string(bytes.TrimSpace(value)), 64)
	if err != nil && !math.IsInf(v, 0) { // out of range is infinity, as in Java
		return err
	}
	if math.IsInf(v, 0) || math.IsNaN(v) {
		d.special += v
		return nil
	}
	d.finite.SetPrec(exactBits).Add(&d.finite, new(big.Float).SetFloat64(v))
	return nil
}

// sum rounds to the nearest double, half to even.
func (d *doubleSum) sum() float64 {
	if d.special != 0 { // NaN is not 0 either
		return d.special
	}
	sum, _ := d.finite.Float64()
	return sum
}

func (d *doubleSum) report(dst []byte) []byte { return appendJavaDouble(dst, d.sum()) }

// partial emits the sum and what was rounded off, until nothing is.
func (d *doubleSum) partial(emit func([]byte) error) error {
	for {
		v := d.sum()
		if err := emit(appendJavaDouble(nil, v)); err != nil || v-v != 0 { // infinity or NaN is all there is
			return err
		}
		if d.finite.Sub(&d.finite, new(big.Float).SetFloat64(v)).Sign() == 0 {
			return nil
		}
	}
}

// appendJavaDouble writes v as Java's Double.toString does (since JDK 19): the
// fewest digits that read back as v, with a point, and an exponent below 10⁻³ and
// from 10⁷.
func appendJavaDouble(dst []byte, v float64) []byte {
	abs := math.Abs(v)
	switch {
	case math.IsNaN(v):
		return append(dst, "NaN"...)
	case math.IsInf(v, 1):
		return append(dst, "Infinity"...)
	case math.IsInf(v, -1):
		return append(dst, "-Infinity"...)
	case abs == 0 || abs >= 1e-3 && abs < 1e7:
		return appendPoint(strconv.AppendFloat(dst, v, 'f', -1, 64), len(dst))
	}
	text := strconv.FormatFloat(v, 'e', -1, 64)
	mantissa, exponent, _ := strings.Cut(text, "e")
	dst = appendPoint(append(dst, mantissa...), len(dst))
	n, _ := strconv.Atoi(exponent) // FormatFloat writes a number
	return strconv.AppendInt(append(dst, 'E'), int64(n), 10)
}

// appendPoint adds ".0" if the number that begins at from has no point.
func appendPoint(dst []byte, from int) []byte {
	if bytes.IndexByte(dst[from:], '.') < 0 {
		dst = append(dst, ".0"...)
	}
	return dst
}

// stringBest is StringValueMax or StringValueMin, in byte order (Java's is that of
// UTF-16 units, which differs beyond U+FFFF only).
type stringBest struct {
	sign  int
	value []byte
	any   bool
}

func (s *stringBest) add(value []byte) error {
	if !s.any || bytes.Compare(value, s.value)*s.sign > 0 {
		s.value, s.any = append(s.value[:0], value...), true
	}
	return nil
}

func (s *stringBest) report(dst []byte) []byte { return append(dst, s.value...) }

func (s *stringBest) partial(emit func([]byte) error) error { return emit(s.value) }

// uniqueCount is UniqValueCount. As equal values come one after the other, it keeps only the last one, and writes
// partial results at once.
type uniqueCount struct {
	limit int64                    // largest count; 0: none
	emit  func(value []byte) error // writes partial results; nil: there are none
	last  []byte
	count int64
}

func (u *uniqueCount) add(value []byte) error {
	if u.count > 0 && (bytes.Equal(value, u.last) || u.count == u.limit) {
		return nil
	}
	u.last = append(u.last[:0], value...)
	u.count++
	if u.emit != nil {
		return u.emit(value)
	}
	return nil
}

func (u *uniqueCount) report(dst []byte) []byte { return strconv.AppendInt(dst, u.count, 10) }

func (u *uniqueCount) partial(func([]byte) error) error { return nil }

// histogram is ValueHistogram: the number of occurrences of each value. A value may be followed by a TAB and a count.
type histogram map[string]int64

func (h histogram) add(value []byte) error {
	count := int64(1)
	if i := bytes.LastIndexByte(value, '\t'); i >= 0 {
		var err error
		if count, err = strconv.ParseInt(string(bytes.TrimSpace(value[i+1:])), 10, 64); err != nil {
			return err
		}
		value = value[:i]
	}
	h[string(value)] += count
	return nil
}

// report appends the number of different values, then the least, median, greatest
// and mean count and their standard deviation, with TABs between.
func (h histogram) report(dst []byte) []byte {
	counts := slices.Sorted(maps.Values(h))
	n := len(counts)
	dst = strconv.AppendInt(dst, int64(n), 10)
	if n == 0 {
		return dst
	}
	var total int64
	for _, c := range counts {
		total += c
	}
	mean, squares := float64(total)/float64(n), 0.0
	for _, c := range counts {
		d := float64(c) - mean
		squares += d * d
	}
	for _, c := range []int64{counts[0], counts[n/2], counts[n-1]} {
		dst = strconv.AppendInt(append(dst, '\t'), c, 10)
	}
	dst = appendJavaDouble(append(dst, '\t'), mean)
	return appendJavaDouble(append(dst, '\t'), math.Sqrt(squares/float64(n)))
}

func (h histogram) partial(emit func([]byte) error) error {
	for _, v := range slices.Sorted(maps.Keys(h)) {
		text := strconv.AppendInt(append([]byte(v), '\t'), h[v], 10)
		if err := emit(text); err != nil {
			return err
		}
	}
	return nil
}
