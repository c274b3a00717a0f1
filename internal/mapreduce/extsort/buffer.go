package extsort

import (
	"bytes"
	"fmt"

	"berth/internal/job"
	"berth/internal/mapreduce/hadoop"
)

// buffer takes the lines that a mapper or combiner writes, and calls flush with what
// it holds when it is full. Text grows from the start of its memory and entries from
// the end. What is read goes straight to where it stays.
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
	group grouper

	// flush writes out the sorted entries; the buffer is emptied after it.
	flush func(e []entry) error
	// alone writes out a record that is larger than the whole buffer.
	alone func(part int, line []byte, keyLen int) error
	giant []byte // such a record, as far as it was read

	limit int // longest line, bytes

	Lines, Bytes int64 // taken in so far, newlines included
	peak         int   // most bytes of memory that held data when it was spilled
}

// maxLine is the longest line that can be handled, bytes: lengths have 32 bits.
const maxLine = 1<<31 - 1

// RecordLimit returns how long a record may be where an attempt has so much memory: two of
// the longest can be merged in it. Below a size that hardly counts nothing is refused.
func RecordLimit(memory int64) int { return int(min(max(memory/2, 1<<20), maxLine)) }

// TooLong is the error for a line of so many bytes, as far as it was read. Whoever
// wrote it would write it again, so it is not tried again.
func TooLong(from string, size, limit int) error {
	return &job.Error{
		Class: job.User, Code: job.CodeIO, Where: from,
		What: fmt.Sprintf("wrote a line of %d bytes so far; a record may have %d, half of what a task has to sort in", size, limit),
		Do:   "end lines with a newline, or give workers more memory with --sort-memory",
	}
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
		Records: r, parts: parts, cmp: cmp, group: newGrouper(table),
	}
}

// entry returns the n-th entry added, counted from 1; until they are sorted.
func (b *buffer) entry(n int) *entry { return &viewEntries(b.mem, n)[0] }

// top returns where the entries begin.
func (b *buffer) top() int { return len(b.mem) - b.n*entrySize }

// Write takes lines.
func (b *buffer) Write(p []byte) (int, error) {
	done := 0
	for done < len(p) {
		room, err := b.Room()
		if err != nil {
			return done, err
		}
		n := copy(room, p[done:])
		if err := b.Took(n); err != nil {
			return done, err
		}
		done += n
	}
	return done, nil
}

// Used returns the most bytes of memory that held data at once so far.
func (b *buffer) Used() int64 {
	return int64(max(b.peak, len(b.group.slots)*slotSize+b.fill+b.n*entrySize+len(b.giant)))
}

// Room returns memory to read into, and spills first if there is little.
func (b *buffer) Room() ([]byte, error) {
	if b.giant != nil {
		return b.giantRoom()
	}
	if b.top()-b.fill < b.read+entrySize {
		if err := b.spill(); err != nil {
			return nil, err
		}
		if b.top()-b.fill < b.read+entrySize {
			return b.giantRoom()
		}
	}
	return b.mem[b.fill : b.fill+b.read], nil
}

// Took makes entries of the lines that end in the n bytes read into room.
func (b *buffer) Took(n int) error {
	if b.giant != nil {
		return b.tookGiant(n)
	}
	b.fill += n
	return b.parse()
}

// parse makes entries of all whole lines. Lines that are dropped, as repeats or for a
// shorter separator, leave gaps, which the later ones move down into.
func (b *buffer) parse() error {
	if err := b.checkLength(); err != nil {
		return err
	}
	from, to := b.text, b.text // a line is at from and shall be at to
	for {
		i := bytes.IndexByte(b.mem[b.scan:b.fill], '\n')
		if i < 0 {
			break
		}
		if b.top()-b.fill < entrySize {
			b.settle(from, to)
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
	b.settle(from, to)
	b.scan = b.fill
	return nil
}

// checkLength refuses a line that is too long. What is read at once is shorter than the
// limit, so only the line that had begun before can be.
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

// settle moves what was not parsed, from from on, down to to.
func (b *buffer) settle(from, to int) {
	if from != to {
		b.fill = to + copy(b.mem[to:], b.mem[from:b.fill])
	}
	b.text, b.scan = to, to
}

// add makes an entry of the line [from, end), moves it to to, and returns where the
// next one may go.
func (b *buffer) add(from, end, to int) int {
	line := b.mem[from:end]
	plain := b.Format.Plain() // else what is kept differs from what was read, and is not found again
	if plain && b.group.active() && b.group.repeat(b, line) {
		return to
	}
	keyLen := b.Format.KeyLen(line)
	n := len(line)
	if from != to {
		copy(b.mem[to:], b.mem[from:end+1])
	}
	if keyLen < n && !plain {
		n = normalize(b.mem[to:to+n+1], keyLen, len(b.Format.Sep))
	}
	key := b.mem[to : to+keyLen]
	b.n++
	e := b.entry(b.n)
	*e = entry{off: uint32(to), keyLen: uint32(keyLen), lineLen: uint32(n), count: 1}
	if b.parts > 1 {
		e.part = uint16(b.Partition(key))
	}
	if b.cmp == hadoop.ByteOrder {
		e.prefix = hadoop.BytePrefix(key)
	} else {
		e.prefix = b.cmp.Prefix(key)
	}
	return to + n + 1
}

// normalize puts a TAB in place of the separator, which is not shorter, of a line
// with its newline. It returns the line's new length, without the newline.
func normalize(line []byte, keyLen, sepLen int) int {
	line[keyLen] = hadoop.Separator
	n := keyLen + 1
	if sepLen > 1 {
		return n + copy(line[n:], line[keyLen+sepLen:]) - 1
	}
	return len(line) - 1
}

// spill sorts what has entries and flushes it, and keeps the beginning of a line.
func (b *buffer) spill() error {
	b.peak = int(b.Used())
	if b.n > 0 {
		if err := b.flush(b.sorted()); err != nil {
			return err
		}
	}
	b.n = 0
	b.group.forget()
	b.fill = copy(b.mem, b.mem[b.text:b.fill])
	b.scan -= b.text
	b.text = 0
	return nil
}

// sorted sorts the entries; they are no longer found by number.
func (b *buffer) sorted() []entry {
	e := viewEntries(b.mem, b.n)
	s := sorter{mem: b.mem, cmp: b.cmp}
	s.sort(e, b.parts)
	return e
}

// Finish ends the last line, if its newline is missing, and spills what is left.
func (b *buffer) Finish() error {
	if b.fill > b.text || b.giant != nil {
		if _, err := b.Write([]byte{'\n'}); err != nil {
			return err
		}
	}
	return b.spill()
}

// close frees what a record that never ended took.
func (b *buffer) close() {
	unmapRegion(b.giant)
	b.giant = nil
}

// giantRoom returns memory for more of a line that does not fit the buffer.
func (b *buffer) giantRoom() ([]byte, error) {
	have := b.giant
	if have == nil {
		have = b.mem[:b.fill]
	}
	if b.giant == nil || cap(have)-len(have) < b.read {
		grown, err := mapRegion(int64(min(2*len(have), b.limit) + 2*b.read))
		if err != nil {
			return nil, err
		}
		n := copy(grown, have)
		unmapRegion(b.giant)
		b.giant, b.fill = grown[:n], 0
	}
	n := len(b.giant)
	return b.giant[n : n+b.read], nil
}

// tookGiant adds n bytes to the giant record; if they end it, it is written out alone.
func (b *buffer) tookGiant(n int) error {
	had := len(b.giant)
	b.giant = b.giant[:had+n]
	i := bytes.IndexByte(b.giant[had:], '\n')
	if i < 0 {
		i = n
	}
	if had+i > b.limit {
		return TooLong(b.From, had+i, b.limit)
	}
	if i == n {
		return nil
	}
	line := b.giant[:had+i]
	b.Bytes += int64(len(line) + 1)
	b.Lines++
	keyLen := b.Format.KeyLen(line)
	if keyLen < len(line) && !b.Format.Plain() {
		line = line[:normalize(b.giant[:had+i+1], keyLen, len(b.Format.Sep))]
	}
	part := 0
	if b.parts > 1 {
		part = b.Partition(line[:keyLen])
	}
	b.peak = int(b.Used())
	if err := b.alone(part, line[:len(line)+1], keyLen); err != nil {
		return err
	}
	b.fill = copy(b.mem, b.giant[had+i+1:])
	b.text, b.scan = 0, 0
	b.close()
	return b.parse()
}
