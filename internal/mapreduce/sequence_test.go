package mapreduce

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"berth/internal/core/job"
	"berth/internal/mapreduce/input"
)

// A job that writes SequenceFiles, and one that reads them, have the same result as the job on text. Two
// attempts write the same bytes, and a part without records is a SequenceFile too.
func TestSequenceOutput(t *testing.T) {
	in := []byte("b\t2\nkey\na\t1 \t1\nb\t\n")
	for _, test := range []struct{ compress, kind string }{{"", ""}, {"deflate", ""}, {"deflate", "NONE"}, {"zstd", "BLOCK"}} {
		c := newCluster(t, in)
		c.reduces = 3
		c.spec.OutputFormat, c.spec.Compress = job.SequenceOutput, test.compress
		c.spec.Conf = map[string]string{job.SequenceTypeKey: test.kind}
		c.reducer = cat
		c.remote()
		parts := c.run()
		if c.spec.Reduces = c.reduces; CommitJob(c.spec, testJob, 1) != nil {
			t.Errorf("%v: %v", test, CommitJob(c.spec, testJob, 1))
		}
		if strings.Contains(listing(t, c.spec.Output), ".") {
			t.Errorf("%v: the names of parts have endings: %s", test, listing(t, c.spec.Output))
		}
		c.attempts = map[int]int{}
		_ = os.Remove(filepath.Join(c.spec.Output, successName)) // else no attempt writes there
		for p, again := range c.run() {
			if !bytes.Equal(again, parts[p]) || !bytes.HasPrefix(again, []byte("SEQ")) {
				t.Errorf("%v: part %d was %q, and then %q", test, p, parts[p], again)
			}
		}
		read := *c.spec
		read.InputFormat, read.Inputs, read.Output = job.SequenceInput, []string{c.spec.Output}, filepath.Join(c.dir, "text")
		read.OutputFormat, read.Compress = "", ""
		splits, _, err := input.PlanSplits(&read, input.SplitOptions{Slots: 1})
		if err != nil || len(splits) != 1 {
			t.Fatal(splits, err)
		}
		text := newCluster(t)
		text.spec, text.splits = &read, splits
		text.mapper, text.reducer = cat, nil
		text.remote()
		if got, want := string(bytes.Join(text.run(), nil)), "a\t1 \t1\nb\t\nb\t2\nkey\t\n"; got != want {
			t.Errorf("%v: read again: %q, want %q", test, got, want)
		}
	}
}
