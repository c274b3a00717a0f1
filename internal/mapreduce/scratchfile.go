package mapreduce

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"berth/internal/mapreduce/hadoop"
)

// scratchFile is a finished file of sorted records in a scratch folder.
type scratchFile struct {
	path    string
	extents []extent
	stats   []segmentStat
	size    int64
}

// runsOf returns the segments of a partition in those files, without empty ones.
func runsOf(files []*scratchFile, part int) []*sortedRun {
	var runs []*sortedRun
	for _, f := range files {
		if f.extents[part].length > 0 {
			runs = append(runs, &sortedRun{path: f.path, extent: f.extents[part], stat: f.stats[part]})
		}
	}
	return runs
}

// sortProgress is told what merges read and how much memory holds data.
type sortProgress interface {
	In(bytes, records int64)
	Memory(bytes int64)
}

// scratchSpace is the folder and the memory that an attempt sorts and merges with.
type scratchSpace struct {
	ctx   context.Context
	dir   string
	parts int
	cmp   hadoop.Comparator
	block int
	fan   int // runs merged at once
	mem   *carver
	prog  sortProgress
	made  int   // files, to name them
	read  int64 // bytes that merges of files have read
	used  int64 // most bytes of memory that held data at once so far
}

func newScratchSpace(ctx context.Context, dir string, parts int, cmp hadoop.Comparator, memory int64, files int, prog sortProgress) (*scratchSpace, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, scratchError(dir, err)
	}
	mem, err := newCarver(memory)
	if err != nil {
		return nil, err
	}
	return &scratchSpace{
		ctx: ctx, dir: dir, parts: parts, cmp: cmp, block: blockSize(int64(len(mem.all))), fan: fanIn(files), mem: mem, prog: prog,
	}, nil
}

// uses tells that so many bytes of memory hold data. The region is larger, but what
// no data ever came to is only a reservation. It is not given back before the
// attempt ends, so that the most that was used counts for all phases from then on.
func (s *scratchSpace) uses(bytes int64) {
	s.used = max(s.used, bytes)
	s.prog.Memory(s.used)
}

// close gives the memory back.
func (s *scratchSpace) close() { s.mem.close() }

// takeWriter frees the whole region and takes a writer's memory from it.
func (s *scratchSpace) takeWriter() []byte {
	s.mem.reset()
	return s.mem.take(writerMemory(s.block))
}

// write makes a scratch file of what fill adds to it, with mem for the writer.
func (s *scratchSpace) write(mem []byte, fill func(w *runWriter) error) (*scratchFile, error) {
	s.made++
	w, err := createRun(filepath.Join(s.dir, fmt.Sprintf("run-%d", s.made)), s.parts, s.block, mem)
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
	return &scratchFile{path: w.path, extents: w.extents, stats: w.stats, size: size}, nil
}

// checkEvery is how many records are handled between looks at the context.
const checkEvery = 16 << 10

// writeEntries adds the sorted entries of a buffer, whose lines are in mem.
func (s *scratchSpace) writeEntries(w *runWriter, mem []byte, entries []entry) error {
	for i := range entries {
		e := &entries[i]
		line := mem[e.off : e.off+e.lineLen+1]
		if err := w.add(int(e.part), line, int(e.keyLen), int64(e.count)); err != nil {
			return err
		}
		if i%checkEvery == 0 {
			if err := s.ctx.Err(); err != nil {
				return err
			}
		}
	}
	return nil
}

// merge merges files into one, in which their order of records and counts is kept.
// Memory beyond the writer's is used for reading.
func (s *scratchSpace) merge(files []*scratchFile) (*scratchFile, error) {
	return s.write(s.takeWriter(), func(w *runWriter) error {
		rest := s.mem.rest
		for part := range s.parts {
			s.mem.rest = rest
			if err := s.mergeRuns(w, part, runsOf(files, part)); err != nil {
				return err
			}
		}
		return nil
	})
}

// mergeRuns adds the records of runs as a partition of w.
func (s *scratchSpace) mergeRuns(w *runWriter, part int, runs []*sortedRun) error {
	m, err := newMerger(runs, s.cmp, s.mem)
	if err != nil {
		return err
	}
	defer m.close()
	s.uses(int64(writerMemory(s.block)) + m.space)
	var told, records int64
	for n := 1; ; n++ {
		c, err := m.next()
		if err != nil {
			return err
		}
		if c != nil {
			if err := w.add(part, c.line, c.keyLen, c.count); err != nil {
				return err
			}
			records += c.count
		}
		if c == nil || n%checkEvery == 0 {
			taken := m.taken()
			s.read += taken
			s.prog.In(taken, records-told)
			told = records
			if err := s.ctx.Err(); c == nil || err != nil {
				return err
			}
		}
	}
}

// atOnce returns how many of the files, from the first on, can be merged at once in
// memory bytes.
func (s *scratchSpace) atOnce(files []*scratchFile, memory int64) int {
	n := len(files)
	for part := range s.parts {
		for {
			runs := runsOf(files[:n], part)
			if fits(runs, memory, s.fan) == len(runs) {
				break
			}
			n--
		}
	}
	return n
}

// narrow merges files until memory bytes suffice to merge all that are left at once.
func (s *scratchSpace) narrow(files []*scratchFile, memory int64) ([]*scratchFile, error) {
	for {
		slices.SortStableFunc(files, func(a, b *scratchFile) int { return cmp.Compare(a.size, b.size) })
		n := s.atOnce(files, memory)
		left := len(files) - n
		if left <= 0 {
			return files, nil
		}
		n = max(2, min(n, left+1))
		one, err := s.merge(files[:n])
		if err != nil {
			return nil, err
		}
		if err := remove(files[:n]); err != nil {
			return nil, err
		}
		files = append(slices.Clone(files[n:]), one)
	}
}

// remove deletes files that were merged.
func remove(files []*scratchFile) error {
	for _, f := range files {
		if err := os.Remove(f.path); err != nil && !errors.Is(err, os.ErrNotExist) {
			return scratchError(f.path, err)
		}
	}
	return nil
}
