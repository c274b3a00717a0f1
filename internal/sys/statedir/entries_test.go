package statedir

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"berth/internal/core/job"
)

// TestEntries: each entry is the one of the list that the entries are of, also after they were written and read. What is cut off in the
// middle of an entry is not read.
func TestEntries(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := rapid.SliceOf(rapid.Custom(func(t *rapid.T) job.Entry { return rapid.SliceOfN(rapid.String(), 0, 20).Draw(t, "words") })).Draw(t, "list")
		e := EntriesOf(list...)
		read, err := readEntries(e.encoded)
		if err != nil || e.Len() != len(list) || read.Len() != len(list) {
			t.Fatalf("%d entries of %d, %d are read, %v", e.Len(), len(list), read.Len(), err)
		}
		for i, want := range list {
			if !slices.Equal(e.At(i), want) || !slices.Equal(read.At(i), want) {
				t.Fatalf("entry %d is %q, and %q is read; want %q", i, e.At(i), read.At(i), want)
			}
		}
		cut := rapid.IntRange(0, len(e.encoded)).Draw(t, "cut")
		if read, err := readEntries(e.encoded[:cut]); err == nil && (read.Len() > 0 && len(EntriesOf(list[:read.Len()]...).encoded) != cut || read.Len() == 0 && cut > 0) {
			t.Fatalf("of the first %d bytes %d entries are read", cut, read.Len())
		}
	})
}

// FuzzTasks: a damaged task table is an error or is read whole: each of its entries can be asked for, and entries that are written again
// are read as the same ones. No length that it tells makes the reader go beyond its end.
func FuzzTasks(f *testing.F) {
	for _, list := range [][]job.Entry{{}, {{}}, {{"a"}, {"b", "c"}}, slices.Repeat([]job.Entry{{"one", "two"}}, 20)} {
		f.Add(EntriesOf(list...).encoded, false)
	}
	f.Add([]byte("\x91\xdb\xff\xff\xff\xff"), false) // a word that is longer than the file
	f.Add([]byte("\xdd\xff\xff\xff\xff"), false)     // an entry with more words than the file has bytes
	f.Add([]byte("\x91\xc0\xc0"), false)             // no word, and no entry
	f.Add([]byte(tasksMagic+"\x00\x00\x00\x00"), true)
	f.Fuzz(func(t *testing.T, b []byte, splits bool) {
		if splits {
			_, _ = readTasks(b, job.MapReduce)
			return
		}
		table, err := readTasks(b, job.Bag)
		if err != nil {
			return
		}
		list := make([]job.Entry, table.Entries.Len())
		for i := range list {
			list[i] = table.Entries.At(i)
		}
		again, err := readEntries(EntriesOf(list...).encoded)
		if err != nil || again.Len() != len(list) {
			t.Fatalf("of %d entries %d are read again, %v", len(list), again.Len(), err)
		}
		for i, want := range list {
			if got := again.At(i); !slices.Equal(got, want) {
				t.Fatalf("entry %d is %q, and %q when read again", i, want, got)
			}
		}
	})
}
