package gridengine

import (
	"math"
	"strconv"

	"berth/internal/core/job"
	"berth/internal/driver/batch"
)

var parseNumber, parseCount, parseSpan = batch.Number, batch.Count, batch.Span

// parseMemory reads an amount of memory such as "22.603G", "500M" or "1024". Capital letters are powers of 1024, small ones of
// 1000. Unlimited amounts and texts that are none give 0.
func parseMemory(text string) int64 {
	units := map[byte]float64{'K': 1 << 10, 'M': 1 << 20, 'G': 1 << 30, 'T': 1 << 40, 'k': 1e3, 'm': 1e6, 'g': 1e9, 't': 1e12}
	unit := 1.0
	if n := len(text); n > 0 && units[text[n-1]] > 0 {
		unit, text = units[text[n-1]], text[:n-1]
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || n < 0 || n*unit >= math.MaxInt64 || math.IsNaN(n) {
		return 0
	}
	return int64(n * unit)
}

// parseTime reads a time of qstat -xml, which is in the time zone of the command (commandEnv): UTC. Texts that are none give 0.
func parseTime(text string) job.Time { return batch.Time(text, "2006-01-02T15:04:05") }
