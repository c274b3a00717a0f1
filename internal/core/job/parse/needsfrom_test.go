package parse

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"berth/internal/core/job"
)

// TestTakeNeeds: columns are named by the first line or numbered, an empty value is as for the bag, and errors name the line.
func TestTakeNeeds(t *testing.T) {
	for _, c := range []struct {
		lines string
		needs [len(Needs)]string
		want  []job.Needs
		fails string
	}{
		{"n,c,m,g,t|a,2,1G,1:x,1h|b,,,0,", [...]string{"c", "m", "g", "t", ""},
			[]job.Needs{{CPUs: 2, Mem: 1 << 30, GPUs: 1, GPUType: "x", TimeLimit: time.Hour}, {GPUs: job.NoGPUs}}, ""},
		{"a,2|b,3", [...]string{"2", "", "", "", ""}, []job.Needs{{CPUs: 2}, {CPUs: 3}}, ""},
		{"a,2|b", [...]string{"2", "", "", "", ""}, []job.Needs{{CPUs: 2}, {}}, ""},
		{"n,r|a,2|b,", [...]string{"", "", "", "", "r"}, []job.Needs{{Gang: job.Gang{Ranks: 2}}, {}}, ""},
		{"a,0", [...]string{"", "", "", "", "2"}, nil, `in:1: ranks-from: "0" is not a number in the allowed range`},
		{"a,2|b,x", [...]string{"2", "", "", "", ""}, nil, "in:2: cpus-from"},
		{"n,m|a,2|b,2Q", [...]string{"", "m", "", "", ""}, nil, "in:3: mem-from"},
		{"a,2", [...]string{"cores", "", "", "", ""}, nil, `--cpus-from: the first line names no column "cores"`},
		{"a,2|b", [...]string{"3", "", "", "", ""}, nil, "--cpus-from: no entry has a column 3, as the longest has 2 columns"},
		{"a,2", [...]string{"", "9", "", "", ""}, nil, "--mem-from: no entry has a column 9"},
		{"a,2", [...]string{"", "", "9", "", ""}, nil, "--gpus-from: no entry has a column 9"},
		{"a,2", [...]string{"", "", "", "9", ""}, nil, "--time-from: no entry has a column 9"},
		{"n,c,c|a,2,3", [...]string{"c", "", "", "", ""}, nil, `--cpus-from: the first line names two columns "c"`},
		{"a,2", [...]string{"0", "", "", "", ""}, nil, `--cpus-from: the first line names no column "0"`},
	} {
		s := BagSources{Columns: regexp.MustCompile(","), needs: c.needs, EachLine: "in"}
		b := &job.BagSpec{}
		entries, err := s.TakeNeeds(b, s.Split(OneColumn(strings.Split(c.lines, "|"))))
		if c.fails != "" {
			if err == nil || !strings.Contains(err.Error(), c.fails) || job.ClassOf(err) != job.User {
				t.Errorf("%s: the error is %v, want %s", c.lines, err, c.fails)
			}
			continue
		}
		if err != nil || len(entries) != len(c.want) {
			t.Errorf("%s: %d entries, %v", c.lines, len(entries), err)
			continue
		}
		for i, e := range entries {
			if n, err := OwnNeeds(b, e); err != nil || n != c.want[i] {
				t.Errorf("%s: entry %d has %+v, %v, want %+v", c.lines, i, n, err, c.want[i])
			}
		}
	}
	s := BagSources{needs: [...]string{"1", "", "", "", ""}}
	if _, err := s.TakeNeeds(&job.BagSpec{}, OneColumn([]string{"a", "b"})); err == nil || !strings.Contains(err.Error(), "--colsep") {
		t.Errorf("entries without columns: %v", err)
	}
}
