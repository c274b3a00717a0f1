package extsort

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"berth/internal/core/job"
	"berth/internal/mapreduce/hadoop"
)

// testBuffer is a buffer for lines of one field and a value.
func testBuffer(mem []byte, partition hadoop.Partitioner, parts int) *buffer {
	b := newBuffer(mem, maxLine, Records{Format: hadoop.NewLineFormat("", 1), Partition: partition}, parts, hadoop.ByteOrder)
	return &b
}

// fill writes lines to a buffer and returns the sorted records that it flushed, one string for each.
func fill(t testing.TB, b *buffer, text []byte) (flushed [][]string) {
	t.Helper()
	b.flush = func(e []entry) error {
		var f []string
		for i := range e {
			for range e[i].count {
				f = append(f, fmt.Sprintf("%d %d %s", e[i].part, e[i].keyLen, b.mem[e[i].off:e[i].off+e[i].lineLen]))
			}
		}
		flushed = append(flushed, f)
		return nil
	}
	if _, err := b.Write(text); err != nil {
		t.Fatal(err)
	}
	if err := b.Finish(); err != nil {
		t.Fatal(err)
	}
	return flushed
}

// Entries are sorted by partition and key, then by the rest of the line, for any number of entries
// and any common prefix of the keys.
func TestBufferSorts(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		prefix := rapid.SampledFrom([]string{"", "x", "prefix", "12345678", "prefix of more than sixteen bytes", "\x00\x00\x00\x00\x00\x00\x00\x00\x00"}).Draw(rt, "prefix")
		alphabet := rapid.SampledFrom([]string{"ab", "\x00\x01", "abc\x00\xff", "0123456789"}).Draw(rt, "alphabet")
		width := rapid.IntRange(0, 12).Draw(rt, "width")
		r := rapid.IntRange(0, len(alphabet)-1)
		var text []byte
		type record struct{ key, rest string }
		var want []record
		for range rapid.IntRange(0, 300).Draw(rt, "lines") {
			key := prefix
			for range rapid.IntRange(0, width).Draw(rt, "n") {
				key += string(alphabet[r.Draw(rt, "c")])
			}
			rest := ""
			if rapid.Bool().Draw(rt, "has value") {
				rest = "\t" + prefix
				for range rapid.IntRange(0, 2).Draw(rt, "m") {
					rest += string(alphabet[r.Draw(rt, "v")])
				}
			}
			text = append(append(append(text, key...), rest...), '\n')
			want = append(want, record{key, rest})
		}
		parts := rapid.IntRange(1, 3).Draw(rt, "parts")
		partition, err := hadoop.NewPartitioner(&job.MapReduceSpec{}, parts)
		if err != nil {
			rt.Fatal(err)
		}
		slices.SortFunc(want, func(a, b record) int {
			if d := partition([]byte(a.key)) - partition([]byte(b.key)); d != 0 {
				return d
			}
			if r := bytes.Compare([]byte(a.key), []byte(b.key)); r != 0 {
				return r
			}
			return bytes.Compare([]byte(a.rest), []byte(b.rest))
		})
		got := fill(t, testBuffer(make([]byte, 1<<20), partition, parts), text)
		var wanted []string
		for _, w := range want {
			wanted = append(wanted, fmt.Sprintf("%d %d %s%s", partition([]byte(w.key)), len(w.key), w.key, w.rest))
		}
		if len(want) == 0 && len(got) == 0 {
			return
		}
		if len(got) != 1 || !slices.Equal(got[0], wanted) {
			rt.Fatalf("got  %q\nwant %q", got, wanted)
		}
	})
}

// Repeated records need the space of one while repeats are looked up. The lookup ends if nothing
// repeats.
func TestGrouping(t *testing.T) {
	b := testBuffer(make([]byte, 1<<20), nil, 1)
	words := bytes.Repeat([]byte("the\t1\nof\t1\nand\t1\n"), 100_000)
	got := fill(t, b, words)
	if len(got) != 1 || len(got[0]) != 300_000 {
		t.Fatalf("%d spills of 300,000 records", len(got))
	}
	if b.Lines != 300_000 || b.Bytes != int64(len(words)) {
		t.Errorf("took %d records, %d bytes", b.Lines, b.Bytes)
	}
	var unique []byte
	for i := range 2 * dedupSample {
		unique = fmt.Appendf(unique, "%d\n", i)
	}
	b = testBuffer(make([]byte, 1<<20), nil, 1)
	fill(t, b, unique)
	if b.dedup.on {
		t.Error("records that do not repeat are still looked up")
	}
	fill(t, b, words)
	if !b.dedup.on {
		t.Error("records that repeat are not grouped")
	}
}

// A record may repeat more often than one entry can count.
func TestCountLimit(t *testing.T) {
	b := testBuffer(make([]byte, 1<<20), nil, 1)
	if got := fill(t, b, bytes.Repeat([]byte("a\n"), 3*maxCount+7)); len(got[0]) != 3*maxCount+7 {
		t.Errorf("%d records", len(got[0]))
	}
}

// Files are merged in few passes, the small ones first, until a last merge is possible.
func TestFirstPass(t *testing.T) {
	s := &Space{Config: Config{Partitions: 1}}
	files := func(n int, need int64) (fs []*File) {
		for i := range n {
			fs = append(fs, newSegment("", Extent{Length: int64(1 + i)}, segmentStat{MaxRaw: need}))
		}
		return fs
	}
	memory := 10 * (files(1, 1000)[0].segments[0].need() + 8)
	for _, test := range []struct{ n, want int }{{0, 0}, {1, 0}, {10, 0}, {11, 2}, {15, 6}, {19, 10}, {50, 10}} {
		if got := s.firstPass(files(test.n, 1000), memory, memory); got != test.want {
			t.Errorf("%d files: first pass over %d, want %d", test.n, got, test.want)
		}
	}
	if got := s.firstPass(files(5, 1<<30), 1000, 1000); got != 2 {
		t.Errorf("files larger than memory: first pass over %d", got)
	}
	if got := s.firstPass(files(2, 1<<30), 1000, 1000); got != 0 {
		t.Errorf("two files larger than memory: first pass over %d", got)
	}
}
