package job

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// ParseDuration parses a duration in sbatch's forms (MM, MM:SS, HH:MM:SS, D-HH,
// D-HH:MM, D-HH:MM:SS; a plain number is minutes) or in units (1h30m, 90s, 1.5d,
// 500ms). where is the flag or file:line that an error names.
func ParseDuration(where, s string) (time.Duration, error) {
	text := strings.TrimSpace(s)
	seconds, ok := clockSeconds(text)
	if !ok {
		seconds, ok = unitSeconds(strings.ToLower(text))
	}
	if !ok {
		return 0, &Error{
			Class: User, Code: CodeConfig, Where: where, What: fmt.Sprintf("%q is no duration", s),
			Do: "write minutes, MM:SS, HH:MM:SS, D-HH[:MM[:SS]], or units as in 1h30m",
		}
	}
	nanoseconds := math.Round(seconds * float64(time.Second))
	if nanoseconds >= math.MaxInt64 {
		return 0, &Error{
			Class: User, Code: CodeConfig, Where: where,
			What: fmt.Sprintf("%q is longer than 292 years", s), Do: "write UNLIMITED where no limit is meant",
		}
	}
	return time.Duration(nanoseconds), nil
}

// ParseLimit parses a duration that bounds something: as ParseDuration, and "auto",
// "UNLIMITED", "INFINITE" (in either case) and 0 are no bound, as with sbatch: 0.
func ParseLimit(where, s string) (time.Duration, error) {
	switch strings.ToLower(strings.TrimSpace(s)) {
	case "auto", "unlimited", "infinite":
		return 0, nil
	}
	return ParseDuration(where, s)
}

// clockSeconds reads sbatch's forms. Parts after the first must be below 60, or 24
// for hours after days.
func clockSeconds(s string) (float64, bool) {
	days, clock, hasDays := strings.Cut(s, "-")
	if !hasDays {
		clock = s
	}
	parts := strings.Split(clock, ":")
	var units []float64
	var limits []int
	switch {
	case len(parts) > 3:
		return 0, false
	case hasDays:
		units, limits = []float64{3600, 60, 1}, []int{24, 60, 60}
	case len(parts) == 3:
		units, limits = []float64{3600, 60, 1}, []int{0, 60, 60}
	default:
		units, limits = []float64{60, 1}, []int{0, 60}
	}
	total := 0.0
	if hasDays {
		n, ok := clockPart(days, 0)
		if !ok {
			return 0, false
		}
		total = n * 86400
	}
	for i, p := range parts {
		n, ok := clockPart(p, limits[i])
		if !ok {
			return 0, false
		}
		total += n * units[i]
	}
	return total, true
}

// clockPart reads digits that stand for less than limit; 0: for anything.
func clockPart(s string, limit int) (float64, bool) {
	if !isDigits(s) {
		return 0, false
	}
	n, err := strconv.ParseFloat(s, 64)
	return n, err == nil && (limit == 0 || n < float64(limit))
}

// durationUnits are in falling order; each may stand once.
var durationUnits = []struct {
	name    string
	seconds float64
}{{"d", 86400}, {"h", 3600}, {"m", 60}, {"s", 1}, {"ms", 1e-3}}

// unitSeconds reads numbers with units, larger units first: 1d12h, 1h30m, 1.5s.
func unitSeconds(s string) (float64, bool) {
	total, unit := 0.0, 0
	for s != "" {
		end := strings.IndexFunc(s, func(r rune) bool { return r != '.' && (r < '0' || r > '9') })
		if end <= 0 || !isDecimal(s[:end]) {
			return 0, false
		}
		n, err := strconv.ParseFloat(s[:end], 64)
		if err != nil {
			return 0, false
		}
		name := s[end:]
		if next := strings.IndexAny(name, "0123456789."); next >= 0 {
			name = name[:next]
		}
		for unit < len(durationUnits) && durationUnits[unit].name != name {
			unit++
		}
		if unit == len(durationUnits) {
			return 0, false
		}
		total += n * durationUnits[unit].seconds
		unit++
		s = s[end+len(name):]
	}
	return total, unit > 0
}

// FormatDuration writes a duration for people: "0.18ms", "350ms", "12.3s", "4m5s", "1h30m",
// "2d3h". Below a millisecond it is rounded to a hundredth of one, but never to nothing,
// below a second to one, below a minute to a tenth of a second, below a day to a
// second, else to a minute. ParseDuration reads it back.
func FormatDuration(d time.Duration) string {
	switch {
	case d < 0:
		return "-" + FormatDuration(-max(d, -math.MaxInt64))
	case d == 0:
		return "0s"
	case d < time.Millisecond-5*time.Microsecond:
		return strconv.FormatFloat(max(0.01, math.Round(d.Seconds()*1e5)/100), 'f', -1, 64) + "ms"
	case d < time.Second:
		return strconv.FormatInt(min(999, int64(d.Round(time.Millisecond)/time.Millisecond)), 10) + "ms"
	case d < time.Minute-50*time.Millisecond:
		tenths := d.Round(100 * time.Millisecond)
		return strings.TrimSuffix(strconv.FormatFloat(tenths.Seconds(), 'f', 1, 64), ".0") + "s"
	case d < 24*time.Hour-500*time.Millisecond:
		return formatUnits(int64(d.Round(time.Second)/time.Second), []int64{3600, 60, 1}, "hms")
	default:
		return formatUnits(int64(d.Round(time.Minute)/time.Minute), []int64{1440, 60, 1}, "dhm")
	}
}

// formatUnits writes n in units, leaving out those of which there are none.
func formatUnits(n int64, sizes []int64, names string) string {
	var b strings.Builder
	for i, size := range sizes {
		if count := n / size; count > 0 {
			fmt.Fprintf(&b, "%d%c", count, names[i])
		}
		n %= size
	}
	return b.String()
}
