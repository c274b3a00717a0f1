package input

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"berth/internal/core/job"
	"berth/internal/mapreduce/seqfile"
)

// sequenceFile returns a SequenceFile of n records of texts, compressed with a codec if it is not nil.
func sequenceFile(t testing.TB, n int, c *Codec, blocks bool) (data []byte, want string) {
	t.Helper()
	o := seqfile.Options{Sync: [16]byte{1, 2, 3}, Blocks: blocks}
	if c != nil {
		o.Codec, o.Pack = c.Class, c.Writer
	}
	var file bytes.Buffer
	w, err := seqfile.NewWriter(&file, o)
	if err != nil {
		t.Fatal(err)
	}
	var lines strings.Builder
	filler := strings.Repeat("x", 1000)
	for i := range n {
		key, value := fmt.Sprintf("key %d", i), fmt.Sprintf("%s %d", filler, i)
		if err := w.Append([]byte(key), []byte(value)); err != nil {
			t.Fatal(err)
		}
		lines.WriteString(key + "\t" + value + "\n")
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return file.Bytes(), lines.String()
}

func TestSequenceInput(t *testing.T) {
	path := filepath.Join(t.TempDir(), "part.gz") // the suffix must not be taken for a codec
	spec := &job.MapReduceSpec{Inputs: []string{path}, InputFormat: job.SequenceTextInput, MaxSplit: 50_000}
	check := func(what string, c *Codec, blocks bool) {
		t.Helper()
		data, want := sequenceFile(t, 2500, c, blocks)
		writeFile(t, path, data)
		splits, sum, err := PlanSplits(spec, SplitOptions{Slots: 1})
		if err != nil || sum.Packed != 0 {
			t.Fatal(sum, err)
		}
		got, records, err := readAll(spec, splits)
		if got != want || records != 2500 || err != nil {
			t.Errorf("%s, %d splits: got %d bytes, %d records, %v; want %d bytes", what, len(splits), len(got), records, err, len(want))
		}
	}
	check("plain", nil, false)
	for i := range codecs {
		if codecs[i].Name != "bzip2" { // which takes seconds for 2500 texts
			check(codecs[i].Name, &codecs[i], false)
		}
		check(codecs[i].Name+" blocks", &codecs[i], true)
	}
}

func TestSequenceRecords(t *testing.T) {
	dir := t.TempDir()
	file := func(name, key, value string) string {
		var data bytes.Buffer
		w, err := seqfile.NewWriter(&data, seqfile.Options{})
		if err == nil {
			err = w.Append([]byte(key), []byte(value))
		}
		if err != nil {
			t.Fatal(err)
		}
		writeFile(t, filepath.Join(dir, name), data.Bytes())
		return filepath.Join(dir, name)
	}
	writeFile(t, filepath.Join(dir, "text"), []byte("a\tb\n"))
	writeFile(t, filepath.Join(dir, "empty"), nil)
	for _, test := range []struct {
		path         string
		native       string
		ignoreKeys   bool
		want, refuse string
	}{
		{path: file("lines", "k\t1", "a\nb"), want: "k\t1\ta\nb\n"},
		{path: file("values", "k", "v"), ignoreKeys: true, want: "v\n"},
		{path: file("tab", "k\t1", "a"), native: job.NativeIdentity, refuse: "a key contains a TAB"},
		{path: file("newline", "k", "a\nb"), native: job.NativeIdentity, refuse: "a record contains a newline"},
		{path: filepath.Join(dir, "text"), refuse: "it does not begin with SEQ"},
		{path: filepath.Join(dir, "empty")},
	} {
		spec := &job.MapReduceSpec{InputFormat: job.SequenceInput, IgnoreKeys: test.ignoreKeys, Mapper: job.Program{Native: test.native}}
		got, _, err := readAll(spec, []job.Split{whole(t, test.path)})
		if got != test.want || (err == nil) != (test.refuse == "") || err != nil && !strings.Contains(err.Error(), test.refuse) {
			t.Errorf("%s: got %q, %v", test.path, got, err)
		}
	}
}
