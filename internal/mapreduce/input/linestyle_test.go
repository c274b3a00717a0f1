package input

import (
	"context"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"berth/internal/core/job"
)

// A mapper reads the records of KeyValueTextInputFormat as key, TAB, value, also if a line has no TAB.
func TestKeyValueInput(t *testing.T) {
	const in = "nokey\nk\tv\n\n\tv\nlast"
	path := filepath.Join(t.TempDir(), "in")
	writeFile(t, path, []byte(in))
	for _, test := range []struct {
		native, format, want string
	}{
		{"", "KeyValueTextInputFormat", "nokey\t\nk\tv\n\t\n\tv\nlast\t\n"},
		{job.NativeIdentity, "KeyValueTextInputFormat", in + "\n"},
		{"", "TextInputFormat", in + "\n"},
	} {
		spec := &job.MapReduceSpec{InputFormat: test.format, Mapper: job.Program{Native: test.native}}
		for _, read := range []func(io.Reader) io.Reader{func(r io.Reader) io.Reader { return r }, iotest.OneByteReader, iotest.HalfReader} {
			lines, err := OpenSplit(context.Background(), whole(t, path), spec, nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			got, err := io.ReadAll(read(lines))
			if string(got) != test.want || err != nil || lines.Close() != nil {
				t.Errorf("%+v: got %q, %v", test, got, err)
			}
		}
	}
	// Reads of one byte cut everywhere.
	r := &styledRange{source: newTextSource("a\nb\tc\n"), piece: (&tabs{}).piece}
	var got []byte
	for b := make([]byte, 1); ; {
		n, err := r.Read(b)
		got = append(got, b[:n]...)
		if err != nil {
			break
		}
	}
	if string(got) != "a\t\nb\tc\n" {
		t.Errorf("byte by byte: %q", got)
	}
}

// textSource is a source over a text.
type textSource struct{ io.Reader }

func newTextSource(text string) textSource {
	return textSource{iotest.HalfReader(strings.NewReader(text))}
}

func (textSource) Close() error     { return nil }
func (textSource) bytesRead() int64 { return 0 }
