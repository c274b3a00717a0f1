package results

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"berth/internal/core/job"
	"berth/internal/node/collect"
	"berth/internal/server/report"
	"berth/internal/sys/statedir"
)

// bag returns a bag in a folder of the test with that entry for each task, whose tasks wrote the texts.
func bag(t *testing.T, wrote ...string) (*job.BagSpec, statedir.Tasks) {
	t.Helper()
	dir := t.TempDir()
	b := &job.BagSpec{Stdout: filepath.Join(dir, "{task}.out"), Stderr: job.Discard}
	entries := make([]job.Entry, len(wrote))
	for i, text := range wrote {
		entries[i] = job.Entry{string(rune('a' + i)), "x"}
		if err := os.WriteFile(b.OutputPath(b.Stdout, "bag-1", entries[i], i, 0), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return b, statedir.Tasks{Entries: statedir.EntriesOf(entries...)}
}

// printOver tells a printer that a task is over, and has it print what it can.
func printOver(p *Printer, e report.End) error {
	p.Over(e)
	return p.PrintOver()
}

func TestPrinter(t *testing.T) {
	for _, c := range []struct {
		name string
		o    Options
		over []int
		want string // then, at the end
		rest string
	}{
		{"as they end", Options{}, []int{2, 0}, "3\n1\n", ""},
		{"in order, once those before are over", Options{InOrder: true}, []int{2, 0, 1}, "1\n2\n3\n", ""},
		{"in order, where one does not end", Options{InOrder: true}, []int{2, 0}, "1\n", "3\n"},
		{"a task that is done twice is printed once", Options{}, []int{1, 1}, "2\n", ""},
		{"with its entry before each line", Options{Tag: true}, []int{1}, "b x\t2\n", ""},
	} {
		b, tasks := bag(t, "1\n", "2\n", "3\n")
		p := NewPrinter(&job.Spec{ID: "bag-1", Bag: b}, tasks, c.o)
		var out bytes.Buffer
		p.Out = &out
		for _, task := range c.over {
			if err := printOver(p, report.End{Task: task, Attempt: 1, Done: true, Over: true}); err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
		}
		if got := out.String(); got != c.want {
			t.Errorf("%s: %q is printed, want %q", c.name, got, c.want)
		}
		out.Reset()
		if err := p.Rest(); err != nil || out.String() != c.rest {
			t.Errorf("%s: at the end %q is printed (%v), want %q", c.name, out.String(), err, c.rest)
		}
	}
}

// TestPrinterOfRanks: the files of all ranks of a task are printed one after the other.
func TestPrinterOfRanks(t *testing.T) {
	b, tasks := bag(t, "of none\n")
	b.Stdout, b.EachRank, b.Gang = filepath.Join(filepath.Dir(b.Stdout), "{task}.{rank}"), true, job.Gang{Ranks: 3}
	for rank, text := range []string{"0\n", "1\n"} { // the third one did not begin
		if err := os.WriteFile(b.OutputPath(b.Stdout, "bag-1", nil, 0, rank), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var out bytes.Buffer
	p := NewPrinter(&job.Spec{ID: "bag-1", Bag: b}, tasks, Options{})
	p.Out = &out
	if err := printOver(p, report.End{Task: 0, Attempt: 1, Done: true, Over: true}); err != nil || out.String() != "0\n1\n" {
		t.Errorf("%q is printed, %v", out.String(), err)
	}
}

// TestPrinterOfWhatIsNotThere: a task that failed before it began has no file, and one that was read half is told.
func TestPrinterOfWhatIsNotThere(t *testing.T) {
	b, _ := bag(t, "1\n")
	tasks := statedir.Tasks{Entries: statedir.EntriesOf(job.Entry{"a", "x"}, job.Entry{"b"}, job.Entry{"c"})}
	if err := os.Mkdir(b.OutputPath(b.Stdout, "bag-1", job.Entry{"c"}, 2, 0), 0o700); err != nil {
		t.Fatal(err)
	}
	p := NewPrinter(&job.Spec{ID: "bag-1", Bag: b}, tasks, Options{})
	p.Out = &bytes.Buffer{}
	if err := printOver(p, report.End{Task: 1, Attempt: 1, Over: true}); err != nil {
		t.Errorf("a task without a file: %v", err)
	}
	if err := printOver(p, report.End{Task: 2, Attempt: 1, Over: true}); job.CodeOf(err) != job.CodeIO {
		t.Errorf("a task whose file cannot be read: %v, want an error that says so", err)
	}
}

// TestMissing: what a damaged file of collected outputs still has is printed, and an error names the tasks whose output is
// missing.
func TestMissing(t *testing.T) {
	dir := t.TempDir()
	b := &job.BagSpec{Collect: true, Stdout: filepath.Join(dir, job.DefaultStdout), Stderr: job.DefaultStderr}
	w := collect.NewWriter(b.CollectFolder("bag-1"))
	var entries []job.Entry
	var at int64
	var path string
	for i, text := range []string{"1\n", "2\n", "3\n"} {
		entries = append(entries, job.Entry{text})
		var err error
		path, err = w.Add(job.Attempt{Job: "bag-1", Task: i, N: 1}, [2]*io.SectionReader{io.NewSectionReader(strings.NewReader(text), 0, 2), nil})
		if err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			st, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			at = st.Size()
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	whole[at+8] ^= 1 // of the second frame's head
	if err := os.WriteFile(path, whole, 0o600); err != nil {
		t.Fatal(err)
	}
	tasks := statedir.Tasks{Entries: statedir.EntriesOf(entries...)}
	for _, o := range []Options{{}, {InOrder: true}} {
		p := NewPrinter(&job.Spec{ID: "bag-1", Bag: b}, tasks, o)
		var out bytes.Buffer
		p.Out, p.Err = &out, io.Discard
		for i := range entries {
			if err := printOver(p, report.End{Task: i, Attempt: 1, Done: true, Over: true}); err != nil {
				t.Fatal(err)
			}
		}
		if err := p.Rest(); err != nil || out.String() != "1\n3\n" {
			t.Errorf("%+v: %q is printed (%v)", o, out.String(), err)
		}
		if err := p.Missing(); job.CodeOf(err) != job.CodeIO || !strings.Contains(err.Error(), "the output of task 2 cannot be read") {
			t.Errorf("%+v: the error is %v", o, err)
		}
	}
}

// TestInOrder: whatever the order in which tasks end, they are printed in that of the entries, each once.
func TestInOrder(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		n := rapid.IntRange(1, 20).Draw(r, "tasks")
		order := rapid.Permutation(indices(n)).Draw(r, "order")
		ended := rapid.IntRange(0, n).Draw(r, "ended")
		texts := make([]string, n)
		for i := range texts {
			texts[i] = string(rune('A' + i))
		}
		b, tasks := bag(t, texts...)
		p := NewPrinter(&job.Spec{ID: "bag-1", Bag: b}, tasks, Options{InOrder: true})
		var out bytes.Buffer
		p.Out = &out
		for _, task := range order[:ended] {
			if err := printOver(p, report.End{Task: task, Attempt: 1, Done: true, Over: true}); err != nil {
				r.Fatal(err)
			}
		}
		if err := p.Rest(); err != nil {
			r.Fatal(err)
		}
		got := out.Bytes()
		if len(got) != ended || !slices.IsSorted(got) {
			r.Fatalf("%d of %d tasks ended, in the order %v; %q is printed", ended, n, order, got)
		}
	})
}

func indices(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

// TestEarly: while the journal is read the first tasks are printed once they are done. One that has failed may be tried again, so neither it nor those
// behind it are.
func TestEarly(t *testing.T) {
	b, tasks := bag(t, "a\n", "b\n", "c\n")
	p, out := NewPrinter(&job.Spec{ID: "bag-1", Bag: b}, tasks, Options{Early: true}), new(bytes.Buffer)
	p.Out = out
	for i, c := range []struct {
		end  report.End
		want string
	}{
		{report.End{Task: 2, Attempt: 1, Done: true, Over: true}, ""},
		{report.End{Task: 0, Attempt: 1, Done: true, Over: true}, "a\n"},
		{report.End{Task: 1, Attempt: 1, Over: true}, "a\n"},
		{report.End{Task: 1, Attempt: 2, Done: true, Over: true}, "a\nb\nc\n"},
	} {
		p.ended(c.end)
		if err := p.printDone(); err != nil || out.String() != c.want || p.Printed() != len(c.want)/2 {
			t.Errorf("after %d ends %q is printed, as of %d tasks, %v", i+1, out, p.Printed(), err)
		}
	}
}

// TestTag: without what was put before its lines, text is what it was, but for a missing end of the last line.
func TestTag(t *testing.T) {
	for _, text := range []string{"", "a\nb", "\n\n", "\x00\xff\n", strings.Repeat("long", 1<<15), strings.Repeat("x", 1<<16) + "\nend"} {
		var out bytes.Buffer
		if err := tag(&out, strings.NewReader(text), "e\t", "file"); err != nil {
			t.Fatal(err)
		}
		want := ""
		for line := range strings.Lines(text) {
			want += "e\t" + strings.TrimSuffix(line, "\n") + "\n"
		}
		if out.String() != want {
			t.Errorf("%.20q with its entry before each line is %.40q", text, out.String())
		}
	}
}

func TestFind(t *testing.T) {
	b, tasks := bag(t, "", "", "")
	p := NewPrinter(&job.Spec{ID: "bag-1", Bag: b}, tasks, Options{})
	for _, c := range []struct {
		names []string
		want  []int
	}{{nil, []int{0, 1, 2}}, {[]string{"3", "1"}, []int{2, 0}}} {
		if got, err := p.Find(c.names); err != nil || !slices.Equal(got, c.want) {
			t.Errorf("tasks %v are %v (%v), want %v", c.names, got, err, c.want)
		}
	}
	if _, err := p.Find([]string{"4"}); job.CodeOf(err) != job.CodeArguments {
		t.Errorf("a fourth of three tasks: %v", err)
	}
}
