package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"berth/lab/paired"
)

// overheads returns the table of lab/results/planting.md.
func overheads(all []measured) string {
	var b strings.Builder
	b.WriteString("| program | CPU time | functions | hits | overhead, all functions | selected | hits | overhead, selected | calculated from hits | planting of 1,500 functions |\n")
	b.WriteString("|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n")
	if len(all) == 0 {
		return ""
	}
	each := cost(all)
	for _, m := range all {
		last := m.samples[len(m.samples)-1]
		plain := m.median(func(row []sample) float64 { return row[0].cpu.Seconds() })
		standing := m.median(func(row []sample) float64 {
			return float64(row[2].standing) / float64(time.Millisecond) * 1500 / float64(max(1, row[2].planted))
		})
		fmt.Fprintf(&b, "| %s | %.2f s | %d | %d | %s | %d | %d | %s | %.4f %% | %.1f ms |\n", m.name, plain,
			last[2].planted, last[2].hits, m.interval(2), last[1].planted, last[1].hits, m.interval(1), 100*each*float64(last[1].hits)/plain, standing)
	}
	fmt.Fprintf(&b, "\n%d rounds. CPU time is that of user and system; overhead is the median of planted over plain in a round, less one, with its 95 %% interval by bootstrap; "+
		"calculated are hits times %.2f ns, which is what one costs where there are most of them; planting is the time that a program stands still, its objects known.\n",
		len(all[0].samples), each*1e9)
	return b.String()
}

// cost returns the cost of a hit in seconds, as measured in the program with the most hits.
func cost(all []measured) (each float64) {
	most := uint64(0)
	for _, m := range all {
		if hits := m.samples[0][2].hits; hits > most {
			most = hits
			each = m.median(func(row []sample) float64 { return (row[2].cpu - row[0].cpu).Seconds() / float64(hits) })
		}
	}
	return each
}

func (m *measured) median(of func([]sample) float64) float64 {
	x := m.values(of)
	return x[len(x)/2]
}

// values returns a figure of all rounds, in order.
func (m *measured) values(of func([]sample) float64) []float64 {
	var x []float64
	for _, row := range m.samples {
		x = append(x, of(row))
	}
	slices.Sort(x)
	return x
}

// interval returns the median overhead of a way with its interval.
func (m *measured) interval(way int) string {
	return paired.Of(m.values(func(row []sample) float64 { return row[way].cpu.Seconds()/row[0].cpu.Seconds() - 1 })).String()
}
