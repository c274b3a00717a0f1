package slurm

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"berth/internal/core/job"
	"berth/internal/driver/batch"
)

func TestLimits(t *testing.T) {
	for s, want := range map[string]time.Duration{
		"5:00": 5 * time.Minute, "00:10:00": 10 * time.Minute, "1-02:03:04": 26*time.Hour + 3*time.Minute + 4*time.Second,
		"365-00:00:00": 365 * 24 * time.Hour, "0:01": time.Second, "UNLIMITED": 0, "INFINITE": 0,
	} {
		if got := parseLimit(s); got != want {
			t.Errorf("%q: %v; want %v", s, got, want)
		}
	}
	for _, s := range []string{"", "NOT_SET", "INVALID", "N/A", "NONE", "5", "1-2", "1-02:03", "a:b", "1:2:3:4", "-1:00", "1-", "999999999999-00:00:00"} {
		if got := parseLimit(s); got != 0 {
			t.Errorf("%q is taken for %v", s, got)
		}
	}
}

func TestValues(t *testing.T) {
	for s, want := range map[string]job.Time{"1795231277": job.Time(1795231277 * time.Second), "N/A": 0, "Unknown": 0, "-1": 0, "99999999999999": 0, "2026-11-21T03:25:29": 0} {
		if got := parseTime(s); got != want {
			t.Errorf("time %q: %v", s, got)
		}
	}
	for s, want := range map[string]int{"7": 7, "2K": 2048, "1.50K": 1536, "2-4": 2, "1M": 1 << 20, "UNLIMITED": 0, "": 0, "-3": 0, "NaN": 0, "+Inf": 0} {
		if got := parseCount(s); got != want {
			t.Errorf("count %q: %d", s, got)
		}
	}
	for s, want := range map[string]int64{"cpu=2,mem=140M,node=1": 140 << 20, "mem=1.5G": 3 << 29, "cpu=1": 0, "N/A": 0, "cpu=1,mem=x": 0, "mem=500": 500 << 20} {
		if got := parseMegabytes(tres(s, "mem")); got != want {
			t.Errorf("memory of %q: %d", s, got)
		}
	}
	for s, want := range map[string][2]int{"0": {0, 0}, "15": {0, 15}, "256": {1, 0}, "1:0": {1, 0}, "0:9": {0, 9}, "17920": {70, 0}, "": {0, 0}} {
		if status, signal := parseExit(s); status != want[0] || signal != want[1] {
			t.Errorf("exit %q: %d, %d", s, status, signal)
		}
	}
	for s, want := range map[string][2]int{"17": {1, 0}, "8_4": {1, 0}, "8_[1-20%3]": {20, 3}, "8_[1,5-8]": {5, 0}, "8_[0-8:4,20]": {4, 0}, "8_[7%1]": {1, 1}, "8_[1-...": {1, 0}, "8_[": {1, 0}} {
		if tasks, throttle := arrayTasks(s); tasks != want[0] || throttle != want[1] {
			t.Errorf("array %q: %d, %d", s, tasks, throttle)
		}
	}
}

func FuzzValues(f *testing.F) {
	for _, s := range []string{"5:00", "1-02:03:04", "1795231277", "2K", "1.50K", "cpu=2,mem=140M", "8_[1-20%3]", "0:15", "UNLIMITED", saidBySacct} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		limit := parseLimit(s)
		tasks, throttle := arrayTasks(s)
		status, signal := parseExit(s)
		if limit < 0 || parseTime(s) < 0 || parseCount(s) < 0 || parseMegabytes(tres(s, "mem")) < 0 || tasks < 1 || throttle < 0 || status < 0 || signal < 0 {
			t.Fatalf("%q has a negative value", s)
		}
		fuzzPast(t, s)
	})
}

// fuzzPast: whatever a file says that a user has written with sacct, jobs have nodes and limits, and those that ended have run.
func fuzzPast(t *testing.T, s string) {
	for _, text := range []string{s, strings.ReplaceAll(pastFields, ",", "|") + "\n" + s} {
		h, err := readPast(text, "log", "me", 0)
		if err != nil && job.ClassOf(err) != job.User {
			t.Fatalf("%q: the error %v is none of the user", text, err)
		}
		for _, e := range h.Ended {
			if e.Nodes < 1 || e.Limit <= 0 || e.At <= 0 || e.Run <= 0 {
				t.Fatalf("%q: %+v has ended", text, e)
			}
		}
		for _, a := range h.Arrived {
			if a.Nodes < 1 || a.Limit <= 0 || a.At <= 0 {
				t.Fatalf("%q: %+v has arrived", text, a)
			}
		}
	}
}

// TestErrors checks that the real messages of Slurm's commands are classified.
func TestErrors(t *testing.T) {
	for _, c := range []struct {
		said, what string
		class      job.Class
		kind       error
	}{
		{"sbatch: error: Batch job submission failed: Unable to contact slurm controller (connect failure)\n", "Unable to contact slurm controller (connect failure)", job.Transient, batch.ErrAway},
		{"slurm_load_jobs error: Socket timed out on send/recv operation\n", "Socket timed out on send/recv operation", job.Transient, batch.ErrAway},
		{"Unexpected missing socket error\n", "Unexpected missing socket error", job.Transient, batch.ErrAway},
		{"slurm_load_jobs error: Invalid job id specified\n", "Invalid job id specified", job.User, batch.ErrGone},
		{"scancel: error: Kill job error on job id 3: Invalid job id specified\n", "Kill job error on job id 3: Invalid job id specified", job.User, batch.ErrGone},
		{"sbatch: error: QOSMaxSubmitJobPerUserLimit\nsbatch: error: Batch job submission failed: Job violates accounting/QOS policy (job submit limit, user's size and/or time limits)\n",
			"QOSMaxSubmitJobPerUserLimit; Job violates accounting/QOS policy (job submit limit, user's size and/or time limits)", job.Transient, batch.ErrLater},
		{"sbatch: error: AssocMaxWallDurationPerJobLimit\nsbatch: error: Batch job submission failed: Job violates accounting/QOS policy (job submit limit, user's size and/or time limits)\n",
			"AssocMaxWallDurationPerJobLimit; Job violates accounting/QOS policy (job submit limit, user's size and/or time limits)", job.User, nil},
		{"sbatch: error: invalid partition specified: nope\nsbatch: error: Batch job submission failed: Invalid partition name specified\n",
			"invalid partition specified: nope; Invalid partition name specified", job.User, nil},
		{"allocation failure: Requested node configuration is not available\n", "Requested node configuration is not available", job.User, nil},
		{"sbatch: error: Batch job submission failed: Required partition not available (inactive or drain)\n", "Required partition not available (inactive or drain)", job.Transient, batch.ErrLater},
		{"sbatch: unrecognized option '--bogus'\nTry \"sbatch --help\" for more information\n", "unrecognized option '--bogus'", job.User, nil},
		{"sbatch: error: Batch job submission failed: Unspecified error\n", "Unspecified error", job.Transient, batch.ErrUnsaid},
		{"sbatch: error: Use of --mem is not allowed here, use --mem-per-cpu\nsbatch: error: Batch job submission failed: Unspecified error\n",
			"Use of --mem is not allowed here, use --mem-per-cpu", job.User, nil},
		{"allocation failure: Unspecified error\n", "Unspecified error", job.Transient, batch.ErrUnsaid},
		{"", "the command failed without a message", job.Transient, batch.ErrAway}, // it was killed
	} {
		var e *job.Error
		if err := classify("sbatch", c.said, 1); !errors.As(err, &e) || e.What != c.what || e.Class != c.class || !errors.Is(err, c.kind) && c.kind != nil {
			t.Errorf("%q:\n got %v %+v", c.said, e.Class, e)
		}
	}
}

func TestTables(t *testing.T) {
	line := func(fields ...string) string { return strings.Join(fields, separator) + separator + "\n" }
	rows, err := parseTable("CLUSTER: a\n"+line("1", "x|y", "")+"torn\n\n"+line("2", "", "z"+separator+"z"), 3)
	if err != nil || fmt.Sprint(rows) != "[[1 x|y ] [2  z]]" {
		t.Errorf("%q, %v", rows, err)
	}
	if rows, err := parseTable("", 3); err != nil || len(rows) > 0 {
		t.Errorf("of an empty queue %q, %v", rows, err)
	}
	if _, err := parseTable("something else\n", 3); err == nil {
		t.Error("an answer in another form is taken")
	}
	rows, _ = parseTable(line("17", "RUNNING", "100", "160", "1:00", "n1", "0:0", "None", "90", "/a/batch-1.sh")+
		line("18", "RUNNING", "100", "31536100", "UNLIMITED", "n1", "0", "None", "90", "/a/batch-2.sh")+
		line("19", "TIMEOUT", "100", "160", "UNLIMITED", "", "15", "TimeLimit", "90", "/a/batch-3.sh"), len(watchFields))
	jobs := parseWatched(rows)
	if w := jobs["17"]; w.End != job.Time(160*time.Second) || w.Phase != batch.Running || !slices.Equal(w.Hosts, []string{"n1"}) {
		t.Errorf("%+v", w)
	}
	if jobs["18"].End != 0 || jobs["19"].End == 0 || jobs["19"].signal != 15 {
		t.Errorf("%+v", jobs)
	}
	found := [][]string{{"5", "CANCELLED", "/a/batch-1.sh"}, {"6", "PENDING", "/b/batch-1.sh"}, {"7", "RUNNING", "/a/batch-1.sh"}}
	if a, b, c := findByScript(found, "/a/batch-1.sh"), findByScript(found, "/c"), findByScript(found[:1], "/a/batch-1.sh"); a != "7" || b != "" || c != "" {
		t.Errorf("found %q, %q, %q", a, b, c)
	}
}

func TestSubmitted(t *testing.T) {
	for out, want := range map[string]string{"17\n": "17", "17;berth\n": "17", "welcome, 3 jobs\n4294967295\n": "4294967295", "5\n6\n": "6", "": "", "error\n": "", "0\n": ""} {
		if got := Open(nil).JobID(out); got != want {
			t.Errorf("%q: %q", out, got)
		}
	}
	said := "sbatch: Job 9 to start at 1795231277 using 8 processors on nodes n[1-8] in partition main\n"
	if got, ok := parseTestOnly(said); got != "1795231277" || !ok {
		t.Errorf("%q, %t", got, ok)
	}
	if got, ok := parseTestOnly("nothing of the kind"); ok {
		t.Errorf("%q", got)
	}
	if w := parseAccount("CANCELLED by 1000|None|0:15\n"); w.state != "CANCELLED by 1000" || w.signal != 15 {
		t.Errorf("%+v", w)
	}
	if w := parseAccount("\n"); w.state != "" {
		t.Errorf("%+v", w)
	}
}

// TestReasons checks the texts of reasons, and that only the reasons of infeasible requests end a wait.
func TestReasons(t *testing.T) {
	for reason, never := range map[string]bool{
		"Priority": false, "Resources": false, "PartitionTimeLimit": true, "PartitionNodeLimit": false, "JobHeldAdmin": false,
		"QOSMaxNodePerJobLimit": true, "QOSMaxNodePerUserLimit": false, "AssocMaxMemPerJob": true, "AssocGrpCpuLimit": false,
		"BadConstraints": true, "QOSMaxJobsPerUserLimit": false, "NeverHeardOf": false,
	} {
		if neverStarts(reason) != never {
			t.Errorf("%s: never %t", reason, !never)
		}
	}
	for reason, want := range map[string]string{
		"Priority":     "jobs of higher priority start first",
		"NeverHeardOf": "Slurm says: NeverHeardOf",
		"ReqNodeNotAvail, Reserved for maintenance": "nodes that it needs are not available (ReqNodeNotAvail, Reserved for maintenance)",
	} {
		if got := reasonWords(reason); got != want {
			t.Errorf("%s: %s", reason, got)
		}
	}
}

// TestThreads: a CPU of a node is a hardware thread unless slurm.conf gives the node as many CPUs as it has cores. Lines of Slurm 22.05.
func TestThreads(t *testing.T) {
	for line, want := range map[string]int{
		"CoresPerSocket=4 CPUAlloc=0 CPUEfctv=8 CPUTot=8 Sockets=1 Boards=1 ThreadsPerCore=2":      2,
		"CoresPerSocket=16 CPUAlloc=0 CPUEfctv=60 CPUTot=64 Sockets=2 Boards=1 ThreadsPerCore=2":   2,
		"CoresPerSocket=16 CPUAlloc=0 CPUEfctv=32 CPUTot=32 Sockets=2 Boards=1 ThreadsPerCore=2":   0,
		"CoresPerSocket=4 CPUAlloc=0 CPUEfctv=4 CPUTot=4 Sockets=1 Boards=1 ThreadsPerCore=1":      0,
		"CoresPerSocket=72 CPUAlloc=0 CPUEfctv=288 CPUTot=288 Sockets=1 Boards=1 ThreadsPerCore=4": 4,
		"CPUAlloc=0 CPUTot=4": 0,
	} {
		nodes := parseNodes("NodeName=n1 "+line+" State=IDLE\n", site{})
		if len(nodes) != 1 || nodes[0].Threads != want {
			t.Errorf("%s: %+v, want %d threads", line, nodes, want)
		}
	}
	env := []string{"SBATCH_HINT=nomultithread", "SBATCH_THREADS_PER_CORE=1"}
	if got, notes := Open(env).Defaults(); !slices.Equal(got.Args, []string{"--hint=nomultithread", "--threads-per-core=1"}) || notes != nil {
		t.Errorf("%q: %q, %q", env, got.Args, notes)
	}
}
