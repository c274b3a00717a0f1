package test

import (
	"fmt"
	"strings"
	"testing"
)

// TestFewDescriptors checks that reduces merge the outputs of many maps in several passes if
// only few files may be open.
func TestFewDescriptors(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const maps = 150
	var in, want strings.Builder
	for i := range maps {
		fmt.Fprintf(&in, "%04d\tx\n", maps-1-i)
		fmt.Fprintf(&want, "%04d\tx\n", i)
	}
	w.write("in.txt", in.String())
	// The coordinator and the worker have the command's limit.
	cmd := w.command("mapreduce", "-input", "in.txt", "-output", "out", "-inputformat", "NLineInputFormat", "-numReduceTasks", "1",
		"-mapper", "org.apache.hadoop.mapred.lib.IdentityMapper", "-reducer", "cat")
	cmd.Args = append([]string{"sh", "-c", `ulimit -n 128; exec "$0" "$@"`, cmd.Path}, cmd.Args[1:]...)
	cmd.Path = "/bin/sh"
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if got := sorted(w.output("out")); got != sorted(want.String()) {
		t.Errorf("got %d bytes, want %d", len(got), want.Len())
	}
}
