package swim

import (
	"bytes"
	"compress/gzip"
	"reflect"
	"strings"
	"testing"
	"time"

	"berth/internal/core/job"
	"berth/internal/simulate/workload/logfile"
	"berth/test/support/tracetest"
)

const sample = "job0\t9\t9\t1762\t0\t14347\r\njob1\t18\t9\t134217728\t1\t697\n\njob2\t18\t0\t134217729\t1073741825\t5\n"

func TestRead(t *testing.T) {
	jobs, err := Read(strings.NewReader(sample), "s", Options{Users: 2})
	if err != nil {
		t.Fatal(err)
	}
	type shape struct {
		submit        job.Time
		maps, reduces int
		user          int64
	}
	var got []shape
	for i, e := range jobs {
		if e.ID != int64(i+1) || e.App != App || e.Maps[0] < time.Second {
			t.Errorf("%+v", e)
		}
		got = append(got, shape{e.Submit, len(e.Maps), len(e.Reduces), e.User})
	}
	const s = job.Time(time.Second)
	if want := []shape{{9 * s, 1, 0, 0}, {18 * s, 1, 1, 1}, {18 * s, 2, 2, 0}}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, _ = z.Write([]byte(sample))
	_ = z.Close()
	again, err := Read(&packed, "s", Options{Users: 2})
	if err != nil || !reflect.DeepEqual(again, jobs) {
		t.Errorf("compressed: %v", err)
	}
	if other, _ := Read(strings.NewReader(sample), "s", Options{Seed: 1}); reflect.DeepEqual(other[0].Maps, jobs[0].Maps) {
		t.Error("another seed draws the same tasks")
	}
}

func TestReadErrors(t *testing.T) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, _ = z.Write([]byte(strings.Repeat("job\t9\t9\t1762\t0\t14347\n", 1000)))
	_ = z.Close()
	damaged := bytes.Clone(packed.Bytes())
	damaged[len(damaged)-6] ^= 1
	for name, tt := range map[string]struct{ text, want string }{
		"fields":    {"job0\t1\t2\t3\t4\n", "s:1: the line has 5 fields"},
		"blanks":    {"job0 1 2 3 4 5\n", "s:1: the line has 1 fields"},
		"negative":  {"job0\t1\t1\t-3\t4\t5\n", `s:1: "-3" is not a valid input`},
		"no number": {"job0\t1\t1\t3\tx\t5\n", `s:1: "x" is not a valid shuffled data`},
		"order":     {"a\t5\t1\t3\t4\t5\nb\t4\t1\t3\t4\t5\n", "s:2: the job is submitted before"},
		"late":      {"a\t9223372036854775807\t1\t3\t4\t5\n", "s:1: the job is submitted 9223372036854775807 s after"},
		"tasks":     {"a\t5\t1\t9223372036854775807\t9223372036854775807\t5\n", "s:1: with its 68719476736 maps and 8589934592 reduces"},
		"long":      {strings.Repeat("x", logfile.MaxLine+1), "s:1: the line is too long"},
		"cut short": {packed.String()[:packed.Len()-8], "ends here, before its end"},
		"head":      {"\x1f\x8bx", "ends here"},
		"checksum":  {string(damaged), "s:1001: the compressed file is damaged, here or before"},
		"garbled":   {garbled(t), "s:4: the compressed file is damaged, here or before"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Read(strings.NewReader(tt.text), "s", Options{})
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("got %v, want %s", err, tt.want)
			}
			if job.ClassOf(err) != job.User || job.CodeOf(err) != job.CodeConfig {
				t.Errorf("class %v, code %v", job.ClassOf(err), job.CodeOf(err))
			}
		})
	}
	if _, err := Open("no such file", Options{}); job.CodeOf(err) != job.CodeNoInput {
		t.Errorf("got %v", err)
	}
}

// garbled returns a compressed sample in which a tab of the last line was replaced after
// compression.
func garbled(t *testing.T) string {
	t.Helper()
	var packed bytes.Buffer
	z, err := gzip.NewWriterLevel(&packed, gzip.NoCompression)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = z.Write([]byte(sample))
	_ = z.Close()
	at := bytes.LastIndexByte(packed.Bytes(), '\t')
	packed.Bytes()[at] = 'x'
	return packed.String()
}

// TestTrace reads the samples that come with SWIM.
func TestTrace(t *testing.T) {
	jobs, err := Open(tracetest.Path(t, tracetest.Facebook2009), Options{})
	if err != nil {
		t.Fatal(err)
	}
	maps, reduces, last := 0, 0, jobs[len(jobs)-1]
	for _, e := range jobs {
		maps += len(e.Maps)
		reduces += len(e.Reduces)
	}
	// counted by another program
	if len(jobs) != 5894 || maps != 205713 || reduces != 21895 || last.Submit != 86404*job.Time(time.Second) {
		t.Errorf("%d jobs, %d maps, %d reduces, the last at %v", len(jobs), maps, reduces, last.Submit.Sub(0))
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(sample))
	f.Add([]byte("job0\t1\t1\t-3\t4\t5\n"))
	f.Add([]byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 0})
	f.Fuzz(func(t *testing.T, text []byte) {
		jobs, err := Read(bytes.NewReader(text), "f", Options{Users: 3})
		if err != nil {
			if jobs != nil || job.ClassOf(err) != job.User {
				t.Fatalf("%d jobs and %v", len(jobs), err)
			}
			return
		}
		last := job.Time(0)
		for _, e := range jobs {
			if e.Submit < last || len(e.Maps) == 0 {
				t.Fatalf("%+v", e)
			}
			last = e.Submit
		}
	})
}
