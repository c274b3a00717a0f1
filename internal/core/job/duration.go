package job

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// FormatDuration writes a duration for people: "0.18ms", "350ms", "12.3s", "4m5s", "1h30m",
// "2d3h". It rounds a duration below a millisecond to 0.01 ms, but never to 0, one below a second
// to 1 ms, one below a minute to 0.1 s, one below a day to 1 s, and a longer one to a minute.
// parse.Duration reads the text back.
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

// formatUnits writes n in units and leaves out units whose count is 0.
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
