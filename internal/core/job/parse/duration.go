package parse

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"berth/internal/core/job"
	"berth/internal/core/pattern"
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

// clock is the form of minutes, MM:SS and HH:MM:SS, and behind days of HH, HH:MM and HH:MM:SS.
var clock = pattern.Lazy(`^(?:(\d+)-)?(\d+)(?::(\d+))?(?::(\d+))?$`)

// clockSeconds parses what Slurm takes for a time. It reports whether s has that form.
func clockSeconds(s string) (float64, bool) {
	m := clock().FindStringSubmatch(s)
	if m == nil {
		return 0, false
	}
	parts := slices.DeleteFunc(m[2:], func(p string) bool { return p == "" })
	units, limit := []float64{3600, 60, 1}, 24.0
	if m[1] == "" {
		units, limit = units[3-max(2, len(parts)):], math.Inf(1)
	}
	total := amount(m[1], 86400)
	for i, p := range parts {
		if amount(p, 1) >= limit {
			return 0, false
		}
		total, limit = total+amount(p, units[i]), 60
	}
	return total, true
}

// amount returns a number of digits, or none, in some unit.
func amount(digits string, unit float64) float64 {
	n, _ := strconv.ParseFloat(digits, 64) // without digits 0, and too many are infinite
	return n * unit
}

// units is the form of amounts with units, the larger ones first.
var units = pattern.Lazy(strings.ReplaceAll("^(?:Nd)?(?:Nh)?(?:Nm)?(?:Ns)?(?:Nms)?$", "N", `(\d+(?:\.\d+)?)`))

// unitSeconds parses amounts with units, as in 1h30m. It reports whether s has that form.
func unitSeconds(s string) (total float64, ok bool) {
	m := units().FindStringSubmatch(s)
	if m == nil || s == "" {
		return 0, false
	}
	for i, seconds := range []float64{86400, 3600, 60, 1, 1e-3} {
		total += amount(m[i+1], seconds)
	}
	return total, true
}
