package ui

import (
	"strings"
	"testing"

	"berth/internal/server/report"
)

// TestWarnings: a warning is told when it is new, several at the rate at which they double, and the report has them.
func TestWarnings(t *testing.T) {
	var n news
	var v report.JobView
	told := 0
	for range 9 {
		v.WarningsTotal++
		v.Warnings = append(v.Warnings, "task 3: the kernel killed 1 process")
		if lines := n.lines(v, false); len(lines) > 0 {
			told++
		}
	}
	if told != 4 { // after 1, 2, 4 and 8
		t.Errorf("9 warnings were told %d times", told)
	}
	var b strings.Builder
	if err := Report(&b, v); err != nil || !strings.Contains(b.String(), "9 warnings, the last ones: task 3: the kernel killed 1 process;") {
		t.Errorf("the report: %v\n%s", err, b.String())
	}
	n = knowing(v)
	if lines := n.lines(v, false); len(lines) > 0 {
		t.Errorf("known warnings are told again: %q", lines)
	}
}
