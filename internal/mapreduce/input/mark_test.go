package input

import (
	"bytes"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"berth/internal/core/job"
)

// A byte order mark at the start of a file is not part of its first line, for any ranges, codec and style
// of lines, as in Hadoop's LineRecordReader.
func TestByteOrderMark(t *testing.T) {
	const bom = byteOrderMark
	dir := t.TempDir()
	for i, tt := range []struct{ in, want, keyed string }{
		{bom + "a\tx\nb\n", "a\tx\nb\n", "0\ta\tx\n7\tb\n"},
		{bom, "", ""},
		{bom + "\nx\n", "\nx\n", "0\t\n4\tx\n"},
		{bom + bom + "q\n" + bom + "x\n", bom + "q\n" + bom + "x\n", "0\t" + bom + "q\n8\t" + bom + "x\n"},
		{bom + "no newline", "no newline\n", "0\tno newline\n"},
		{"\xef\xbb", "\xef\xbb\n", "0\t\xef\xbb\n"},
		{"\xef\xbba\n", "\xef\xbba\n", "0\t\xef\xbba\n"},
		{"ab\n" + bom + "\n", "ab\n" + bom + "\n", "0\tab\n3\t" + bom + "\n"},
	} {
		plain := filepath.Join(dir, fmt.Sprint(i))
		writeFile(t, plain, []byte(tt.in))
		packed := plain + ".GZ"
		var b bytes.Buffer
		w, _ := newGzipWriter(&b)
		_, _ = io.WriteString(w, tt.in)
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		writeFile(t, packed, b.Bytes())
		for keyed, want := range map[bool]string{false: tt.want, true: tt.keyed} {
			spec := &job.MapReduceSpec{OffsetKeys: keyed}
			for _, path := range []string{plain, packed} {
				if got := readSplit(t, whole(t, path), spec, nil); got != want {
					t.Errorf("%q in %s, keyed %v: got %q, want %q", tt.in, path, keyed, got, want)
				}
			}
			size := int64(len(tt.in))
			for length := int64(1); length < size; length++ { // ranges of every length
				var all strings.Builder
				var told tally
				for at := int64(0); at < size; at += length {
					r := job.Range{Path: plain, Offset: at, Length: min(length, size-at), Size: size}
					all.WriteString(readSplit(t, job.Split{Ranges: []job.Range{r}}, spec, &told))
				}
				if all.String() != want {
					t.Errorf("%q in ranges of %d, keyed %v: got %q, want %q", tt.in, length, keyed, all.String(), want)
				}
			}
		}
	}
}

// Folders in input folders are skipped if the key says so, also without the key for which Hadoop needs no
// value. If that key is true, they are read nevertheless.
func TestIgnoreSubfolders(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "f"), []byte("x\n"))
	writeFile(t, filepath.Join(dir, "sub", "g"), []byte("y\n"))
	for _, tt := range []struct {
		conf  map[string]string
		files int
	}{
		{nil, 2},
		{map[string]string{ignoreDirsKey: "true"}, 1},
		{map[string]string{ignoreDirsKey: "true", recursiveKey: "false"}, 1},
		{map[string]string{ignoreDirsKey: "true", recursiveKey: "true"}, 2},
		{map[string]string{ignoreDirsKey: "false"}, 2},
	} {
		_, sum, err := PlanSplits(&job.MapReduceSpec{Inputs: []string{dir}, Conf: tt.conf}, SplitOptions{})
		if err != nil || sum.Files != tt.files {
			t.Errorf("%v: %d files, %v; want %d", tt.conf, sum.Files, err, tt.files)
		}
	}
}
