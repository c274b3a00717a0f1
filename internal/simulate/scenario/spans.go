package scenario

import (
	"fmt"
	"strings"
	"time"

	"berth/internal/core/job"
	"berth/internal/core/job/parse"
	"berth/internal/core/tomlfile"
	"berth/internal/simulate/workload"
)

// span reads a duration of at least low.
func span(t *tomlfile.Table, key string, low, otherwise time.Duration) time.Duration {
	if s, ok := tomlfile.Value[string](t, key, `a duration, as in "1h30m"`); ok {
		return spanOf(t, key, s, low, otherwise)
	}
	return otherwise
}

// spanOf parses the duration in a part of a key's value.
func spanOf(t *tomlfile.Table, key, s string, low, otherwise time.Duration) time.Duration {
	d, err := parse.Duration(t.Where(key), s)
	switch {
	case err != nil:
		t.Add(err)
	case d < low:
		t.Bad(key, fmt.Sprintf("%s is %s, but at least %s is needed", key, s, job.FormatDuration(low)), "")
	case d > workload.Longest:
		t.Bad(key, fmt.Sprintf("%s is %s, which is more than ten years", key, s), "")
	default:
		return d
	}
	return otherwise
}

// limit reads a duration that limits something; 0 means no limit.
func limit(t *tomlfile.Table, key string) time.Duration {
	v, _ := t.Get(key)
	if s, ok := v.(string); ok {
		if d, err := parse.Limit("", s); err == nil && d == 0 {
			return 0
		}
	}
	return span(t, key, time.Millisecond, 0)
}

// times reads a distribution of durations: "60s", "60s±20s", "60s+-20s" or a table of mean and sd.
func times(t *tomlfile.Table, key string) (n workload.Normal) {
	v, _ := t.Get(key)
	if _, ok := v.(map[string]any); ok {
		inner := t.Sub(key)
		n = workload.Normal{Mean: span(inner, "mean", time.Millisecond, 0), SD: span(inner, "sd", 0, 0)}
		inner.Done()
		return n
	}
	s, ok := tomlfile.Value[string](t, key, `a duration, as in "60s" or "60s±20s"`)
	if !ok {
		return n
	}
	mean, sd, spread := strings.Cut(strings.Replace(s, "+-", "±", 1), "±")
	if n.Mean = spanOf(t, key, mean, time.Millisecond, 0); spread {
		n.SD = spanOf(t, key, sd, 0, 0)
	}
	return n
}
