package extsort

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"berth/internal/job"
	"berth/internal/mapreduce/hadoop"
)

// Progress is told what merges read and write and how much memory holds data.
type Progress interface {
	In(bytes, records int64)
	Out(bytes, records int64)
	Memory(bytes int64)
	Total(bytes int64) // that the merges of this phase will read
}

// Means is what an attempt sorts and merges with.
type Means struct {
	Memory int64 // bytes
	Files  int   // that may be held open at once; 0: MaxFanIn
}

// Supply gives attempts their means.
type Supply interface {
	Take() Means // to be used until they are given back
	Give(Means)
}

// Take returns the means: they are a supply that has the same for everyone.
func (m Means) Take() Means { return m }

// Give does nothing.
func (Means) Give(Means) {}

// Config says how an attempt sorts.
type Config struct {
	Dir        string            // scratch folder; made if missing
	Partitions int               // of the files that are written
	Order      hadoop.Comparator // of keys
	Supply     Supply            // of memory and open files
	MaxRecord  int               // bytes of the longest record (RecordLimit)
	Combiner   *Combiner         // nil: none
	Progress   Progress
}

// Space is the folder and the memory that an attempt sorts and merges with.
type Space struct {
	Config
	ctx     context.Context
	means   Means   // in use; void while mem is nil
	mem     *carver // nil: released
	block   int     // bytes of a block
	writer  []byte  // memory for the writer of files
	made    int     // files, to name them
	read    int64   // bytes that merges of files have read
	used    int64   // most bytes of memory that held data at once so far
	spilled int64
}

// NewSpace makes the folder and takes the memory.
func NewSpace(ctx context.Context, c Config) (*Space, error) {
	if c.Partitions > maxPartitions {
		return nil, &job.Error{
			Class: job.User, Code: job.CodeConfig, Where: "reduces",
			What: fmt.Sprintf("%d reduces are too many", c.Partitions), Do: fmt.Sprintf("ask for at most %d", maxPartitions),
		}
	}
	if err := os.MkdirAll(c.Dir, 0o700); err != nil {
		return nil, ScratchError(c.Dir, err)
	}
	s := &Space{Config: c, ctx: ctx}
	return s, s.Hold()
}

// Hold takes memory anew after it was released, which may be more or less than before, and tells
// what of it holds data.
func (s *Space) Hold() error {
	if s.mem == nil {
		means := s.Supply.Take()
		mem, err := newCarver(means.Memory)
		if err != nil {
			s.Supply.Give(means)
			return err
		}
		s.means, s.mem, s.block = means, mem, blockSize(int64(len(mem.all)))
	}
	s.TellMemory()
	return nil
}

// Release gives the memory back while it holds no data: between sorting and merging, and between merges.
func (s *Space) Release() {
	if s.mem == nil {
		return
	}
	s.mem.close()
	s.Supply.Give(s.means)
	s.mem, s.writer, s.used = nil, nil, 0
	s.TellMemory()
}

// Close gives the memory back at the end.
func (s *Space) Close() { s.Release() }

// Spilled returns how many records were written by sorters and merged anew by passes,
// as Hadoop counts its spilled records.
func (s *Space) Spilled() int64 { return s.spilled }

// TellMemory tells the memory used so far, for a new phase: what is not released between two phases
// counts for the later one, too.
func (s *Space) TellMemory() { s.Progress.Memory(s.used) }

// uses tells that so many bytes of memory hold data. The region is larger, but what
// no data ever came to is only a reservation.
func (s *Space) uses(bytes int64) {
	s.used = max(s.used, bytes)
	s.TellMemory()
}

// free returns the bytes of memory beside those of a writer.
func (s *Space) free() int64 { return int64(len(s.mem.all) - writerMemory(s.block)) }

// takeWriter frees the whole region and takes a writer's memory from it.
func (s *Space) takeWriter() {
	s.mem.reset()
	s.writer = s.mem.take(writerMemory(s.block))
}

// write makes a file of what fill adds to it.
func (s *Space) write(fill func(w *runWriter) error) (*File, error) {
	s.made++
	w, err := createRun(filepath.Join(s.Dir, fmt.Sprintf("run-%d", s.made)), s.Partitions, s.block, s.writer)
	if err != nil {
		return nil, err
	}
	size := int64(0)
	if err = fill(w); err == nil {
		size, err = w.finish()
	}
	if err != nil {
		w.abort()
		return nil, err
	}
	return &File{path: w.path, extents: w.extents, stats: w.stats, size: size}, nil
}
