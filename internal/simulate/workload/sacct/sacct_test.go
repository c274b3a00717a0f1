package sacct

import (
	"errors"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"berth/internal/core/job"
	"berth/internal/simulate/workload"
	"berth/internal/simulate/workload/logfile"
)

const columns = "JobID|User|Submit|Start|End|State|NNodes|TimelimitRaw|ElapsedRaw\n"

func TestRead(t *testing.T) {
	text, err := os.ReadFile("testdata/cluster.txt")
	if err != nil {
		t.Fatal(err)
	}
	l, err := Read(strings.NewReader(string(text)), "cluster.txt", Options{Nodes: 8})
	if err != nil {
		t.Fatal(err)
	}
	at := func(s int) job.Time { return job.Time(s) * job.Time(time.Second) }
	want := &Log{
		Jobs: []workload.Rigid{
			{ID: 102, User: 1, Submit: 0, Nodes: 1, Run: time.Minute, Request: time.Hour},
			{ID: 102, User: 1, Submit: 0, Nodes: 1, Run: 3605 * time.Second, Request: time.Hour},
			{ID: 101, User: 0, Submit: at(5), Nodes: 4, Run: time.Hour, Request: 2 * time.Hour},
			{ID: 105, User: 2, Submit: at(1195), Nodes: 8, Run: 30 * time.Second, Request: 2 * time.Hour},
			{ID: 106, User: 2, Submit: at(1795), Nodes: 2, Run: 9000 * time.Second, Request: 9000 * time.Second},
			{ID: 106, User: 2, Submit: at(1795), Nodes: 3, Run: 0, Request: 10 * time.Minute},
		},
		NeverRan: 3, Running: 1, NoLimit: 2,
	}
	if !reflect.DeepEqual(l, want) {
		t.Errorf("got  %+v\nwant %+v", l, want)
	}
}

// TestColumns reads columns in another order with others among them, without users, with steps among
// the jobs, seconds since the epoch, and lines ended by CR LF.
func TestColumns(t *testing.T) {
	text := "ElapsedRaw|TimelimitRaw|Account|NNodes|State|Start|Submit|JobID\r\n" +
		"60|2|proj|3|COMPLETED|1795000010|1795000000|7\r\n\r\n60||proj|1|COMPLETED|1795000010|1795000000|7.batch\r\n"
	l, err := Read(strings.NewReader(text), "", Options{})
	want := []workload.Rigid{{ID: 7, User: -1, Nodes: 3, Run: time.Minute, Request: 2 * time.Minute}}
	if err != nil || !reflect.DeepEqual(l.Jobs, want) {
		t.Errorf("%+v, %v", l, err)
	}
}

func TestOdd(t *testing.T) {
	good := "1|ann|2026-03-02T08:00:10|2026-03-02T08:00:11|Unknown|COMPLETED|4|120|3600\n"
	tests := []struct{ row, why string }{
		{"2|ann|2026-03-02T08:00:10|x|x|COMPLETED|4|120", "has 8 fields, but there are 9 columns"},
		{"x2|ann|2026-03-02T08:00:10|x|x|COMPLETED|4|120|1", `"x2" is not a job number`},
		{"2|ann|2026-03-02T08:00:10|x|x|COMPLETED|4|120|-5", "the run time is negative: -5 s"},
		{"2|ann|2026-03-02T08:00:10|x|x|COMPLETED|4|120|01:00", `the run time is not a number of seconds: "01:00"`},
		{"2|ann|2026-03-02T08:00:10|x|x|COMPLETED|4|120|99999999999", `the run time is not a number of seconds: "99999999999"`},
		{"2|ann|yesterday|x|x|COMPLETED|4|120|1", `the submission time cannot be parsed: "yesterday"`},
		{"2|ann|-3|x|x|COMPLETED|4|120|1", `the submission time cannot be parsed: "-3"`},
		{"2|ann|9999-03-02T08:00:10|x|x|COMPLETED|4|120|1", `the submission time cannot be parsed: "9999-03-02T08:00:10"`},
		{"2|ann|2026-03-02T08:00:10|x|x|COMPLETED|four|120|1", `the number of nodes cannot be parsed: "four"`},
		{"2|ann|2026-03-02T08:00:10|x|x|COMPLETED|0|120|1", "the job ran on 0 nodes"},
		{"2|ann|2026-03-02T08:00:10|x|x|COMPLETED|9|120|1", "the job had 9 nodes, but the cluster has 8"},
		{"2|ann|2026-03-02T08:00:10|x|x|COMPLETED|4|2:00|1", `the time limit is not a number of minutes: "2:00"`},
	}
	for _, test := range tests {
		text := columns + good + test.row + "\n" + good
		l, err := Read(strings.NewReader(text), "c.txt", Options{Odd: workload.Skip, Nodes: 8})
		if err != nil || len(l.Jobs) != 2 || !slices.Equal(l.Skipped, []workload.Odd{{Line: 3, Why: test.why}}) {
			t.Errorf("%s: %+v, %v", test.row, l, err)
		}
		_, err = Read(strings.NewReader(text), "c.txt", Options{Nodes: 8})
		isBad(t, err, "c.txt:3: "+test.why)
	}
}

func TestNotSacct(t *testing.T) {
	for text, want := range map[string]string{
		"":                    "c.txt:1: there is no line that names the columns",
		"\n\n":                "c.txt:1: there is no line that names the columns",
		"JobID|User\n1|ann\n": "c.txt:1: the column Submit is missing",
		columns + strings.Repeat("x", logfile.MaxLine+1): "c.txt:2: the line is too long",
	} {
		_, err := Read(strings.NewReader(text), "c.txt", Options{Odd: workload.Skip})
		isBad(t, err, want)
	}
}

// TestReadFails checks that jobs read before an error are not returned.
func TestReadFails(t *testing.T) {
	cause := errors.New("connection lost")
	_, err := Read(&failing{columns, cause}, "c.txt", Options{})
	if !errors.Is(err, cause) || job.CodeOf(err) != job.CodeIO || !strings.HasPrefix(err.Error(), "c.txt:2: ") {
		t.Errorf("got %v", err)
	}
}

type failing struct {
	text string
	err  error
}

func (f *failing) Read(b []byte) (int, error) {
	n := copy(b, f.text)
	if f.text = f.text[n:]; n == 0 {
		return 0, f.err
	}
	return n, nil
}

// isBad checks for a one-line message about something the user can correct, with exit code 3.
func isBad(t *testing.T, err error, begin string) {
	t.Helper()
	if err == nil || !strings.HasPrefix(err.Error(), begin) || strings.Contains(err.Error(), "\n") ||
		job.ClassOf(err) != job.User || job.CodeOf(err) != job.CodeConfig {
		t.Errorf("got %v, want %s", err, begin)
	}
}

// FuzzRead checks for any text that the jobs can be simulated and are ordered, and that refusing and
// skipping agree.
func FuzzRead(f *testing.F) {
	text, err := os.ReadFile("testdata/cluster.txt")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(text))
	f.Add(columns + "1|a|1|1||COMPLETED|1|4294967295|0\n2|a|x")
	f.Add("")
	f.Fuzz(func(t *testing.T, text string) {
		l, err := Read(strings.NewReader(text), "f", Options{Odd: workload.Skip})
		_, strict := Read(strings.NewReader(text), "f", Options{})
		if err != nil {
			if strict == nil {
				t.Fatalf("refused only where odd lines are skipped: %v", err)
			}
			return
		}
		if (strict == nil) != (len(l.Skipped) == 0) {
			t.Fatalf("skipped %v, refused %v", l.Skipped, strict)
		}
		last := job.Time(0)
		for _, j := range l.Jobs {
			if j.Nodes < 1 || j.Run < 0 || j.Run > workload.Longest || j.Request < 1 || j.Request > workload.Longest ||
				j.Submit < last || j.User < -1 || j.ID < 1 {
				t.Fatalf("job %+v", j)
			}
			last = j.Submit
		}
	})
}
