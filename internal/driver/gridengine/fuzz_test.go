package gridengine

import (
	"strings"
	"testing"

	"berth/internal/core/cluster"
	"berth/internal/driver/batch"
)

// FuzzSnapshot: whatever the commands print, the parsers come to an end, and a snapshot made of it has nodes and jobs that fit
// together.
func FuzzSnapshot(f *testing.F) {
	f.Add("<qhost><host name='a'><hostvalue name='mem_total'>4G</hostvalue><resourcevalue name='slots' dominance='hc'>2</resourcevalue><queue name='all.q'><queuevalue name='slots'>2</queuevalue></queue></host></qhost>",
		"<job_info><queue_info><job_list><JB_job_number>1</JB_job_number><state>r</state><queue_name>all.q@a</queue_name><master>MASTER</master><slots>1</slots></job_list></queue_info>"+
			"<job_info><job_list><JB_job_number>2</JB_job_number><state>qw</state><tasks>1-9:2</tasks><requested_pe name=\"n*\">4</requested_pe></job_list></job_info></job_info>",
		"<detailed_job_info><djob_info><element><JB_job_number>2</JB_job_number><JB_reserve>true</JB_reserve></element></djob_info></detailed_job_info>",
		"qname all.q\npe_list n2 smp\nh_rt 1:0:0\n\nqname b\nh_rt \\\n INFINITY\n", "pe_name n2\nslots 99\nallocation_rule 2\n", "max_reservation 3\ndefault_duration 1:0:0\n")
	f.Fuzz(func(t *testing.T, qhost, qstat, details, queues, pe, sched string) {
		hosts, _ := parseHosts(qhost)
		rows, _ := parseJobs(qstat)
		more, _ := parseDetails(details)
		_ = undecided(rows)
		c := newSite(parseRules(sched, sched, sched), parseComplexes(qhost), parseQueues(queues), parseObjects(pe))
		v := view{site: c, user: "me", hosts: hosts, rows: rows, details: more, open: "all.q@a"}
		snap := v.snapshot(1)
		for _, q := range snap.Queue.Running {
			for _, i := range q.Nodes {
				if i < 0 || i >= len(snap.Nodes) {
					t.Fatalf("a job on node %d of %d", i, len(snap.Nodes))
				}
			}
		}
		for _, q := range snap.Queue.Pending {
			if q.Count < 1 || q.PerNode.CPUs < 1 || q.Repeat < 0 {
				t.Fatalf("a job of %d nodes with %d cores, %d times", q.Count, q.PerNode.CPUs, q.Repeat)
			}
		}
		_, _ = snap.Timeline(cluster.View{})
	})
}

// FuzzEnds: whatever qacct and failing commands print, there is a reason of one line.
func FuzzEnds(f *testing.F) {
	f.Add("====\njobname berth.aa\njobnumber 7\nfailed 100 : assumedly after job\nstart_time Wed Nov 25 13:28:44 2026\nend_time Wed Nov 25 13:29:44 2026\ncategory -l h_rt=60\n", "17\n")
	f.Fuzz(func(t *testing.T, out, other string) {
		for _, e := range parseAccounts(out) {
			if v := e.verdict(batch.Job{}); !v.Script && v.Reason == "" || strings.Contains(v.Reason, "\n") {
				t.Fatalf("the reason is %q", v.Reason)
			}
		}
		if what := words(other); what == "" || strings.Contains(what, "\n") {
			t.Fatalf("the message is %q", what)
		}
		_ = Open(nil).JobID(other)
		_, _ = parseMemory(other), parseSpan(other)
		_, _, _ = parseTime(other), batch.Tasks(other), accountTime(other)
	})
}
