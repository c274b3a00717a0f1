package extsort

import (
	"bytes"
	"fmt"

	"berth/internal/core/job"
	"berth/internal/mapreduce/hadoop"
)

// buffer collects the lines that a mapper or combiner writes. When it is full it sorts them and
// calls flush. The text of the lines grows from the start of the memory, and their entries grow
// from the end.
type buffer struct {
	mem  []byte // a multiple of 8 long
	text int    // lines [0, text) have entries
	fill int    // [text, fill) is the beginning of a line
	scan int    // [text, scan) is known to hold no newline
	n    int    // entries
	read int    // bytes asked of a reader at once

	Records
	parts int
	cmp   hadoop.Comparator
	dedup dedup

	flush func(e []entry) error // writes the sorted entries to a file; the buffer is emptied after it
	base  []byte                // the memory, while a record that is larger than it has a region of its own; nil: none has

	limit int // longest line, bytes

	Lines, Bytes int64 // taken in so far, newlines included
	peak         int   // most bytes of memory that held data when it was spilled
}

// maxLine is the longest line that can be handled, bytes: lengths have 32 bits.
const maxLine = 1<<31 - 1

// RecordLimit returns the length of the longest record, in bytes, that an attempt with this memory
// (bytes) accepts: two such records can be merged in it. Records below 1 MiB are always accepted.
func RecordLimit(memory int64) int { return int(min(max(memory/2, 1<<20), maxLine)) }

// TooLong returns the error for a line that is longer than limit; size is what was read of it so
// far, in bytes. The program would write the same line again, so the task is not retried.
func TooLong(from string, size, limit int) error {
	return job.IOError(job.User, from, fmt.Sprintf("wrote a line of at least %d bytes; a record may have %d bytes, half of a task's memory for sorting", size, limit), nil).Advice("end lines with a newline, or give workers more memory with --sort-memory")
}

// maxBuffer is the largest memory a buffer uses, as offsets have 32 bits.
const maxBuffer = 1<<32 - 8

// newBuffer makes a buffer for records of parts partitions, each of limit bytes at most.
func newBuffer(mem []byte, limit int, r Records, parts int, cmp hadoop.Comparator) buffer {
	table := mem[:len(mem)/64&^7]
	mem = mem[len(table):]
	mem = mem[:min(len(mem), maxBuffer)&^7]
	return buffer{
		mem: mem, limit: limit, read: min(max(len(mem)/16, 256), 256<<10),
		Records: r, parts: parts, cmp: cmp, dedup: newDedup(table),
	}
}

// entry returns the n-th entry that was added, counted from 1. It may only be called before the
// entries are sorted.
func (b *buffer) entry(n int) *entry { return &viewEntries(b.mem, n)[0] }

// top returns the offset at which the entries begin.
func (b *buffer) top() int { return len(b.mem) - b.n*entrySize }

// Write adds p, which may end within a line.
func (b *buffer) Write(p []byte) (int, error) {
	done := 0
	for done < len(p) {
		room, err := b.room()
		if err != nil {
			return done, err
		}
		n := copy(room, p[done:])
		if err := b.advance(n); err != nil {
			return done, err
		}
		done += n
	}
	return done, nil
}

// Used returns the most bytes of memory that held data at once so far.
func (b *buffer) Used() int64 {
	return int64(max(b.peak, len(b.dedup.slots)*slotSize+b.fill+b.n*entrySize))
}

// room returns memory for the next bytes, never empty. If little memory is left, it spills first.
func (b *buffer) room() ([]byte, error) {
	least := b.read + entrySize
	if b.top()-b.fill < least {
		if err := b.spill(); err != nil {
			return nil, err
		}
	}
	if b.top()-b.fill < least {
		if err := b.grow(); err != nil {
			return nil, err
		}
	}
	return b.mem[b.fill : b.fill+b.read], nil
}

// advance makes entries of the lines that end in the first n bytes of room.
func (b *buffer) advance(n int) error {
	b.fill += n
	if err := b.parse(); err != nil || b.base == nil || b.n == 0 {
		return err
	}
	return b.spill() // a record that is larger than the memory
}

// grow makes a region for a line that is larger than the memory. The next spill frees it.
func (b *buffer) grow() error {
	grown, err := mapRegion(int64(min(2*len(b.mem), b.limit+2*b.read+entrySize) &^ 7))
	if err != nil {
		return err
	}
	copy(grown, b.mem[:b.fill])
	base := b.base
	if base == nil {
		base = b.mem
	}
	b.close()
	b.mem, b.base = grown, base
	return nil
}

// close frees the region of a record that is larger than the memory.
func (b *buffer) close() {
	if b.base != nil {
		unmapRegion(b.mem)
		b.mem, b.base = b.base, nil
	}
}

// parse makes an entry of each whole line. A repeated line, which is only counted, and a separator
// that is shortened leave gaps. The later lines are moved down to fill them.
func (b *buffer) parse() error {
	if err := b.checkLength(); err != nil {
		return err
	}
	from, to := b.text, b.text // the next line begins at from, and is moved to to
	for {
		i := bytes.IndexByte(b.mem[b.scan:b.fill], '\n')
		if i < 0 {
			break
		}
		if b.top()-b.fill < entrySize {
			b.compact(from, to)
			if err := b.spill(); err != nil {
				return err
			}
			from, to = 0, 0
			i = bytes.IndexByte(b.mem[:b.fill], '\n')
		}
		end := b.scan + i
		b.Bytes += int64(end + 1 - from)
		b.Lines++
		to = b.add(from, end, to)
		from, b.scan = end+1, end+1
	}
	b.compact(from, to)
	b.scan = b.fill
	return nil
}

// checkLength returns an error if a line is too long. One read is shorter than the limit, so only
// the line that began in an earlier read can be too long.
func (b *buffer) checkLength() error {
	if b.fill-b.text <= b.limit {
		return nil
	}
	n := bytes.IndexByte(b.mem[b.scan:b.fill], '\n')
	if n < 0 {
		n = b.fill - b.scan
	}
	if n += b.scan - b.text; n > b.limit {
		return TooLong(b.From, n, b.limit)
	}
	return nil
}

// compact closes the gap between the last line, which ends at to, and the bytes that have not been
// parsed, which begin at from: it moves them down to to.
func (b *buffer) compact(from, to int) {
	if from != to {
		b.fill = to + copy(b.mem[to:], b.mem[from:b.fill])
	}
	b.text, b.scan = to, to
}

// add moves the line [from, end) to to and makes an entry of it. It returns the offset for the next
// line: to again if the line repeats an earlier one.
func (b *buffer) add(from, end, to int) int {
	line := b.mem[from:end]
	// In other formats the stored line differs from the line read, and no repeat would be found.
	if b.Format.Plain() && b.dedup.active() && b.dedup.repeat(b, line) {
		return to
	}
	if from != to {
		copy(b.mem[to:], b.mem[from:end+1])
	}
	b.n++
	e := b.entry(b.n)
	b.describe(e, b.mem[to:to+len(line)+1])
	e.off = uint32(to)
	return to + int(e.lineLen) + 1
}

// describe makes e the entry of a line, which ends with its newline and is at the start of the memory. It replaces the
// separator in the line by a TAB.
func (b *buffer) describe(e *entry, line []byte) {
	n := len(line) - 1
	keyLen := b.Format.KeyLen(line[:n])
	if keyLen < n && !b.Format.Plain() {
		n = normalize(line, keyLen, len(b.Format.Sep))
	}
	key := line[:keyLen]
	*e = entry{keyLen: uint32(keyLen), lineLen: uint32(n), count: 1}
	if b.parts > 1 {
		e.part = uint16(b.Partition(key))
	}
	e.prefix = b.cmp.Prefix(key)
}

// normalize replaces the separator, of sepLen bytes, by a TAB. line ends with its newline. normalize
// returns the new length of the line without the newline.
func normalize(line []byte, keyLen, sepLen int) int {
	line[keyLen] = hadoop.Separator
	n := keyLen + 1
	if sepLen > 1 {
		return n + copy(line[n:], line[keyLen+sepLen:]) - 1
	}
	return len(line) - 1
}

// spill sorts and flushes all whole lines. It keeps the beginning of a line that has not ended.
func (b *buffer) spill() error {
	b.peak = int(b.Used())
	whole := b.n > 0
	if whole {
		if err := b.flush(b.sorted()); err != nil {
			return err
		}
	}
	b.n = 0
	clear(b.dedup.slots) // they are of the lines that were spilled
	rest := b.mem[b.text:b.fill]
	b.scan -= b.text
	b.text = 0
	if whole && b.base != nil { // less than one read is left
		b.fill = copy(b.base, rest)
		b.close()
	} else {
		b.fill = copy(b.mem, rest)
	}
	return nil
}

// sorted sorts the entries and returns them. The method entry does not work afterwards.
func (b *buffer) sorted() []entry {
	e := viewEntries(b.mem, b.n)
	s := sorter{mem: b.mem, cmp: b.cmp}
	s.sort(e, b.parts)
	return e
}

// Finish ends the last line if its newline is missing, and spills the remaining lines.
func (b *buffer) Finish() error {
	if b.fill > b.text {
		if _, err := b.Write([]byte{'\n'}); err != nil {
			return err
		}
	}
	return b.spill()
}
