package test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/server/report"
	"berth/test/support/slurmtest"
)

// uses is a program that uses as many MB as its argument says and, where it may not, waits until it is killed for that.
const uses = `import os, sys, time
mb = int(sys.argv[1])
b = bytearray(mb << 20)
for i in range(0, len(b), 4096):
    b[i] = 1
if int(os.environ["BERTH_MEM"]) < mb << 20:
    time.sleep(100000)
print("used", mb)
`

// attemptsOf returns how the attempts of a job ended, counted by outcome, and the memory that those had which were done, in the order of their ends.
func (w *world) attemptsOf(id job.ID) (ended map[event.Outcome]int, mems []int64) {
	w.t.Helper()
	ended = map[event.Outcome]int{}
	mem := map[job.Attempt]int64{}
	for _, e := range w.records(id) {
		switch r := e.Record.(type) {
		case event.AttemptStarted:
			mem[r.Attempt] = r.Mem
		case event.AttemptEnded:
			if ended[r.Outcome]++; r.Outcome == event.Done {
				mems = append(mems, mem[r.Attempt])
			}
		}
	}
	return ended, mems
}

// TestMemoryGrows runs a bag whose memory is too small by half: it is done without its user and without a failure, in one more attempt for each task
// that ran before the first ran out. The next bag of the application, with --mem auto, has no attempt too many and little memory to spare.
func TestMemoryGrows(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("uses.py", uses)
	w.must("bag", "--mem", "100M..2G", "--array", "1-8", "--", "python3", "uses.py", "150")
	ended, mems := w.attemptsOf(w.jobs()[0])
	t.Logf("a range: %v, memory of the attempts that were done: %v", ended, mems)
	if ended[event.Done] != 8 || ended[event.Failed] > 0 || ended[event.Outgrown] == 0 || ended[event.Outgrown] > 2 { // it runs two at once
		t.Errorf("attempts ended %v", ended)
	}
	w.must("bag", "--mem", "auto", "--array", "1-8", "--", "python3", "uses.py", "150")
	ended, mems = w.attemptsOf(w.jobs()[1])
	t.Logf("auto: %v, memory of the attempts that were done: %v", ended, mems)
	if len(ended) != 1 || ended[event.Done] != 8 {
		t.Errorf("attempts of the bag with --mem auto ended %v", ended)
	}
	for _, mem := range mems {
		if mem < 150<<20 || mem > 250<<20 {
			t.Errorf("a task that uses 150 MB had %s", job.FormatSize(mem))
		}
	}
	if got := w.must("report", "1").stdout; !strings.Contains(got, "GB·h given to tasks") || !strings.Contains(got, "ran out of memory") {
		t.Errorf("the report does not tell of memory:\n%s", got)
	}
}

// TestMemoryMaximum: a task that runs out of memory at its maximum fails at once, although it may be tried again, and the last line names a command
// that works. berth status tells which memory each of its attempts had.
func TestMemoryMaximum(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("uses.py", uses)
	r := w.berth("bag", "--mem", "50M..100M", "--retries", "5", "--array", "1", "--", "python3", "uses.py", "150")
	last := r.stderr[strings.LastIndex(strings.TrimSpace(r.stderr), "\n")+1:]
	_, command, named := strings.Cut(strings.TrimSpace(last), "give them more with: berth ")
	if r.code == 0 || !named {
		t.Fatalf("exit %d, the last line is %q", r.code, last)
	}
	var status report.JobStatus
	if err := json.Unmarshal([]byte(w.must("status", "1", "--json").stdout), &status); err != nil {
		t.Fatal(err)
	}
	tries := ""
	for _, a := range status.Tasks[0].Tries {
		tries += fmt.Sprintf("%s %s %s, ", job.FormatSize(a.Mem), a.Outcome, a.Lack)
	}
	if tries != "50M outgrown memory, 100M failed memory, " {
		t.Errorf("the attempts had %s", tries)
	}
	w.must(strings.Fields(command)...)
}

// TestSlurmMemoryGrows: on a batch system the tasks that need more memory than their allocation's nodes have get another one.
func TestSlurmMemoryGrows(t *testing.T) {
	t.Parallel()
	c := slurmtest.Start(t, slurmtest.Nodes(2))
	w := newWorld(t)
	w.batch = append(c.Env(), "BERTH_LISTEN=127.0.0.1")
	w.write("uses.py", uses)
	w.must("bag", "--no-scout", "--max-nodes", "1", "--mem", "100M..1G", "--array", "1-4", "--", "python3", "uses.py", "150")
	ended, mems := w.attemptsOf(w.jobs()[0])
	t.Logf("on Slurm: %v, memory of the attempts that were done: %v", ended, mems)
	if ended[event.Done] != 4 || ended[event.Failed] > 0 || ended[event.Outgrown] == 0 || ended[event.Outgrown] > 2 {
		t.Errorf("attempts ended %v", ended)
	}
}
