package test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestTidyTasks checks that no job is harmed by tasks that remove temporary files, the intermediate data of berth or hidden
// files of their folder, as batch scripts, cleaners and git clean do, and that their own output is kept.
func TestTidyTasks(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	scratch := filepath.Join(w.home().Dir, "scratch")
	for _, remove := range []string{`rm -rf "$TMPDIR"/*`, `find "$TMPDIR" -mindepth 1 -delete`, "rm -rf " + scratch, "rm -rf .[!.]*"} {
		r := w.must("bag", "--stdout", "out.{}", "--", "sh", "-c", "echo before {}; "+remove+"; echo after {}", ":::", "a", "b")
		for _, entry := range []string{"a", "b"} {
			if got, want := w.read("out."+entry), fmt.Sprintf("before %s\nafter %[1]s\n", entry); got != want {
				t.Errorf("%s: the output is %q, want %q; %v", remove, got, want, r)
			}
		}
		w.must("bag", "--", "true", ":::", "x")
	}
	w.write("in", strings.Repeat("line\n", 1000))
	w.write("map.sh", "mkdir "+w.dir+"/once 2>/dev/null && rm -rf "+scratch+"\ncat\n")
	w.must("mapreduce", "-input", "in", "-output", "out", "-mapper", "sh "+w.dir+"/map.sh", "-reducer", "wc -l", "-numReduceTasks", "1")
	if got := strings.TrimSpace(w.read("out/part-00000")); got != "1000" {
		t.Errorf("%s lines, want 1000", got)
	}
	if left, err := os.ReadDir(filepath.Join(w.root, "tmp")); err != nil || len(left) > 0 {
		t.Errorf("berth has %v in the folder for temporary files (%v)", left, err)
	}
}
