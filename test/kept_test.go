package test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	project "berth"
	"berth/internal/core/event"
	"berth/internal/core/job"
)

// keptState is the state folder that a release has left, as docs/state.md promises that later ones read it.
func keptState(version string) string { return filepath.Join("testdata", "state", version+".tar.gz") }

// TestStateOfReleases: the program reads the state folders that releases have left, and there is one of this version. Jobs that are over are shown as
// they were, and run nothing again that was done when they are resumed. An open bag goes on where it was, and profiles predict. BERTH_WRITE_STATE=1
// writes the folder of a new version, and never another one for a version that has one.
func TestStateOfReleases(t *testing.T) {
	t.Parallel()
	version, _, _ := strings.Cut(project.Version(), " ")
	_, err := os.Stat(keptState(version))
	if errors.Is(err, fs.ErrNotExist) && os.Getenv("BERTH_WRITE_STATE") != "" {
		keepState(t, keptState(version))
	} else if err != nil {
		t.Errorf("no state folder of version %s is kept: %v; make it with BERTH_WRITE_STATE=1", version, err)
	}
	all, err := filepath.Glob(keptState("*"))
	if err != nil || len(all) == 0 {
		t.Fatalf("no state folder is kept: %v", err)
	}
	for _, path := range all {
		t.Run(filepath.Base(path), func(t *testing.T) {
			w := newWorld(t)
			if out, err := exec.Command("tar", "-C", filepath.Dir(w.home().Dir), "--no-same-owner", "-xpzf", path).CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			w.dir = "/" // as when it was made
			readKept(t, w)
		})
	}
}

// keepState makes a state folder as a user leaves it and writes what is kept of it: no keys, logs and sockets. Its tasks end another way where it
// is unpacked, as the folder here is not there.
func keepState(t *testing.T, to string) {
	w := newWorld(t)
	here, in := filepath.Join(w.root, "tmp"), w.write("in.txt", "a b\nb\n")
	out := filepath.Join(w.dir, "out")
	w.dir = "/"
	run := func(code int, args ...string) {
		t.Helper()
		c := w.command(args...)
		c.Env = []string{"PATH=/usr/bin:/bin", "HOME=/", "SHELL=/bin/sh", "BERTH_ON=local", noBatch, "XDG_STATE_HOME=" + filepath.Dir(w.home().Dir), "TMPDIR=" + here}
		if said, err := c.CombinedOutput(); c.ProcessState == nil || c.ProcessState.ExitCode() != code {
			t.Fatalf("berth %v: %v\n%s", args, err, said)
		}
	}
	quiet := []string{"bag", "--stdout", "none", "--stderr", "none"}
	run(0, append(quiet, "--", "true", ":::", "a", "b", "c")...)
	run(0, "mapreduce", "-input", in, "-output", out, "-mapper", "cat", "-reducer", "cat", "-numReduceTasks", "2")
	run(1, append(quiet, "--", "[ {} != b ] || [ ! -d "+here+" ]", ":::", "a", "b")...)
	run(0, append(quiet, "--open", "--", "while [ {} = c ] && [ -d "+here+" ]; do sleep 0.1; done")...)
	run(0, "add", "bag-4", ":::", "a", "b", "c")
	w.await("two of three tasks to be done", func() bool {
		begun := began(w, "bag-4")
		return len(begun) == 3 && strings.Contains(w.must("status", "bag-4", "--json").stdout, `"tasks_done":2`)
	})
	run(0, "server", "stop", "--force")
	w.await("the worker to be gone, which goes on without a coordinator", func() bool { return w.end() == 0 })
	c := exec.Command("tar", "-C", filepath.Dir(w.home().Dir), "--sort=name", "--owner=0", "--group=0", "--numeric-owner", "-czf", to,
		"berth/berth.db", "berth/runs", "berth/server/journal")
	if said, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
}

// began returns how many attempts of each task of a job have begun.
func began(w *world, id job.ID) map[int]int {
	n := map[int]int{}
	for _, e := range w.records(id) {
		if a, ok := e.Record.(event.AttemptStarted); ok {
			n[a.Attempt.Task]++
		}
	}
	return n
}

// readKept checks that a state folder of keepState can be read and gone on with.
func readKept(t *testing.T, w *world) {
	var list struct {
		Jobs []struct {
			ID, Kind, State string
			Done            int `json:"tasks_done"`
			Total           int `json:"tasks_total"`
		}
	}
	if err := json.Unmarshal([]byte(w.must("status", "--json").stdout), &list); err != nil {
		t.Fatal(err)
	}
	var jobs []string
	for _, j := range list.Jobs {
		jobs = append(jobs, fmt.Sprintf("%s %s %s %d/%d", j.ID, j.Kind, j.State, j.Done, j.Total))
	}
	slices.Sort(jobs)
	if want := []string{"bag-1 bag done 3/3", "bag-3 bag failed 1/2", "bag-4 bag interrupted 2/3", "mr-2 mapreduce done 3/3"}; !slices.Equal(jobs, want) {
		t.Errorf("the jobs are %q, want %q", jobs, want)
	}
	report := w.must("report", "mr-2").stdout
	for _, phase := range []string{"map", "reduce"} {
		if !strings.Contains(report, "\n"+phase+" ") {
			t.Errorf("the report has no %s:\n%s", phase, report)
		}
	}
	if plan := w.must("plan", "bag", "--", "true", ":::", "a", "b", "c", "d").stdout; !strings.Contains(plan, "profile of 1 run") {
		t.Errorf("the profile is not used: %s", plan)
	}
	w.must("resume", "bag-3", "--failed")
	w.must("add", "bag-4", ":::", "d")
	w.must("close", "bag-4")
	w.must("wait", "bag-4")
	for id, want := range map[job.ID]map[int]int{"bag-1": {0: 1, 1: 1, 2: 1}, "bag-3": {0: 1, 1: 2}, "bag-4": {0: 1, 1: 1, 2: 2, 3: 1}} {
		if got := began(w, id); !maps.Equal(got, want) {
			t.Errorf("the attempts of %s by task are %v, want %v", id, got, want)
		}
		checkOnce(t, w.records(id))
	}
}
