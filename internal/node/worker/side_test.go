package worker

import (
	"os"
	"path/filepath"
	"testing"

	"berth/internal/core/event"
	"berth/internal/wire"
)

// What a task leaves in mapreduce_task_output_dir becomes part of the output when the
// task is done, and not before, nor when it fails. A map whose output goes to reduces
// commits nothing, and has no such folder.
func TestTaskOutputDir(t *testing.T) {
	_, p := startWorker(t)
	s := streaming(t, fruit, []string{"sh", "-c",
		`cd "$mapreduce_task_output_dir" && mkdir -p side/$BERTH_ATTEMPT && echo $BERTH_ATTEMPT > side/all && echo x > side/$BERTH_ATTEMPT/x; cat; exit $((BERTH_ATTEMPT == 1))`}, nil)
	p.job(s, 1, 0)
	p.say(startMap(s, 0, 1, split(s, 0, 100)))
	p.ended(event.Failed)
	p.say(startMap(s, 0, 2, split(s, 0, 100)))
	expect[wire.CommitWanted](p)
	side := filepath.Join(s.MapReduce.Output, "side")
	if _, err := os.Stat(side); err == nil {
		t.Error("files are in place without permission")
	}
	p.say(wire.Commit{Attempt: try(s.ID, 0, 2)})
	p.ended(event.Done)
	if got := read(t, filepath.Join(side, "all")) + read(t, filepath.Join(side, "2", "x")); got != "2\nx\n" {
		t.Errorf("files of the task: %q", got)
	}
	if _, err := os.Stat(filepath.Join(side, "1")); err == nil {
		t.Error("a failed attempt's files are in place")
	}
	if got := read(t, filepath.Join(s.MapReduce.Output, "part-00000")); got != fruit {
		t.Errorf("part %q", got)
	}

	s = streaming(t, fruit, []string{"sh", "-c", `echo ${mapreduce_task_output_dir-none}`}, count)
	rename(t, s, "mr-2")
	p.job(s, 1, 1)
	p.say(startMap(s, 0, 1, split(s, 0, 100)))
	p.ended(event.Done)
}
