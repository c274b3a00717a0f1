package extsort

import (
	"cmp"
	"errors"
	"slices"
)

// MaxFanIn is the largest number of files that are merged at once. Each of them is open during the
// merge. A larger number would not make a merge faster.
const MaxFanIn = 256

// fanIn returns how many files are merged at once if files of them may be open; 0 stands for MaxFanIn.
func fanIn(files int) int { return max(2, min(cmp.Or(files, MaxFanIn), MaxFanIn)) }

// combineFrom is the smallest number of spills for which the merge runs the combiner once more
// (Hadoop's mapreduce.map.combine.minspills).
const combineFrom = 3

// MergeSpills merges the files that sorters have spilled into one file. If there are at least
// combineFrom of them, the records pass through the combiner, if there is one.
func (s *Space) MergeSpills(files []*File) (_ *File, err error) {
	s.count(files)
	if s.Combiner != nil && len(files) >= combineFrom {
		if files, err = s.prepare(files, s.free()/2); err != nil {
			return nil, err
		}
		if files, err = s.combine(files); err != nil {
			return nil, err
		}
		s.count(files)
	}
	return s.mergeAll(files)
}

// mergeAll merges files into one, in several passes if that is necessary.
func (s *Space) mergeAll(files []*File) (*File, error) {
	if len(files) == 1 {
		return files[0], nil
	}
	files, err := s.prepare(files, s.free())
	if err != nil {
		return nil, err
	}
	return s.merge(files)
}

// prepare merges files until the remaining files can be merged at once with memory bytes. It reports how many bytes that merge will read.
func (s *Space) prepare(files []*File, memory int64) ([]*File, error) {
	files, err := s.passes(files, memory, memory, s.merge)
	if err != nil {
		return nil, err
	}
	total := s.read
	for _, f := range files {
		total += f.size
	}
	s.Progress.Total(total)
	return files, nil
}

func (s *Space) count(files []*File) {
	for _, f := range files {
		s.Spilled += f.Records()
	}
}

// Narrow merges files, through the combiner if there is one, until the remaining files can be merged
// at once (Lines).
func (s *Space) Narrow(files []*File) ([]*File, error) {
	last, pass := int64(len(s.mem.all)), s.free()
	if s.Combiner != nil {
		pass /= 2 // the combiner's output is sorted in the other half
	}
	if s.firstPass(files, pass, last) == 0 {
		return files, nil
	}
	s.Progress.Total(s.passBytes(files, pass, last))
	return s.passes(files, pass, last, func(files []*File) (*File, error) {
		one, err := s.narrowOnce(files)
		if err == nil {
			s.count([]*File{one})
			s.Progress.Out(one.size, one.Records())
		}
		return one, err
	})
}

func (s *Space) narrowOnce(files []*File) (*File, error) {
	if s.Combiner == nil {
		return s.merge(files)
	}
	files, err := s.combine(files)
	if err != nil {
		return nil, err
	}
	return s.mergeAll(files)
}

// passes calls merge for some of the files at a time, with pass bytes of memory, until the remaining
// files can be merged at once with last bytes of memory.
func (s *Space) passes(files []*File, pass, last int64, merge func([]*File) (*File, error)) ([]*File, error) {
	for {
		n := s.firstPass(files, pass, last)
		if n == 0 {
			return files, nil
		}
		one, err := merge(files[:n])
		if err != nil {
			return nil, errors.Join(err, removeAll(files))
		}
		files = slices.Clone(files[n:])
		if one.Records() > 0 {
			files = append(files, one)
		} else if err := one.remove(); err != nil {
			return nil, err
		}
	}
}

// firstPass returns how many of the files the next pass merges into one, with pass bytes of memory.
// It returns 0 if all files can be merged at once with last bytes of memory. It sorts the files by
// ascending size, so that little is copied. The first pass may merge fewer files than it could, so
// that all later passes merge as many as they can (Knuth, section 5.4.9).
func (s *Space) firstPass(files []*File, pass, last int64) int {
	slices.SortStableFunc(files, func(a, b *File) int { return cmp.Compare(a.size, b.size) })
	largest := slices.Clone(files)
	slices.Reverse(largest)
	atOnce := s.atOnce(largest, last)
	if atOnce >= len(files) {
		return 0
	}
	return max(2, min(s.atOnce(files, pass), len(files)-atOnce+1))
}

// passBytes returns how many bytes all passes before the last merge will read.
func (s *Space) passBytes(files []*File, pass, last int64) (sum int64) {
	_, _ = s.passes(files, pass, last, func(files []*File) (*File, error) { // it merges nothing, and so cannot fail
		one := &File{segments: make([]segment, s.Partitions)}
		for _, f := range files {
			one.size += f.size
			for part, e := range f.segments {
				total := &one.segments[part]
				total.Length += e.Length
				total.Records += e.Records
				total.MaxRaw = max(total.MaxRaw, e.MaxRaw)
			}
		}
		sum += one.size
		return one, nil
	})
	return sum
}

// atOnce returns how many of the files, counted from the first, can be merged at once with memory
// bytes.
func (s *Space) atOnce(files []*File, memory int64) int {
	for part := range s.Partitions {
		files = files[:fits(files, part, memory, fanIn(s.means.Files))]
	}
	return len(files)
}

// fits returns how many of the files, counted from the first, can be merged at once in this partition
// with memory bytes. Files whose partition is empty do not count. The others are at most fan, and at
// least two, as a merge of fewer files would be of no use.
func fits(files []*File, part int, memory int64, fan int) int {
	n := 0
	for i, f := range files {
		s := &f.segments[part]
		if s.Length == 0 {
			continue
		}
		memory -= s.need() + 8
		if n == fan || memory < 0 && n >= 2 {
			return i
		}
		n++
	}
	return len(files)
}

// merge merges files into one and removes them. The memory that the writer does not need is used for
// reading.
func (s *Space) merge(files []*File) (*File, error) {
	s.allocWriter()
	rest := s.mem.rest
	one, err := s.write(func(w *runWriter) error {
		for part := range s.Partitions {
			s.mem.rest = rest
			if err := s.mergePart(w, part, files); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return one, removeAll(files)
}

// checkEvery is how many records are processed between two checks of the context.
const checkEvery = 16 << 10

// mergePart merges one partition of the files and adds its records to w.
func (s *Space) mergePart(w *runWriter, part int, files []*File) error {
	m, err := newMerger(runsOf(files, part), s.Order, s.mem, &s.read)
	if err != nil {
		return err
	}
	defer m.close()
	s.uses(int64(len(s.writer)) + m.space)
	read, records := s.read, int64(0)
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
			s.Progress.In(s.read-read, records)
			read, records = s.read, 0
			if err := s.ctx.Err(); c == nil || err != nil {
				return err
			}
		}
	}
}

// combine merges files through the combiner into new files, usually one, and removes the old files.
func (s *Space) combine(files []*File) ([]*File, error) {
	s.allocWriter()
	read := s.read
	b := s.newSorter(s.Combiner.Records, len(s.mem.rest)/2)
	defer b.Close()
	lines, err := s.openLines(files, s.Combiner.Tabs, func() int64 { return int64(len(s.writer)) + b.Used() })
	if err != nil {
		return nil, err
	}
	defer lines.Close()
	if err := s.Combiner.Run(lines, b); err != nil {
		return nil, err
	}
	s.uses(int64(len(s.writer)) + b.Used())
	s.Progress.In(s.read-read, lines.records)
	return b.files, removeAll(files)
}
