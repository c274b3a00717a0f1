package extsort

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"berth/internal/mapreduce/hadoop"
)

// keptRecord is a record as a test writes and reads it.
type keptRecord struct {
	part   int
	line   string
	keyLen int
	count  int64
}

// writeRun writes a scratch file.
func writeRun(t testing.TB, path string, parts, block int, records []keptRecord) *File {
	t.Helper()
	w, err := createRun(path, parts, block, make([]byte, writerMemory(block)))
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range records {
		if err := w.add(r.part, []byte(r.line+"\n"), r.keyLen, r.count); err != nil {
			t.Fatal(err)
		}
	}
	size, err := w.finish()
	if err != nil {
		t.Fatal(err)
	}
	return &File{path: path, segments: w.segments, size: size}
}

// readRun reads a segment.
func readRun(r run, part int) (got []keptRecord, err error) {
	c, err := openCursor(r, hadoop.ByteOrder, make([]byte, r.need()), new(int64))
	if err != nil {
		return nil, err
	}
	defer c.close()
	return readCursor(c, part)
}

// readCursor reads all records.
func readCursor(c *cursor, part int) (got []keptRecord, err error) {
	for {
		more, err := c.next()
		if err != nil || !more {
			return got, err
		}
		got = append(got, keptRecord{part, string(c.line[:len(c.line)-1]), c.keyLen, c.count})
		if c.prefix != hadoop.BytePrefix(c.line[:c.keyLen]) {
			return got, fmt.Errorf("prefix %x of %q", c.prefix, c.line)
		}
	}
}

// Records that were written are read back. Equal neighbours are read as one record.
func TestFormatRoundTrip(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(rt *rapid.T) {
		parts := rapid.IntRange(1, 5).Draw(rt, "parts")
		record := rapid.Custom(func(rt *rapid.T) keptRecord {
			line := rapid.OneOf(rapid.StringN(0, 20, -1), rapid.SampledFrom([]string{"", "a", "a\tb"}),
				rapid.Map(rapid.IntRange(0, 5000), func(n int) string { return string(bytes.Repeat([]byte("long "), n)) })).Draw(rt, "line")
			return keptRecord{line: line, keyLen: rapid.IntRange(0, len(line)).Draw(rt, "key"), count: rapid.Int64Range(1, 300).Draw(rt, "count")}
		})
		records := rapid.SliceOfN(record, 0, 200).Draw(rt, "records")
		var want []keptRecord
		for i := range records {
			records[i].part = i * parts / len(records)
			r := records[i]
			if n := len(want); n > 0 && len(r.line) < 900 && want[n-1].part == r.part && want[n-1].line == r.line && want[n-1].keyLen == r.keyLen {
				want[n-1].count += r.count
				continue
			}
			want = append(want, r)
		}
		f := writeRun(t, filepath.Join(dir, "f"), parts, minBlock, records)
		extents, err := ReadIndex(f.path)
		if err != nil {
			rt.Fatal(err)
		}
		got := readAll(rt, f, extents)
		if !sameRecords(got, want) {
			rt.Fatalf("got %d records, want %d\n%.400q\n%.400q", len(got), len(want), fmt.Sprint(got), fmt.Sprint(want))
		}
	})
}

// readAll reads all segments, each as a run and as a stream.
func readAll(rt *rapid.T, f *File, extents []Extent) (got []keptRecord) {
	for part, e := range extents {
		if e.Length == 0 {
			continue
		}
		s, err := OpenSegment(f.path, e.Offset, e.Length)
		if err != nil {
			rt.Fatal(err)
		}
		if s.segments[0].segmentStat != f.segments[part].segmentStat {
			rt.Fatalf("segment tells %v, writer %v", s.segments[0], f.segments[part])
		}
		records, err := readRun(runsOf([]*File{s}, 0)[0], part)
		if err != nil {
			rt.Fatal(err)
		}
		got = append(got, records...)
		data, err := os.ReadFile(f.path)
		if err != nil {
			rt.Fatal(err)
		}
		segment := data[e.Offset : e.Offset+e.Length]
		var copied bytes.Buffer
		c, err := CopySegment(&copied, bytes.NewReader(segment), f.path, e.Offset, e.Length, make([]byte, 64))
		if err != nil || c.segments[0].segmentStat != s.segments[0].segmentStat || c.LineBytes() != s.LineBytes() || !bytes.Equal(copied.Bytes(), segment) {
			rt.Fatalf("copy of part %d: %v, %v", part, c, err)
		}
	}
	return got
}

// sameRecords compares records; equal neighbours may be one or two, as blocks end between them.
func sameRecords(a, b []keptRecord) bool { return fmt.Sprint(merged(a)) == fmt.Sprint(merged(b)) }

func merged(rs []keptRecord) (out []keptRecord) {
	for _, r := range rs {
		if n := len(out); n > 0 && out[n-1].part == r.part && out[n-1].line == r.line && out[n-1].keyLen == r.keyLen {
			out[n-1].count += r.count
			continue
		}
		out = append(out, r)
	}
	return out
}

// Equal records need almost no space, and random ones little more than their bytes.
func TestFormatSize(t *testing.T) {
	var equal []keptRecord
	for range 100_000 {
		equal = append(equal, keptRecord{line: "word\t1", keyLen: 4, count: 1})
	}
	dir := t.TempDir()
	if f := writeRun(t, filepath.Join(dir, "equal"), 1, maxBlock, equal); f.size > 200 {
		t.Errorf("100,000 equal records take %d bytes", f.size)
	}
	var random []keptRecord
	for line := range strings.Lines(string(randomRecords(1000))) {
		random = append(random, keptRecord{line: line[:len(line)-1], keyLen: len(line) - 1, count: 1})
	}
	if f := writeRun(t, filepath.Join(dir, "random"), 1, maxBlock, random); f.size > 103_500 {
		t.Errorf("100,000 bytes of random records take %d bytes", f.size)
	}
}

func TestIndexRefuses(t *testing.T) {
	dir := t.TempDir()
	f := writeRun(t, filepath.Join(dir, "f"), 3, minBlock, []keptRecord{{1, "a\tb", 1, 1}})
	good, err := os.ReadFile(f.path)
	if err != nil {
		t.Fatal(err)
	}
	for n := range good {
		if _, err := parseIndex(bytes.NewReader(good[:n]), int64(n)); !errors.Is(err, ErrDamaged) {
			t.Fatalf("cut to %d bytes: %v", n, err)
		}
	}
	if _, err := parseIndex(bytes.NewReader(good), int64(len(good))); err != nil {
		t.Fatal(err)
	}
	for n := range good {
		if n >= len(magic) && int64(n) < f.segments[1].Offset+f.segments[1].Length {
			continue // a change within a block, which the index does not cover
		}
		bad := bytes.Clone(good)
		bad[n] ^= 4
		if _, err := parseIndex(bytes.NewReader(bad), int64(len(bad))); err == nil {
			t.Errorf("byte %d changed: no error", n)
		}
	}
}

// reseal corrects the checksums of a segment's headers and payloads, so that a fuzzer reaches the
// code behind them.
func reseal(b []byte) {
	for number := uint32(0); len(b) >= headerSize; number++ {
		n := int(uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16)
		b[3], b[7] = 0, 0
		n = min(n, len(b)-headerSize)
		crc := crc32.Checksum(b[headerSize:headerSize+n], castagnoli)
		b[12], b[13], b[14], b[15] = byte(crc), byte(crc>>8), byte(crc>>16), byte(crc>>24)
		crc = headerCRC(b, number)
		b[16], b[17], b[18], b[19] = byte(crc), byte(crc>>8), byte(crc>>16), byte(crc>>24)
		b = b[headerSize+n:]
	}
}

// segmentsFor returns the first inputs of a fuzzer.
func segmentsFor(f *testing.F) [][]byte {
	path := filepath.Join(f.TempDir(), "f")
	var records []keptRecord
	for i := range 300 {
		records = append(records, keptRecord{i / 100, fmt.Sprintf("key%03d\tvalue", i), 6, int64(1 + i%3)})
	}
	file := writeRun(f, path, 3, minBlock, records)
	data, err := os.ReadFile(path)
	if err != nil {
		f.Fatal(err)
	}
	var segments [][]byte
	for _, e := range file.segments {
		segments = append(segments, data[e.Offset:e.Offset+e.Length])
	}
	return segments
}

// inMemory is a segmentFile in memory.
type inMemory struct{ *bytes.Reader }

func (inMemory) Close() error { return nil }

// FuzzSegment reads arbitrary segments, with correct checksums and with others.
func FuzzSegment(f *testing.F) {
	for _, s := range segmentsFor(f) {
		f.Add(s, false)
		f.Add(s, true)
		f.Add(append(s, s[len(s)-endSize:]...), false) // continues behind its end
	}
	f.Fuzz(func(t *testing.T, b []byte, seal bool) {
		if seal {
			b = bytes.Clone(b)
			reseal(b)
		}
		_, verr := CopySegment(io.Discard, bytes.NewReader(b), "", 0, int64(len(b)), make([]byte, 256))
		r := run{file: &File{}, segment: segment{Extent: Extent{0, int64(len(b))}}}
		in := inMemory{bytes.NewReader(b)}
		var err error
		if r.segmentStat, err = readStat(in, r.Extent); err != nil {
			return
		}
		if r.MaxRaw > 1<<20 {
			return // would only allocate much memory
		}
		records, err := readCursor(newCursor(in, r, hadoop.ByteOrder, make([]byte, r.need()), new(int64)), 0)
		if err != nil {
			return
		}
		if verr != nil {
			t.Fatalf("%d records read, but as a stream it is refused: %v", len(records), verr)
		}
	})
}

// FuzzIndex reads the indices of arbitrary files.
func FuzzIndex(f *testing.F) {
	f.Add([]byte(magic))
	b := appendIndex([]byte(magic), []segment{{Extent: Extent{8, 0}}, {Extent: Extent{8, 0}}}, 8)
	f.Add(b)
	f.Fuzz(func(t *testing.T, b []byte) {
		extents, err := parseIndex(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			return
		}
		for _, e := range extents {
			if e.Length < 0 || e.Offset+e.Length > int64(len(b)) {
				t.Fatalf("extent %v of %d bytes", e, len(b))
			}
		}
	})
}
