package yarn

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/server/report"
)

var begin = time.Date(2026, 1, 2, 3, 4, 5, 678e6, time.UTC)

func TestMain(m *testing.M) {
	time.Local = time.UTC
	os.Exit(m.Run())
}

// failed is a job whose only map failed twice, with a log of the first time.
func failed(t *testing.T) (report.JobView, []report.AttemptRow) {
	t.Helper()
	v := report.JobView{Submitted: begin, At: begin, Ended: begin.Add(time.Second), Logs: t.TempDir(), Reason: "m-00000 failed", Decision: "1 node"}
	v.ID, v.Name, v.State = "mr-12", "j", event.StateFailed
	v.Failures = []report.Failure{
		{Seq: 1, Name: "m-00000", Attempt: 1, Input: "/in/a.txt:0+8", At: begin, Exit: 3, Stderr: "boom"},
		{Seq: 2, Name: "m-00000", Attempt: 2, Input: "2 files", At: begin, Signal: 9, Stderr: "boom"},
	}
	v.Phases = []report.PhaseView{{Phase: "map", Total: 1, Progress: 0.5}, {Phase: "reduce", Total: 1}}
	if err := os.WriteFile(filepath.Join(v.Logs, "m-00000.1.stderr"), []byte("the whole\nboom\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	row := func(n int) report.AttemptRow {
		return report.AttemptRow{Name: "m-00000", Attempt: n, Outcome: "failed", Started: begin, Ended: begin}
	}
	return v, []report.AttemptRow{row(1), row(2)}
}

// shown returns what a console writes of a job, and the folder of its logs.
func shown(t *testing.T, v report.JobView, rows []report.AttemptRow) (text, logs string) {
	t.Helper()
	var out bytes.Buffer
	c := &Console{Out: &out, Number: 12, Logs: t.TempDir(), User: "me", Rows: func() ([]report.AttemptRow, error) { return rows, nil }}
	early := v
	early.State, early.Failures = event.StateRunning, nil
	c.Begin(early)
	c.Update(early)
	c.End(v)
	c.End(v)
	return out.String(), c.Logs
}

func TestFailedJob(t *testing.T) {
	v, rows := failed(t)
	got, logs := shown(t, v, rows)
	const at = "2026-01-02 03:04:05,678 "
	want := at + `INFO streaming.StreamJob: berth runs it as mr-12: 1 node
` + at + `INFO impl.YarnClientImpl: Submitted application application_1767323045678_0012
` + at + `INFO mapreduce.Job: Running job: job_1767323045678_0012
` + at + `INFO mapreduce.Job:  map 50% reduce 0%
` + at + `INFO mapreduce.Job: Task Id : attempt_1767323045678_0012_m_000000_0, Status : FAILED
Error: java.lang.RuntimeException: PipeMapRed.waitOutputThreads(): subprocess failed with code 3
	at org.apache.hadoop.streaming.PipeMapRed.waitOutputThreads(PipeMapRed.java:326)
	at org.apache.hadoop.streaming.PipeMapRed.mapRedFinished(PipeMapRed.java:539)
	at org.apache.hadoop.streaming.PipeMapper.close(PipeMapper.java:130)
` + at + `INFO mapreduce.Job: Task Id : attempt_1767323045678_0012_m_000000_1, Status : FAILED
Error: java.lang.RuntimeException: PipeMapRed.waitOutputThreads(): subprocess failed with code 137
	at org.apache.hadoop.streaming.PipeMapRed.waitOutputThreads(PipeMapRed.java:326)
	at org.apache.hadoop.streaming.PipeMapRed.mapRedFinished(PipeMapRed.java:539)
	at org.apache.hadoop.streaming.PipeMapper.close(PipeMapper.java:130)
` + at + `INFO mapreduce.Job: Job job_1767323045678_0012 failed with state FAILED due to: m-00000 failed
` + at + `INFO mapreduce.Job: Counters: 4
	Job Counters 
		Failed map tasks=2
		Launched map tasks=2
	File Input Format Counters 
		Bytes Read=0
	File Output Format Counters 
		Bytes Written=0
` + at + `ERROR streaming.StreamJob: Job not successful!
Streaming Command Failed!
`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	const container = "userlogs/application_1767323045678_0012/container_1767323045678_0012_01_00000"
	for file, want := range map[string]string{container + "2/stderr": "^the whole\nboom\n$", container + "3/stderr": "^boom$",
		container + "2/syslog": `Processing split: file:///in/a\.txt:0\+8\n(.*\n)*\tat `, container + "3/syslog": `^[^\n]*Exception running child : `,
		"history/job_1767323045678_0012-1767323045678-hadoop-mr-12.jhist": `(?s)^Avro-Json\n\n\{"type":"JOB_SUBMITTED".*"userName":"me".*"JOB_FAILED"`} {
		text, err := os.ReadFile(filepath.Join(logs, file))
		if err != nil || !regexp.MustCompile(want).Match(text) {
			t.Errorf("%s, %v:\n%s", file, err, text)
		}
	}
}

// TestCounters: those of tasks have the names that Hadoop shows, those of programs their own; the history has them, too.
func TestCounters(t *testing.T) {
	v := report.JobView{Submitted: begin, At: begin, Output: "/out", BytesIn: 7, BytesOut: 9}
	v.ID, v.State = "mr-10012", event.StateDone
	v.Counters = map[string]map[string]int64{job.TaskCounterGroup: {"MAP_INPUT_RECORDS": 2, "SPILLED_RECORDS": 1}, "mine": {"b\nc": 3, "a": 1}}
	rows := []report.AttemptRow{{Name: "m-00000", Attempt: 1, Outcome: "done"}, {Name: "r-00000", Attempt: 1, Outcome: "killed"}}
	got, logs := shown(t, v, rows)
	if want := `Counters: 9
	Job Counters 
		Killed reduce tasks=1
		Launched map tasks=1
		Launched reduce tasks=1
	Map-Reduce Framework
		Map input records=2
		Spilled Records=1
	mine
		a=1
		b c=3
	File Input Format Counters 
		Bytes Read=7
	File Output Format Counters 
		Bytes Written=9
`; !strings.Contains(got, want) || !strings.HasSuffix(got, "Output directory: file:///out\n") {
		t.Errorf("got\n%s", got)
	}
	found, err := filepath.Glob(filepath.Join(logs, "history", "*"))
	if err != nil || len(found) != 1 {
		t.Fatal(found, err)
	}
	text, err := os.ReadFile(found[0])
	if err != nil {
		t.Fatal(err)
	}
	types := map[string]int{}
	for _, l := range strings.Split(strings.TrimSpace(string(text)), "\n")[2:] {
		var event struct {
			Type  string
			Event map[string]json.RawMessage
		}
		if err := json.Unmarshal([]byte(l), &event); err != nil || len(event.Event) != 1 {
			t.Errorf("%v in %s", err, l)
		}
		types[event.Type]++
		if event.Type == "JOB_FINISHED" && !strings.Contains(l, `{"name":"a","displayName":"a","value":1}`) {
			t.Errorf("counters are not in %s", l)
		}
	}
	for _, want := range []string{"JOB_SUBMITTED", "MAP_ATTEMPT_STARTED", "MAP_ATTEMPT_FINISHED", "TASK_FINISHED", "REDUCE_ATTEMPT_KILLED", "JOB_FINISHED"} {
		if types[want] != 1 {
			t.Errorf("%d of %s", types[want], want)
		}
	}
}
