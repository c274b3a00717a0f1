package cluster_test

import (
	"testing"
	"time"

	"berth/internal/core/cluster"
	"berth/internal/core/job"
	"berth/internal/core/timeline"
)

// TestLeft: what limits leave that jobs have together, now and when running jobs are over.
func TestLeft(t *testing.T) {
	at := job.Time(time.Hour)
	running := func(user, account, qos string, nodes, cpus int) cluster.Queued {
		return cluster.Queued{User: user, Account: account, QOS: qos, Partition: "main", Count: nodes, PerNode: job.Resources{CPUs: cpus}, Start: at, Limit: 10 * time.Minute}
	}
	accounts := []cluster.Account{{Name: "root"}, {Name: "lab", Parent: "root", CPUs: 16}, {Name: "mine", Parent: "lab"}, {Name: "theirs", Parent: "lab"}}
	for _, c := range []struct {
		name        string
		user, qos   cluster.Bounds // of the association and of the QOS
		running     []cluster.Queued
		pending     []cluster.Queued
		account     string
		now, later  int // nodes of two cores; −1: no limit
		withoutTree bool
	}{
		{name: "nothing runs", account: "mine", now: 8, later: 8},
		{name: "another account's job below the same one", account: "mine", running: []cluster.Queued{running("her", "theirs", "", 2, 3)}, now: 5, later: 8},
		{name: "an account beside", account: "mine", running: []cluster.Queued{running("her", "elsewhere", "", 2, 3)}, now: 8, later: 8},
		{name: "more than all", account: "mine", running: []cluster.Queued{running("her", "theirs", "", 2, 30)}, now: 0, later: 8},
		{name: "no limit", account: "mine", withoutTree: true, now: -1},
		{name: "of the user in a QOS", account: "mine", withoutTree: true, qos: cluster.Bounds{cluster.UserCPUs: 6},
			running: []cluster.Queued{running("me", "mine", "normal", 1, 2), running("her", "mine", "normal", 1, 2), running("me", "mine", "other", 1, 2)}, now: 2, later: 3},
		{name: "the QOS counts before the account", account: "mine", qos: cluster.Bounds{cluster.GroupCPUs: 40}, running: []cluster.Queued{running("her", "theirs", "normal", 1, 10)}, now: 15, later: 20},
		{name: "of the user's association, in nodes", account: "mine", withoutTree: true, user: cluster.Bounds{cluster.GroupNodes: 3}, running: []cluster.Queued{running("me", "mine", "", 2, 1)}, now: 1, later: 3},
		{name: "the user's own job that waits", account: "mine", pending: []cluster.Queued{running("me", "mine", "", 1, 4)}, now: 6, later: 8},
		{name: "an account that is not known", account: "none", now: -1},
	} {
		a := &cluster.Accounting{Associations: []cluster.Association{{Account: "mine", QOS: "normal", Bounds: c.user}}, QOS: []cluster.QOS{{Name: "normal", Bounds: c.qos}}}
		if !c.withoutTree {
			a.Accounts = accounts
		}
		s := cluster.Snapshot{At: at, Queue: &cluster.Queue{User: "me", Partitions: []cluster.Partition{{Name: "main"}}, Running: c.running, Pending: c.pending, Accounting: a}}
		left := s.Left(c.account, "", cluster.View{Partition: "main", PerNode: job.Resources{CPUs: 2}})
		if c.now < 0 {
			if left != nil {
				t.Errorf("%s: %v", c.name, left.Steps())
			}
			continue
		}
		if left == nil || left.At(at) != c.now || left.At(at.Add(time.Hour)) != c.later {
			t.Errorf("%s: %v, want %d and then %d", c.name, left, c.now, c.later)
		}
	}
	if left := (&cluster.Snapshot{Queue: &cluster.Queue{}}).Left("", "", cluster.View{}); left != (*timeline.Timeline)(nil) {
		t.Errorf("without accounting: %v", left)
	}
}

// TestLeftGPUs: limits on GPUs leave nodes to jobs that need GPUs, by what others have of them, and are none for other jobs.
func TestLeftGPUs(t *testing.T) {
	at := job.Time(time.Hour)
	running := func(user, account string, gpus int) cluster.Queued {
		return cluster.Queued{User: user, Account: account, QOS: "normal", Partition: "main", Count: 1, PerNode: job.Resources{CPUs: 4, GPUs: gpus}, Start: at, Limit: 10 * time.Minute}
	}
	for _, c := range []struct {
		name     string
		qos      cluster.Bounds
		accounts []cluster.Account
		now      int // nodes of two GPUs
	}{
		{"of the account", cluster.Bounds{}, []cluster.Account{{Name: "mine", GPUs: 10}}, 3}, // 3 are in use
		{"of a user in a QOS", cluster.Bounds{cluster.UserGPUs: 9}, nil, 4},
		{"of a QOS", cluster.Bounds{cluster.GroupGPUs: 3}, nil, 0},
	} {
		a := &cluster.Accounting{Associations: []cluster.Association{{Account: "mine", QOS: "normal"}}, QOS: []cluster.QOS{{Name: "normal", Bounds: c.qos}}, Accounts: c.accounts}
		s := cluster.Snapshot{At: at, Queue: &cluster.Queue{User: "me", Partitions: []cluster.Partition{{Name: "main"}}, Accounting: a,
			Running: []cluster.Queued{running("me", "mine", 1), running("her", "mine", 2), running("her", "mine", 0)}}}
		left := s.Left("mine", "", cluster.View{Partition: "main", PerNode: job.Resources{CPUs: 1, GPUs: 2}})
		if left == nil || left.At(at) != c.now {
			t.Errorf("%s: %v, want %d", c.name, left, c.now)
		}
		if left := s.Left("mine", "", cluster.View{Partition: "main", PerNode: job.Resources{CPUs: 1}}); left != nil {
			t.Errorf("%s bounds a job without GPUs: %v", c.name, left.Steps())
		}
	}
}
