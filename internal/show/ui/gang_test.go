package ui

import (
	"strings"
	"testing"

	"berth/internal/server/report"
)

// TestRowsOfGang: an attempt of several ranks has the number of its further nodes, and below it a row for each node.
func TestRowsOfGang(t *testing.T) {
	row := report.AttemptRow{Name: "1", Attempt: 1, Node: "a1/0", Host: "n1", Outcome: "done",
		Phases: []report.PhaseRow{{Phase: "compute", Whole: true, CPUS: 50}},
		Shares: []report.ShareView{{Node: "a1/0", Host: "n1", Ranks: 4, CPUS: 40}, {Node: "a1/1", Host: "n2", Ranks: 1, CPUS: 10, PeakMem: 1 << 20}}}
	var b strings.Builder
	if err := Rows(&b, []report.AttemptRow{row}); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(b.String(), "\n")
	for i, want := range []string{"", "a1/0 +1 n1 +1 done compute", "a1/0 n1 4 ranks 40s", "a1/1 n2 1 rank 10s 1M"} {
		if got := strings.Join(strings.Fields(lines[i]), " "); !strings.Contains(got, want) {
			t.Errorf("line %d is %q, want %q", i, got, want)
		}
	}
}
