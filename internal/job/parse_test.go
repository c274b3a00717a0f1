package job

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// mustUserError checks that err is an *Error that a user can mend and that names where.
func mustUserError(t *testing.T, err error, where string) {
	t.Helper()
	var e *Error
	if !errors.As(err, &e) {
		t.Fatalf("error %v is no *Error", err)
	}
	if e.Class != User || e.Where != where || e.What == "" || e.Do == "" {
		t.Errorf("error %+v lacks class, place, what or advice", e)
	}
}

func TestParseSize(t *testing.T) {
	for s, want := range map[string]int64{
		"0": 0, "1024": 1024, "512M": 512 << 20, "4G": 4 << 30, "1.5G": 3 << 29, "2k": 2048, "1KiB": 1024,
		"3MB": 3 << 20, "7B": 7, "1T": 1 << 40, "2P": 2 << 50, "7E": 7 << 60, " 8K ": 8192, "9007199254740993": 9007199254740993,
		"0.0001K": 0, "0.001K": 1,
	} {
		if got, err := ParseSize("--x", s); err != nil || got != want {
			t.Errorf("ParseSize(%q) = %d, %v, want %d", s, got, err, want)
		}
	}
	for _, s := range []string{"", "M", "-1", "1.G", ".5G", "1e3", "1 G", "4Q", "4GG", "4GiBs", "NaN", "inf", "8E", "1.5.2K", "99999999999999999999", "0x10", "9.9E"} {
		if got, err := ParseSize("--x", s); err == nil {
			t.Errorf("ParseSize(%q) = %d, want an error", s, got)
		} else {
			mustUserError(t, err, "--x")
		}
	}
	if got, err := ParseMem("--mem", "512"); err != nil || got != 512<<20 {
		t.Errorf("ParseMem(512) = %d, %v, want 512 megabytes", got, err)
	}
	if got, err := ParseMem("--mem", "512K"); err != nil || got != 512<<10 {
		t.Errorf("ParseMem(512K) = %d, %v", got, err)
	}
}

func TestFormatSize(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0B", 1023: "1023B", 1024: "1K", 1536: "1.5K", 3 << 29: "1.5G", 10 << 30: "10G", 1023 << 20: "1023M",
		1<<30 - 1: "1G", 123456789: "118M", math.MaxInt64: "8E", -2048: "-2K", math.MinInt64: "-8E",
	} {
		if got := FormatSize(n); got != want {
			t.Errorf("FormatSize(%d) = %q, want %q", n, got, want)
		}
	}
}

func TestSizeReadsBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Int64Range(0, 7<<60).Draw(t, "n")
		got, err := ParseSize("", FormatSize(n))
		if err != nil || math.Abs(float64(got-n)) > 0.005*float64(n)+0.5 {
			t.Fatalf("%d is written %q and read back as %d, %v", n, FormatSize(n), got, err)
		}
	})
}

func TestParseDuration(t *testing.T) {
	const day = 24 * time.Hour
	for s, want := range map[string]time.Duration{
		"0": 0, "5": 5 * time.Minute, "90": 90 * time.Minute, "5:30": 330 * time.Second, "90:00": 90 * time.Minute,
		"01:02:03": time.Hour + 2*time.Minute + 3*time.Second, "100:00:00": 100 * time.Hour,
		"1-0": day, "2-12": 60 * time.Hour, "1-02:30": day + 150*time.Minute, "1-02:30:15": day + 150*time.Minute + 15*time.Second,
		"1h30m": 90 * time.Minute, "90s": 90 * time.Second, "1.5h": 90 * time.Minute, "500ms": 500 * time.Millisecond,
		"1d12h": 36 * time.Hour, "1H": time.Hour, " 10 ": 10 * time.Minute, "1m500ms": time.Minute + 500*time.Millisecond,
	} {
		if got, err := ParseDuration("--x", s); err != nil || got != want {
			t.Errorf("ParseDuration(%q) = %v, %v, want %v", s, got, err, want)
		}
	}
	for _, s := range []string{"", "-1", "1-", "-", "1-24", "1:60", "1:00:60", "1:60:00", "1:2:3:4", "1-1:1:1:1", "1h1h", "1m1h", "h",
		"1x", "1.", "auto", "1e3", "1h 30m", ":", "1:", "5-1h", "200000000", "999999999d", "9223372036.854775807s"} {
		if got, err := ParseDuration("--x", s); err == nil {
			t.Errorf("ParseDuration(%q) = %v, want an error", s, got)
		} else {
			mustUserError(t, err, "--x")
		}
	}
}

func TestParseLimit(t *testing.T) {
	for s, want := range map[string]time.Duration{"auto": 0, "UNLIMITED": 0, "infinite": 0, "0": 0, "1:00:00": time.Hour} {
		if got, err := ParseLimit("--time", s); err != nil || got != want {
			t.Errorf("ParseLimit(%q) = %v, %v, want %v", s, got, err, want)
		}
	}
	_, err := ParseLimit("--time", "soon")
	mustUserError(t, err, "--time")
}

func TestFormatDuration(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0s", 1: "0.01ms", 180 * time.Microsecond: "0.18ms", 990 * time.Microsecond: "0.99ms", 999 * time.Microsecond: "1ms", 350 * time.Millisecond: "350ms", 999900 * time.Microsecond: "999ms", time.Second: "1s",
		12340 * time.Millisecond: "12.3s", 59960 * time.Millisecond: "1m", 245 * time.Second: "4m5s", 90 * time.Minute: "1h30m",
		24*time.Hour - 1: "1d", 51 * time.Hour: "2d3h", 24*time.Hour + 29*time.Second: "1d", -90 * time.Second: "-1m30s",
		math.MinInt64: "-106751d23h47m",
	} {
		if got := FormatDuration(d); got != want {
			t.Errorf("FormatDuration(%d) = %q, want %q", int64(d), got, want)
		}
	}
}

func TestDurationReadsBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := time.Duration(rapid.Int64Range(0, int64(100*365*24*time.Hour)).Draw(t, "d"))
		text := FormatDuration(d)
		got, err := ParseDuration("", text)
		if err != nil || FormatDuration(got) != text {
			t.Fatalf("%d is written %q, read back as %d, %v", int64(d), text, int64(got), err)
		}
		if off := got - d; off < -time.Minute || off > time.Minute {
			t.Fatalf("%v is written %q, which is %v off", d, text, off)
		}
	})
}

func TestParseNodes(t *testing.T) {
	for s, want := range map[string][2]int{"4": {4, 4}, "2-8": {2, 8}, "auto": {0, 0}, " 1 ": {1, 1}} {
		if low, high, err := ParseNodes("-N", s); err != nil || low != want[0] || high != want[1] {
			t.Errorf("ParseNodes(%q) = %d, %d, %v, want %v", s, low, high, err, want)
		}
	}
	for _, s := range []string{"", "0", "-1", "4-", "-4", "8-2", "1-2-3", "two", "1.5", "9999999", "99999999999999999999"} {
		_, _, err := ParseNodes("-N", s)
		mustUserError(t, err, "-N")
	}
}

func TestParseArray(t *testing.T) {
	for s, want := range map[string]Array{
		"1-3": {[]int{1, 2, 3}, 0}, "0-10:5": {[]int{0, 5, 10}, 0}, "1,5-7": {[]int{1, 5, 6, 7}, 0}, "1-4%2": {[]int{1, 2, 3, 4}, 2},
		"7": {[]int{7}, 0}, "3,1,2-3": {[]int{1, 2, 3}, 0}, "0-9:4%1": {[]int{0, 4, 8}, 1}, "2147483646": {[]int{2147483646}, 0},
	} {
		got, err := ParseArray("--array", s)
		if err != nil || !slices.Equal(got.Indices, want.Indices) || got.Throttle != want.Throttle {
			t.Errorf("ParseArray(%q) = %v, %v, want %v", s, got, err, want)
		}
	}
	for _, s := range []string{"", ",", "1,", "a", "5-1", "-1", "1-", "1:2", "1-5:0", "1-5:", "1-5%0", "1-5%", "1-5%x", "%5",
		"1-99999999", "0-2147483646", "2147483647", "1-5000000,5000001-10000001", "1.5"} {
		if got, err := ParseArray("--array", s); err == nil {
			t.Errorf("ParseArray(%q) gives %d indices, want an error", s, len(got.Indices))
		} else {
			mustUserError(t, err, "--array")
		}
	}
}

func TestParseID(t *testing.T) {
	for _, s := range []string{"bag-1", "mr-1234567890"} {
		if id, err := ParseID("argument", s); err != nil || string(id) != s {
			t.Errorf("ParseID(%q) = %q, %v", s, id, err)
		}
	}
	for _, s := range []string{"", "bag-", "bag-0", "bag-01", "mr-12345678901", "../bag-1", "bag-1/..", "bag-1\n", "job-1", "17"} {
		_, err := ParseID("argument", s)
		mustUserError(t, err, "argument")
	}
	if got := TaskName(MapTask, 12) + " " + TaskName(ReduceTask, 3); got != "m-00012 r-00003" {
		t.Errorf("task names are %q", got)
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
	if n, err := ParseSize("x", s); n < 0 || err != nil && n != 0 {
		t.Fatalf("ParseSize(%q) = %d, %v", s, n, err)
	}
	if n, err := ParseMem("x", s); n < 0 || err != nil && n != 0 {
		t.Fatalf("ParseMem(%q) = %d, %v", s, n, err)
	}
	if d, err := ParseDuration("x", s); d < 0 || err != nil && d != 0 {
		t.Fatalf("ParseDuration(%q) = %v, %v", s, d, err)
	}
	if low, high, err := ParseNodes("x", s); low < 0 || high < low || err != nil && high != 0 {
		t.Fatalf("ParseNodes(%q) = %d, %d, %v", s, low, high, err)
	}
}

func FuzzParsers(f *testing.F) {
	for _, s := range []string{"512M", "1.5G", "1-02:30:15", "1h30m", "2-8", "auto", "9223372036854775807", "-1", "8E"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) { checkParsers(t, s) })
}

func FuzzParseArray(f *testing.F) {
	for _, s := range []string{"1-10", "0-10:2", "1,5-8", "1-100%5", "2147483646", "1-99999"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		a, err := ParseArray("x", s)
		if err != nil {
			return
		}
		if len(a.Indices) == 0 || len(a.Indices) > MaxEntries || a.Indices[0] < 0 || a.Throttle < 0 {
			t.Fatalf("ParseArray(%q) = %d indices, throttle %d", s, len(a.Indices), a.Throttle)
		}
		for i := 1; i < len(a.Indices); i++ {
			if a.Indices[i] <= a.Indices[i-1] {
				t.Fatalf("ParseArray(%q): %d follows %d", s, a.Indices[i], a.Indices[i-1])
			}
		}
	})
}
