package batch

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"berth/internal/core/job"
	"berth/internal/driver"
	"berth/internal/wire"
)

// TestMayCancel checks when the allocation in which the driver itself runs may be cancelled.
func TestMayCancel(t *testing.T) {
	own := &alloc{id: "a1", job: "1", released: true}
	need := &job.AllocRequest{}
	for _, tt := range []struct {
		name  string
		asked bool // which jobs are unfinished
		need  *job.AllocRequest
		safe  bool
		other *alloc
		want  bool
	}{
		{"a job is unfinished and nothing else could continue it", true, need, false, nil, false},
		{"it is unknown whether jobs are unfinished", false, nil, false, nil, false},
		{"no job is left", true, nil, false, nil, true},
		{"a wake-up job is ready", true, need, true, nil, true},
		{"another allocation is submitted", true, need, false, &alloc{id: "a2", job: "2"}, true},
		{"another allocation is not submitted yet", true, need, false, &alloc{id: "a2"}, false},
		{"another allocation is over", true, need, false, &alloc{id: "a2", job: "2", down: true}, false},
		{"another is to be cancelled first", true, nil, true, &alloc{id: "a2", job: "2", released: true}, false},
	} {
		d := &site{Options: Options{Setup: driver.Setup{Inside: "1"}}, allocs: []*alloc{own}}
		d.guard.asked, d.guard.need, d.guard.safe = tt.asked, tt.need, tt.safe
		if tt.other != nil {
			d.allocs = append(d.allocs, tt.other)
		}
		if got := d.mayCancel(own, 1); got != tt.want {
			t.Errorf("%s: %t", tt.name, got)
		}
	}
}

// TestWakeRequest checks that a wake-up job asks for one core, runs where the job does, and has no longer wall time than the job's request; after a
// refusal it asks for as much.
func TestWakeRequest(t *testing.T) {
	need := job.AllocRequest{Nodes: 9, PerNode: job.Resources{CPUs: 16, Mem: 64 << 30}, Time: 5 * wakeTime,
		Batch: job.Batch{Partition: "short", Account: "a", QOS: "q", Exclusive: true, Name: "mine", Args: []string{"--gres=gpu:4", "--reservation=r"}}}
	d := aSite(Options{})
	got := d.wakeRequest(&need)
	want := job.AllocRequest{On: "some", Nodes: 1, PerNode: job.Resources{CPUs: 1, Mem: wakeMem}, Time: wakeTime, Elastic: true,
		Batch: job.Batch{Partition: "short", Account: "a", QOS: "q", Name: WakeName, Args: need.Batch.Args}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	need.Time = wakeTime / 5
	if r := d.wakeRequest(&need); r.Time != need.Time {
		t.Errorf("it runs for %v", r.Time)
	}
	d.guard.like = true // a queue that has no jobs of one core has refused it
	if r := d.wakeRequest(&need); r.Nodes != 9 || r.PerNode != need.PerNode || r.Time != need.Time || !r.Batch.Exclusive || r.Batch.Name != WakeName {
		t.Errorf("after a refusal: %+v", r)
	}
}

// TestWakeText checks that the script sets the quoted environment and ends by replacing itself by the coordinator.
func TestWakeText(t *testing.T) {
	got := wakeText("/opt/b erth", &wire.StandIn{Env: []string{"A=it's", "B="}, Log: "/log"})
	for _, want := range []string{"export A='it'\\''s'\n", "export B=''\n", "exec '/opt/b erth' server run --as-stand-in --wait >>/log 2>&1\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
}

// TestWakeNames checks that a wake-up job never has the name and the folder of one before it, which the loop may still cancel.
func TestWakeNames(t *testing.T) {
	now := func() job.Time { return job.Time(time.Hour) }
	d := aSite(Options{Setup: driver.Setup{Now: now, Wake: true, StandIn: &wire.StandIn{Log: "log"}}, Dir: t.TempDir()})
	d.guard.asked, d.guard.need = true, &job.AllocRequest{Nodes: 1}
	d.guardDue(t.Context())
	d.retireWakes(0)
	d.guardDue(t.Context())
	if len(d.allocs) != 1 || d.allocs[0].id != "w1" || d.guard.last().id != "w2" {
		t.Errorf("%d are to be cancelled, and the next one is %q", len(d.allocs), d.guard.last().id)
	}
	later := aSite(d.Options) // of the next coordinator
	later.guard.asked, later.guard.need = true, d.guard.need
	later.guardDue(t.Context())
	later.retireWakes(0)
	later.guardDue(t.Context())
	if id := later.guard.last().id; id != "w3" {
		t.Errorf("after w2 of an earlier coordinator comes %q", id)
	}
}
