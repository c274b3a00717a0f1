package job

import (
	"math"
	"testing"
	"time"
)

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
