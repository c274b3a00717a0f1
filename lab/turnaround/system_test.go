package main

import (
	"slices"
	"testing"
)

// TestParseGridEngine: jobs that wait or run are those of qstat, and those that have ended those of the accounting, where a
// job of several nodes has further lines for its parts on other nodes.
func TestParseGridEngine(t *testing.T) {
	live, err := parseGridEngine(`<?xml version='1.0'?>
<job_info  xmlns:xsd="http://arc.liv.ac.uk/repos/darcs/sge/source/dist/util/resources/schemas/qstat/qstat.xsd">
  <queue_info><job_list state="running"><JB_job_number>2</JB_job_number><state>r</state><slots>4</slots><full_job_name>x.a</full_job_name></job_list></queue_info>
  <job_info><job_list state="pending"><JB_job_number>3</JB_job_number><state>qw</state><slots>2</slots><full_job_name>fill</full_job_name></job_list></job_info>
</job_info>`)
	want := []allocation{{ID: "2", Name: "x.a", State: "RUNNING", CPUs: 4}, {ID: "3", Name: "fill", State: "PENDING", CPUs: 2}}
	if err != nil || !slices.Equal(live, want) {
		t.Errorf("%+v, %v", live, err)
	}
	rest := ":0.0028:0.0070:4640.0:0:0:0:0:640:1:0:16.0:8:0:0:0:15:4:NONE:defaultdepartment:node2:4:0:0.0098:0.0:0.00004:-q all.q -l h_rt=60,h_vmem=100M -pe node2 4:0.0:"
	ended, err := parseAccounting("# Version: 8.1.9\n" +
		"all.q:ge1n1:root:root:fill:1:sge:0:1795625606:1795625607:1795625610:0:0:3" + rest + "NONE:3645440.0:0:0\n" +
		"all.q:ge1n2:root:root:x.a:2:sge:0:1795625606:1795625613:1795625615:0:0:2" + rest + "1.ge1n2:3600384.0:0:0\n" +
		"all.q:ge1n1:root:root:x.a:2:sge:0:1795625606:1795625613:1795625615:100:137:2" + rest + "NONE:3600384.0:0:0\n" +
		"all.q:ge1n1:root:root:y.b:3:sge:0:1795625606:1795625613:1795625615:21:0:2" + rest + "NONE:3600384.0:0:0\n")
	want = []allocation{
		{ID: "1", Name: "fill", State: "COMPLETED", Nodes: 2, CPUs: 4, Limit: "00:01:00", Start: 1795625607, End: 1795625610},
		{ID: "2", Name: "x.a", State: "CANCELLED", Nodes: 2, CPUs: 4, Limit: "00:01:00", Start: 1795625613, End: 1795625615},
		{ID: "3", Name: "y.b", State: "FAILED with code 21 and status 0", Nodes: 2, CPUs: 4, Limit: "00:01:00", Start: 1795625613, End: 1795625615},
	}
	if err != nil || !slices.Equal(ended, want) {
		t.Errorf("%+v, %v", ended, err)
	}
}

// TestParsePBS: a job that has ended is complete, or was cancelled by a signal, or failed. An empty queue has no list of jobs.
func TestParsePBS(t *testing.T) {
	times := `"stime":"Wed Nov 25 16:53:14 2026","mtime":"Wed Nov 25 16:53:20 2026","Resource_List":{"ncpus":4,"nodect":2,"walltime":"00:01:00"}`
	got, err := parsePBS(`{"timestamp":1,"Jobs":{
		"10.localhost":{"Job_Name":"a","job_state":"R",` + times + `},
		"9.localhost":{"Job_Name":"b","job_state":"F","Exit_status":0,"obittime":"Wed Nov 25 16:53:18 2026",` + times + `},
		"2.localhost":{"Job_Name":"c","job_state":"F","Exit_status":271,` + times + `},
		"1.localhost":{"Job_Name":"d","job_state":"F","Exit_status":-3,` + times + `},
		"3.localhost":{"Job_Name":"f","job_state":"F","Exit_status":-29,` + times + `},
		"11.localhost":{"Job_Name":"e","job_state":"H","Resource_List":{"ncpus":4,"nodect":2,"walltime":"00:01:00"}}}}`)
	a := func(id, name, state string, start, end float64) allocation {
		return allocation{ID: id + ".localhost", Name: name, State: state, Nodes: 2, CPUs: 4, Limit: "00:01:00", Start: start, End: end}
	}
	want := []allocation{a("1", "d", "FAILED with status -3", 1795625594, 1795625600), a("2", "c", "CANCELLED", 1795625594, 1795625600),
		a("3", "f", "TIMEOUT", 1795625594, 1795625600), a("9", "b", "COMPLETED", 1795625594, 1795625598), a("10", "a", "RUNNING", 1795625594, 0), a("11", "e", "PENDING", 0, 0)}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%+v, %v", got, err)
	}
	if none, err := parsePBS(`{"timestamp":1}`); err != nil || len(none) != 0 {
		t.Errorf("of an empty queue: %v, %v", none, err)
	}
}

// TestVariables: the variables of a cluster's file "env" are found on one line or on several, with those that they name.
func TestVariables(t *testing.T) {
	got := variables("export A=1 B=/x\nexport PATH=/y:$PATH\n", func(string) string { return "/usr/bin" })
	if !slices.Equal(got, []string{"A=1", "B=/x", "PATH=/y:/usr/bin"}) {
		t.Errorf("%q", got)
	}
}
