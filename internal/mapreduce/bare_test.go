package mapreduce

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
)

// byByte copies its input one byte at a time, so that lines are cut at every byte.
var byByte = programFunc(func(_ context.Context, in io.Reader, out io.Writer) error {
	_, err := io.Copy(struct{ io.Writer }{out}, iotest.OneByteReader(in))
	return err
})

// A command reads a record that is only a key with a TAB behind it, as in Hadoop Streaming, as commands
// split their lines there. A native program reads it unchanged.
func TestBareKeys(t *testing.T) {
	const in = "b\na\tv\n\nb\nb\na\tv\n\t\n"
	const tabbed = "\t\n\t\na\tv\na\tv\nb\t\nb\t\nb\t\n"
	for name, test := range map[string]struct {
		combiner, reducer Program
		memory            int64
		want              string
	}{
		"command":                   {nil, cat, 1 << 20, tabbed},
		"in small pieces":           {nil, byByte, 1 << 20, tabbed},
		"combiner":                  {cat, nil, 1 << 20, tabbed},
		"combiner of spills":        {byByte, nil, littleMemory, tabbed},
		"combiner and command":      {cat, cat, 1 << 20, tabbed},
		"identity keeps the record": {nil, nil, 1 << 20, "\n\t\na\tv\na\tv\nb\nb\nb\n"},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t, []byte(in))
			c.mapper, c.combiner, c.reducer, c.memory = cat, test.combiner, test.reducer, test.memory
			if got := string(c.run()[0]); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// A combiner that copies its input does not change keys of several fields, nor those of lines with too
// few fields.
func TestCombinerKeepsShortKeys(t *testing.T) {
	c := newCluster(t, []byte("b\na\tv\na\tv\tw\na\t\n\n"))
	c.spec.MapOutputKeyFields = 2
	c.mapper, c.combiner, c.reducer = cat, cat, cat
	if got, want := string(c.run()[0]), "\t\na\t\t\na\tv\t\na\tv\tw\nb\t\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A record that is larger than the buffer passes through the combiner as all others do.
func TestCombinerReadsLargeRecords(t *testing.T) {
	c := newCluster(t, []byte(strings.Repeat("x", 100_000)+"\na\n"))
	c.mapper, c.combiner, c.memory = cat, cat, littleMemory
	if got, want := string(c.run()[0]), "a\t\n"+strings.Repeat("x", 100_000)+"\t\n"; got != want {
		t.Errorf("got %d bytes, want %d", len(got), len(want))
	}
}

// A reducer or combiner without a record does not run, as what it writes at its end would be rows that
// Hadoop Streaming does not write. The part file exists nevertheless.
func TestNoRecordsNoProgram(t *testing.T) {
	c := newCluster(t, []byte("a\nb\n"))
	c.reduces = 3
	c.mapper = command("cat >/dev/null; echo a")
	c.combiner = command("cat; echo a")
	c.reducer = command("cat; echo end")
	var all string
	for _, part := range c.run() {
		all += string(part)
	}
	if want := "a\t\na\t\nend\n"; all != want {
		t.Errorf("got %q, want %q", all, want)
	}
	if parts, _ := filepath.Glob(filepath.Join(c.spec.Output, "part-*")); len(parts) != 3 {
		t.Errorf("parts %v", parts)
	}
	c = newCluster(t, []byte("a\n"))
	ran := filepath.Join(c.dir, "ran")
	c.mapper, c.combiner, c.reducer = command("cat >/dev/null"), command("touch "+ran), command("touch "+ran)
	if got := c.run()[0]; len(got) != 0 {
		t.Errorf("got %q", got)
	}
	if _, err := os.Stat(ran); err == nil {
		t.Error("a program ran without a record")
	}
}
