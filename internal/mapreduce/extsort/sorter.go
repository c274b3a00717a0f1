package extsort

import (
	"io"

	"berth/internal/mapreduce/hadoop"
)

// Records describes the lines that a sorter reads.
type Records struct {
	Format    hadoop.LineFormat
	Partition hadoop.Partitioner // not called if there is only one partition
	From      string             // who writes the lines, for errors
}

// Lines is a reader of sorted lines.
type Lines interface {
	io.Reader
	Records() int64 // that a Read has started
}

// Combiner processes sorted lines before they are written to a file.
type Combiner struct {
	Records      // the lines that it writes
	Tabs    bool // add a separator to a line that is only a key, before the combiner reads it
	// Run reads in, writes to out in any order, and finishes out.
	Run func(in Lines, out *Sorter) error
}

// Sorter collects lines, sorts them in memory, and spills them to files of its space, through the
// combiner if there is one.
type Sorter struct {
	buffer
	space    *Space
	combined *Sorter // collects the combiner's output; nil without a combiner
	files    []*File
}

// NewSorter returns a sorter that uses all the memory of the space.
func (s *Space) NewSorter(r Records) *Sorter {
	s.allocWriter()
	var combined *Sorter
	if s.Combiner != nil {
		combined = s.newSorter(s.Combiner.Records, len(s.mem.rest)/4)
	}
	b := s.newSorter(r, len(s.mem.rest))
	b.combined = combined
	return b
}

// newSorter returns a sorter that uses memory bytes of the rest of the space.
func (s *Space) newSorter(r Records, memory int) *Sorter {
	b := &Sorter{space: s, buffer: newBuffer(s.mem.alloc(memory), s.MaxRecord, r, s.Partitions, s.Order)}
	b.flush = b.writeSpill
	return b
}

// Files returns the files that were spilled.
func (b *Sorter) Files() []*File {
	if b.combined != nil {
		return b.combined.files
	}
	return b.files
}

// ReportMemory reports to Progress how much memory contains data.
func (b *Sorter) ReportMemory() {
	used := b.Used()
	if b.combined != nil {
		used += b.combined.Used()
	}
	if len(b.Files()) > 0 {
		used += int64(len(b.space.writer))
	}
	b.space.uses(used)
}

// Close frees the memory of a record that is larger than the buffer and was not completed.
func (b *Sorter) Close() {
	b.buffer.close()
	if b.combined != nil {
		b.combined.Close()
	}
}

// writeSpill writes sorted entries to a file, or passes them to the combiner.
func (b *Sorter) writeSpill(e []entry) error {
	if c := b.space.Combiner; b.combined != nil {
		return c.Run(linesOf(b.mem, e, c.Tabs), b.combined)
	}
	f, err := b.space.write(func(w *runWriter) error { return b.writeEntries(w, e) })
	if err == nil {
		b.files = append(b.files, f)
	}
	return err
}

// writeEntries adds sorted entries to a file.
func (b *Sorter) writeEntries(w *runWriter, entries []entry) error {
	for i := range entries {
		e := &entries[i]
		line := b.mem[e.off : e.off+e.lineLen+1]
		if err := w.add(int(e.part), line, int(e.keyLen), int64(e.count)); err != nil {
			return err
		}
		if i%checkEvery == 0 {
			if err := b.space.ctx.Err(); err != nil {
				return err
			}
		}
	}
	return nil
}
