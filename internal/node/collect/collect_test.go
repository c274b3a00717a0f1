package collect

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"berth/internal/core/job"
)

func section(s string) *io.SectionReader {
	return io.NewSectionReader(strings.NewReader(s), 0, int64(len(s)))
}

func attempt(task, n int) job.Attempt {
	return job.Attempt{Job: "bag-1", Task: task, N: n}
}

// text returns what the index has of an attempt.
func text(x *Index, task, n int, s Stream) (string, error) {
	r, err := x.Open(task, n, s)
	if err != nil {
		return "", err
	}
	b, err := io.ReadAll(r)
	return string(b), err
}

// output is drawn: mostly short, at times of several pieces.
func output(r *rapid.T, name string) string {
	if rapid.IntRange(0, 20).Draw(r, name+" is long") == 0 {
		return strings.Repeat("0123456789abcdef", rapid.IntRange(pieceSize/16-4, 3*pieceSize/16).Draw(r, name+" of 16"))
	}
	return rapid.StringN(0, 40, -1).Draw(r, name)
}

// TestRemovedFile: what attempts printed is found although something removes the file after any of them.
func TestRemovedFile(t *testing.T) {
	dir := t.TempDir()
	w := NewWriter(dir)
	for n := 1; n <= 4; n++ {
		if _, err := w.Add(attempt(0, n), [2]*io.SectionReader{section(fmt.Sprint("out ", n)), nil}); err != nil {
			t.Fatal(err)
		}
		if err := os.RemoveAll(dir); n != 2 && err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	x := NewIndex(dir)
	defer x.Close()
	for n := 1; n <= 4; n++ {
		if got, err := text(x, 0, n, Stdout); got != fmt.Sprint("out ", n) || err != nil {
			t.Errorf("attempt %d: %q, %v", n, got, err)
		}
	}
}

// TestRoundTrip: whatever attempts print, several writers at once, each output is found again as it was, also by a reader that looks in between.
func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		dir, err := os.MkdirTemp(t.TempDir(), "")
		if err != nil {
			r.Fatal(err)
		}
		writers := []*Writer{NewWriter(dir), NewWriter(dir)}
		x := NewIndex(dir)
		defer x.Close()
		all := map[job.Attempt][2]string{}
		for i := range rapid.IntRange(1, 12).Draw(r, "attempts") {
			at := attempt(rapid.IntRange(0, 5).Draw(r, "task"), i+1)
			all[at] = [2]string{output(r, "out"), output(r, "err")}
			w := writers[rapid.IntRange(0, 1).Draw(r, "writer")]
			if _, err := w.Add(at, [2]*io.SectionReader{section(all[at][0]), section(all[at][1])}); err != nil {
				r.Fatal(err)
			}
			if rapid.Bool().Draw(r, "look") {
				if got, err := text(x, at.Task, at.N, Stderr); got != all[at][1] || err != nil {
					r.Fatalf("%v: %q is read (%v), want %q", at, got, err, all[at][1])
				}
			}
		}
		for at, want := range all {
			for s := range streams {
				if got, err := text(x, at.Task, at.N, s); got != want[s] || err != nil {
					r.Fatalf("%v: %q is read (%v), want %q", at, got, err, want[s])
				}
			}
		}
		for _, w := range writers {
			if err := w.Close(); err != nil {
				r.Fatal(err)
			}
		}
	})
}

// FuzzIndex: whatever a file holds, reading it ends, and what comes out of a file that was cut off anywhere is what was written before the cut.
func FuzzIndex(f *testing.F) {
	f.Add([]byte{}, 7)
	f.Add([]byte(magic), 60)
	f.Add(bytes.Repeat([]byte{0}, 100), 130)
	f.Fuzz(func(t *testing.T, garbage []byte, cut int) {
		dir := t.TempDir()
		w := NewWriter(dir)
		var path string
		ends := make([]int64, 3)
		for i := range ends {
			var err error
			if path, err = w.Add(attempt(i, 1), [2]*io.SectionReader{section("some\n"), nil}); err != nil {
				t.Fatal(err)
			}
			ends[i] = w.end
		}
		whole, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		cut = max(0, min(cut, len(whole)))
		if err := os.WriteFile(path, append(whole[:cut:cut], garbage...), 0o600); err != nil {
			t.Fatal(err)
		}
		x := NewIndex(dir)
		defer x.Close()
		for i, end := range ends {
			got, err := text(x, i, 1, Stdout)
			switch {
			case int64(cut) >= end && (err != nil || got != "some\n"):
				t.Errorf("the frame before the cut is read as %q (%v)", got, err)
			case int64(cut) < end && err == nil && got != "some\n" && !bytes.Contains(garbage, []byte(anyMagic)):
				t.Errorf("of a frame that was cut off %q is read", got)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	})
}

// TestDamage: an output of which a byte changed is not given out, and others are.
func TestDamage(t *testing.T) {
	dir := t.TempDir()
	w := NewWriter(dir)
	for i, s := range []string{"first", "second"} {
		if _, err := w.Add(attempt(i, 1), [2]*io.SectionReader{section(s), nil}); err != nil {
			t.Fatal(err)
		}
	}
	path := w.file.Name()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, bytes.Replace(b, []byte("first"), []byte("forst"), 1), 0o600); err != nil {
		t.Fatal(err)
	}
	x := NewIndex(dir)
	defer x.Close()
	if got, err := text(x, 0, 1, Stdout); !errors.Is(err, ErrNone) {
		t.Errorf("a damaged output is read as %q (%v)", got, err)
	}
	if got, err := text(x, 1, 1, Stdout); got != "second" || err != nil {
		t.Errorf("the one behind a damaged one is read as %q (%v)", got, err)
	}
}

// TestDamagedHead: whichever bit of a frame's head is flipped, the outputs of the frames around it are read, also those of
// an earlier version; the error of the damaged one names the place, and what the damaged one contains is no frame.
func TestDamagedHead(t *testing.T) {
	outer := t.TempDir()
	w := NewWriter(outer)
	if _, err := w.Add(attempt(1, 1), [2]*io.SectionReader{section("not of this bag"), nil}); err != nil {
		t.Fatal(err)
	}
	inner, err := os.ReadFile(w.file.Name())
	if err != nil {
		t.Fatal(err)
	}
	for _, old := range []bool{false, true} {
		dir := t.TempDir()
		w := NewWriter(dir)
		var ends []int64
		straddles := strings.Repeat("x", pieceSize-headSize-20-len(inner)) // the next head is in two pieces
		for i, s := range []string{"zero", string(inner) + straddles, "two"} {
			if old && i == 1 {
				s = straddles
			}
			if _, err := w.Add(attempt(i, 1), [2]*io.SectionReader{section(s), nil}); err != nil {
				t.Fatal(err)
			}
			ends = append(ends, w.end)
		}
		b, err := os.ReadFile(w.file.Name())
		if err != nil {
			t.Fatal(err)
		}
		if old {
			for _, at := range []int64{0, ends[0], ends[1]} {
				copy(b[at:], oldMagic)
				binary.LittleEndian.PutUint32(b[at+4:], headSum(b[at:at+headSize], at))
			}
		}
		if err := os.WriteFile(w.file.Name(), b, 0o600); err != nil {
			t.Fatal(err)
		}
		for bit := range 8 * headSize {
			damaged := bytes.Clone(b[ends[0]:][:headSize])
			damaged[bit/8] ^= 1 << (bit % 8)
			if _, err := w.file.WriteAt(damaged, ends[0]); err != nil {
				t.Fatal(err)
			}
			x := NewIndex(dir)
			want := fmt.Sprintf("%s is damaged at byte %d", w.file.Name(), ends[0])
			if got, err := text(x, 1, 1, Stdout); !errors.Is(err, ErrNone) || !strings.Contains(err.Error(), want) {
				t.Errorf("old: %t, bit %d: of the damaged frame %q is read (%v)", old, bit, got, err)
			}
			for i, want := range map[int]string{0: "zero", 2: "two"} {
				if got, err := text(x, i, 1, Stdout); got != want || err != nil {
					t.Errorf("old: %t, bit %d: of task %d %q is read (%v)", old, bit, i, got, err)
				}
			}
			x.Close()
		}
	}
}

// TestLateFrame: a frame that a network file system shows later than those behind it is read then.
func TestLateFrame(t *testing.T) {
	dir := t.TempDir()
	w := NewWriter(dir)
	var ends []int64
	for i := range 4 {
		if _, err := w.Add(attempt(i, 1), [2]*io.SectionReader{section("some\n"), nil}); err != nil {
			t.Fatal(err)
		}
		ends = append(ends, w.end)
	}
	whole, err := os.ReadFile(w.file.Name())
	if err != nil {
		t.Fatal(err)
	}
	hidden := bytes.Clone(whole)
	clear(hidden[ends[0]:ends[2]])
	x := NewIndex(dir)
	defer x.Close()
	for _, c := range []struct {
		file []byte
		seen [4]bool
	}{{hidden, [4]bool{true, false, false, true}}, {whole, [4]bool{true, true, true, true}}} {
		if err := os.WriteFile(w.file.Name(), c.file, 0o600); err != nil {
			t.Fatal(err)
		}
		for i, want := range c.seen {
			if got, err := text(x, i, 1, Stdout); (got == "some\n") != want || (err == nil) != want {
				t.Errorf("of task %d %q is read (%v)", i, got, err)
			}
		}
	}
}

// TestFailedWrite: what a write left that did not end is written over, and the attempt of which it was can be added again.
func TestFailedWrite(t *testing.T) {
	dir := t.TempDir()
	w := NewWriter(dir)
	lying := io.NewSectionReader(strings.NewReader("short"), 0, 3*pieceSize) // says more than there is
	if _, err := w.Add(attempt(0, 1), [2]*io.SectionReader{section(strings.Repeat("x", 2*pieceSize)), lying}); err == nil {
		t.Fatal("an output is taken that cannot be read")
	}
	x := NewIndex(dir)
	defer x.Close()
	if got, err := text(x, 0, 1, Stdout); !errors.Is(err, ErrNone) {
		t.Errorf("of a frame that was not written to its end %q is read (%v)", got, err)
	}
	if _, err := w.Add(attempt(0, 1), [2]*io.SectionReader{section("good"), nil}); err != nil {
		t.Fatal(err)
	}
	if got, err := text(x, 0, 1, Stdout); got != "good" || err != nil {
		t.Errorf("%q is read (%v)", got, err)
	}
	if files, err := filepath.Glob(filepath.Join(dir, "*"+Suffix)); len(files) != 1 || err != nil {
		t.Errorf("%v are there (%v), want one file", files, err)
	}
}

// TestAgain: of an attempt whose number was given twice the later output counts, in whichever of the files it is.
func TestAgain(t *testing.T) {
	for _, named := range []string{"0", "~"} { // before the file of the earlier output, and behind it
		dir := t.TempDir()
		for _, s := range []string{"before the power cut", "after it"} {
			w := NewWriter(dir)
			path, err := w.Add(attempt(0, 1), [2]*io.SectionReader{section(s), nil})
			if err != nil {
				t.Fatal(err)
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			if s == "after it" {
				if err := os.Rename(path, filepath.Join(dir, named+Suffix)); err != nil {
					t.Fatal(err)
				}
			}
		}
		x := NewIndex(dir)
		defer x.Close()
		if got, err := text(x, 0, 1, Stdout); got != "after it" || err != nil {
			t.Errorf("%q is read (%v)", got, err)
		}
	}
}
