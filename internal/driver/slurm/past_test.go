package slurm

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"berth/internal/core/cluster"
	"berth/internal/core/job"
	"berth/internal/core/starts"
	"berth/internal/core/timeline"
)

// saidBySacct is what sacct of Slurm 22.05.8 has printed on a private cluster; the names of users are changed, and the lines of
// an unlimited job, of a job that never ran and of one of an unknown number of nodes are added.
const saidBySacct = `2|ann|main|1|10|1795637540|1795637604|64
3|me|main|1|14|1795637540|Unknown|392
4|ann|main|2|10|1795637541|1795637606|65
7_3|bob|short|1|10|1795637500|1795637610|66
8|bob|main|1|UNLIMITED|1795637541|1795637611|67
9|bob|main|1|10|1795637541|1795637611|0
11|bob|main|None|10|1795637541|1795637611|5
`

// TestPast: jobs that have run have ended, in the order of their ends; jobs of others that were submitted since the instant have arrived.
func TestPast(t *testing.T) {
	at := func(seconds int64) job.Time { return job.Time(seconds) * job.Time(time.Second) }
	h := parsePast(barred(saidBySacct, 8), "me", at(1795637540))
	ann, bob := cluster.Number("ann"), cluster.Number("bob")
	want := []starts.Ended{
		{Job: starts.Job{User: ann, Nodes: 1, Limit: 10 * time.Minute}, At: at(1795637604), Run: 64 * time.Second},
		{Job: starts.Job{User: ann, Nodes: 2, Limit: 10 * time.Minute}, At: at(1795637606), Run: 65 * time.Second},
		{Job: starts.Job{User: bob, Nodes: 1, Limit: 10 * time.Minute}, At: at(1795637610), Run: 66 * time.Second},
		{Job: starts.Job{User: bob, Nodes: 1, Limit: timeline.Unbounded}, At: at(1795637611), Run: 67 * time.Second},
	}
	if len(h.Ended) != len(want) {
		t.Fatalf("ended: %+v", h.Ended)
	}
	for i := range want {
		if h.Ended[i] != want[i] {
			t.Errorf("ended: %+v, want %+v", h.Ended[i], want[i])
		}
	}
	if len(h.Arrived) != 4 || h.Arrived[0].Part != cluster.Number("main") || h.Since != at(1795637540) {
		t.Errorf("arrived since %d: %+v", h.Since, h.Arrived)
	}
}

// TestReadPast: what a user has written with sacct says the same as what berth asks for, with its columns in another order, beside
// others, and with local times. A column that lacks is an error with the line and the command.
func TestReadPast(t *testing.T) {
	from := job.Time(1795637540) * job.Time(time.Second)
	text := "State|ElapsedRaw|JobID|User|Partition|NNodes|TimelimitRaw|Submit|End\n"
	for _, f := range barred(saidBySacct, 8) {
		for _, i := range []int{5, 6} {
			if at, ok := epoch(f[i]); ok {
				f[i] = at.Std().Local().Format("2006-01-02T15:04:05")
			}
		}
		text += strings.Join([]string{"COMPLETED", f[7], f[0], f[1], f[2], f[3], f[4], f[5], f[6]}, "|") + "\n"
	}
	got, err := readPast(text, "log", "me", from)
	if want := parsePast(barred(saidBySacct, 8), "me", from); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v\nwant %+v", got, err, want)
	}
	if _, err := readPast(strings.Replace(text, "|End\n", "|Start\n", 1), "log", "me", from); job.ClassOf(err) != job.User || !strings.Contains(err.Error(), "log:1") || !strings.Contains(err.Error(), "sacct ") {
		t.Errorf("without ends: %v", err)
	}
}
