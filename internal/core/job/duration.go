package job

import (
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
		return min(d.Round(time.Millisecond), 999*time.Millisecond).String()
	case d < time.Minute-50*time.Millisecond:
		return d.Round(100 * time.Millisecond).String()
	case d < day-500*time.Millisecond:
		return withoutZeros(d.Round(time.Second))
	}
	d = d.Round(time.Minute)
	text := strconv.FormatInt(int64(d/day), 10) + "d"
	if d %= day; d == 0 {
		return text
	}
	return text + withoutZeros(d)
}

const day = 24 * time.Hour

// withoutZeros returns hours, minutes and seconds without those that are 0.
func withoutZeros(d time.Duration) string {
	return strings.ReplaceAll(strings.ReplaceAll(d.String(), "m0s", "m"), "h0m", "h")
}
