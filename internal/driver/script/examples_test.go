package script

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"berth/internal/core/cluster"
	"berth/internal/core/job"
	"berth/internal/driver/batch"
)

// answers are what commands of schedulers print that are not here, as their manuals show it. $* is the arguments of the call.
var answers = map[string]map[string]string{
	"lsf": {
		"lshosts": `echo '{"COMMAND":"lshosts","HOSTS":2,"RECORDS":[{"HOST_NAME":"a","MAXMEM":"15.5G"},{"HOST_NAME":"b","MAXMEM":"31G"}]}'`,
		"bhosts":  `echo '{"COMMAND":"bhosts","HOSTS":2,"RECORDS":[{"HOST_NAME":"a","STATUS":"ok","MAX":"4"},{"HOST_NAME":"b","STATUS":"unavail","MAX":"8"}]}'`,
		"bparams": "echo 'Default Queues:  normal'",
		"bqueues": `echo '{"COMMAND":"bqueues","QUEUES":1,"RECORDS":[{"QUEUE_NAME":"normal","STATUS":"Open:Active"}]}'`,
		"bjobs": `case "$*" in *description*) echo '{"COMMAND":"bjobs","JOBS":2,"RECORDS":[
			{"JOBID":"7","STAT":"RUN","EXEC_HOST":"2*a:2*b","EXIT_CODE":"","EXIT_REASON":"","PEND_REASON":"","START_TIME":"Nov 28 17:00","FINISH_TIME":"Nov 28 18:00 L","JOB_DESCRIPTION":"/s"},
			{"JOBID":"8","STAT":"EXIT","EXEC_HOST":"a","EXIT_CODE":"130","EXIT_REASON":"TERM_OWNER: job killed by owner.","PEND_REASON":"","START_TIME":"Nov 28 17:00","FINISH_TIME":"Nov 28 17:01 L","JOB_DESCRIPTION":"/t"}]}';;
		*) echo '{"COMMAND":"bjobs","JOBS":2,"RECORDS":[
			{"JOBID":"7","USER":"u","QUEUE":"normal","STAT":"RUN","SLOTS":"4","EXEC_HOST":"2*a:2*b","START_TIME":"Nov 28 17:00","RUNTIMELIMIT":"60.0/a","JOB_NAME":"x"},
			{"JOBID":"9","USER":"u","QUEUE":"normal","STAT":"PEND","SLOTS":"2","EXEC_HOST":"-","START_TIME":"-","RUNTIMELIMIT":"-","JOB_NAME":"y"}]}';; esac`,
		"bsub":  `cat >/dev/null; echo "Job <7> is submitted to default queue <normal>."`,
		"bmod":  "echo Parameters of job are being changed",
		"bkill": "echo 'Job <7>: Job has already finished' >&2; exit 255",
	},
	"flux": {"flux": `case "$*" in
		"resource R --states=all") echo '{"version":1,"execution":{"R_lite":[{"rank":"0-1","children":{"core":"0-3"}}],"starttime":0,"expiration":0,"nodelist":["n[1-2]"]}}';;
		"resource R --states=free") echo '{"version":1,"execution":{"R_lite":[{"rank":"0","children":{"core":"2-3"}}],"starttime":0,"expiration":0,"nodelist":["n1"]}}';;
		"resource R"*) echo '{"version":1,"execution":{"R_lite":[{"rank":"1","children":{"core":"0-3"}}],"starttime":0,"expiration":0,"nodelist":["n2"]}}';;
		"jobs "*username*) printf '7\tu\tRUN\t1\t2\tn1\t1795886754.5\t3600.0\t\t16\t\tx\n9\tu\tSCHED\t\t4\t\t\t60.0\t\t16\t\ty\n';;
		"jobs "*) printf '7\tRUN\t\t\t1795886754.5\t1795890354.5\t\tn1\t\t\t\n8\tINACTIVE\tCANCELED\t-128\t\t\t1795886760.0\t\tcancel\tby its user\t\n';;
		"job info"*) echo '{"tasks":[{"command":["/bin/sh","-c","x","/s"]}]}';;
		"job id"*) echo 7;;
		"submit "*) echo fQBd4;;
		"cancel "*) echo 'flux-cancel: job is inactive' >&2; exit 1;;
		esac`},
}

// TestExamples: the examples for schedulers that are not here say what berth reads, given what manuals show. It shows nothing about the schedulers.
func TestExamples(t *testing.T) {
	for name, commands := range answers {
		t.Run(name, func(t *testing.T) { // not beside others, whose processes could have one of its commands open for writing as they begin
			dir, err := filepath.Abs("../../../examples/scripts/" + name)
			if err != nil {
				t.Fatal(err)
			}
			path := t.TempDir()
			for command, text := range commands {
				if err := os.WriteFile(filepath.Join(path, command), []byte("#!/bin/sh\n"+text+"\n"), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			s := Open(append(os.Environ(), DirVar+"="+dir, "PATH="+path+":/usr/bin:"+os.Getenv("PATH")))
			if err := s.Available(t.Context()); err != nil {
				t.Fatal(err)
			}
			snap, err := s.Snapshot(t.Context(), "")
			if err != nil || len(snap.Nodes) != 2 || snap.Nodes[1].Down == "" || snap.Nodes[0].Capacity.CPUs != 4 || len(snap.Queue.Running) != 1 || len(snap.Queue.Pending) != 1 || snap.Queue.Running[0].Limit != time.Hour {
				t.Errorf("snapshot %+v, %v", snap, err)
			}
			if nodes, _ := snap.Usable(cluster.View{PerNode: job.Resources{CPUs: 4}}); len(nodes) != 1 {
				t.Errorf("%d nodes are usable", len(nodes))
			}
			out, err := os.Create(filepath.Join(t.TempDir(), "job"))
			if err != nil {
				t.Fatal(err)
			}
			req := job.AllocRequest{Nodes: 2, PerNode: job.Resources{CPUs: 2, Mem: 1 << 30, GPUs: 1}, Time: time.Hour, Batch: job.Batch{Partition: "normal", Exclusive: true}, Avoid: []string{"b"}}
			if id, err := s.Submit(t.Context(), batch.Submission{Request: req, Script: "/s", Dir: "/", Output: "/o", Wait: batch.Wait{After: []string{"1", "2"}, Delay: time.Minute}}, out); id != "7" || err != nil {
				t.Errorf("submitted as %q, %v", id, err)
			}
			if err := s.Delay(t.Context(), "7", batch.Wait{Delay: time.Minute}); (err == nil) != (name == "lsf") || err != nil && !strings.Contains(err.Error(), "Flux cannot change what a job waits for") {
				t.Errorf("its conditions are changed: %v", err)
			}
			all, err := s.Jobs(t.Context(), []batch.Job{{ID: "7", Explain: true}, {ID: "8", Explain: true}, {ID: "10"}})
			if err != nil || all["7"].Phase != batch.Running || len(all["7"].Hosts) == 0 || all["7"].End.Sub(all["7"].Start) != time.Hour || all["10"].Phase != batch.Gone {
				t.Errorf("states %+v, %v", all, err)
			}
			if v := all["8"].Verdict; all["8"].Phase != batch.Over || !v.Taken || !strings.Contains(v.Reason, "it was cancelled") {
				t.Errorf("the end of a cancelled job is %+v", all["8"])
			}
			if id, err := s.Find(t.Context(), "/s"); id != "7" || err != nil {
				t.Errorf("found %q, %v", id, err)
			}
			if err := s.Cancel(t.Context(), "7", true); err != nil {
				t.Errorf("a job that has ended: %v", err)
			}
		})
	}
}
