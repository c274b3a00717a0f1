package seqfile

import (
	"bytes"
	"compress/zlib"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"
)

func inflate(in io.Reader) (io.ReadCloser, error) { return zlib.NewReader(in) }

func deflate(out io.Writer) (io.WriteCloser, error) { return zlib.NewWriter(out), nil }

// read returns the records of the range [start, stop) of a file as lines.
func read(data []byte, start, stop int64) (string, error) {
	h, err := ReadHeader(iotest.OneByteReader(bytes.NewReader(data)))
	if err != nil {
		return "", err
	}
	keyText, err := TextOf(h.Key, false)
	valueText, verr := TextOf(h.Value, false)
	if err = errors.Join(err, verr); err != nil {
		return "", err
	}
	open := func(offset int64) io.Reader { return iotest.HalfReader(bytes.NewReader(data[offset:])) }
	r, err := NewReader(h, start, stop, open, inflate)
	if err != nil {
		return "", err
	}
	var lines []byte
	for {
		key, value, err := r.Next()
		if errors.Is(err, io.EOF) && !errors.Is(err, ErrFormat) {
			return string(lines), nil
		}
		if err != nil {
			return string(lines), err
		}
		if lines, err = keyText(lines, key); err != nil {
			return "", err
		}
		if lines, err = valueText(append(lines, '\t'), value); err != nil {
			return "", err
		}
		lines = append(lines, '\n')
	}
}

// SequenceFile.Writer of Hadoop 3.4.2 has written the files of testdata.
func golden(t testing.TB) map[string]string {
	texts := ""
	for i := range 8 {
		texts += fmt.Sprintf("key%d\tvalue é %d\n", i, i)
	}
	texts += "\t\n"
	return map[string]string{
		"none": texts, "record": texts, "block": texts,
		"writables": "-5\t00 0a ff\n1099511627776\t\n",
		"numbers":   "0\t(null)\n127\t(null)\n128\t(null)\n-112\t(null)\n-113\t(null)\n65536\t(null)\n9223372036854775807\t(null)\n-9223372036854775808\t(null)\n",
	}
}

func load(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name+".seq"))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestReadHadoopFiles(t *testing.T) {
	for name, want := range golden(t) {
		data := load(t, name)
		if got, err := read(data, 0, int64(len(data))); got != want || err != nil {
			t.Errorf("%s: got %q, %v", name, got, err)
		}
		// Two ranges together contain each record once.
		for cut := range int64(len(data)) {
			first, err := read(data, 0, cut)
			second, err2 := read(data, cut, int64(len(data)))
			if first+second != want || err != nil || err2 != nil {
				t.Fatalf("%s cut at %d: got %q and %q, %v, %v", name, cut, first, second, err, err2)
			}
		}
		// A file that is cut off returns an error, or a beginning of its records.
		for end := range data {
			if got, err := read(data[:end], 0, int64(end)); err == nil && !strings.HasPrefix(want, got) || err != nil && !errors.Is(err, ErrFormat) {
				t.Errorf("%s cut off at %d: got %q, %v", name, end, got, err)
			}
		}
	}
}

// Records that were written are read again, from any ranges.
func TestWrite(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		o := Options{Sync: [syncSize]byte{1, 2, 3, 0xff, 0xff}}
		if rapid.Bool().Draw(rt, "compressed") {
			o.Codec, o.Pack, o.Blocks = "org.apache.hadoop.io.compress.DefaultCodec", deflate, rapid.Bool().Draw(rt, "blocks")
		}
		var file bytes.Buffer
		w, err := NewWriter(&file, o)
		if err != nil {
			rt.Fatal(err)
		}
		var want strings.Builder
		long := strings.Repeat("long ", rapid.IntRange(0, 30_000).Draw(rt, "long"))
		for _, text := range rapid.SliceOfN(rapid.StringMatching(`[a-z]{0,5}`), 0, 40).Draw(rt, "texts") {
			if err := w.Append([]byte(text), []byte(long+text)); err != nil {
				rt.Fatal(err)
			}
			want.WriteString(text + "\t" + long + text + "\n")
		}
		if err := w.Close(); err != nil {
			rt.Fatal(err)
		}
		data, size := file.Bytes(), int64(file.Len())
		cut := rapid.Int64Range(0, size).Draw(rt, "cut")
		first, err := read(data, 0, cut)
		second, err2 := read(data, cut, size)
		if first+second != want.String() || err != nil || err2 != nil {
			rt.Fatalf("%d bytes cut at %d: got %d and %d, want %d; %v, %v", size, cut, len(first), len(second), want.Len(), err, err2)
		}
	})
}

// Apart from the random bytes, a file is the one that Hadoop writes.
func TestWriteAsHadoop(t *testing.T) {
	want := load(t, "none")
	h, err := ReadHeader(bytes.NewReader(want))
	if err != nil {
		t.Fatal(err)
	}
	var got bytes.Buffer
	w, err := NewWriter(&got, Options{Sync: h.Sync})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 8 {
		if err := w.Append(fmt.Appendf(nil, "key%d", i), fmt.Appendf(nil, "value é %d", i)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Append(nil, nil), w.Close()); err != nil {
		t.Fatal(err)
	}
	// The sync marks of Hadoop's file are closer together than usual.
	mark := append([]byte{0xff, 0xff, 0xff, 0xff}, h.Sync[:]...)
	if plain := bytes.ReplaceAll(want, mark, nil); !bytes.Equal(got.Bytes(), plain) {
		t.Errorf("got %q, want %q", got.Bytes(), plain)
	}
}

func TestVarints(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.Int64().Draw(rt, "n")
		if got, rest, whole := varint(append(appendVarint(nil, n), 7)); got != n || len(rest) != 1 || !whole {
			rt.Fatalf("%d: got %d, %d bytes left, %v", n, got, len(rest), whole)
		}
	})
}

func TestUnknownClass(t *testing.T) {
	if _, err := TextOf("com.example.Pair", false); err == nil || !strings.Contains(err.Error(), "com.example.Pair") {
		t.Errorf("got %v", err)
	}
}

// FuzzRead: the reader panics for no file, and its errors wrap ErrFormat.
func FuzzRead(f *testing.F) {
	for name := range golden(f) {
		f.Add(load(f, name), int64(100))
	}
	f.Fuzz(func(t *testing.T, data []byte, cut int64) {
		cut = max(0, min(cut, int64(len(data))))
		for _, span := range [][2]int64{{0, cut}, {cut, int64(len(data))}} {
			if _, err := read(data, span[0], span[1]); err != nil && !errors.Is(err, ErrFormat) && !strings.Contains(err.Error(), "Java class") {
				t.Errorf("%d to %d: %v", span[0], span[1], err)
			}
		}
	})
}
