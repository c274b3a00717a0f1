package gridengine

import (
	"errors"
	"fmt"
	"math"
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

// TestValues: how lengths, amounts, numbers of tasks and ids are written.
func TestValues(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Duration{"600": 10 * time.Minute, "24:00:00": 24 * time.Hour, "::30": 30 * time.Second, "1:30": 90 * time.Second, "INFINITY": 0, "": 0, "x": 0, "1e300": 0, "-5": 0} {
		if got := parseSpan(text); got != want {
			t.Errorf("%q is %v, want %v", text, got, want)
		}
	}
	for text, want := range map[string]int64{"4.000G": 4 << 30, "500M": 500 << 20, "1024": 1024, "2k": 2000, "INFINITY": 0, "": 0, "-": 0, "1e300T": 0} {
		if got := parseMemory(text); got != want {
			t.Errorf("%q is %d, want %d", text, got, want)
		}
	}
	for text, want := range map[string]int{"5-9:2": 3, "1,3,7-9": 5, "4": 1, "": 0, "9-1": 0, "x-y": 0} {
		if got := batch.Tasks(text); got != want {
			t.Errorf("%q has %d tasks, want %d", text, got, want)
		}
	}
	for out, want := range map[string]string{"17\n": "17", "a site's greeting\n4\n": "4", "": "", "17.1-4:1": ""} {
		if got := Open(nil).JobID(out); got != want {
			t.Errorf("%q has the id %q, want %q", out, got, want)
		}
	}
}

// aSite is a site with environments of every rule.
func aSite(pes ...string) *site {
	c := &site{queues: []queue{{name: "all.q", pes: []string{"smp", "two", "eight", "fill"}}, {name: "narrow.q", pes: []string{"smp"}}, {name: "bare.q"}},
		memory: []complex{{name: "h_vmem", kind: "MEMORY", consumed: "YES"}}, gpus: complex{name: "gpu", consumed: "YES"}, exclusive: "excl"}
	for _, e := range []environment{{"smp", 99, "$pe_slots"}, {"fill", 99, "$fill_up"}, {"eight", 99, "8"}, {"two", 99, "2"}} {
		if len(pes) == 0 || slices.Contains(pes, e.name) {
			c.environments = append(c.environments, e)
		}
	}
	return c
}

// TestEnvironment: the parallel environment is chosen by its allocation rule. A job of one core needs none, and where none suits
// the message names what there is.
func TestEnvironment(t *testing.T) {
	t.Parallel()
	c := aSite()
	for _, x := range []struct {
		queue       string
		nodes, cpus int
		told        string
		pe          string
		each        int
		says        string
	}{
		{"all.q", 1, 1, "", "", 1, ""},
		{"all.q", 1, 4, "", "smp", 4, ""},
		{"all.q", 3, 2, "", "two", 2, ""},
		{"all.q", 3, 1, "", "two", 2, ""}, // more slots than asked for
		{"all.q", 2, 5, "", "eight", 8, ""},
		{"all.q", 2, 9, "", "", 0, "no parallel environment gives 2 nodes with 9 slots each (smp: $pe_slots"},
		{"narrow.q", 2, 2, "", "", 0, "use -N 1-1"},
		{"bare.q", 1, 2, "", "", 0, "no parallel environment gives 1 node with 2 slots each"},
		{"all.q", 60, 2, "", "", 0, "no parallel environment gives 60 nodes"}, // it has 99 slots in all
		{"all.q", 2, 2, "own", "own", 2, ""},
		{"all.q", 2, 2, "eight", "eight", 8, ""},
		{"all.q", 1, 1, "fill", "fill", 1, ""},
		{"all.q", 3, 2, "fill", "", 0, "fill (allocation_rule $fill_up) does not give 3 nodes with 2 slots each; leave -pe out, or name two"},
		{"all.q", 2, 4, "smp", "", 0, "leave -pe out, or name eight"},
		{"all.q", 2, 9, "two", "", 0, "leave -pe out"},
	} {
		pe, each, err := c.environmentFor(job.AllocRequest{Nodes: x.nodes, PerNode: job.Resources{CPUs: x.cpus}, Batch: job.Batch{Partition: x.queue}}, x.told)
		if pe != x.pe || each != x.each || (err == nil) != (x.says == "") || err != nil && !strings.Contains(err.Error(), x.says) {
			t.Errorf("%+v: %q, %d, %v", x, pe, each, err)
		}
	}
}

// TestShapeArgs: the options of a request. Memory and GPUs count by slots, room for address space is added, and the request is
// reserved for.
func TestShapeArgs(t *testing.T) {
	t.Parallel()
	req := job.AllocRequest{Nodes: 3, PerNode: job.Resources{CPUs: 2, Mem: 1 << 30, GPUs: 2}, Time: 90 * time.Second,
		Batch: job.Batch{Partition: "all.q", Account: "proj", Exclusive: true, Args: []string{"-l arch=lx", "-p -5"}}}
	args, err := aSite().shapeArgs(req)
	want := "-l arch=lx -p -5 -pe two 6 -l h_rt=90,h_vmem=2048M,gpu=1,excl=true -q all.q -P proj -R y"
	if got := strings.Join(args, " "); err != nil || got != want {
		t.Errorf("%s, %v; want %s", got, err, want)
	}
	req.Batch.Args = []string{"-pe own 7"}
	if args, err = aSite().shapeArgs(req); err != nil || !strings.Contains(strings.Join(args, " "), "-pe own 6") {
		t.Errorf("%v, %v", args, err)
	}
	req.PerNode.GPUs = 1
	if _, err := aSite().shapeArgs(req); err == nil || !strings.Contains(err.Error(), "counts for each slot") {
		t.Errorf("one GPU on two slots: %v", err)
	}
	if got := jobName("a b/c:d", "/x/batch-12ab.sh"); got != "a_b_c_d.12ab" {
		t.Errorf("the name is %q", got)
	}
	if got := jobName(strings.Repeat("7", 99), "/x/batch-12ab.sh"); got != "_"+strings.Repeat("7", batch.LongestName-6)+".12ab" {
		t.Errorf("the name is %q", got)
	}
	if got := batch.Where([]string{"-l gpu=1", "-P x", "-ar 7", "-pe own"}, Open(nil).Words().Where); !slices.Equal(got, []string{"-P", "x", "-ar", "7"}) {
		t.Errorf("a wake-up job gets %v", got)
	}
}

// TestVerdict: the accounting has one code for the wall time and for qdel, which the run time tells apart; a lost node has its own. Ids
// repeat, so the record of another job does not count.
func TestVerdict(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "batch-aa.sh"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	record := func(name, failed, exit, end string) string {
		return "==============================================================\nqname        all.q\nhostname     n1\njobname      " + name + "\njobnumber    7\n" +
			"start_time   Wed Nov 25 13:28:44 2026\nend_time     " + end + "\nfailed       " + failed + "\nexit_status  " + exit + "\ncategory     -l h_rt=60,h_vmem=500M -pe node2 4\n"
	}
	j := batch.Job{ID: "7", Dir: dir, Output: filepath.Join(dir, "none"), Request: job.AllocRequest{Time: time.Minute}}
	for _, x := range []struct{ failed, exit, end, says string }{
		{"100 : assumedly after job", "137                  (Killed)", "Wed Nov 25 13:29:44 2026", "its wall time of 1m has passed"},
		{"100 : assumedly after job", "137", "Wed Nov 25 13:29:40 2026", "it was cancelled"},
		{"37  : qmaster enforced h_rt, h_cpu, or h_vmem limit", "137", "Wed Nov 25 13:29:45 2026", "its wall time of 1m has passed"},
		{"37  : qmaster enforced h_rt, h_cpu, or h_vmem limit", "137", "Wed Nov 25 13:29:00 2026", "it ran out of memory"},
		{"19  : before writing exit_status", "0", "-/-", "the node that ran its script failed: n1"},
		{"26  : opening input/output file", "0", "-/-", "could not run it on n1 (code 26): opening input/output file"},
	} {
		e, ok := lastOf(parseAccounts(record("berth.aa", x.failed, x.exit, x.end)+record("berth.bb", "0", "0", "Wed Nov 25 13:29:40 2026")), j)
		if v := e.verdict(j); !ok || v.Script || !strings.Contains(v.Reason, x.says) {
			t.Errorf("%+v: %+v", x, v)
		}
	}
	e, _ := lastOf(parseAccounts(record("berth.aa", "0", "3", "Wed Nov 25 13:29:40 2026")), j)
	if v := e.verdict(j); !v.Script || !v.Failed || v.Exit != 3 || !strings.Contains(v.Output, "a login script") {
		t.Errorf("a script that failed: %+v", v)
	}
	if _, ok := lastOf(parseAccounts(record("berth.bb", "0", "0", "Wed Nov 25 13:29:40 2026")), j); ok {
		t.Error("another job's record counts")
	}
}

// TestStatus: a job whose host has forgotten it has failed, and so has one whose host is lost. One that is marked for deletion
// after its wall time was not cancelled.
func TestStatus(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 11, 25, 13, 0, 0, 0, time.UTC)
	for _, x := range []struct {
		state string
		after time.Duration
		lost  string
		phase batch.Phase
		says  string
	}{
		{"r", time.Hour, "", batch.Running, ""},
		{"r", time.Hour, "b", batch.Running, ""},
		{"r", time.Hour, "a", batch.Ending, "the node that ran its script failed: a"},
		{"t", time.Minute, "", batch.Starting, ""},
		{"t", 3 * time.Minute, "", batch.Ending, "its node has not started it for 2m: a"},
		{"dr", time.Minute, "", batch.Ending, "it was cancelled"},
		{"dr", 10 * time.Minute, "", batch.Ending, "its wall time of 10m has passed"},
		{"S", time.Minute, "", batch.Odd, ""},
	} {
		p := &place{row: &row{State: x.state, Started: "2026-11-25T13:00:00", Hard: []resource{{Name: "h_rt", Value: "600"}}}, order: []string{"a", "b"}, master: "a"}
		st := aSite().status(p, batch.Job{Dir: t.TempDir()}, map[string]bool{x.lost: true}, job.Time(start.Add(x.after).UnixNano()))
		if st.Phase != x.phase || !strings.Contains(st.Verdict.Reason, x.says) || st.End != job.Time(start.Add(10*time.Minute).UnixNano()) {
			t.Errorf("%+v: %+v", x, st)
		}
		if x.lost == "b" && (len(st.Hosts) != 1 || st.Hosts[0] != "a") {
			t.Errorf("its hosts are %v", st.Hosts)
		}
	}
}

// TestClassify: which messages mean that the qmaster does not answer, that a job is gone, that a limit holds, and that the environment
// leads nowhere.
func TestClassify(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		name, said, what string
		class            job.Class
		is               error
	}{
		{"qsub", "error: commlib error: got select error (Connection refused)\nUnable to run job: unable to send message to qmaster using port 16002 on host \"m\": got send error.\nExiting.\n", "commlib", job.Transient, batch.ErrAway},
		{"qdel", "denied: job \"99\" does not exist\n", "job \"99\" does not exist", job.User, batch.ErrGone},
		{"qdel", "job 96 is already in deletion\n", "already in deletion", job.User, batch.ErrGone},
		{"qsub", "Unable to run job: job rejected: the requested parallel environment \"x\" does not exist\nExiting.\n", "the requested parallel environment \"x\" does not exist", job.User, nil},
		{"qsub", "Unable to run job: job rejected: only 3 jobs are allowed per user (current job count: 3).\nExiting.\n", "only 3 jobs", job.Transient, batch.ErrLater},
		{"qstat", "critical error: Please set the environment variable SGE_ROOT.\n", "source the settings.sh", job.User, nil},
		{"qsub", "Unable to run job: Job 22 cannot run at host \"a\" because x\nJob 22 cannot run at host \"b\" because x\nverification: no suitable queues\nExiting.\n", "because x; no suitable queues", job.User, nil},
		{"qsub", "Unable to run job: error writing object \"1\" to spooling database\njob 1 was rejected because it couldn't be written\nExiting.\n", "spooling database", job.Transient, batch.ErrAway},
		{"qsub", "", "without a message", job.User, nil},
	} {
		err := classify(x.name, x.said, 1)
		if job.ClassOf(err) != x.class || x.is != nil && !errors.Is(err, x.is) || !strings.Contains(err.Error(), x.what) {
			t.Errorf("%s %q: %v", x.name, x.said, err)
		}
	}
}

// TestOrder: pending jobs are in the order in which they get nodes. A job of several hosts without a reservation comes after all
// others, and of those that reserve only as many count as the scheduler allows. Jobs that cannot start by themselves are held.
func TestOrder(t *testing.T) {
	t.Parallel()
	text := `<job_info><queue_info>` +
		`<job_list><JB_job_number>7</JB_job_number><JAT_prio>0.5</JAT_prio><JB_owner>bo</JB_owner><state>r</state><JAT_start_time>2026-11-25T13:00:00</JAT_start_time>` +
		`<queue_name>all.q@a</queue_name><master>MASTER</master><slots>1</slots><tasks>3</tasks></job_list></queue_info><job_info>`
	for _, x := range []string{"1 0.9 qw two 4", "2 0.8 qw two 4", "3 0.7 qw smp 2", "4 0.6 qw two 4", "5 0.5 hqw smp 1", "6 0.0 qw smp 1", "7 0.4 qw - 1", "8 0.3 Eqw smp 1"} {
		f := strings.Fields(x)
		text += "<job_list><JB_job_number>" + f[0] + "</JB_job_number><JAT_prio>" + f[1] + "</JAT_prio><JB_owner>bo</JB_owner><state>" + f[2] + "</state><slots>" + f[4] + "</slots>"
		if f[3] == "-" {
			text += "<tasks>4-9:1</tasks>"
		} else {
			text += `<requested_pe name="` + f[3] + `">` + f[4] + "</requested_pe>"
		}
		text += "</job_list>"
	}
	rows, err := parseJobs(text + "</job_info></job_info>")
	if err != nil {
		t.Fatal(err)
	}
	c := aSite()
	c.reservations, c.length = 1, time.Hour
	v := view{site: c, user: "me", rows: rows, hosts: []host{{Name: "a"}, {Name: "b"}}, index: map[string]int{"a": 0, "b": 1},
		details: map[string]detail{"2": {Reserve: "true"}, "4": {Reserve: "true"}, "6": {Begin: 1 << 40}, "7": {Throttle: 3}}}
	v.placed = placesOf(rows)
	nodes := []cluster.Node{{Capacity: job.Resources{CPUs: 4}}, {Capacity: job.Resources{CPUs: 4}}}
	parts := []cluster.Partition{{Name: "all.q", Default: true, Nodes: []int{0, 1}}}
	var got []string
	for _, q := range v.pending(parts, nodes, now()) {
		held := ""
		if q.Held != "" {
			held = "!"
		}
		got = append(got, q.ID+held)
		if q.Limit != time.Hour || q.Partition != "all.q" {
			t.Errorf("%+v", q)
		}
	}
	if want := "2 3 5! 7 7! 8! 6! 1 4"; strings.Join(got, " ") != want {
		t.Errorf("the order is %v, want %s", got, want)
	}
	if v.reserved != 1 {
		t.Errorf("nodes are reserved for %d jobs, and max_reservation is 1", v.reserved)
	}
	if r := v.running(); len(r) != 1 || r[0].ID != "7.3" || r[0].Limit != time.Hour || r[0].Start != job.Time(time.Date(2026, 11, 25, 13, 0, 0, 0, time.UTC).UnixNano()) {
		t.Errorf("running: %+v", r)
	}
}

// TestFeatures: a constraint can require texts and properties that hosts or their queues have.
func TestFeatures(t *testing.T) {
	t.Parallel()
	hosts, err := parseHosts("<qhost><host name='a'><resourcevalue name='arch' dominance='hl'>lx-amd64</resourcevalue><resourcevalue name='mem_free' dominance='hl'>4G</resourcevalue>" +
		"<resourcevalue name='fast' dominance='hf'>1.000000</resourcevalue><queue name='big.q'></queue></host></qhost>")
	if err != nil {
		t.Fatal(err)
	}
	complexes := parseComplexes("arch a STRING == YES NO NONE 0\nfast f BOOL == YES NO 0 0\nbigmem bm BOOL == FORCED NO 0 0\nslow s BOOL == YES NO 0 0\nmem_free mf MEMORY <= YES NO 0 0\n")
	queues := parseQueues("qname big.q\ncomplex_values bigmem=TRUE,[b=slow=TRUE]\n\nqname other.q\ncomplex_values slow=TRUE\n")
	v := view{site: newSite(rules{}, complexes, queues, nil)}
	got := strings.Join(v.features(&hosts[0]), " ")
	want := "arch=lx-amd64 a=lx-amd64 fast fast=true fast=TRUE fast=1 f f=true f=TRUE f=1 bigmem bigmem=true bigmem=TRUE bigmem=1 bm bm=true bm=TRUE bm=1"
	if got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestMostJobs: where the cluster lets a user run only some jobs at once, further ones wait for them, and a new request starts when
// enough of them have ended. Where it lets a user have only some, there is none.
func TestMostJobs(t *testing.T) {
	t.Parallel()
	text := "<job_info><queue_info>"
	for _, x := range []string{"1 13:00:00 600", "2 13:00:00 300", "3 12:50:00 7200"} {
		f := strings.Fields(x)
		text += "<job_list><JB_job_number>" + f[0] + "</JB_job_number><JB_owner>me</JB_owner><state>r</state><JAT_start_time>2026-11-25T" + f[1] + "</JAT_start_time>" +
			"<queue_name>all.q@a</queue_name><master>MASTER</master><slots>1</slots><hard_request name=\"h_rt\">" + f[2] + "</hard_request></job_list>"
	}
	text += "</queue_info><job_info><job_list><JB_job_number>4</JB_job_number><JAT_prio>0.6</JAT_prio><JB_owner>me</JB_owner><state>qw</state><tasks>1-3:1</tasks></job_list>" +
		"<job_list><JB_job_number>5</JB_job_number><JAT_prio>0.5</JAT_prio><JB_owner>bo</JB_owner><state>qw</state></job_list></job_info></job_info>"
	rows, err := parseJobs(text)
	if err != nil {
		t.Fatal(err)
	}
	one := job.Time(time.Date(2026, 11, 25, 13, 0, 0, 0, time.UTC).UnixNano())
	for _, x := range []struct {
		atOnce, unended int
		at              job.Time
		fails           bool
		order           string
	}{
		{0, 0, 0, false, "4×3 5×0"},
		{5, 0, 0, false, "4×2 4×1! 5×0"},
		{4, 5, one.Add(5 * time.Minute), false, "4×1 4×2! 5×0"},
		{3, 0, one.Add(10 * time.Minute), false, "4×3! 5×0"},
		{0, 4, 0, true, "4×3 5×0"},
	} {
		c := aSite()
		c.atOnce, c.unended = x.atOnce, x.unended
		at, err := c.room(rows[:4])
		if at != x.at || (err != nil) != x.fails {
			t.Errorf("%+v: %v, %v", x, at.Std(), err)
		}
		v := view{site: c, rows: rows, placed: placesOf(rows)}
		var order []string
		for _, q := range v.pending(nil, nil, now()) {
			entry := fmt.Sprintf("%s×%d", q.ID, q.Repeat)
			if q.Held != "" {
				entry += "!"
			}
			order = append(order, entry)
		}
		if got := strings.Join(order, " "); got != x.order {
			t.Errorf("%+v: %s", x, got)
		}
	}
}

// TestRank: a pending job is outranked by the urgency of its resources and its wait, and by what qsub -p is worth beside. Without a
// weight of urgency, and where shares of users count, no request goes before it.
func TestRank(t *testing.T) {
	t.Parallel()
	text := "<job_info><job_info>"
	for i, x := range []string{"8000 1", "1000 0.5", "2000 0.4"} {
		f := strings.Fields(x)
		text += fmt.Sprintf("<job_list><JB_job_number>%d</JB_job_number><JAT_prio>0.%d</JAT_prio><state>qw</state><JB_rrcontr>%s</JB_rrcontr><JB_wtcontr>10</JB_wtcontr><JB_nppri>%s</JB_nppri></job_list>", i, 9-i, f[0], f[1])
	}
	rows, err := parseJobs(text + "</job_info></job_info>")
	if err != nil {
		t.Fatal(err)
	}
	complexes := parseComplexes("#name s type relop requestable consumable default urgency\nslots s INT <= YES YES 1 1000\nexclusive e BOOL EXCL YES YES 0 500\n")
	for _, x := range []struct {
		conf string
		each cluster.Rank
		rank []float64
	}{
		{"weight_urgency 0.1\nweight_priority 0\nweight_ticket 0.01\n", cluster.Rank{PerCore: 1000, Whole: 500}, []float64{8010, 1010, 2010}},
		{"weight_urgency 0.5\nweight_priority 1\n", cluster.Rank{PerCore: 1000, Whole: 500}, []float64{8010 + 7010, 1010, 2010 - 1402}},
		{"weight_urgency 0.1\nweight_priority 1\n", cluster.Rank{PerCore: 1000, Whole: 500}, []float64{8010 + 35050, 1010, 1}},
		{"weight_urgency 0\nweight_priority 1\n", cluster.Rank{}, []float64{0, 0, 0}},
		{"weight_urgency 0.1\nweight_ticket 0.01\nweight_tickets_share 100\n", cluster.Rank{}, []float64{0, 0, 0}},
	} {
		v := view{site: newSite(parseRules(x.conf, "", ""), complexes, nil, nil), rows: rows}
		var got []float64
		for _, q := range v.pending(nil, nil, now()) {
			got = append(got, math.Round(q.Rank))
		}
		if v.rank() != x.each || !slices.Equal(got, x.rank) {
			t.Errorf("%q: %+v, %v", x.conf, v.rank(), got)
		}
	}
}

// TestLost: a host is lost if it has not answered for long, and not if a qmaster that was started again has not heard of it yet.
func TestLost(t *testing.T) {
	s := Open(nil)
	const silent = "all.q@a\nall.q@b\n"
	s.unheard = map[string]time.Time{"a": time.Now().Add(-2 * hearing), "c": time.Now().Add(-2 * hearing)}
	lost := s.lost(silent)
	if !lost["a"] || lost["b"] || lost["c"] {
		t.Errorf("%v", lost)
	}
	s.unheard["b"] = time.Now().Add(-2 * hearing)
	if lost = s.lost(silent); !lost["b"] || len(s.unheard) != 2 {
		t.Errorf("later %v of %v", lost, s.unheard)
	}
}
