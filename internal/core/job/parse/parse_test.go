package parse

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"berth/internal/core/job"
)

// mustUserError checks that err is an *Error that a user can mend and that names where.
func mustUserError(t *testing.T, err error, where string) {
	t.Helper()
	var e *job.Error
	if !errors.As(err, &e) {
		t.Fatalf("error %v is no *Error", err)
	}
	if e.Class != job.User || e.Where != where || e.What == "" || e.Do == "" {
		t.Errorf("error %+v lacks class, place, what or advice", e)
	}
}

func TestSize(t *testing.T) {
	for s, want := range map[string]int64{
		"0": 0, "1024": 1024, "512M": 512 << 20, "4G": 4 << 30, "1.5G": 3 << 29, "2k": 2048, "1KiB": 1024,
		"3MB": 3 << 20, "7B": 7, "1T": 1 << 40, "2P": 2 << 50, "7E": 7 << 60, " 8K ": 8192, "9007199254740993": 9007199254740993,
		"0.0001K": 0, "0.001K": 1,
	} {
		if got, err := Size("--x", s); err != nil || got != want {
			t.Errorf("Size(%q) = %d, %v, want %d", s, got, err, want)
		}
	}
	for _, s := range []string{"", "M", "-1", "1.G", ".5G", "1e3", "1 G", "4Q", "4GG", "4GiBs", "NaN", "inf", "8E", "1.5.2K", "99999999999999999999", "0x10", "9.9E"} {
		if got, err := Size("--x", s); err == nil {
			t.Errorf("Size(%q) = %d, want an error", s, got)
		} else {
			mustUserError(t, err, "--x")
		}
	}
	if got, err := Mem("--mem", "512"); err != nil || got != 512<<20 {
		t.Errorf("Mem(512) = %d, %v, want 512 megabytes", got, err)
	}
	if got, err := Mem("--mem", "512K"); err != nil || got != 512<<10 {
		t.Errorf("Mem(512K) = %d, %v", got, err)
	}
}

func TestSizeReadsBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Int64Range(0, 7<<60).Draw(t, "n")
		got, err := Size("", job.FormatSize(n))
		if err != nil || math.Abs(float64(got-n)) > 0.005*float64(n)+0.5 {
			t.Fatalf("%d is written %q and read back as %d, %v", n, job.FormatSize(n), got, err)
		}
	})
}

func TestDuration(t *testing.T) {
	const day = 24 * time.Hour
	for s, want := range map[string]time.Duration{
		"0": 0, "5": 5 * time.Minute, "90": 90 * time.Minute, "5:30": 330 * time.Second, "90:00": 90 * time.Minute,
		"01:02:03": time.Hour + 2*time.Minute + 3*time.Second, "100:00:00": 100 * time.Hour,
		"1-0": day, "2-12": 60 * time.Hour, "1-02:30": day + 150*time.Minute, "1-02:30:15": day + 150*time.Minute + 15*time.Second,
		"1h30m": 90 * time.Minute, "90s": 90 * time.Second, "1.5h": 90 * time.Minute, "500ms": 500 * time.Millisecond,
		"1d12h": 36 * time.Hour, "1H": time.Hour, " 10 ": 10 * time.Minute, "1m500ms": time.Minute + 500*time.Millisecond,
	} {
		if got, err := Duration("--x", s); err != nil || got != want {
			t.Errorf("Duration(%q) = %v, %v, want %v", s, got, err, want)
		}
	}
	for _, s := range []string{"", "-1", "1-", "-", "1-24", "1:60", "1:00:60", "1:60:00", "1:2:3:4", "1-1:1:1:1", "1h1h", "1m1h", "h",
		"1x", "1.", "auto", "1e3", "1h 30m", ":", "1:", "5-1h", "200000000", "999999999d", "9223372036.854775807s"} {
		if got, err := Duration("--x", s); err == nil {
			t.Errorf("Duration(%q) = %v, want an error", s, got)
		} else {
			mustUserError(t, err, "--x")
		}
	}
}

func TestLimit(t *testing.T) {
	for s, want := range map[string]time.Duration{"auto": 0, "UNLIMITED": 0, "infinite": 0, "0": 0, "1:00:00": time.Hour} {
		if got, err := Limit("--time", s); err != nil || got != want {
			t.Errorf("Limit(%q) = %v, %v, want %v", s, got, err, want)
		}
	}
	_, err := Limit("--time", "soon")
	mustUserError(t, err, "--time")
}

func TestDurationReadsBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := time.Duration(rapid.Int64Range(0, int64(100*365*24*time.Hour)).Draw(t, "d"))
		text := job.FormatDuration(d)
		got, err := Duration("", text)
		if err != nil || job.FormatDuration(got) != text {
			t.Fatalf("%d is written %q, read back as %d, %v", int64(d), text, int64(got), err)
		}
		if off := got - d; off < -time.Minute || off > time.Minute {
			t.Fatalf("%v is written %q, which is %v off", d, text, off)
		}
	})
}

func TestNodes(t *testing.T) {
	for s, want := range map[string][2]int{"4": {4, 4}, "2-8": {2, 8}, "auto": {0, 0}, " 1 ": {1, 1}} {
		if low, high, err := Nodes("-N", s); err != nil || low != want[0] || high != want[1] {
			t.Errorf("Nodes(%q) = %d, %d, %v, want %v", s, low, high, err, want)
		}
	}
	for _, s := range []string{"", "0", "-1", "4-", "-4", "8-2", "1-2-3", "two", "1.5", "9999999", "99999999999999999999"} {
		_, _, err := Nodes("-N", s)
		mustUserError(t, err, "-N")
	}
}

func TestArray(t *testing.T) {
	for s, want := range map[string]Indices{
		"1-3": {[]int{1, 2, 3}, 0}, "0-10:5": {[]int{0, 5, 10}, 0}, "1,5-7": {[]int{1, 5, 6, 7}, 0}, "1-4%2": {[]int{1, 2, 3, 4}, 2},
		"7": {[]int{7}, 0}, "3,1,2-3": {[]int{1, 2, 3}, 0}, "0-9:4%1": {[]int{0, 4, 8}, 1}, "2147483646": {[]int{2147483646}, 0},
	} {
		got, err := Array("--array", s)
		if err != nil || !slices.Equal(got.Numbers, want.Numbers) || got.Throttle != want.Throttle {
			t.Errorf("Array(%q) = %v, %v, want %v", s, got, err, want)
		}
	}
	for _, s := range []string{"", ",", "1,", "a", "5-1", "-1", "1-", "1:2", "1-5:0", "1-5:", "1-5%0", "1-5%", "1-5%x", "%5",
		"1-99999999", "0-2147483646", "2147483647", "1-5000000,5000001-10000001", "1.5"} {
		if got, err := Array("--array", s); err == nil {
			t.Errorf("Array(%q) gives %d indices, want an error", s, len(got.Numbers))
		} else {
			mustUserError(t, err, "--array")
		}
	}
}

func TestNearest(t *testing.T) {
	known := []string{"mapper", "reducer", "combiner", "each_line"}
	for word, want := range map[string]string{
		"mappper": "mapper", "MAPPER": "mapper", "reducr": "reducer", "eachline": "each_line", "xyz": "", "": "", "output": "",
		strings.Repeat("mapper", 1000): "",
	} {
		if got := Nearest(word, known); got != want {
			t.Errorf("Nearest(%q) = %q, want %q", word, got, want)
		}
	}
}

// TestParsersHoldTheirRange: no text makes a parser overflow into a negative value.
func TestParsersHoldTheirRange(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.StringMatching(`[0-9]{1,25}(\.[0-9]{1,4})?[KMGTPEdhms:-]{0,2}[0-9]{0,3}`).Draw(t, "s")
		checkParsers(t, s)
	})
}

func checkParsers(t interface{ Fatalf(string, ...any) }, s string) {
	if n, err := Size("x", s); n < 0 || err != nil && n != 0 {
		t.Fatalf("Size(%q) = %d, %v", s, n, err)
	}
	if n, err := Mem("x", s); n < 0 || err != nil && n != 0 {
		t.Fatalf("Mem(%q) = %d, %v", s, n, err)
	}
	if d, err := Duration("x", s); d < 0 || err != nil && d != 0 {
		t.Fatalf("Duration(%q) = %v, %v", s, d, err)
	}
	if low, high, err := Nodes("x", s); low < 0 || high < low || err != nil && high != 0 {
		t.Fatalf("Nodes(%q) = %d, %d, %v", s, low, high, err)
	}
	if n, share, _, err := taskGPUs("x", s); n < 0 || n > job.MaxCPUs || share < 0 || share >= job.Milli || share > 0 && n != 1 || err != nil && n+share != 0 {
		t.Fatalf("taskGPUs(%q) = %d, %d, %v", s, n, share, err)
	}
}

func FuzzParsers(f *testing.F) {
	for _, s := range []string{"512M", "1.5G", "1-02:30:15", "1h30m", "2-8", "auto", "9223372036854775807", "-1", "8E", "0.25:a100"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) { checkParsers(t, s) })
}

func FuzzArray(f *testing.F) {
	for _, s := range []string{"1-10", "0-10:2", "1,5-8", "1-100%5", "2147483646", "1-99999"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		a, err := Array("x", s)
		if err != nil {
			return
		}
		if len(a.Numbers) == 0 || len(a.Numbers) > MaxEntries || a.Numbers[0] < 0 || a.Throttle < 0 {
			t.Fatalf("Array(%q) = %d indices, throttle %d", s, len(a.Numbers), a.Throttle)
		}
		for i := 1; i < len(a.Numbers); i++ {
			if a.Numbers[i] <= a.Numbers[i-1] {
				t.Fatalf("Array(%q): %d follows %d", s, a.Numbers[i], a.Numbers[i-1])
			}
		}
	})
}
