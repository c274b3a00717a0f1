package test

import (
	"fmt"
	"strings"
	"testing"

	"berth/internal/core/event"
	"berth/internal/core/job"
)

// TestOrder submits a large bag and, while its first task runs, a small one. With the order
// shortest the small bag gets the next free core and ends first. With fifo it comes last.
// On this machine auto is fifo.
func TestOrder(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, flag, env, order, why string }{
		{"by default", "", "", "auto", "before it in line: "},
		{"first in, first out", "fifo", "shortest", "fifo", "before it in line: "},
		{"by the flag", "shortest", "fifo", "shortest", "1 job with less left to do goes first: "},
		{"by the environment", "", "shortest", "shortest", "1 job with less left to do goes first: "},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.batch = []string{"SLURM_CONF=/dev/null", "BERTH_ORDER=" + c.env}
			if c.flag != "" {
				w.must("server", "start", "--order", c.flag)
			}
			large, small := w.twoBags()
			if r := w.must("server", "status"); !strings.Contains(r.stdout, "order "+c.order+",") {
				t.Errorf("status: %s", r.stdout)
			}
			waits, first := small, large
			if c.order == "shortest" {
				waits, first = large, small
			}
			if r := w.must("explain", string(waits)); !strings.Contains(r.stdout, c.why+string(first)) {
				t.Errorf("it does not say that %s goes first:\n%s", first, r.stdout)
			}
			w.write("go", "")
			w.must("wait", string(small))
			w.must("wait", string(large))
			if begun, want := w.startsBefore(large, small), map[string]int{"auto": 6, "fifo": 6, "shortest": 1}[c.order]; begun != want {
				t.Errorf("%d tasks of the large bag began before those of the small one, want %d", begun, want)
			}
		})
	}
}

// twoBags submits a bag of six tasks that use all cores each. When the first one runs, it submits a bag
// of two. The tasks end when the file go exists.
func (w *world) twoBags() (large, small job.ID) {
	w.t.Helper()
	w.must("bag", "--", "true", ":::", "x") // shows how many cores the worker has
	cores := 0
	for _, e := range w.serverRecords() {
		if r, ok := e.Record.(event.NodeJoined); ok {
			cores = r.Capacity.CPUs
		}
	}
	w.write("task.sh", "#!/bin/sh\nwhile [ ! -e go ]; do sleep 0.2; done\n")
	submit := func(array string) job.ID {
		before := len(w.jobs())
		w.must("bag", "--detach", "-c", fmt.Sprint(cores), "--array", array, "--", "./task.sh", "{}")
		return w.jobs()[before]
	}
	large = submit("1-6")
	w.await("the first task to begin", func() bool { return len(starts(w.tryRecords(large))) == 1 })
	return large, submit("1-2")
}

// startsBefore returns how many attempts of one job started before the first one of another.
func (w *world) startsBefore(one, other job.ID) int {
	w.t.Helper()
	first, n := starts(w.records(other))[0].Seq, 0
	for _, e := range starts(w.records(one)) {
		if e.Seq < first {
			n++
		}
	}
	return n
}

func starts(all []event.Entry) []event.Entry {
	var found []event.Entry
	for _, e := range all {
		if _, ok := e.Record.(event.AttemptStarted); ok {
			found = append(found, e)
		}
	}
	return found
}

// TestOrderRefused checks the messages for an unknown order and for one that the running coordinator does not have.
func TestOrderRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	refused := func(says string, args ...string) {
		t.Helper()
		if r := w.berth(args...); r.code != int(job.CodeConfig) || !strings.Contains(r.stderr, says) {
			t.Errorf("berth %v: %v", args, r)
		}
	}
	refused(`there is no order of jobs "longest"`, "server", "start", "--order", "longest")
	refused(`there is no scheduler "best"`, "server", "start", "--scheduler", "best")
	refused("those of other systems are in berth-lab", "server", "start", "--scheduler", "slots")
	w.must("server", "start", "--order", "shortest")
	refused("in the order shortest", "server", "start", "--order", "fifo")
	refused("in the order shortest", "server", "start", "--order", "auto")
	refused("with the scheduler ", "server", "start", "--scheduler", "prism")
	refused("gives allocations back", "server", "start", "--keep")
	w.must("server", "start") // any will do
	w.must("server", "start", "--order", "shortest", "--keep=false")
	w.must("server", "stop")
	w.must("server", "start", "--keep")
	refused("keeps allocations", "server", "start", "--keep=false")
	w.must("server", "stop")
	for _, kv := range []string{"BERTH_ORDER=longest", "BERTH_SCHEDULER=best", "BERTH_KEEP=perhaps"} {
		w.batch = []string{"SLURM_CONF=/dev/null", kv}
		name, value, _ := strings.Cut(kv, "=")
		if r := w.berth("bag", "--", "true", ":::", "x"); r.code == 0 || !strings.Contains(r.stderr, name) || !strings.Contains(r.stderr, value) {
			t.Errorf("%s: %v", kv, r)
		}
	}
}

// TestKeepShown checks that status shows the setting of the flag and of the environment for keeping allocations.
func TestKeepShown(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		env  string
		args []string
		kept bool
	}{
		{"", nil, false},
		{"0", nil, false},
		{"1", nil, true},
		{"", []string{"--keep"}, true},
		{"1", []string{"--keep=false"}, false},
	} {
		w := newWorld(t)
		w.batch = []string{"SLURM_CONF=/dev/null", "BERTH_KEEP=" + c.env}
		w.must(append([]string{"server", "start"}, c.args...)...)
		if r := w.must("server", "status"); strings.Contains(r.stdout, "order auto, allocations kept,") != c.kept {
			t.Errorf("BERTH_KEEP=%s %v: %s", c.env, c.args, r.stdout)
		}
		if r := w.must("server", "status", "--json"); strings.Contains(r.stdout, `"keep":true`) != c.kept {
			t.Errorf("BERTH_KEEP=%s %v: %s", c.env, c.args, r.stdout)
		}
	}
}
