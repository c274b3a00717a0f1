package event

import (
	"encoding/hex"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"berth/internal/core/job"
)

// TestBefore: records of jobs and plans that an older berth wrote are read. testdata/before.hex is
// entries as 7e933b4 marshalled them, from structs without any struct embedded in them.
func TestBefore(t *testing.T) {
	alloc := job.AllocRequest{On: "slurm", Nodes: 4, PerNode: job.Resources{CPUs: 8, Mem: 16 << 30}, Time: time.Hour, IdleTimeout: 10 * time.Second,
		SortMemory: 4 << 30, Scratch: "/scratch", Elastic: true, Batch: job.Batch{Partition: "short", Among: "short,long", Cluster: "c1"}, Start: 50, Latest: 60}
	more := alloc
	more.Nodes, more.Batch.Partition = 2, "long"
	terms := job.Terms{Need: job.Resources{CPUs: 2, Mem: 1 << 30}, ReduceNeed: job.Resources{CPUs: 1, Mem: 2 << 30}, Attempts: 4, ReduceAttempts: 3, MaxFails: -1, Throttle: 9}
	course := func(scout int, times ...time.Duration) job.Followup {
		return job.Followup{More: []job.AllocRequest{more}, Scout: scout,
			TaskTimes: job.TaskTimes{TaskTime: times[0], ReduceTime: times[1], TaskMean: times[2], ReduceMean: times[3]}}
	}
	want := []Record{
		JobSubmitted{Work: job.Work{ID: "mr-7", Name: "words", Kind: job.MapReduce, Tasks: 100, Reduces: 5, SlowStart: 0.05, Terms: terms,
			Alloc: alloc, Followup: course(10, time.Minute, 2*time.Minute, 30*time.Second, 90*time.Second)}},
		JobResumed{Job: "mr-7", Failed: true, Terms: &terms, Alloc: alloc, Followup: course(11, 3*time.Minute, 4*time.Minute, time.Minute, 5*time.Minute)},
		JobResumed{Job: "mr-7", Alloc: alloc},
		JobPlanned{Job: "mr-7", Scout: 12, Decision: "so", Most: time.Hour,
			TaskTimes: job.TaskTimes{TaskTime: time.Second, ReduceTime: 2 * time.Second, TaskMean: 3 * time.Second, ReduceMean: 4 * time.Second}},
	}
	file, err := os.ReadFile("testdata/before.hex")
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range strings.Fields(string(file)) {
		old, err := hex.DecodeString(line)
		if err != nil {
			t.Fatal(err)
		}
		e, err := Unmarshal(old)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(e.Record, want[i]) {
			t.Errorf("entry %d is\n%+v, want\n%+v", i, e.Record, want[i])
		}
		if now, err := e.Marshal(); err != nil || len(now) != len(old) {
			t.Errorf("entry %d had %d bytes and has %d, %v", i, len(old), len(now), err)
		}
	}
}
