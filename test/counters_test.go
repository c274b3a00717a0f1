package test

import (
	"strings"
	"testing"
)

// TestCounterBomb checks that a job whose tasks report too many counters ends with a message that names the
// limit's key, and that no other job and no coordinator is affected.
func TestCounterBomb(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("in/a", "a\n")
	w.write("in/b", "b\n")
	w.write("bomb.sh", "#!/bin/sh\nseq 800000 | sed 's/.*/reporter:counter:g,c&,1/' >&2\ncat\n")
	w.write("share.sh", "#!/bin/sh\nread l\nseq 600 | sed \"s/.*/reporter:counter:g,$l&,1/\" >&2\necho $l\n")
	args := func(mapper string, more ...string) []string {
		return append([]string{"mapreduce", "-input", "in", "-output", "out", "-mapper", mapper, "-inputformat", "TextInputFormat"}, more...)
	}
	for name, tt := range map[string]struct {
		mapper, want string
	}{
		"one task":  {"bomb.sh", "the task reported more than 1000 counters"},
		"all tasks": {"share.sh", "the tasks of the job together reported 1200 counters, more than 1000"},
	} {
		r := w.berth(args(tt.mapper)...)
		if r.code == 0 || !strings.Contains(r.stderr, tt.want) || !strings.Contains(r.stderr, "mapreduce.job.counters.max") ||
			strings.Contains(r.stderr, "tried again") {
			t.Errorf("%s: %v", name, r)
		}
	}
	w.must(args("share.sh", "-D", "mapreduce.job.counters.max=1200")...)
	if n := strings.Count(w.must("report", "last", "--json").stdout, `"a`); n < 600 {
		t.Errorf("%d counters are in the report", n)
	}
}
