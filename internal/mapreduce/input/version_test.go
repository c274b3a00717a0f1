package input

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"berth/internal/core/job"
)

// past is the time of modification of inputs in tests. Later changes have another one, whatever the clock of the file system counts in.
var past = time.Now().Add(-time.Hour)

// writeOld writes a file that was last modified in the past.
func writeOld(t fataler, path string, data []byte) {
	writeFile(t, path, data)
	if err := os.Chtimes(path, past, past); err != nil {
		t.Fatal(err)
	}
}

// alteration is what happens to an input while its job runs.
type alteration struct {
	name    string
	do      func(t fataler, path string)
	harmful bool // the file is another one afterwards
	open    bool // what is open is not affected
}

func moveOver(t fataler, path string, content []byte) {
	writeOld(t, path+".new", content)
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
}

// flipped returns other bytes of the same number.
func flipped(t fataler, path string) []byte {
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Map(func(r rune) rune { return r ^ 1 }, data)
}

func do(t fataler, err error) {
	if err != nil {
		t.Fatal(err)
	}
}

var alterations = []alteration{
	{"another file of the same size and time is moved over it", func(t fataler, p string) { moveOver(t, p, flipped(t, p)) }, true, true},
	{"a longer file is moved over it", func(t fataler, p string) { moveOver(t, p, append(flipped(t, p), "more\n"...)) }, true, true},
	{"it is written anew in its place", func(t fataler, p string) { writeFile(t, p, flipped(t, p)) }, true, false},
	{"a byte is changed", func(t fataler, p string) {
		f, err := os.OpenFile(p, os.O_WRONLY, 0)
		do(t, err)
		_, err = f.WriteAt([]byte("!"), 1)
		do(t, errors.Join(err, f.Close()))
	}, true, false},
	{"it is emptied", func(t fataler, p string) { do(t, os.Truncate(p, 0)) }, true, false},
	{"it grows", func(t fataler, p string) {
		f, err := os.OpenFile(p, os.O_WRONLY|os.O_APPEND, 0)
		do(t, err)
		_, err = f.WriteString("more\n")
		do(t, errors.Join(err, f.Close()))
	}, true, false},
	{"it is touched", func(t fataler, p string) { do(t, os.Chtimes(p, time.Time{}, time.Now())) }, true, false},
	{"it is removed and made again", func(t fataler, p string) {
		data := flipped(t, p)
		do(t, os.Remove(p))
		writeFile(t, p, data)
	}, true, true},
	{"it becomes a link to another file", func(t fataler, p string) {
		writeOld(t, p+".other", flipped(t, p))
		do(t, os.Remove(p))
		do(t, os.Symlink(p+".other", p))
	}, true, true},
	{"its mode changes", func(t fataler, p string) { do(t, os.Chmod(p, 0o600)) }, false, true},
	{"it gets a second name", func(t fataler, p string) {
		_ = os.Remove(p + ".link")
		do(t, os.Link(p, p+".link"))
	}, false, true},
	{"it is moved away and back", func(t fataler, p string) {
		do(t, os.Rename(p, p+".away"))
		do(t, os.Rename(p+".away", p))
	}, false, true},
	{"it becomes a link to itself elsewhere", func(t fataler, p string) {
		do(t, os.Rename(p, p+".away"))
		do(t, os.Symlink(p+".away", p))
	}, false, true},
	{"it is read", func(t fataler, p string) { _ = flipped(t, p) }, false, true},
}

// isChange reports whether an error says that this file has changed, as the user's error.
func isChange(err error, path string) bool {
	return errors.As(err, new(Difference)) && job.ClassOf(err) == job.User && strings.Contains(err.Error(), path+": input changed while the job ran: ")
}

// Whatever happens to a file after its job was planned, in each format: if it is another file then, a map fails with its name before or after it has read it.
func TestChangedInput(t *testing.T) {
	text := []byte(strings.Repeat("some words\tof a line\n", 400))
	records, _ := sequenceFile(t, 40, nil, false)
	formats := []struct {
		name, file string
		data       []byte
		spec       job.MapReduceSpec
	}{
		{"text", "in.txt", text, job.MapReduceSpec{MaxSplit: 1000, OneFilePerSplit: true}},
		{"combined", "in.txt", text, job.MapReduceSpec{MaxSplit: 1 << 20}},
		{"key and value", "in.txt", text, job.MapReduceSpec{MaxSplit: 1000, InputFormat: "KeyValueTextInputFormat"}},
		{"lines", "in.txt", text, job.MapReduceSpec{InputFormat: "NLineInputFormat", LinesPerMap: 100}},
		{"offsets", "in.txt", text, job.MapReduceSpec{MaxSplit: 1000, OffsetKeys: true}},
		{"compressed", "in.txt.gz", gzipped(t, text), job.MapReduceSpec{}},
		{"sequence", "in.seq", records, job.MapReduceSpec{InputFormat: job.SequenceTextInput, MaxSplit: 10_000}},
		{"xml", "in.xml", []byte(strings.Repeat("<p>x</p>\n", 500)), job.MapReduceSpec{InputFormat: "StreamXmlRecordReader", MaxSplit: 1000,
			Conf: map[string]string{job.XMLBeginKey: "<p>", job.XMLEndKey: "</p>"}}},
	}
	for _, f := range formats {
		for _, a := range alterations {
			dir := t.TempDir()
			path := filepath.Join(dir, f.file)
			writeOld(t, path, f.data)
			writeOld(t, filepath.Join(dir, "z.txt"), []byte("of another file\n"))
			spec := f.spec
			spec.Inputs = []string{path, filepath.Join(dir, "z.txt")}
			if f.name == "sequence" || f.name == "xml" {
				spec.Inputs = spec.Inputs[:1]
			}
			splits, _, err := PlanSplits(&spec, SplitOptions{Slots: 1})
			if err != nil {
				t.Fatal(err)
			}
			want, _, err := readAll(&spec, splits)
			if err != nil {
				t.Fatal(err)
			}
			// While the first split is read.
			r, err := OpenSplit(context.Background(), splits[0], &spec, nil, nil)
			do(t, err)
			one := make([]byte, 10)
			if _, err := io.ReadFull(r, one); err != nil {
				t.Fatal(err)
			}
			a.do(t, path)
			rest, err := io.ReadAll(r)
			if err == nil && !strings.HasPrefix(want, string(one)+string(rest)) || err != nil && !isChange(err, path) || a.harmful && !a.open && err == nil {
				t.Errorf("%s, while it is read %s: %d bytes, %v", f.name, a.name, len(rest)+10, err)
			}
			do(t, r.Close())
			// Before the others.
			got, _, err := readAll(&spec, splits)
			if a.harmful && !isChange(err, path) || !a.harmful && (err != nil || got != want) {
				t.Errorf("%s, before it is read %s: %d bytes, %v", f.name, a.name, len(got), err)
			}
			if cerr := Check(splits); a.harmful != isChange(cerr, path) {
				t.Errorf("%s, before the job goes on %s: %v", f.name, a.name, cerr)
			}
			for i := range splits { // as a journal of an earlier version has them
				for j := range splits[i].Ranges {
					splits[i].Ranges[j].Modified, splits[i].Ranges[j].Inode = 0, 0
				}
			}
			if err := Check(splits); isChange(err, path) != (a.harmful && strings.Contains(fmt.Sprint(err), "bytes when")) {
				t.Errorf("%s, planned by an earlier version, %s: %v", f.name, a.name, err)
			}
		}
	}
}

// A reader that stops before the end of a file says at its close whether the file has changed.
func TestChangedInputNotReadToItsEnd(t *testing.T) {
	path := filepath.Join(t.TempDir(), "in")
	writeOld(t, path, bytes.Repeat([]byte("line\n"), 1000))
	splits, _, err := PlanSplits(&job.MapReduceSpec{Inputs: []string{path}}, SplitOptions{Slots: 1})
	do(t, err)
	r, err := OpenSplit(context.Background(), splits[0], &job.MapReduceSpec{}, nil, nil)
	do(t, err)
	_, err = r.Read(make([]byte, 10))
	do(t, err)
	writeFile(t, path, bytes.Repeat([]byte("LINE\n"), 1000))
	if err := r.Close(); !isChange(err, path) {
		t.Errorf("%v", err)
	}
}

// Of files that change at random moments, a job either reads what was listed, or fails with the name of one that changed.
func TestInputsOfOneMoment(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(rt *rapid.T) {
		do(rt, os.RemoveAll(dir))
		spec := &job.MapReduceSpec{Inputs: []string{dir}, MaxSplit: rapid.Int64Range(20, 4000).Draw(rt, "split"), OneFilePerSplit: rapid.Bool().Draw(rt, "one file"),
			OffsetKeys: rapid.Bool().Draw(rt, "offsets")}
		files := rapid.IntRange(1, 3).Draw(rt, "files")
		path := func(i int) string { return filepath.Join(dir, fmt.Sprintf("f%d", i)) }
		for i := range files {
			writeOld(rt, path(i), bytes.Repeat([]byte("a line\n"), rapid.IntRange(1, 300).Draw(rt, "lines")))
			f, err := os.Open(path(i)) // so that no other file gets its inode number
			do(rt, err)
			defer func() { _ = f.Close() }()
		}
		splits, _, err := PlanSplits(spec, SplitOptions{Slots: 1})
		do(rt, err)
		want, _, err := readAll(spec, splits)
		do(rt, err)
		var got strings.Builder
		altered := map[string]bool{}
		piece := make([]byte, rapid.IntRange(1, 2000).Draw(rt, "piece"))
		for _, s := range splits {
			r, err := OpenSplit(context.Background(), s, spec, nil, nil)
			do(rt, err)
			for err == nil {
				if rapid.IntRange(0, 9).Draw(rt, "alter") == 0 {
					p := path(rapid.IntRange(0, files-1).Draw(rt, "file"))
					a := rapid.SampledFrom(alterations).Draw(rt, "how")
					if info, err := os.Stat(p); err == nil && info.Size() > 1 && !altered[p+".away"] {
						a.do(rt, p)
						altered[p] = altered[p] || a.harmful
						altered[p+".away"] = strings.Contains(a.name, "link to")
					}
				}
				var n int
				n, err = r.Read(piece)
				got.Write(piece[:n])
			}
			do(rt, r.Close())
			if err == io.EOF {
				continue
			}
			for p, is := range altered {
				if is && isChange(err, p) {
					return
				}
			}
			rt.Fatalf("%v, where %v changed", err, altered)
		}
		if got.String() != want {
			rt.Fatalf("%d bytes were read that were not listed, without an error", got.Len())
		}
	})
}
