package input

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"

	"berth/internal/core/job"
)

// tally is a Progress that sums what it receives.
type tally struct {
	bytes, records, total int64
}

func (t *tally) In(bytes, records int64) { t.bytes += bytes; t.records += records }
func (t *tally) Total(bytes int64)       { t.total += bytes }

// fataler is the part of testing.T and of a property's T that is used here.
type fataler interface{ Fatal(...any) }

func writeFile(t fataler, path string, data []byte) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
}

func readSplit(t fataler, split job.Split, spec *job.MapReduceSpec, prog Progress) string {
	data, err := tryReadSplit(split, spec, prog)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func tryReadSplit(split job.Split, spec *job.MapReduceSpec, prog Progress) (string, error) {
	r, err := OpenSplit(context.Background(), split, spec, nil, prog)
	if err != nil {
		return "", err
	}
	var out bytes.Buffer
	_, err = io.Copy(&out, r)
	return out.String(), errors.Join(err, r.Close())
}

// whole returns a split of complete files.
func whole(t fataler, paths ...string) job.Split {
	var s job.Split
	for _, p := range paths {
		info, err := os.Stat(p)
		if err != nil {
			t.Fatal(err)
		}
		s.Ranges = append(s.Ranges, inputFile{Range: job.Range{Path: p, Size: info.Size()}, packed: codecOf(p) != nil}.whole())
	}
	return s
}

// completed returns data with its last line ended.
func completed(data []byte) string {
	if len(data) > 0 && data[len(data)-1] != '\n' {
		return string(data) + "\n"
	}
	return string(data)
}

// textGen draws short and long lines, empty ones, and a last one with or without its newline.
var textGen = rapid.Custom(func(t *rapid.T) []byte {
	var text []byte
	for i := range rapid.IntRange(0, 8).Draw(t, "lines") {
		n := rapid.OneOf(
			rapid.IntRange(0, 5), rapid.IntRange(0, 5), rapid.IntRange(0, 5),
			rapid.SampledFrom([]int{tailChunk - 1, tailChunk, tailChunk + 1, 2*tailChunk + 3}),
		).Draw(t, "length")
		text = append(text, bytes.Repeat([]byte{byte('a' + i)}, n)...)
		text = append(text, '\n')
	}
	if len(text) > 0 && rapid.Bool().Draw(t, "cut") {
		text = text[:len(text)-1]
	}
	return text
})

// cutsGen draws ascending offsets in a file of this size, often near newlines.
func cutsGen(text []byte) *rapid.Generator[[]int64] {
	return rapid.Custom(func(t *rapid.T) []int64 {
		cuts := []int64{0}
		for range rapid.IntRange(0, 4).Draw(t, "cuts") {
			at := rapid.IntRange(0, len(text)).Draw(t, "at")
			if i := bytes.IndexByte(text[at:], '\n'); i >= 0 && rapid.Bool().Draw(t, "near") {
				at = min(at+i+rapid.IntRange(0, 2).Draw(t, "by"), len(text))
			}
			if int64(at) > cuts[len(cuts)-1] {
				cuts = append(cuts, int64(at))
			}
		}
		return append(cuts, int64(len(text)))
	})
}

// For any cuts, the ranges of a file contain its lines, each once and in the range in which it begins.
func TestRangesGiveEachLineOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	rapid.Check(t, func(t *rapid.T) {
		text := textGen.Draw(t, "text")
		writeFile(t, path, text)
		cuts := cutsGen(text).Draw(t, "cuts")
		var all strings.Builder
		var prog tally
		for i, from := range cuts[:len(cuts)-1] {
			to := cuts[i+1]
			split := job.Split{Ranges: []job.Range{{Path: path, Offset: from, Length: to - from, Size: int64(len(text))}}}
			got := readSplit(t, split, &job.MapReduceSpec{}, &prog)
			if want := linesBeginningIn(text, from, to); got != want {
				t.Fatalf("range %d to %d: got %d bytes, want %d", from, to, len(got), len(want))
			}
			all.WriteString(got)
		}
		if all.String() != completed(text) {
			t.Fatalf("got %d bytes, want %d", all.Len(), len(completed(text)))
		}
		if prog.bytes != int64(len(text)) || prog.total != int64(len(text)) || prog.records != int64(strings.Count(all.String(), "\n")) {
			t.Fatalf("reported %+v of %d bytes", prog, len(text))
		}
	})
}

// linesBeginningIn returns the lines of text that begin in [from, to), by definition.
func linesBeginningIn(text []byte, from, to int64) string {
	var lines strings.Builder
	at := int64(0)
	for _, line := range bytes.SplitAfter(text, lineEnd) {
		if len(line) > 0 && from <= at && at < to {
			lines.WriteString(completed(line))
		}
		at += int64(len(line))
	}
	return lines.String()
}

// TestLineEnds: lines end with LF, CR or CR LF, wherever a file is cut, with any reads, packed and as keys of offsets.
func TestLineEnds(t *testing.T) {
	dir := t.TempDir()
	plain, packed := filepath.Join(dir, "a"), filepath.Join(dir, "a.gz")
	rapid.Check(t, func(t *rapid.T) {
		text := []byte(strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"a", "\r", "\n", "\r\n", "bc"}), 0, 12).Draw(t, "text"), ""))
		if rapid.IntRange(0, 9).Draw(t, "is long") == 0 { // the ends are around the end of a piece that is read at once
			text = append(bytes.Repeat([]byte{'x'}, tailChunk-rapid.IntRange(0, 12).Draw(t, "missing")), text...)
		}
		var want, keyed strings.Builder
		at := 0
		for rest := text; len(rest) > 0; {
			line, size := rest, len(rest)
			if i := bytes.IndexAny(rest, "\r\n"); i >= 0 {
				line, size = rest[:i], i+1
				if bytes.HasPrefix(rest[i:], []byte("\r\n")) {
					size++
				}
			}
			fmt.Fprintf(&want, "%s\n", line)
			fmt.Fprintf(&keyed, "%d\t%s\n", at, line)
			rest, at = rest[size:], at+size
		}
		writeFile(t, plain, text)
		writeFile(t, packed, gzipped(t, text))
		cuts := cutsGen(text).Draw(t, "cuts")
		byLines, err := inputFile{Range: job.Range{Path: plain, Size: int64(len(text))}}.cutLines(1)
		if err != nil || len(byLines) != strings.Count(want.String(), "\n") {
			t.Fatalf("%q has %d lines (%v)", text, len(byLines), err)
		}
		ranges := map[string][]job.Range{"cuts": nil, "lines": byLines, "packed": whole(t, packed).Ranges}
		for i, from := range cuts[:len(cuts)-1] {
			ranges["cuts"] = append(ranges["cuts"], job.Range{Path: plain, Offset: from, Length: cuts[i+1] - from, Size: int64(len(text))})
		}
		for name, ranges := range ranges {
			for keys, want := range map[bool]string{false: want.String(), true: keyed.String()} {
				r, err := OpenSplit(context.Background(), job.Split{Ranges: ranges}, &job.MapReduceSpec{OffsetKeys: keys}, nil, nil)
				if err != nil {
					t.Fatal(err)
				}
				var in io.Reader = r
				if len(text) < 100 && rapid.Bool().Draw(t, "byte by byte") {
					in = iotest.OneByteReader(r)
				}
				got, err := io.ReadAll(in)
				if string(got) != want || err != nil || r.Close() != nil {
					t.Fatalf("%q by %s at %v, with offsets %t: %q (%v), want %q", text, name, cuts, keys, got, err, want)
				}
			}
		}
	})
}

// A split of several files has the same content for any sizes of reads, and never joins lines.
func TestSplitOfSeveralFiles(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		var paths []string
		var want, keyed strings.Builder
		for i := range rapid.IntRange(0, 4).Draw(t, "files") {
			path := filepath.Join(dir, fmt.Sprintf("f%d", i))
			text := textGen.Draw(t, "text")
			if rapid.Bool().Draw(t, "gz") {
				path += ".gz"
				writeFile(t, path, gzipped(t, text))
			} else {
				writeFile(t, path, text)
			}
			paths = append(paths, path)
			want.WriteString(completed(text))
			at := 0
			for _, line := range strings.SplitAfter(completed(text), "\n") {
				if line != "" {
					fmt.Fprintf(&keyed, "%d\t%s", at, line)
				}
				at += len(line)
			}
		}
		split := whole(t, paths...)
		sizes := []int{100, tailChunk, 2 * bufferSize}
		if want.Len() < tailChunk {
			sizes = append(sizes, 1)
		}
		buf := make([]byte, rapid.SampledFrom(sizes).Draw(t, "buffer"))
		for _, c := range []struct {
			spec job.MapReduceSpec
			want string
		}{{job.MapReduceSpec{}, want.String()}, {job.MapReduceSpec{OffsetKeys: true}, keyed.String()}} {
			if got := readSplit(t, split, &c.spec, nil); got != c.want {
				t.Fatalf("%+v: got %d bytes, want %d", c.spec, len(got), len(c.want))
			}
			r, err := OpenSplit(context.Background(), split, &c.spec, nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			var got bytes.Buffer
			if _, err := io.CopyBuffer(struct{ io.Writer }{&got}, struct{ io.Reader }{r}, buf); err != nil {
				t.Fatal(err)
			}
			if got.String() != c.want {
				t.Fatalf("%+v read by %d: got %d bytes, want %d", c.spec, len(buf), got.Len(), len(c.want))
			}
			if err := r.Close(); err != nil {
				t.Fatal(err)
			}
		}
	})
}

func TestOpenSplitIsAReader(t *testing.T) {
	dir := t.TempDir()
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	writeFile(t, a, []byte("one\ntwo"))
	writeFile(t, b, []byte("three\n"))
	r, err := OpenSplit(context.Background(), whole(t, a, b), &job.MapReduceSpec{}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := iotest.TestReader(r, []byte("one\ntwo\nthree\n")); err != nil {
		t.Error(err)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	if _, err := r.Read(make([]byte, 1)); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("read after close: got %v", err)
	}
}

func TestOpenSplitStopsWithItsContext(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	writeFile(t, path, []byte("x\n"))
	ctx, cancel := context.WithCancel(context.Background())
	r, err := OpenSplit(ctx, whole(t, path), &job.MapReduceSpec{}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	if _, err := io.ReadAll(r); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
}

// A line much larger than any buffer is read completely, and in one range only.
func TestLongLine(t *testing.T) {
	const size = 70 << 20
	path := filepath.Join(t.TempDir(), "long")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(file.Truncate(size), file.Close()); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ from, to, want int64 }{
		{0, size, size + 1}, {0, 1000, size + 1}, {1000, size / 2, 0}, {size / 2, size, 0},
	} {
		split := job.Split{Ranges: []job.Range{{Path: path, Offset: c.from, Length: c.to - c.from, Size: size}}}
		r, err := OpenSplit(context.Background(), split, &job.MapReduceSpec{}, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		if n, err := io.Copy(io.Discard, r); err != nil || n != c.want {
			t.Errorf("range %d to %d: got %d bytes, %v, want %d", c.from, c.to, n, err, c.want)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestInputThatChanged(t *testing.T) {
	path := filepath.Join(t.TempDir(), "in put\n.txt")
	writeFile(t, path, []byte("one\ntwo\n"))
	split := whole(t, path)
	for _, c := range []struct {
		name, want string
		change     func() error
	}{
		{"longer", "had 8 bytes when the job was planned, and has 12 now", func() error { return os.WriteFile(path, []byte("one\ntwo\nsix\n"), 0o644) }},
		{"shorter", "has 4 now", func() error { return os.Truncate(path, 4) }},
		{"gone", "cannot be read: no such file", func() error { return os.Remove(path) }},
	} {
		if err := c.change(); err != nil {
			t.Fatal(err)
		}
		_, err := tryReadSplit(split, &job.MapReduceSpec{}, nil)
		if job.ClassOf(err) != job.User || job.CodeOf(err) != job.CodeIO || !strings.Contains(fmt.Sprint(err), c.want) {
			t.Errorf("%s: got %v, want a user error with %q", c.name, err, c.want)
		}
		if !strings.Contains(fmt.Sprint(err), path) {
			t.Errorf("%s: %v does not name the file", c.name, err)
		}
	}
}

func TestInputThatShrinksWhileRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	writeFile(t, path, bytes.Repeat([]byte("0123456789abcde\n"), 2*bufferSize/16))
	r, err := OpenSplit(context.Background(), whole(t, path), &job.MapReduceSpec{}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Read(make([]byte, tailChunk)); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, 1000); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadAll(r); err == nil || !strings.Contains(err.Error(), "changed while the job ran") {
		t.Errorf("got %v", err)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
}

func gzipped(t fataler, data []byte) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// An error of an input file can be distinguished from other errors.
func TestInputErrors(t *testing.T) {
	dir := t.TempDir()
	changed := filepath.Join(dir, "changed")
	if err := os.WriteFile(changed, []byte("a line\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	tests := []struct {
		name  string
		ctx   context.Context
		path  string
		input bool
	}{
		{"missing", t.Context(), filepath.Join(dir, "none"), true},
		{"no file", t.Context(), dir, true},
		{"changed", t.Context(), changed, true},
		{"cancelled", cancelled, changed, false},
	}
	for _, tt := range tests {
		sp := job.Split{Ranges: []job.Range{{Path: tt.path, Length: 1, Size: 1}}}
		r, err := OpenSplit(tt.ctx, sp, &job.MapReduceSpec{}, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		_, err = io.ReadAll(r)
		var in *InputError
		if err == nil || errors.As(err, &in) != tt.input {
			t.Errorf("%s: %v", tt.name, err)
		}
		if err := r.Close(); err != nil {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
}
