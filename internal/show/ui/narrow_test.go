package ui

import (
	"strings"
	"testing"

	"berth/internal/server/report"
	"berth/test/support/reporttest"
)

// TestNarrow: a table that is too wide for its terminal loses the columns that matter least, and no more of them than it must.
func TestNarrow(t *testing.T) {
	for width, want := range map[int]string{0: "ID  NAME  KIND  DONE", 20: "ID  NAME  KIND  DONE", 19: "ID  NAME  DONE", 13: "ID  DONE", 3: "ID  DONE"} {
		table := newTable("ID", "NAME", "KIND", "DONE>")
		table.add("b1", "fit", "bag", "3/4")
		table.narrow(width, "KIND", "BY", "NAME")
		if head, _, _ := strings.Cut(table.String(), "\n"); head != want {
			t.Errorf("at %d columns the head is %q, want %q", width, head, want)
		}
	}
}

// TestNamesAreShortened: in a narrow terminal the names of jobs are shortened before they are left out.
func TestNamesAreShortened(t *testing.T) {
	for width, want := range map[int]string{0: "bag-1  simulations  3/4", 24: "bag-1  simulations  3/4", 19: "bag-1  simul…  3/4", 18: "bag-1  3/4"} {
		table := newTable("ID", "NAME", "DONE>")
		table.add("bag-1", "simulations", "3/4")
		table.shorten(width, "NAME", leastName)
		if _, row, _ := strings.Cut(strings.TrimSpace(table.String()), "\n"); strings.ReplaceAll(row, "   ", "  ") != want {
			t.Errorf("at %d columns the row is %q, want %q", width, row, want)
		}
	}
}

// TestProgressIsAsWideAsTheTerminal: no line of a job's progress is wider than a narrow terminal.
func TestProgressIsAsWideAsTheTerminal(t *testing.T) {
	play := reporttest.New(report.Info{ID: "bag-3", Planned: report.Planned{Decision: "1 node × 2 cores: 100 tasks, 2 at once; no prediction (no profile of this application yet)"}})
	if err := play.Play("0s submit bag tasks=100\n1s start 0#1 a1/0\n2s failed 0#1 exit=1"); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := Progress(&wrapper{out: &out, width: 50}, play.Job.View(play.Now), 0); err != nil {
		t.Fatal(err)
	}
	for l := range strings.Lines(out.String()) {
		if columns(strings.TrimRight(l, "\n")) > 50 {
			t.Errorf("a line is too wide: %q", l)
		}
	}
}
