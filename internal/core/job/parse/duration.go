package parse

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"berth/internal/core/job"
)

// Duration parses a duration in sbatch's forms (MM, MM:SS, HH:MM:SS, D-HH,
// D-HH:MM, D-HH:MM:SS; a plain number is minutes) or in units (1h30m, 90s, 1.5d,
// 500ms). where is the flag or file:line that an error names.
func Duration(where, s string) (time.Duration, error) {
	text := strings.TrimSpace(s)
	seconds, ok := clockSeconds(text)
	if !ok {
		seconds, ok = unitSeconds(strings.ToLower(text))
	}
	if !ok {
		return 0, job.ConfigError(where, fmt.Sprintf("%q is not a duration", s),
			"write minutes, MM:SS, HH:MM:SS, D-HH[:MM[:SS]], or units as in 1h30m")
	}
	nanoseconds := math.Round(seconds * float64(time.Second))
	if nanoseconds >= math.MaxInt64 {
		return 0, job.ConfigError(where, fmt.Sprintf("%q is longer than 292 years", s), "write UNLIMITED for no limit")
	}
	return time.Duration(nanoseconds), nil
}

// Date parses a local date, or a date with a time, as in 2026-11-22 or 2026-11-22T14:00. One after the last instant that nanoseconds can count,
// in the year 2262, stands for that instant.
func Date(s string) (job.Time, bool) {
	for _, layout := range []string{time.DateOnly, "2006-01-02 15:04", "2006-01-02T15:04", "2006-01-02T15:04:05", time.DateTime, time.RFC3339} {
		if at, err := time.ParseInLocation(layout, strings.TrimSpace(s), time.Local); err == nil {
			const most = math.MaxInt64/int64(time.Second) - 1
			seconds := min(max(at.Unix(), -most), most)
			return job.Time(seconds*int64(time.Second) + int64(at.Nanosecond())), true
		}
	}
	return 0, false
}

// Limit parses a time limit in the forms of Duration. As with sbatch, "auto", "UNLIMITED" and
// "INFINITE" (in either case) and 0 mean no limit, for which it returns 0.
func Limit(where, s string) (time.Duration, error) {
	switch strings.ToLower(strings.TrimSpace(s)) {
	case "auto", "unlimited", "infinite":
		return 0, nil
	}
	return Duration(where, s)
}

// clockSeconds parses the forms of sbatch. Every part after the first must be below 60, and
// hours after days below 24.
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

// clockPart parses digits whose value is below limit. A limit of 0 allows any value.
func clockPart(s string, limit int) (float64, bool) {
	if !isDigits(s) {
		return 0, false
	}
	n, err := strconv.ParseFloat(s, 64)
	return n, err == nil && (limit == 0 || n < float64(limit))
}

// durationUnits lists the units from the largest to the smallest. Each may occur once.
var durationUnits = []struct {
	name    string
	seconds float64
}{{"d", 86400}, {"h", 3600}, {"m", 60}, {"s", 1}, {"ms", 1e-3}}

// unitSeconds parses numbers with units, larger units first: 1d12h, 1h30m, 1.5s.
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
