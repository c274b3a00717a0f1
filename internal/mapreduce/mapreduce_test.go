package mapreduce

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"berth/internal/mapreduce/hadoop"
)

// dumbJob returns the output of a job whose programs copy their input: all lines, sorted, each in the
// partition of its key. A command reads a line that is only a key with a TAB behind it, as in Hadoop
// Streaming.
func dumbJob(c *cluster, inputs [][]byte) [][]byte {
	c.t.Helper()
	partition, err := hadoop.NewPartitioner(c.spec, c.reduces)
	if err != nil {
		c.t.Fatal(err)
	}
	cmp, err := hadoop.NewComparator(c.spec)
	if err != nil {
		c.t.Fatal(err)
	}
	format := hadoop.MapFormat(c.spec)
	parts := make([][][2]string, c.reduces)
	for _, in := range inputs {
		in = bytes.ReplaceAll(in, []byte("\r\n"), newline)
		for _, line := range lines(bytes.ReplaceAll(in, []byte("\r"), newline)) {
			n := format.KeyLen(line)
			key, rest := line[:n], line[n:]
			if len(rest) > 0 {
				rest = append([]byte("\t"), rest[len(format.Sep):]...)
			}
			p := partition(key)
			parts[p] = append(parts[p], [2]string{string(key), string(rest)})
		}
	}
	var out [][]byte
	for _, part := range parts {
		slices.SortFunc(part, func(a, b [2]string) int {
			if r := cmp.Compare([]byte(a[0]), []byte(b[0])); r != 0 {
				return r
			}
			if r := bytes.Compare([]byte(a[0]), []byte(b[0])); r != 0 {
				return r
			}
			return bytes.Compare([]byte(a[1]), []byte(b[1]))
		})
		var text []byte
		for _, r := range part {
			if r[1] == "" && (wantsTabs(c.reducer) || c.combiner != nil) {
				r[1] = "\t"
			}
			text = append(append(append(text, r[0]...), r[1]...), '\n')
		}
		out = append(out, text)
	}
	return out
}

// drawInput draws lines with few and many different keys, short and long, with any bytes.
func drawInput(t *rapid.T, label string) []byte {
	word := rapid.OneOf(
		rapid.SampledFrom([]string{"", "a", "a\x00", "a\x00\x00", "a\x00\x00\x00\x00\x00\x00\x00\x00", "\xff\xfe", "the", "commonprefix1", "commonprefix2", "commonprefix"}),
		rapid.StringMatching(`[a-c]{0,12}`),
		rapid.StringMatching(`-?[0-9]{1,3}`),
		rapid.Map(rapid.SliceOfN(rapid.Byte(), 0, 20), func(b []byte) string {
			return string(bytes.ReplaceAll(b, newline, []byte{'.'}))
		}),
		rapid.Map(rapid.IntRange(0, 6000), func(n int) string { return string(bytes.Repeat([]byte("x"), n)) }),
	)
	line := rapid.Map(rapid.SliceOfN(word, 1, 3), func(words []string) string {
		s := words[0]
		for _, w := range words[1:] {
			s += "\t" + w
		}
		return s
	})
	var b []byte
	for _, l := range rapid.SliceOfN(line, 0, 60).Draw(t, label) {
		times := 1
		if len(l) < 10 {
			times = 1 + len(l)*3
		}
		for range times {
			b = append(append(b, l...), '\n')
		}
	}
	if len(b) > 0 && rapid.Bool().Draw(t, label+" cut") {
		b = b[:len(b)-1]
	}
	return b
}

// A job with identity programs sorts its input, for any records, splits, memory, number of partitions,
// order and source of segments.
func TestJobSorts(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var inputs [][]byte
		for i := range rapid.IntRange(0, 5).Draw(rt, "splits") {
			inputs = append(inputs, drawInput(rt, fmt.Sprintf("in%d", i)))
		}
		c := newCluster(t, inputs...)
		c.memory = rapid.SampledFrom([]int64{0, 10_000, 33_333, 100_000, 1 << 20}).Draw(rt, "memory")
		c.reduces = rapid.IntRange(1, 4).Draw(rt, "reduces")
		c.spec.MapOutputKeyFields = rapid.IntRange(0, 2).Draw(rt, "fields")
		c.spec.MapOutputSeparator = rapid.SampledFrom([]string{"\t", "a", "ab"}).Draw(rt, "separator")
		if rapid.Bool().Draw(rt, "comparator") {
			c.spec.Comparator = "keyfield"
			c.spec.ComparatorOptions = rapid.SampledFrom([]string{"-n", "-r", "-nr", "-k1.2,1.3"}).Draw(rt, "options")
		}
		if rapid.Bool().Draw(rt, "streams") {
			c.mapper, c.reducer = cat, cat
		}
		if rapid.Bool().Draw(rt, "combiner") && c.spec.MapOutputSeparator == "\t" {
			c.combiner = cat
		}
		if rapid.Bool().Draw(rt, "remote") {
			c.remote()
		}
		want := dumbJob(c, inputs)
		for p, got := range c.run() {
			if !bytes.Equal(got, want[p]) {
				rt.Fatalf("part %d: got %d bytes, want %d:\n%.300q\n%.300q", p, len(got), len(want[p]), got, want[p])
			}
		}
	})
}
