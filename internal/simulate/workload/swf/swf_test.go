package swf

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/klauspost/compress/gzip"

	"berth/internal/core/job"
	"berth/internal/simulate/workload"
)

const (
	header = "; Version: 2.2\n; Computer: Toy\n;   maxprocs:  8 (of 4 nodes)\n; MaxNodes: 4\n;\n"
	line1  = "  1   10   5  100  4  90.25  2048  4  3600  -1  1  7  2  3  1  -1  -1  -1\n"
	line2  = "2 12.5 -1 0 -1 -1 -1 2 -1 -1 5 7 2 3 1 -1 1 60\n"
)

func mustRead(t *testing.T, text string, o Options) *Log {
	t.Helper()
	l, err := Read(strings.NewReader(text), "toy.swf", o)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestRead(t *testing.T) {
	l := mustRead(t, header+line1+"; in between\r\n\n \t"+strings.TrimSuffix(line2, "\n"), Options{})
	const second = time.Second
	want := &Log{
		Name:   "toy.swf",
		Header: append(strings.Split(strings.TrimSuffix(header, "\n"), "\n"), "; in between"),
		Jobs: []Job{
			{Fields{1 * second, 10 * second, 5 * second, 100 * second, 4 * second, 90250 * time.Millisecond, 2048 * second, 4 * second, time.Hour, -second, second, 7 * second,
				2 * second, 3 * second, second, -second, -second, UnknownTime}, 6},
			{Fields{2 * second, 12500 * time.Millisecond, UnknownTime, 0, -second, UnknownTime, -second, 2 * second, UnknownTime, -second, 5 * second, 7 * second,
				2 * second, 3 * second, second, -second, second, time.Minute}, 9},
		},
	}
	if !reflect.DeepEqual(l, want) {
		t.Errorf("got  %+v\nwant %+v", l, want)
	}
}

func TestHeader(t *testing.T) {
	h := mustRead(t, header, Options{}).Header
	if v, ok := h.Get("computer"); v != "Toy" || !ok {
		t.Errorf("computer: %q, %v", v, ok)
	}
	if v, ok := h.Get("queues"); v != "" || ok {
		t.Errorf("queues: %q, %v", v, ok)
	}
	for text, want := range map[string]int{
		header: 8, "": 0, "; MaxProcs: -1\n; MaxNodes: 16\n": 16, "; MaxProcs: many\n": 0, "; MaxProcs: 99999999999\n": 0, "; MaxProcs:\n": 0,
	} {
		if got := mustRead(t, text, Options{}).Header.Procs(); got != want {
			t.Errorf("%q: %d processors, want %d", text, got, want)
		}
	}
}

// with returns line1 with the given fields, counted from 1, replaced.
func with(fields ...any) string {
	f := strings.Fields(line1)
	for i := 0; i < len(fields); i += 2 {
		f[fields[i].(int)-1] = fmt.Sprint(fields[i+1])
	}
	return strings.Join(f, " ") + "\n"
}

var oddLines = []struct{ name, line, why string }{
	{"too few fields", "1 2 3\n", "the line has 3 fields instead of 18"},
	{"too many fields", "1" + " 1" + line1, "the line has 20 fields instead of 18"},
	{"a word", with(4, "abc"), `field 4, the run time, cannot be parsed as a number: "abc"`},
	{"a long word", with(4, strings.Repeat("x", 99)), `field 4, the run time, cannot be parsed as a number: "xxxxxxxxxxxxxxxxxxxx"…`},
	{"digits and letters", with(9, "12h"), `field 9, the requested time, cannot be parsed as a number: "12h"`},
	{"a sign", with(18, "-"), `field 18, the think time, cannot be parsed as a number: "-"`},
	{"no number", with(2, "nan"), `field 2, the submit time, cannot be parsed as a number: "nan"`},
	{"hexadecimal", with(2, "0x1p9"), `field 2, the submit time, cannot be parsed as a number: "0x1p9"`},
	{"too large", with(9, "99999999999"), `field 9, the requested time, is too large: "99999999999"`},
	{"larger than any", with(9, "-1e999"), `field 9, the requested time, is too large: "-1e999"`},
	{"infinite", with(9, "inf"), `field 9, the requested time, cannot be parsed as a number: "inf"`},
	{"a negative run time", with(4, "-5"), "the run time is negative: -5 s"},
	{"a negative submit time", with(2, "-5.5"), "the submit time is negative: -5.5 s"},
	{"a submit time beyond all", with(2, "5000000000"), "the submit time is too large: 5000000000 s"},
	{"times out of order", with(2, "9.75"), "submitted at 9.75 s, before the job of line 6 (10 s): times are out of order"},
	{"half a processor", with(5, "1.5"), "processors and status must be whole numbers that fit 32 bits"},
	{"too many processors for any", with(8, "3000000000"), "processors and status must be whole numbers that fit 32 bits"},
}

func TestOddLines(t *testing.T) {
	for _, test := range oddLines {
		text := header + line1 + test.line + line2
		isBad(t, test.name, lastError(Read(strings.NewReader(text), "toy.swf", Options{})), "toy.swf:7: "+test.why+"; ")
		l := mustRead(t, text, Options{Odd: workload.Skip})
		if want := []workload.Odd{{Line: 7, Why: test.why}}; !slices.Equal(l.Skipped, want) || len(l.Jobs) != 2 {
			t.Errorf("%s: skipped %+v, %d jobs", test.name, l.Skipped, len(l.Jobs))
		}
	}
}

var oddJobs = []struct{ name, line, why string }{
	{"no run time", with(4, -1), "the run time is unknown (-1)"},
	{"no processors known", with(5, -1, 8, -1), "both allocated and requested processors are unknown (-1)"},
	{"zero nodes", with(5, 0, 8, 0), "the job has no processors"},
	{"more than the cluster has", with(5, 9), "the job needs 9 processors, but the cluster has 8"},
	{"no time requested", with(9, 0), "the job requests a time of 0"},
	{"a negative request", with(9, -60), "the requested time is negative: -60 s"},
	{"a request beyond all", with(9, "4e9"), "a job of 4000000000 s is longer than ten years"},
}

func TestOddJobs(t *testing.T) {
	for _, test := range oddJobs {
		text := header + line1 + test.line + line1
		_, err := mustRead(t, text, Options{}).Rigid(Options{})
		isBad(t, test.name, err, "toy.swf:7: "+test.why+"; ")
		l := mustRead(t, text, Options{})
		jobs, err := l.Rigid(Options{Odd: workload.Skip})
		if want := []workload.Odd{{Line: 7, Why: test.why}}; err != nil || !slices.Equal(l.Skipped, want) || len(jobs) != 2 || len(l.Jobs) != 2 {
			t.Errorf("%s: skipped %+v, %d jobs, %d left, %v", test.name, l.Skipped, len(jobs), len(l.Jobs), err)
		}
	}
}

func TestRigid(t *testing.T) {
	second := time.Second
	tests := []struct {
		name, line string
		o          Options
		want       workload.Rigid
	}{
		{"as requested", line1, Options{}, workload.Rigid{Nodes: 4, Run: 100 * second, Request: 3600 * second}},
		{"exact", line1, Options{Estimates: Exact}, workload.Rigid{Nodes: 4, Run: 100 * second, Request: 100 * second}},
		{"allocation before request", with(5, 3), Options{}, workload.Rigid{Nodes: 3, Run: 100 * second, Request: 3600 * second}},
		{"request without allocation", with(5, -1, 8, 2), Options{}, workload.Rigid{Nodes: 2, Run: 100 * second, Request: 3600 * second}},
		{"no time requested", with(9, -1), Options{}, workload.Rigid{Nodes: 4, Run: 100 * second, Request: 100 * second}},
		{"killed", with(9, 60), Options{}, workload.Rigid{Nodes: 4, Run: 100 * second, Request: 60 * second}},
		{"killed, and it was known", with(9, 60), Options{Estimates: Exact}, workload.Rigid{Nodes: 4, Run: 60 * second, Request: 60 * second}},
		{"cut by the filter", with(9, 60), Options{Filter: true}, workload.Rigid{Nodes: 4, Run: 60 * second, Request: 60 * second}},
		{"no time at all", with(4, 0), Options{Estimates: Exact}, workload.Rigid{Nodes: 4, Request: 1}},
		{"more than the header's", with(5, 9), Options{Procs: 9}, workload.Rigid{Nodes: 9, Run: 100 * second, Request: 3600 * second}},
	}
	for _, test := range tests {
		test.want.ID, test.want.User, test.want.Submit = 1, 7, job.Time(10*second)
		got, err := mustRead(t, header+test.line, Options{}).Rigid(test.o)
		if err != nil || !slices.Equal(got, []workload.Rigid{test.want}) {
			t.Errorf("%s: %+v, %v; want %+v", test.name, got, err, test.want)
		}
	}
}

func TestFilterRules(t *testing.T) {
	for line, kept := range map[string]bool{
		line1: true, with(5, 0): false, with(5, 9): false, with(8, -1): false, with(8, 9): false, with(4, 0): false,
		with(4, -1): false, with(9, 0): false, with(9, -1): false, with(5, 8, 8, 8, 4, 1, 9, 1): true,
	} {
		l := mustRead(t, line, Options{})
		if l.filter(8); len(l.Jobs) == 1 != kept || l.Filtered != 1-len(l.Jobs) {
			t.Errorf("%q: %d left, %d out", line, len(l.Jobs), l.Filtered)
		}
	}
}

func squeeze(t *testing.T, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestPieces checks that the boundaries between reads do not matter.
func TestPieces(t *testing.T) {
	text := header + line1 + "; x\n" + line2
	want := mustRead(t, text, Options{})
	for name, r := range map[string]io.Reader{"bytes": iotest.OneByteReader(strings.NewReader(text)), "halves": iotest.HalfReader(strings.NewReader(text))} {
		if got, err := Read(r, "toy.swf", Options{}); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	cause := errors.New("connection lost")
	_, err := Read(io.MultiReader(strings.NewReader(header), iotest.ErrReader(cause)), "toy.swf", Options{})
	if !errors.Is(err, cause) || job.CodeOf(err) != job.CodeIO || !strings.HasPrefix(err.Error(), "toy.swf:6: ") {
		t.Errorf("got %v", err)
	}
}

// TestNothingPerLine checks that twice the jobs need only a few more allocations of memory.
func TestNothingPerLine(t *testing.T) {
	allocs := func(jobs int) float64 {
		text := strings.Repeat(line1, jobs)
		return testing.AllocsPerRun(3, func() {
			if l, err := Read(strings.NewReader(text), "", Options{}); err != nil || len(l.Jobs) != jobs {
				t.Errorf("%v", err)
			}
		})
	}
	if once, twice := allocs(5000), allocs(10000); twice > once+50 {
		t.Errorf("%v allocations for 5,000 jobs, %v for 10,000", once, twice)
	}
}

func TestOpenNothing(t *testing.T) {
	_, err := Open(filepath.Join(t.TempDir(), "none.swf"), Options{})
	if job.CodeOf(err) != job.CodeNoInput {
		t.Errorf("got %v", err)
	}
	dir := t.TempDir()
	if _, err := Open(dir, Options{}); job.CodeOf(err) != job.CodeIO || err.Error() != dir+": this is a folder; name a file in it" {
		t.Errorf("a folder: %v", err)
	}
}

func lastError(_ *Log, err error) error { return err }

// isBad checks for a one-line message about something the user can correct, with exit code 3.
func isBad(t *testing.T, name string, err error, begin string) {
	t.Helper()
	if err == nil || !strings.HasPrefix(err.Error(), begin) || strings.Contains(err.Error(), "\n") ||
		job.ClassOf(err) != job.User || job.CodeOf(err) != job.CodeConfig {
		t.Errorf("%s: got %v, want %s", name, err, begin)
	}
}
