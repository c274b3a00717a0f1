package journal

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"berth/internal/core/event"
	"berth/internal/core/job"
)

// A crash may leave any beginning of the file. Its whole entries are replayed, the
// rest is cut off when it is opened, and what is appended then follows them.
func TestEveryPrefixIsRecovered(t *testing.T) {
	entries := entriesOf("bag-1", 4)
	path, data, starts := written(t, entries)
	for cut := range len(data) + 1 {
		write(t, path, data[:cut])
		whole := 0
		for whole < len(entries) && starts[whole+1] <= int64(cut) {
			whole++
		}
		end := starts[whole]
		if cut < fileHeaderSize {
			end = 0
		}
		got, rec, err := replayed(path)
		if err != nil {
			t.Fatalf("cut at %d: %v", cut, err)
		}
		sameEntries(t, got, entries[:whole])
		want := Recovery{LastSeq: uint64(whole), End: end, TruncatedBytes: int64(cut) - end}
		if rec != want {
			t.Fatalf("cut at %d: %+v, want %+v", cut, rec, want)
		}
		j, opened, err := reopened(path)
		if err != nil || opened != want {
			t.Fatalf("cut at %d: opened %+v, %v", cut, opened, err)
		}
		next := event.Entry{Seq: 100, At: 7, Record: event.JobFinalizing{Job: "bag-1"}}
		if err := errors.Join(j.Append(next), j.Close()); err != nil {
			t.Fatalf("cut at %d: %v", cut, err)
		}
		got, rec, err = replayed(path)
		if err != nil || rec.TruncatedBytes != 0 {
			t.Fatalf("cut at %d, then appended: %+v, %v", cut, rec, err)
		}
		sameEntries(t, got, append(slices.Clone(entries[:whole]), next))
	}
}

// Whatever byte is flipped, and in whatever way: the file is refused and the right
// place is named, or the flip was in the last frame and passes for a torn tail. Wrong
// entries never come out.
func TestEveryFlippedByteIsFound(t *testing.T) {
	entries := entriesOf("bag-1", 6)
	path, data, starts := written(t, entries)
	last := len(entries) - 1
	for at := range data {
		for _, flip := range []byte{0x01, 0x10, 0x80, 0xff} {
			bad := bytes.Clone(data)
			bad[at] ^= flip
			write(t, path, bad)
			frame := -1 // in which the byte is
			for frame < last && starts[frame+1] <= int64(at) {
				frame++
			}
			got, rec, err := replayed(path)
			sameEntries(t, got, entries[:max(frame, 0)])
			switch {
			case frame < 0:
				wantRefused(t, path, err)
			case frame == last:
				if err != nil || rec.TruncatedBytes != int64(len(data))-starts[last] {
					t.Fatalf("byte %d of the last frame: %+v, %v", at, rec, err)
				}
			default:
				wantRefused(t, path, err)
				var d *Damage
				if !errors.As(err, &d) || d.Offset != starts[frame] || d.Next != starts[frame+1] {
					t.Fatalf("byte %d of the frame at %d: %v", at, starts[frame], err)
				}
			}
		}
	}
}

func wantRefused(t *testing.T, path string, err error) {
	t.Helper()
	var e *job.Error
	if !errors.As(err, &e) || e.Where != path || e.Do == "" || e.Code != job.CodeIO {
		t.Fatalf("want an error that names the file and what to do, got %v", err)
	}
	before, readErr := os.ReadFile(path)
	if readErr != nil {
		t.Fatal(readErr)
	}
	if j, _, err := reopened(path); err == nil {
		t.Fatal(errors.Join(errors.New("opened for appending"), j.Close()))
	}
	after, readErr := os.ReadFile(path)
	if readErr != nil || !bytes.Equal(before, after) {
		t.Fatalf("refusing it changed the file (%v)", readErr)
	}
}

// Any run of bytes overwritten or cut out: entries that come out are a beginning of
// those that went in.
func TestDamageNeverMakesEntries(t *testing.T) {
	entries := entriesOf("bag-1", 12)
	path, data, _ := written(t, entries)
	rapid.Check(t, func(rt *rapid.T) {
		from := rapid.IntRange(0, len(data)-1).Draw(rt, "from")
		n := rapid.IntRange(1, len(data)-from).Draw(rt, "n")
		put := rapid.OneOf(
			rapid.Just([]byte{}),                 // cut out
			rapid.Just(make([]byte, n)),          // a page that was never written
			rapid.SliceOf(rapid.Byte()),          // garbage
			rapid.Just(data[:min(n, len(data))]), // a page from elsewhere
		).Draw(rt, "put")
		write(t, path, slices.Concat(data[:from], put, data[from+n:]))
		got, _, _ := replayed(path)
		if len(got) > len(entries) {
			rt.Fatalf("%d entries out of %d", len(got), len(entries))
		}
		sameEntries(t, got, entries[:len(got)])
	})
}

// A record that holds the bytes of a journal, torn in the middle, is a torn tail and
// not damage with records behind it.
func TestFramesInsidePayloadsAreNotFrames(t *testing.T) {
	_, inner, _ := written(t, entriesOf("bag-1", 3))
	entries := entriesOf("bag-2", 2)
	entries[1].Record = event.OutputLost{Job: "bag-2", Reason: string(inner)}
	path, data, starts := written(t, entries)
	write(t, path, data[:len(data)-2])
	got, rec, err := replayed(path)
	if err != nil || rec.End != starts[1] {
		t.Fatalf("%+v, %v", rec, err)
	}
	sameEntries(t, got, entries[:1])
}

func TestTailsThatWereNeverWritten(t *testing.T) {
	entries := entriesOf("bag-1", 5)
	path, data, _ := written(t, entries)
	tails := map[string][]byte{
		"zeros":          make([]byte, 3*readBuffer),
		"ones":           bytes.Repeat([]byte{0xff}, 5000),
		"a second copy":  data,
		"an old journal": data[fileHeaderSize:],
	}
	for name, tail := range tails {
		write(t, path, slices.Concat(data, tail))
		got, rec, err := replayed(path)
		if err != nil || rec.TruncatedBytes != int64(len(tail)) {
			t.Errorf("%s: %+v, %v", name, rec, err)
		}
		sameEntries(t, got, entries)
	}
}

// The search for a whole frame finds it wherever it lies, also where the windows of
// the search meet.
func TestDamageWithAWholeRecordFarBehind(t *testing.T) {
	var sizes []int
	for near := -100; near < 20; near++ {
		sizes = append(sizes, readBuffer+near)
	}
	for _, size := range append(sizes, 3*readBuffer) {
		data := fileHeader(version)
		var starts []int64
		for _, reason := range []string{"x", strings.Repeat("x", size), "x"} {
			starts = append(starts, int64(len(data)))
			e := event.Entry{Seq: uint64(len(starts)), Record: event.OutputLost{Job: "bag-1", Reason: reason}}
			var err error
			if data, err = appendFrame(data, int64(len(data)), e); err != nil {
				t.Fatal(err)
			}
		}
		data[starts[1]] ^= 1
		_, _, err := fromMemory(data)
		var d *Damage
		if !errors.As(err, &d) || d.Offset != starts[1] || d.Next != starts[2] {
			t.Errorf("record of %d bytes: %v", size, err)
		}
	}
}

// TestHeader: the first bytes of a journal stay as they are, so that other versions of berth read it.
func TestHeader(t *testing.T) {
	if got, want := string(fileHeader(version)), "berthlog\x01\x00\x00\x001B\x95v"; got != want {
		t.Errorf("header %q, want %q", got, want)
	}
}

func TestFilesThatAreNoJournals(t *testing.T) {
	other := fileHeader(version + 1)
	_, whole, _ := written(t, entriesOf("bag-1", 2))
	copy(whole, make([]byte, fileHeaderSize))
	tests := map[string]struct {
		data []byte
		says string // empty: taken as torn while it was made
	}{
		"empty":               {nil, ""},
		"blank":               {make([]byte, fileHeaderSize), ""},
		"short and blank":     {make([]byte, 3), ""},
		"short text":          {[]byte("hello\n"), "not a journal"},
		"text":                {[]byte(strings.Repeat("hello\n", 10)), "not a journal"},
		"blank, then bytes":   {append(make([]byte, fileHeaderSize), 1, 2, 3), ""},
		"blank, then records": {whole, "blank"},
		"another format":      {other, "format 2"},
		"damaged header":      {append([]byte(magic), 1, 2, 3, 4, 5, 6, 7, 8), "damaged at byte 0"},
	}
	for name, tt := range tests {
		path := filepath.Join(t.TempDir(), "journal")
		write(t, path, tt.data)
		_, rec, err := replayed(path)
		if tt.says == "" {
			if err != nil || rec != (Recovery{TruncatedBytes: int64(len(tt.data))}) {
				t.Errorf("%s: %+v, %v", name, rec, err)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s: %v, want %q", name, err, tt.says)
			continue
		}
		wantRefused(t, path, err)
	}
	if _, _, err := replayed(filepath.Join(t.TempDir(), "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("missing file: %v", err)
	}
}

// FuzzReplay reads whatever bytes as a journal: no panic, and the bytes before the end that is
// found read the same again.
func FuzzReplay(f *testing.F) {
	_, data, starts := written(f, entriesOf("bag-1", 4))
	f.Add(data)
	f.Add(data[:starts[2]+5])
	f.Add(append(bytes.Clone(data), make([]byte, 64)...))
	flipped := bytes.Clone(data)
	flipped[starts[1]+2] ^= 4
	f.Add(flipped)
	f.Fuzz(func(t *testing.T, data []byte) {
		entries, rec, err := fromMemory(data)
		if err == nil {
			if rec.End+rec.TruncatedBytes != int64(len(data)) {
				t.Fatalf("%+v does not add up to %d bytes", rec, len(data))
			}
			again, recAgain, err := fromMemory(data[:rec.End])
			if err != nil || recAgain.TruncatedBytes != 0 {
				t.Fatalf("without the torn tail: %+v, %v", recAgain, err)
			}
			sameEntries(t, again, entries)
		}
	})
}

func fromMemory(data []byte) ([]event.Entry, Recovery, error) {
	r, err := newReader("fuzz", bytes.NewReader(data), 0, int64(len(data)))
	if err != nil {
		return nil, Recovery{}, err
	}
	var entries []event.Entry
	rec, err := r.each(func(e event.Entry) error {
		entries = append(entries, e)
		return nil
	})
	return entries, rec, err
}
