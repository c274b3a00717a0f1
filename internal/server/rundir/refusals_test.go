package rundir

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"berth/internal/core/cluster"
	"berth/internal/core/job"
	"berth/internal/core/plan"
	"berth/internal/driver"
	"berth/internal/sys/statedir"
)

// anHour is some time.
const anHour = job.Time(1e18)

// question returns what is asked for a bag of tasks of one core on so many nodes.
func question(nodes, cpus, tasks int) plan.Question {
	spec := job.New(job.Bag, "/tmp")
	spec.Bag.Command, spec.Request.On, spec.Bag.Need = []string{"true"}, "slurm", job.Resources{CPUs: 1, Mem: 1 << 30}
	spec.Normalize()
	has := job.Resources{CPUs: cpus, Mem: int64(cpus) << 31}
	snap := cluster.Snapshot{Driver: "slurm", At: anHour, Queue: &cluster.Queue{ID: "c/1", Grain: time.Minute, Partitions: []cluster.Partition{{Name: "main", Default: true}}}}
	for i := range nodes {
		snap.Nodes = append(snap.Nodes, cluster.Node{Name: "n", Capacity: has, Free: has})
		snap.Queue.Partitions[0].Nodes = append(snap.Queue.Partitions[0].Nodes, i)
	}
	return plan.Question{Now: anHour, Snap: snap, Spec: spec, Counts: plan.Counts{Tasks: tasks}}
}

// homeOf returns a state folder.
func homeOf(t *testing.T) statedir.Home {
	h := statedir.Home{Dir: t.TempDir()}
	if err := os.MkdirAll(h.Server(), 0o700); err != nil {
		t.Fatal(err)
	}
	return h
}

// TestRefusalsRemembered: what the batch system refuses is known to the next plan, which says so and asks only once whether that still holds.
func TestRefusalsRemembered(t *testing.T) {
	h, q := homeOf(t), question(8, 6, 4096)
	l := &limited{says: "not here", most: job.AllocRequest{Nodes: 64, Time: 7 * time.Minute, PerNode: job.Resources{CPUs: 64, Mem: 64 << 30}}}
	first, err := PlanChecked(t.Context(), h, q, l)
	if err != nil || first.Alloc.Time != 7*time.Minute {
		t.Fatalf("%+v, %v", first.Alloc, err)
	}
	l.asked = 0
	q.Now = q.Now.Add(time.Hour)
	p, err := PlanChecked(t.Context(), h, q, l)
	if err != nil || l.asked != 2 || p.Alloc.Time != first.Alloc.Time || p.Alloc.Nodes != first.Alloc.Nodes {
		t.Errorf("asked %d times: %+v, %v", l.asked, p.Alloc, err)
	}
	if len(p.Notes) != 1 || !strings.HasPrefix(p.Notes[0], "slurm refuses larger requests than 8 nodes × 6 cores") ||
		!strings.Contains(p.Notes[0], " for 7m in main: not here (since ") {
		t.Errorf("%q", p.Notes)
	}
	other := *q.Spec
	other.Request.Account = "other"
	q.Spec = &other
	if p, err = PlanChecked(t.Context(), h, q, nil); err != nil || p.Alloc.Time != 30*time.Minute {
		t.Errorf("of another account: %+v, %v", p.Alloc, err)
	}
}

// TestRefusalSaid: a plan names what was refused while it was made.
func TestRefusalSaid(t *testing.T) {
	l := &limited{says: "no", most: job.AllocRequest{Nodes: 8, Time: 20 * time.Hour, PerNode: job.Resources{CPUs: 3, Mem: 64 << 30}}}
	p, err := PlanChecked(t.Context(), statedir.Home{}, question(8, 6, 4096), l)
	if want := []string{"slurm refuses 8 nodes × 6 cores and 12G for 30m in main: no"}; err != nil || !slices.Equal(p.Notes, want) {
		t.Errorf("%q, %v; want %q", p.Notes, err, want)
	}
}

// TestRefusalForgotten: a refusal counts until the batch system accepts what it had refused, for some hours, and as long as a plan is possible within it.
func TestRefusalForgotten(t *testing.T) {
	whole := func(t *testing.T, h statedir.Home, q plan.Question, tester driver.Tester, cpus int) {
		t.Helper()
		if p, err := PlanChecked(t.Context(), h, q, tester); err != nil || p.Alloc.PerNode.CPUs != cpus {
			t.Errorf("%+v, %v; want %d cores", p.Alloc, err, cpus)
		}
	}
	refused := func(q plan.Question) job.AllocRequest {
		b := q.Spec.Request.Batch("main")
		b.Cluster = q.Snap.Queue.ID
		return job.AllocRequest{On: "slurm", Elastic: true, Nodes: 1, PerNode: job.Resources{CPUs: 6, Mem: 12 << 30}, Time: time.Hour, Batch: b}
	}
	t.Run("accepted again", func(t *testing.T) {
		h, q := homeOf(t), question(1, 6, 4096)
		l := &limited{says: "no", most: job.AllocRequest{Nodes: 1, Time: 7 * time.Minute, PerNode: job.Resources{CPUs: 2, Mem: 64 << 30}}}
		whole(t, h, q, l, 2)
		l.most.PerNode.CPUs, l.most.Time = 6, 48*time.Hour
		whole(t, h, q, l, 6)
		whole(t, h, q, nil, 6)
	})
	t.Run("old", func(t *testing.T) {
		h, q := homeOf(t), question(1, 6, 4096)
		if !Refused(h, q.Now, refused(q), "too many cores") {
			t.Error("final")
		}
		whole(t, h, q, nil, 3)
		q.Now = q.Now.Add(rememberFor + 1)
		whole(t, h, q, nil, 6)
	})
	t.Run("leads nowhere", func(t *testing.T) {
		h, q := homeOf(t), question(1, 6, 4096)
		q.Spec.Bag.Need.CPUs = 4
		Refused(h, q.Now, refused(q), "too many cores")
		rest := q
		rest.Remaining = &job.Remaining{Tasks: 4096}
		if _, err := PlanChecked(t.Context(), h, rest, nil); err == nil || !strings.Contains(err.Error(), "slurm refuses larger requests than 1 node × 3 cores") {
			t.Errorf("a job that has begun: %v", err)
		}
		Refused(h, q.Now, refused(q), "too many cores")
		whole(t, h, q, nil, 4) // a new job, with a slot for one task
	})
	t.Run("of no size", func(t *testing.T) {
		h, q := homeOf(t), question(1, 6, 4096)
		if Refused(h, q.Now, refused(q), "Slurm refuses its job: Invalid account or account/partition combination specified") {
			t.Error("a smaller one is tried")
		}
		whole(t, h, q, nil, 6)
	})
}

// TestRefusedAtSubmission: a batch system that refuses requests above limits only when they are submitted gets smaller ones until it accepts one.
func TestRefusedAtSubmission(t *testing.T) {
	for _, most := range []job.AllocRequest{
		{Nodes: 1, Time: time.Minute, PerNode: job.Resources{CPUs: 1}}, {Nodes: 5, Time: 20 * time.Minute, PerNode: job.Resources{CPUs: 4}},
		{Nodes: 40, Time: time.Minute, PerNode: job.Resources{CPUs: 6}}, {Nodes: 1, Time: time.Hour, PerNode: job.Resources{CPUs: 6}},
	} {
		for _, says := range []string{"Requested node configuration is not available", "user's size and/or time limits", "too many"} {
			h, q := homeOf(t), question(40, 6, 4096)
			l := &limited{says: says, most: most}
			l.most.PerNode.Mem = 12 << 30
			for n := 0; ; n++ {
				p, err := PlanChecked(t.Context(), h, q, nil)
				if err != nil || n > 15 {
					t.Fatalf("%+v, %q, after %d refusals: %+v, %v", most, says, n, p.Alloc, err)
				}
				if _, err = l.Test(t.Context(), p.Alloc); err == nil {
					break
				}
				if !Refused(h, q.Now, p.Alloc, err.Error()) {
					t.Fatalf("%+v, %q: %+v is the smallest", most, says, p.Alloc)
				}
			}
		}
	}
}
