package slurm

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"berth/internal/engine"
	"berth/internal/job"
)

// TestPause: submissions that fail come ever more seldom, and those who wait are told why.
func TestPause(t *testing.T) {
	at := job.Time(time.Hour)
	var notes []string
	d := New(Options{Now: func() job.Time { return at }, Report: func(in engine.Input) {
		if n, ok := in.(engine.AllocNote); ok {
			notes = append(notes, string(n.Alloc)+": "+n.Note)
		}
	}})
	first, second := &alloc{id: "a1"}, &alloc{id: "a2"}
	d.allocs = []*alloc{first, second, {id: "a3", job: "17"}}
	failed := &job.Error{Class: job.Transient, Where: "sbatch", What: "Socket timed out", Err: errAway}
	var waits []time.Duration
	for range 10 {
		d.placed(first, "", failed)
		waits = append(waits, d.submit.next.Sub(at))
		at = d.submit.next
	}
	s := time.Second
	if want := []time.Duration{s, 2 * s, 4 * s, 8 * s, 16 * s, 32 * s, 64 * s, 128 * s, 256 * s, 300 * s}; !slices.Equal(waits, want) {
		t.Errorf("waits %v, want %v", waits, want)
	}
	if len(notes) != 20 || !strings.HasPrefix(notes[0], "a1: submission failed: Socket timed out; next try at ") || !first.maybe || second.maybe ||
		!strings.HasPrefix(notes[19], "a2: submission is paused after 10 failures: Socket timed out; next try at ") || !strings.HasSuffix(notes[19], newEnvironment) {
		t.Errorf("notes %q", notes)
	}
	d.placed(first, "18", nil)
	if first.job != "18" || first.maybe || d.submit != (backoff{}) {
		t.Errorf("after a success %+v, %+v", first, d.submit)
	}
	d.placed(second, "", errSubmitting) // that one has to wait, others need not
	if second.submit.next != at.Add(s) || d.submit.next != 0 {
		t.Errorf("%+v, %+v", second.submit, d.submit)
	}
}

// TestInterval: jobs are looked at often only while something is about to change.
func TestInterval(t *testing.T) {
	at := job.Time(time.Hour)
	d := New(Options{Now: func() job.Time { return at }})
	for _, c := range []struct {
		next []time.Duration // from now; 0: unknown
		want time.Duration
	}{
		{nil, 30 * time.Second},
		{[]time.Duration{24 * time.Hour}, 30 * time.Second},
		{[]time.Duration{24 * time.Hour, 0}, 5 * time.Second},
		{[]time.Duration{time.Minute}, 5 * time.Second},
		{[]time.Duration{5 * time.Minute, time.Hour}, 15 * time.Second},
		{[]time.Duration{-time.Minute}, 5 * time.Second},
	} {
		d.allocs = nil
		for _, n := range c.next {
			a := &alloc{job: "1"}
			if n != 0 {
				a.next = at.Add(n)
			}
			d.allocs = append(d.allocs, a)
		}
		if got := d.interval(at); got != c.want {
			t.Errorf("%v: %v, want %v", c.next, got, c.want)
		}
	}
}

func TestArguments(t *testing.T) {
	req := job.AllocRequest{Nodes: 3, PerNode: job.Resources{CPUs: 4, Mem: 1<<30 + 1}, Time: 61 * time.Second,
		Batch: job.Batch{Partition: "p", Account: "a", QOS: "q", Constraint: "c&d", Name: "my job", Exclusive: true, Args: []string{"--gres=gpu:1"}}}
	want := "--job-name=berth|--gres=gpu:1|--nodes=3|--ntasks-per-node=1|--cpus-per-task=4|--mem=1025M|--time=2|" +
		"--job-name=my job|--partition=p|--account=a|--qos=q|--constraint=c&d|--exclusive"
	if got := strings.Join(shapeArgs(req, true), "|"); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got := strings.Join(shapeArgs(job.AllocRequest{Nodes: 1, PerNode: job.Resources{Mem: 1}}, false), "|"); got != "--job-name=berth|--nodes=1|--ntasks-per-node=1|--cpus-per-task=1" {
		t.Errorf("got %s", got)
	}
}

func TestEnvironments(t *testing.T) {
	env := []string{"PATH=/bin", "SLURM_CONF=/c", "SLURM_JOB_ID=1", "SBATCH_PARTITION=gpu", "SBATCH_ACCOUNT=old", "SBATCH_ACCOUNT=mine", "SECRET=x", "LC_ALL=de", "SQUEUE_USERS=me", "SLURM_JWT=j"}
	if got := commandEnv(env); !slices.Equal(got, []string{"PATH=/bin", "SLURM_CONF=/c", "SECRET=x", "SLURM_JWT=j", "LC_ALL=C", "SLURM_TIME_FORMAT=%s", "SLURM_BITSTR_LEN=0"}) {
		t.Errorf("commands: %q", got)
	}
	if got := jobEnv(env); !slices.Equal(got, []string{"PATH=/bin", "SLURM_CONF=/c", "SLURM_JWT=j", "SLURM_TIME_FORMAT=%s"}) {
		t.Errorf("jobs: %q", got)
	}
	if got := BatchDefaults(env); got.Partition != "gpu" || got.Account != "mine" || got.QOS != "" || got.Constraint != "" {
		t.Errorf("defaults: %+v", got)
	}
	if err := Available(t.Context(), []string{"PATH=" + t.TempDir()}); job.ClassOf(err) != job.User || !strings.Contains(err.Error(), "sbatch") {
		t.Errorf("without Slurm: %v", err)
	}
	if err := Available(t.Context(), []string{"PATH=" + os.Getenv("PATH"), "SLURM_CONF=/dev/null"}); job.ClassOf(err) != job.User {
		t.Errorf("without a cluster: %v", err)
	}
}
