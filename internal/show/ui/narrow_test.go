package ui

import (
	"strings"
	"testing"
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
