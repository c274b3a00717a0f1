package test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/lab/schedulers"
)

// TestSchedulersGiveTheSameOutput runs jobs beside each other with each scheduler. The output is the same, byte for byte, whatever
// grants and memory attempts get, and in whatever order.
func TestSchedulersGiveTheSameOutput(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var lines strings.Builder
	for i := range 30_000 {
		fmt.Fprintf(&lines, "%05d x\n", i*7919%10_007)
	}
	w.write("in.txt", lines.String())
	var want string
	w.program = buildLab(t)
	for _, s := range schedulers.All() {
		w.must("server", "start", "--scheduler", s.Name)
		bag := w.start("bag", "--array", "1-40", "--stdout", s.Name+".bag/{task}", "--", "echo", "{}")
		mapreduce := func(n int) *running {
			return w.start("mapreduce", "--sort-memory", "1M", "-input", "in.txt", "-output", fmt.Sprint(s, n), "-mapper", "cat", "-combiner", "uniq",
				"-reducer", "uniq", "-numReduceTasks", "3", "-D", "mapreduce.input.fileinputformat.split.maxsize=100000")
		}
		jobs := []*running{bag, mapreduce(1), mapreduce(2)} // each map spills several times in so little memory
		for _, j := range jobs {
			if r := w.finish(j); r.code != 0 {
				t.Fatalf("%s: %v", s, r)
			}
		}
		got := w.output(fmt.Sprint(s, 1)) + w.output(fmt.Sprint(s, 2))
		for i := range 40 {
			got += w.read(fmt.Sprintf("%s.bag/%d", s, i+1))
		}
		if want == "" {
			want = got
		}
		if got != want || strings.Count(got, "\n") != 2*10_007+40 {
			t.Errorf("%s: %d bytes of output in %d lines, want %d", s, len(got), strings.Count(got, "\n"), len(want))
		}
		w.must("server", "stop")
	}
	asked := make(map[job.Phase]int)
	for _, id := range w.jobs() {
		for _, e := range w.records(id) {
			if r, is := e.Record.(event.PhaseGranted); is {
				asked[r.Phase]++
			}
		}
	}
	t.Logf("leave was asked for and given, by the last phase: %v", asked)
	for _, p := range []job.Phase{job.PhaseMerge, job.PhaseSort} {
		if asked[p] == 0 {
			t.Errorf("no attempt had to ask leave for %v", p)
		}
	}
}

// TestLabChoice checks that berth does not run by a scheduler that was chosen with berth-lab and that it does not have, but says
// which program has it; and that it runs by another one that is chosen.
func TestLabChoice(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if err := os.MkdirAll(w.home().Server(), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(w.home().Server(), "choice"), []byte(`{"scheduler":"packing"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	says := `there is no scheduler "packing"; choose another one with berth server start --scheduler, or none with berth server stop: write phases, cores, prism; those of other systems are in berth-lab`
	if r := w.berth("server", "start"); r.code != int(job.CodeConfig) || !strings.Contains(r.stderr, says) {
		t.Errorf("%v", r)
	}
	w.must("server", "start", "--scheduler", "cores")
	w.must("bag", "--", "true", ":::", "x")
	w.must("server", "stop")
}

// buildLab builds berth-lab and returns its path.
func buildLab(t *testing.T) string {
	t.Helper()
	path := filepath.Join(filepath.Dir(program), "berth-lab")
	if out, err := exec.Command("go", "build", raceFlag, "-ldflags=-s -w", "-o", path, "berth/cmd/berth-lab").CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	return path
}
