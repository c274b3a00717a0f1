package pbs

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"berth/internal/core/cluster"
	"berth/internal/core/job"
	"berth/internal/driver/batch"
)

// lines makes PBS's output of records, of which each field is on a line of its own, with an empty line between two records.
func lines(text string) string {
	var out []string
	for r := range strings.SplitSeq(strings.TrimSpace(text), "\n\n") {
		out = append(out, strings.ReplaceAll(strings.TrimSpace(r), "\n", separator))
	}
	return strings.Join(out, "\n") + "\n"
}

// example is a site with a node of two vnodes, one of its own queue, one that is off and one for GPUs.
var example = [5]string{`Server: pbs1
default_queue=go
query_other_jobs=False
job_sort_formula=job_priority * 10 + ncpus
resources_default.walltime=01:00:00
max_run_res.ncpus=[u:PBS_GENERIC=64],[u:me=32]`, `Queue: work
queue_type=Execution
enabled=True
started=True
Priority=10
resources_max.walltime=48:00:00
resources_max.nodect=3

Queue: fast
queue_type=Execution
enabled=True
started=True
from_route_only=True
Priority=90
default_chunk.kind=gpu
resources_max.walltime=02:00:00

Queue: go
queue_type=Route
enabled=True
started=True
route_destinations=work,fast,far@other

Queue: shut
queue_type=Execution
enabled=True
started=False

Queue: R7
queue_type=Execution
enabled=True
started=True`, `Name=n1[0]
state=free
jobs=1.pbs1/0
resources_available.host=n1
resources_available.ncpus=8
resources_available.mem=16gb
resources_available.arch=linux
resources_assigned.ncpus=4
resources_assigned.mem=1048576kb

Name=n1[1]
state=free
resources_available.host=n1
resources_available.ncpus=8
resources_available.mem=16gb

Name=n2
state=down,offline
comment=node down: communication closed
resources_available.ncpus=8
resources_available.mem=16gb

Name=n3
state=job-exclusive
jobs=4[2].pbs1/0
sharing=default_excl
resources_available.ncpus=8
resources_available.mem=16gb
resources_available.ngpus=4
resources_available.kind=gpu,big
resources_available.fast=True
resources_assigned.ncpus=2`, `Job Id: 1.pbs1
Job_Name=mine
Job_Owner=me@login
job_state=R
queue=work
Account_Name=0012
exec_host=n1/0*4
exec_vnode=(n1[0]:ncpus=4:mem=1048576kb)
stime=Wed Nov 25 13:13:53 2026
Resource_List.walltime=10:00:00
Resource_List.place=scatter
Variable_List=PATH=/a\\,b,BERTH_SCRIPT=batch-1.sh

Job Id: 2.pbs1
Job_Name=small
Job_Owner=me@login
job_state=Q
queue=work
Priority=0
Resource_List.ncpus=2
Resource_List.select=2:ncpus=1
Resource_List.place=free

Job Id: 3.pbs1
Job_Owner=me@login
job_state=Q
queue=work
Priority=5
Resource_List.ncpus=6
Resource_List.select=2:ncpus=2:mem=1gb+ncpus=2:ngpus=1
Resource_List.place=scatter:excl
comment=Not Running: Insufficient amount of resource: ncpus

Job Id: 5.pbs1
Job_Owner=me@login
job_state=Q
queue=work
Resource_List.select=1:ncpus=8
estimated.start_time=Wed Nov 25 15:00:00 2026
estimated.exec_vnode=(n1[0]:ncpus=4+n1[1]:ncpus=4)

Job Id: 6.pbs1
Job_Owner=me@login
job_state=Q
queue=fast
Resource_List.select=1:ncpus=1

Job Id: 7.pbs1
Job_Owner=me@login
job_state=Q
queue=work
Resource_List.select=1:ncpus=99
comment=Can Never Run: Insufficient amount of resource: ncpus (R: 99 A: 24 T: 24)

Job Id: 8[].pbs1
Job_Owner=me@login
job_state=B
queue=work
Resource_List.select=1:ncpus=1
max_run_subjobs=3
array_state_count=Queued:9 Running:1 Exiting:0 Expired:0

Job Id: 9.pbs1
Job_Name=berth-wake
Job_Owner=me@login
job_state=W
queue=work

Job Id: 10.pbs1
Job_Owner=me@login
job_state=H
Hold_Types=s
depend=afterany:1.pbs1@pbs1
queue=work`, `Resv ID: R7.pbs1
queue = R7
reserve_start = Wed Nov 25 14:20:00 2026
reserve_end = Wed Nov 25 14:30:00 2026
Authorized_Users = me@login
resv_nodes = (n1[0]:ncpus=4)+(n1[1]:ncpus=4)
`}

// read makes the answers of PBS's commands of texts.
func read(t [5]string) *answers {
	return &answers{server: parseRecords(lines(t[0])), queues: parseRecords(lines(t[1])), nodes: parseRecords(lines(t[2])), jobs: parseRecords(lines(t[3])), reservations: parseListing(t[4])}
}

// TestTexts: what a snapshot makes of PBS's texts.
func TestTexts(t *testing.T) {
	a := read(example)
	if got := runningTasks(a.nodes); !slices.Equal(got, []string{"4[2].pbs1"}) {
		t.Errorf("running tasks %v", got)
	}
	s, err := a.snapshot(account{name: "me"}, "")
	if err != nil {
		t.Fatal(err)
	}
	n, q := s.Nodes, s.Queue
	if len(n) != 3 || n[0].Name != "n1" || n[0].Capacity != (job.Resources{CPUs: 16, Mem: 32 << 30}) || n[0].Free != (job.Resources{CPUs: 12, Mem: 31 << 30}) ||
		n[1].Down != "down: communication closed" || n[2].Free.CPUs != 0 || n[2].Capacity.GPUs != 4 || !slices.Equal(n[0].Features, []string{"arch=linux"}) ||
		!slices.Equal(n[2].Features, []string{"fast", "fast=True", "kind=big", "kind=gpu"}) {
		t.Errorf("nodes %+v", n)
	}
	if !strings.Contains(q.Hidden, "query_other_jobs") || len(q.Reservations) != 1 || !slices.Equal(q.Reservations[0].Nodes, []int{0}) || !q.Reservations[0].Mine {
		t.Errorf("hidden %q, reservations %+v", q.Hidden, q.Reservations)
	}
	p := q.Partitions
	if len(p) != 4 || p[0].MaxNodes != 3 || p[0].DefaultTime != time.Hour || p[0].Closed != "" || !strings.Contains(p[1].Closed, "routing") || !p[1].Drains ||
		!slices.Equal(p[1].Nodes, []int{2}) || !p[1].Whole || !p[2].Default || p[2].MaxTime != 48*time.Hour || !slices.Equal(p[2].Nodes, []int{0, 1, 2}) ||
		p[3].Closed == "" || p[3].Drains {
		t.Errorf("queues %+v", p)
	}
	if r := q.Running; len(r) != 1 || r[0].Account != "0012" || !slices.Equal(r[0].Nodes, []int{0}) || r[0].PerNode != (job.Resources{CPUs: 4, Mem: 1 << 30}) || r[0].Limit != 10*time.Hour {
		t.Errorf("running %+v", r)
	}
	var order []string
	by := map[string]cluster.Queued{}
	for _, j := range q.Pending {
		id, _, _ := strings.Cut(j.ID, ".")
		order = append(order, id)
		if _, is := by[id]; !is {
			by[id] = j
		}
	}
	if want := []string{"5", "6", "3", "2", "7", "8[]", "8[]", "10"}; !slices.Equal(order, want) {
		t.Errorf("the order is %v, want %v", order, want)
	}
	if j := by["2"]; j.Count != 1 || j.PerNode.CPUs != 2 || j.Held != "" { // packed on one node
		t.Errorf("2: %+v", j)
	}
	if j := by["3"]; j.Count != 3 || j.PerNode != (job.Resources{CPUs: 2, Mem: 1 << 30, GPUs: 1}) || !j.Whole || j.Held != "" {
		t.Errorf("3: %+v", j)
	}
	if j := by["5"]; j.Start == 0 || !slices.Equal(j.Nodes, []int{0}) {
		t.Errorf("5: %+v", j)
	}
	if by["7"].Held == "" || by["8[]"].Repeat != 2 || by["10"].Held != "it depends on another job" {
		t.Errorf("7: %+v, 8: %+v, 10: %+v", by["7"], by["8[]"], by["10"])
	}
	if what := a.outside(job.AllocRequest{Nodes: 3, PerNode: job.Resources{CPUs: 11}}, account{name: "me"}); what != "your jobs may have ncpus=32 at most together" {
		t.Errorf("over the limit: %q", what)
	}
}

// TestLimits: what limits of the queue and the server allow, and demand of, a job.
func TestLimits(t *testing.T) {
	of := account{name: "me"}
	for _, x := range []struct {
		server, queue string
		cpus          int64 // the bounds of the queue in the snapshot
		min           time.Duration
		nodes, cores  int // of a request for a minute
		says          string
	}{
		{"", "max_run_res.ncpus=[u:PBS_GENERIC=2]", 2, 0, 2, 2, "your jobs may have ncpus=2 at most together"},
		{"", "max_run_res.ncpus=[u:PBS_GENERIC=2]", 2, 0, 2, 1, ""},
		{"max_run_res.ncpus=[o:PBS_ALL=3]", "max_queued_res.ncpus=[u:me=4]", 3, 0, 2, 2, "your jobs may have ncpus=3 at most together"},
		{"", "max_user_res.ncpus=2", 2, 0, 1, 3, "your jobs may have ncpus=2 at most together"},
		{"max_run_res.nodect=[u:me=1]", "", 0, 0, 2, 1, "your jobs may have nodect=1 at most together"},
		{"resources_max.ncpus=9", "resources_max.ncpus=4", 4, 0, 5, 1, "a job may have ncpus=4 at most"},
		{"", "resources_min.ncpus=2", 0, 0, 1, 1, "a job must have ncpus=2 at least"},
		{"", "resources_min.ncpus=2", 0, 0, 2, 1, ""},
		{"", "resources_min.walltime=00:10:00", 0, 10 * time.Minute, 1, 1, "a wall time must be 10m at least"},
		{"", "resources_min.mem=1gb", 0, 0, 1, 1, ""}, // PBS gives a job that requests no memory its default
	} {
		a := read([5]string{"Server: pbs1\n" + x.server, "Queue: q\nqueue_type=Execution\nenabled=True\nstarted=True\n" + x.queue, example[2]})
		s, err := a.snapshot(of, "")
		if err != nil {
			t.Fatal(err)
		}
		p := s.Queue.Partitions[0]
		if most := s.Queue.Accounting.Allows("", "", &p).CPUs.Value; most != x.cpus || p.MinTime != x.min {
			t.Errorf("%s, %s: %d cores, %v at least", x.server, x.queue, most, p.MinTime)
		}
		req := job.AllocRequest{Nodes: x.nodes, PerNode: job.Resources{CPUs: x.cores}, Time: time.Minute, Batch: job.Batch{Partition: "q"}}
		if got := a.outside(req, of); got != x.says {
			t.Errorf("%s, %s: %q, want %q", x.server, x.queue, got, x.says)
		}
	}
	routes := `Queue: r
queue_type=Route
enabled=True
started=True
route_destinations=a,b
resources_min.walltime=60

Queue: a
queue_type=Execution
resources_min.walltime=90
resources_min.ncpus=4
resources_max.ncpus=8

Queue: b
queue_type=Execution
resources_min.walltime=120
resources_max.ncpus=16`
	q := parseQueues(parseRecords(lines(routes)), record{}, nil, of, nil)[0]
	if q.MinTime != 90*time.Second || q.MinCPUs != 0 || q.Bounds[cluster.JobCPUs] != 16 {
		t.Errorf("a routing queue: %+v", q.Partition)
	}
}

// TestHeld: why PBS holds a job, as it was printed. A wake-up job depends on the job too ("beforeany").
func TestHeld(t *testing.T) {
	for _, x := range []struct{ fields, want string }{
		{"Hold_Types=s|depend=afterany:1.pbs1@pbs1", "it depends on another job"},
		{"Hold_Types=s|depend=beforeany:2.pbs1@pbs1|comment=job held, too many failed attempts to run", "PBS holds it: too many failed attempts to run (qrls lets it try again)"},
		{"Hold_Types=s|depend=beforeany:2.pbs1@pbs1", "it is held"},
		{"Hold_Types=us", "its user holds it (qrls lets it start)"},
	} {
		r := parseRecords("Job Id: 1.a" + separator + "job_state=H" + separator + strings.ReplaceAll(x.fields, "|", separator) + "\n")[0]
		if got := waitsFor(r); got != x.want {
			t.Errorf("%s: %q", x.fields, got)
		}
	}
}

// FuzzSnapshot: whatever PBS prints, a snapshot refers only to its own nodes and has no negative number.
func FuzzSnapshot(f *testing.F) {
	f.Add(example[0], example[1], example[2], example[3], example[4])
	f.Fuzz(func(t *testing.T, server, queues, nodes, jobs, reservations string) {
		a := read([5]string{server, queues, nodes, jobs, reservations})
		s, err := a.snapshot(account{name: "me"}, "")
		if err != nil {
			return
		}
		on := func(list []int) {
			for _, i := range list {
				if i < 0 || i >= len(s.Nodes) {
					t.Fatalf("node %d of %d", i, len(s.Nodes))
				}
			}
		}
		for _, n := range s.Nodes {
			if n.Name == "" || n.Free.CPUs < 0 || n.Free.Mem < 0 || n.Free.CPUs > n.Capacity.CPUs {
				t.Fatalf("node %+v", n)
			}
		}
		for _, p := range s.Queue.Partitions {
			on(p.Nodes)
		}
		for _, j := range append(s.Queue.Running, s.Queue.Pending...) {
			on(j.Nodes)
			if j.Count < 1 || j.PerNode.CPUs < 0 || j.PerNode.Mem < 0 || j.Limit < 0 || j.Start < 0 || j.Repeat < 0 {
				t.Fatalf("job %+v", j)
			}
		}
		for _, r := range a.jobs {
			_ = verdict(batch.Job{}, r)
			_ = r.status(1e18)
		}
		a.outside(job.AllocRequest{Nodes: 1}, account{name: "me"})
		s.Timeline(cluster.View{PerNode: job.Resources{CPUs: 1}})
	})
}

// TestValues: single values in all of their spellings.
func TestValues(t *testing.T) {
	for value, want := range map[string]int{"": 1, "10": 10, "0": -1} {
		if got := backfillDepth(value); got != want {
			t.Errorf("backfill_depth %q: %d, want %d", value, got, want)
		}
	}
	for text, want := range map[string]int64{"8gb": 8 << 30, "1048576kb": 1 << 30, "4096": 4096, "2MB": 2 << 20, "1kw": 8192, "1tb": 1 << 40, "": 0, "-1gb": 0, "x": 0, "99999999999pb": 0} {
		if got := parseSize(text); got != want {
			t.Errorf("size %q is %d", text, got)
		}
	}
	for text, want := range map[string]time.Duration{"48:00:00": 48 * time.Hour, "90": 90 * time.Second, "1:30.5": 90500 * time.Millisecond, "": 0, "1:2:3:4": 0, "-1": 0} {
		if got := parseSpan(text); got != want {
			t.Errorf("span %q is %v", text, got)
		}
	}
	if at := parseTime("Wed Nov  5 13:13:53 2026"); at.Std().UTC().Format(time.RFC3339) != "2026-11-05T13:13:53Z" || parseTime("UNSET") != 0 {
		t.Errorf("the time is %v", at.Std())
	}
	if got := parseHosts("n1/0*4+n1/1+n2/0*4"); !slices.Equal(got, []string{"n1", "n2"}) {
		t.Errorf("hosts %v", got)
	}
	for out, want := range map[string]string{"7.pbs1\n": "7.pbs1", "welcome to a.b\n12.pbs.example.org\n": "12.pbs.example.org", "": "", "qsub: 7\n": "", "1795.x y\n": ""} {
		if got := Open(nil).JobID(out); got != want {
			t.Errorf("%q: id %q", out, got)
		}
	}
	for list, want := range map[string]bool{"me": true, "+me@*": true, "-me,me": false, "you": false, "root@*,*@host": true, "": false} {
		if got := allowed(strings.Split(list, ","), "me"); got != want && list != "" {
			t.Errorf("acl %q: %t", list, got)
		}
	}
	of := account{name: "me"}
	for value, want := range map[string]string{"[u:PBS_GENERIC=2]": "2", "[u:PBS_GENERIC=2],[u:me=5]": "5", "[u:me=5],[o:PBS_ALL=3]": "3", "[u:me=0]": "0",
		"[u:me=2gb],[o:PBS_ALL=10gb]": "2gb", "[g:PBS_GENERIC=1]": "", "3": "3", "": ""} {
		if got := limitOf(value, of); got != want {
			t.Errorf("limit %q is %q", value, got)
		}
	}
}

// TestFormula: formulas are computed if all of their names are known, and else not at all.
func TestFormula(t *testing.T) {
	r := record{"Priority": "3", "eligible_time": "00:01:40", "Resource_List.ncpus": "4", "Resource_List.mem": "2mb", "Resource_List.walltime": "00:00:10"}
	for text, want := range map[string]float64{
		"10*ncpus + eligible_time": 140, "-(job_priority - 1)/2": -1, "queue_priority*1e2": 500, "mem + walltime": 2058, "ngpus": 0, "2*(3+4)": 14,
	} {
		if got, ok := evaluate(text, func(name string) (float64, bool) { return variable(r, 5, name) }); got != want || !ok {
			t.Errorf("%s = %v, %t", text, got, ok)
		}
	}
	for _, text := range []string{"", "fairshare_perc*2", "ncpus if ncpus else 1", "max(1,2)", "ncpus **2", "1/0-1/0", "ncpus +"} {
		if got, ok := evaluate(text, func(name string) (float64, bool) { return variable(r, 5, name) }); ok {
			t.Errorf("%s = %v", text, got)
		}
	}
}

// TestArguments: what qsub is told, and which of the user's options a wake-up job gets.
func TestArguments(t *testing.T) {
	req := job.AllocRequest{Nodes: 2, PerNode: job.Resources{CPUs: 4, Mem: 1<<30 + 1, GPUs: 1}, Time: 90*time.Second + 1,
		Batch: job.Batch{Partition: "work", Account: "a", Exclusive: true, Constraint: "bigmem&arch=linux", Name: "7 dwarfs", Args: []string{"-m", "n"}}}
	got, err := shapeArgs(req)
	want := "-N _7_dwarfs -m n -l select=2:ncpus=4:mpiprocs=1:mem=1025mb:ngpus=1:bigmem=True:arch=linux -l place=scatter:excl -l walltime=91 -q work -A a"
	if strings.Join(got, " ") != want || err != nil {
		t.Errorf("got  %v (%v)\nwant %s", got, err, want)
	}
	args := []string{"-m", "n", "-P", "proj", "-Wgroup_list=g", "-W", "group_list=h", "-lsoftware=x", "-qR7"}
	if got := strings.Join(batch.Where(args, Open(nil).Words().Where), " "); got != "-P proj -Wgroup_list=g -W group_list=h -qR7" {
		t.Errorf("a wake-up job gets %s", got)
	}
	at := time.Date(2026, 11, 25, 23, 59, 0, 0, time.UTC)
	if got := strings.Join(waitArgs(batch.Wait{Delay: 2 * time.Minute, After: []string{"1.a", "2.a"}}, at), " "); got != "-a 202611260001.00 -W depend=afterany:1.a:2.a" {
		t.Errorf("it waits for %s", got)
	}
}

// TestVerdict: ends of jobs in words.
func TestVerdict(t *testing.T) {
	j := batch.Job{Dir: t.TempDir(), Request: job.AllocRequest{Time: time.Minute, PerNode: job.Resources{Mem: 1 << 30}}}
	for _, x := range []struct{ fields, says string }{
		{"job_state=F|Exit_status=-29|comment=Job run at … and exceeded resource walltime", "its wall time of 1m has passed"},
		{"job_state=F|Exit_status=-27|comment=… exceeded resource mem", "it ran out of memory"},
		{"job_state=F|Exit_status=271|comment=… terminated by bob@login", "cancelled by user bob"},
		{"job_state=F|Exit_status=0|comment=… terminated by bob@login", "cancelled by user bob"},
		{"job_state=F|Exit_status=-20|exec_host=n1/0+n2/0", "a node of it failed, or could not run it: n1, n2"},
		{"job_state=F|Exit_status=265", "ended by signal 9"},
		{"job_state=F|comment=Not Running and finished", "cancelled before it started"},
	} {
		r := parseRecords("Job Id: 1.a" + separator + strings.ReplaceAll(x.fields, "|", separator) + "\n")[0]
		if v := verdict(j, r); !strings.Contains(v.Reason, x.says) {
			t.Errorf("%s: %+v", x.fields, v)
		}
	}
	if v := verdict(j, record{"job_state": "E"}); !v.Script || v.Failed {
		t.Errorf("while it ends: %+v", v)
	}
	if v := verdict(j, record{"job_state": "F", "Exit_status": "1"}); !v.Script || !v.Failed || v.Exit != 1 {
		t.Errorf("a script that failed: %+v", v)
	}
	j.Output = filepath.Join(t.TempDir(), "out")
	notFound := record{"job_state": "F", "Exit_status": "127"}
	for said, script := range map[string]bool{"": false, "sh: /shared/berth: not found\n": true} {
		if err := os.WriteFile(j.Output, []byte(said), 0o600); err != nil {
			t.Fatal(err)
		}
		if v := verdict(j, notFound); v.Script != script || strings.Contains(v.Reason, "did not have its script") == script {
			t.Errorf("status 127 and %q: %+v", said, v)
		}
	}
}

// TestNotStarted: a job that runs without having been started is being sent to its nodes, and counts as ended once that takes too long.
func TestNotStarted(t *testing.T) {
	r := record{"job_state": "R", "substate": "41", "mtime": "Wed Nov  5 13:13:53 2026", "Resource_List.walltime": "01:00:00"}
	since := parseTime(r["mtime"])
	if st := r.status(since.Add(startPatience)); st.Phase != batch.Starting {
		t.Errorf("it is %+v", st)
	}
	if st := r.status(since.Add(startPatience + 1)); st.Phase != batch.Ending || !strings.Contains(st.Verdict.Reason, "have not started it for 5m") {
		t.Errorf("after a while it is %+v", st)
	}
	r["substate"] = "71"
	if st := r.status(since.Add(time.Hour)); st.Phase != batch.Starting {
		t.Errorf("while its nodes are provisioned it is %+v", st)
	}
}

// TestClassify: PBS's messages as kinds of errors.
func TestClassify(t *testing.T) {
	for said, class := range map[string]job.Class{
		"Connection refused\nqstat: cannot connect to server localhost (errno=15010)\n": job.Transient, "qsub: Unknown queue\n": job.User,
		"qsub: would exceed queue full's per-user limit\n": job.Transient, "qdel: Unknown Job Id 7.pbs\n": job.User, "qsub: illegal -N value\nusage: qsub [-a\n": job.User,
	} {
		err := classify("qsub", said, 1)
		if job.ClassOf(err) != class || strings.Contains(err.Error(), "usage") {
			t.Errorf("%q: %v", said, err)
		}
	}
}

// TestClusters: two servers of one name are two clusters, and the environment goes before the configuration.
func TestClusters(t *testing.T) {
	a, b := Open([]string{"PBS_SERVER=x", "PBS_BATCH_SERVICE_PORT=1"}), Open([]string{"PBS_SERVER=x", "PBS_BATCH_SERVICE_PORT=2"})
	if a.clusterID("x") == b.clusterID("x") || a.clusterID("x") != Open(a.User).clusterID("x") {
		t.Error("the ids do not tell clusters apart")
	}
}
