package ui

import (
	"strings"
	"testing"
	"time"

	"berth/internal/server/report"
	"berth/test/support/reporttest"
)

// TestOneZone checks that all times of a report are local, and say by how much that differs from UTC.
func TestOneZone(t *testing.T) {
	before := time.Local
	defer func() { time.Local = before }()
	time.Local = time.FixedZone("", 2*60*60)
	var rows []report.AttemptRow
	play := reporttest.New(report.Info{ID: "bag-3", OnAttempt: func(r report.AttemptRow) { rows = append(rows, r) }})
	if err := play.Play("0s submit bag tasks=1\n1s start 0#1 a1/0\n2s planned decision=more\n3s done 0#1\n4s end done"); err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := Report(&b, play.Job.View(play.Now)); err != nil {
		t.Fatal(err)
	}
	if err := Rows(&b, rows); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	for _, want := range []string{"2026-03-01 14:00:00 +0200 to 2026-03-01 14:00:04 +0200", "planned    14:00", "START +0200", "14:00:01.000"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if strings.Contains(text, "12:00") {
		t.Errorf("a time in UTC:\n%s", text)
	}
}
