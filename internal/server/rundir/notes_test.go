package rundir

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"berth/internal/core/job"
	"berth/internal/mapreduce/input"
)

func TestInputNotes(t *testing.T) {
	for _, tt := range []struct {
		name, file, text, want string
	}{
		{"plain", "a.txt", "a\nb\r\n", ""},
		{"no line end", "a.txt", "a\r", ""},
		{"empty", "a.txt", "", ""},
		{"not unpacked", "a.xz", "x", ": only .gz, .zst, .bz2, .deflate and .snappy are unpacked"},
		{"unpacked", "a.gz", "x\r\n", ""},
	} {
		file := filepath.Join(t.TempDir(), tt.file)
		if err := os.WriteFile(file, []byte(tt.text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, sum, err := input.PlanSplits(&job.MapReduceSpec{Inputs: []string{file}}, input.SplitOptions{Slots: 1})
		if err != nil {
			t.Fatal(err)
		}
		got := strings.Join(inputNotes(sum), "; ")
		if got == "" != (tt.want == "") || !strings.Contains(got, tt.want) {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
	if got := inputNotes(input.InputSummary{Files: 1, Skipped: 2}); len(got) != 1 || !strings.Contains(got[0], "2 sockets") {
		t.Errorf("skipped: %q", got)
	}
}
