package extsort

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"berth/internal/core/job"
	"berth/internal/mapreduce/hadoop"
)

// Progress receives what merges read and write, and how much memory contains data.
type Progress interface {
	In(bytes, records int64)
	Out(bytes, records int64)
	Memory(bytes int64)
	Total(bytes int64) // that the merges of this phase will read
}

// Means is the memory and the number of open files with which an attempt sorts and merges.
type Means struct {
	Memory int64 // bytes
	Files  int   // that may be open at once; 0: MaxFanIn
}

// Supply allots means to attempts.
type Supply interface {
	Take() Means // to be used until they are given back
	Give(Means)
}

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
	means   Means  // in use; void while mem is nil
	mem     *arena // nil: released
	block   int    // bytes of a block
	writer  []byte // memory for the writer of files
	made    int    // files created, for their names
	read    int64  // bytes that merges of files have read
	used    int64  // most bytes of memory that held data at once so far
	Spilled int64  // records that sorters and merge passes have written, as Hadoop counts its spilled records
}

// NewSpace creates the folder and takes the memory from the supply.
func NewSpace(ctx context.Context, c Config) (*Space, error) {
	if c.Partitions > maxPartitions {
		return nil, job.ConfigError("reduces", fmt.Sprintf("a job cannot have %d reduces", c.Partitions), fmt.Sprintf("ask for at most %d reduces", maxPartitions))
	}
	if err := os.MkdirAll(c.Dir, 0o700); err != nil {
		return nil, ScratchError(c.Dir, err)
	}
	s := &Space{Config: c, ctx: ctx}
	return s, s.Hold()
}

// Hold takes memory from the supply again after Release. It may be more or less than before. Hold
// reports to Progress how much of the memory contains data.
func (s *Space) Hold() error {
	if s.mem == nil {
		means := s.Supply.Take()
		mem, err := newArena(means.Memory)
		if err != nil {
			s.Supply.Give(means)
			return err
		}
		s.means, s.mem, s.block = means, mem, blockSize(int64(len(mem.all)))
	}
	s.ReportMemory()
	return nil
}

// Release returns the memory to the supply, if there is a space that has some. It may be called while the memory contains no data:
// between sorting and merging, between merges, and at the end of the attempt.
func (s *Space) Release() {
	if s == nil || s.mem == nil {
		return
	}
	s.mem.close()
	s.Supply.Give(s.means)
	s.mem, s.writer, s.used = nil, nil, 0
	s.ReportMemory()
}

// ReportMemory reports the memory used so far to Progress. It is called at the begin of a phase, as
// memory that is not released between two phases counts for the later phase too.
func (s *Space) ReportMemory() { s.Progress.Memory(s.used) }

// uses reports that this many bytes of memory contain data. The region is larger, but pages that were
// never written are only reserved.
func (s *Space) uses(bytes int64) {
	s.used = max(s.used, bytes)
	s.ReportMemory()
}

// free returns the bytes of memory that a writer leaves for other uses.
func (s *Space) free() int64 { return int64(len(s.mem.all) - writerMemory(s.block)) }

// allocWriter frees the whole region and allocates the memory of a writer in it.
func (s *Space) allocWriter() {
	s.mem.reset()
	s.writer = s.mem.alloc(writerMemory(s.block))
}

// write creates a file and calls fill, which adds the records to it.
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
	return &File{path: w.path, segments: w.segments, size: size}, nil
}
