package sched

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"berth/internal/core/job"
)

func TestSpan(t *testing.T) {
	for expected, want := range map[time.Duration]time.Duration{
		0:            0,
		-time.Second: 0,
		1:            time.Second + 1,
		64 * 1024:    time.Second + 64*1024,
		64*1024 + 1:  time.Second + 66*1024,
		1 << 40:      1<<40 + maxMargin,         // 18 min
		1 << 36:      1<<36 + 1<<36/marginShare, // slightly more than 1 min
		1<<36 + 1:    33*(1<<31) + 33*(1<<31)/marginShare,
	} {
		if got := Span(expected); got != want {
			t.Errorf("%v is given %v, want %v", expected, got, want)
		}
	}
}

// TestSpanBounds: a span is long enough, not much longer, and has few different values.
func TestSpanBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := time.Duration(rapid.Int64Range(1, int64(1000*time.Hour)).Draw(t, "expected"))
		s := Span(d)
		most := d + d/grain + 1
		most += min(max(most/marginShare, minMargin), maxMargin)
		if s < d+minMargin || s > most {
			t.Fatalf("%v is given %v, want %v…%v", d, s, d+minMargin, most)
		}
		if e := d + time.Duration(rapid.Int64Range(0, int64(time.Hour)).Draw(t, "more")); Span(e) < s {
			t.Fatalf("%v is given %v, %v only %v", d, s, e, Span(e))
		}
	})
	values := make(map[time.Duration]bool)
	for d := time.Minute; d < 2*time.Minute; d += 10 * time.Millisecond {
		values[Span(d)] = true
	}
	if n := len(values); n > grain+1 {
		t.Errorf("%d values between one minute and two", n)
	}
}

func TestInTime(t *testing.T) {
	const ends = job.Time(100 * time.Second)
	for _, c := range []struct {
		name      string
		now, ends job.Time
		span      time.Duration
		want      bool
	}{
		{"no end", 1 << 60, 0, time.Hour, true},
		{"no end, unknown", 1 << 60, 0, 0, true},
		{"just", ends - 10, ends, 10, true},
		{"just not", ends - 9, ends, 10, false},
		{"unknown, time left", ends - 1, ends, 0, true},
		{"unknown, over", ends, ends, 0, false},
		{"over", ends + 1, ends, 1, false},
	} {
		if got := InTime(c.now, c.ends, c.span); got != c.want {
			t.Errorf("%s: %t", c.name, got)
		}
		if c.ends == 0 {
			continue
		}
		last := LastStart(c.ends, c.span)
		if !InTime(last, c.ends, c.span) || InTime(last+1, c.ends, c.span) {
			t.Errorf("%s: the last start is not %v", c.name, last)
		}
	}
}
