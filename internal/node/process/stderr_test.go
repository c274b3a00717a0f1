package process

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"berth/internal/core/job"
	"berth/internal/sys/probe"
)

func newLog(t testing.TB) (*Log, *probe.Meter) {
	m := probe.NewMeter(probe.Now)
	c := &Counters{Meter: m, Limits: (&job.MapReduceSpec{}).CounterLimits()}
	return &Log{Path: filepath.Join(t.TempDir(), "logs", "log"), Prefix: ReportPrefix, Meter: m, Count: c.Add}, m
}

func TestErrorLog(t *testing.T) {
	tests := []struct {
		name     string
		pieces   []string
		log      string
		counters map[string]int64
		status   string
	}{
		{"plain lines", []string{"a\nb\n"}, "a\nb\n", nil, ""},
		{"no line end", []string{"a\nb"}, "a\nb\n", nil, ""},
		{"counter", []string{"reporter:counter:g,c,3\n", "reporter:counter:g,c,4\n"}, "", map[string]int64{"g,c": 7}, ""},
		{"counter in pieces", []string{"report", "er:coun", "ter:g,c,3", "\n"}, "", map[string]int64{"g,c": 3}, ""},
		{"counter with CR", []string{"reporter:counter:g,c,3\r\n"}, "", map[string]int64{"g,c": 3}, ""},
		{"counter without line end", []string{"reporter:counter:g,c,3"}, "", map[string]int64{"g,c": 3}, ""},
		{"status", []string{"reporter:status:one\nreporter:status:two words\n"}, "", nil, "two words"},
		{"too few columns", []string{"reporter:counter:g,3\n"}, "reporter:counter:g,3\n", nil, ""},
		{"too many columns", []string{"reporter:counter:g,a,b,3\n"}, "reporter:counter:g,a,b,3\n", nil, ""},
		{"no number", []string{"reporter:counter:g,c,x\n"}, "reporter:counter:g,c,x\n", nil, ""},
		{"too large", []string{"reporter:counter:g,c,99999999999999999999\n"}, "reporter:counter:g,c,99999999999999999999\n", nil, ""},
		{"unknown report", []string{"reporter:x\n"}, "reporter:x\n", nil, ""},
		{"not at the begin", []string{" reporter:status:x\n"}, " reporter:status:x\n", nil, ""},
		{"invalid UTF-8", []string{"reporter:counter:g\xff,c,1\n"}, "", map[string]int64{"g\uFFFD,c": 1}, ""},
		{"long line", []string{strings.Repeat("x", maxLine), "reporter:status:no\n", "reporter:status:yes\n"},
			strings.Repeat("x", maxLine) + "reporter:status:no\n", nil, "yes"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l, m := newLog(t)
			s := &stream{log: l}
			for _, p := range tt.pieces {
				if n, err := s.Write([]byte(p)); n != len(p) || err != nil {
					t.Fatalf("Write returned %d, %v", n, err)
				}
			}
			s.flush()
			tail, err := l.Close()
			if err != nil {
				t.Fatal(err)
			}
			log := ""
			if tt.log != "" {
				log = read(t, l.Path)
			} else if _, err := os.Stat(l.Path); err == nil {
				t.Error("a log was made for nothing")
			}
			if log != tt.log {
				t.Errorf("log is %.100q, want %.100q", log, tt.log)
			}
			if tail != LastLines(tt.log) {
				t.Errorf("tail is %q", tail)
			}
			if !reflect.DeepEqual(m.Counters(), tt.counters) || m.Snapshot().Status != tt.status {
				t.Errorf("counters %v, status %q; want %v, %q", m.Counters(), m.Snapshot().Status, tt.counters, tt.status)
			}
		})
	}
}

// However text is cut into pieces, the log, the counters and the status are the same.
func FuzzErrorLog(f *testing.F) {
	f.Add([]byte("reporter:counter:g,c,3\nhello\nreporter:status:x\nlast"), uint8(3))
	f.Add([]byte("reporter:\r\n\n\n\xff"), uint8(1))
	f.Fuzz(func(t *testing.T, text []byte, step uint8) {
		type result struct {
			tail, status string
			counters     map[string]int64
			bytes        int
		}
		run := func(step int) result {
			l, m := newLog(t)
			l.failed = os.ErrClosed // no file: the tail tells
			s := &stream{log: l}
			for rest := text; len(rest) > 0; {
				n := min(step, len(rest))
				_, _ = s.Write(rest[:n])
				rest = rest[n:]
			}
			s.flush()
			tail, _ := l.Close()
			return result{tail, m.Snapshot().Status, m.Counters(), len(l.tail)}
		}
		whole, pieces := run(len(text)+1), run(int(step)+1)
		if !reflect.DeepEqual(whole, pieces) {
			t.Errorf("in one piece %+v, in several %+v", whole, pieces)
		}
	})
}

func TestLastLines(t *testing.T) {
	many := strings.Repeat("line\n", 20)
	tests := []struct{ name, text, want string }{
		{"empty", "", ""},
		{"few", "a\nb\n", "a\nb"},
		{"blank lines at the end", "a\n\n\n", "a"},
		{"many", many, strings.TrimSuffix(strings.Repeat("line\n", tailLines), "\n")},
		{"long line", strings.Repeat("x", 3*tailBytes), strings.Repeat("x", tailBytes)},
		{"long lines", strings.Repeat("x", tailBytes) + "\nend\n", "end"},
		{"invalid UTF-8", "a\xffb", "a\uFFFDb"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := LastLines(tt.text); got != tt.want {
				t.Errorf("got %.60q, want %.60q", got, tt.want)
			}
		})
	}
}

func TestTailOf(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(path, []byte(strings.Repeat("x", 10*tailBytes)+"\nlast\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := TailOf(path); got != "last" {
		t.Errorf("got %.60q", got)
	}
	if got := TailOf(filepath.Dir(path)); got != "" {
		t.Errorf("tail of a folder is %q", got)
	}
}

// A program that floods its standard error fills no disk; its last lines are known.
func TestErrorLogIsBounded(t *testing.T) {
	l, m := newLog(t)
	l.limit = 1000
	s := &stream{log: l}
	for range 100 {
		if _, err := s.Write([]byte("0123456789\n0123456789\n")); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Write([]byte("reporter:counter:g,c,1\nthe last\n")); err != nil {
		t.Fatal(err)
	}
	tail, err := l.Close()
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Repeat("0123456789\n", 91)[:1000] + "\n[berth: cut off here, at 1000B]\n"
	if got := read(t, l.Path); got != want {
		t.Errorf("the log is %q", got)
	}
	if !strings.HasSuffix(tail, "0123456789\nthe last") || m.Counters()["g,c"] != 1 {
		t.Errorf("the tail is %q, counters %v", tail, m.Counters())
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
