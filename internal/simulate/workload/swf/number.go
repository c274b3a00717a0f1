package swf

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// longest is the largest value of a field, which fits 64 bits as nanoseconds.
const longest = math.MaxInt64/1_000_000_000 - 1

// parse parses a field with a sign, a fraction, of which nine digits count, or an exponent, as statistics programs write large
// numbers.
func parse(text string) (time.Duration, bool) {
	if strings.Trim(text, "0123456789.eE+-") != "" {
		return 0, false // words, and units
	}
	if !strings.ContainsAny(text, "eE") {
		d, err := time.ParseDuration(text + "s")
		return d, err == nil
	}
	f, err := strconv.ParseFloat(text, 64)
	return time.Duration(math.Round(f * 1e9)), err == nil && math.Abs(f) <= longest
}

// whole returns the nearest whole number of a field.
func whole(d time.Duration) int64 { return int64(d/time.Second + d%time.Second/(time.Second/2)) }

// count reports whether a field is a whole number that fits 32 bits.
func count(d time.Duration) bool {
	return d%time.Second == 0 && d/time.Second == time.Duration(int32(d/time.Second))
}
