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
