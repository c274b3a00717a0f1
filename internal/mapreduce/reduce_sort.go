package mapreduce

import (
	"errors"
	"os"
	"slices"

	"berth/internal/mapreduce/hadoop"
)

// sort merges runs until all that are left can be merged at once.
func (r *reduceRun) sort(runs []*sortedRun) ([]*sortedRun, error) {
	last := int64(len(r.space.mem.all))
	pass := last - int64(writerMemory(r.space.block))
	if r.t.Combiner != nil && !IsIdentity(r.t.Combiner) {
		pass /= 2 // the other half sorts what it writes
	}
	r.t.Progress.Total(passBytes(runs, pass, last, r.space.fan))
	var made []*sortedRun
	for {
		n := firstPass(runs, pass, last, r.space.fan)
		if n == 0 {
			return runs, nil
		}
		one, err := r.pass(runs[:n])
		if err != nil {
			return nil, errors.Join(err, removeRuns(made))
		}
		if err := removeRuns(common(runs[:n], made)); err != nil {
			return nil, err
		}
		runs = runs[n:]
		if one.extent.length > 0 {
			made = append(made, one)
			runs = append(runs, one)
		}
	}
}

// common returns the runs that are in both lists.
func common(a, b []*sortedRun) []*sortedRun {
	return slices.DeleteFunc(slices.Clone(a), func(run *sortedRun) bool { return !slices.Contains(b, run) })
}

// removeRuns removes the files of runs.
func removeRuns(runs []*sortedRun) error {
	for _, run := range runs {
		if err := os.Remove(run.path); err != nil && !errors.Is(err, os.ErrNotExist) {
			return scratchError(run.path, err)
		}
	}
	return nil
}

// pass merges runs into one, through the combiner if there is one.
func (r *reduceRun) pass(runs []*sortedRun) (*sortedRun, error) {
	var files []*scratchFile
	var err error
	if r.t.Combiner != nil && !IsIdentity(r.t.Combiner) {
		if files, err = r.combine(runs); err != nil {
			return nil, err
		}
		memory := int64(len(r.space.mem.all) - writerMemory(r.space.block))
		if files, err = r.space.narrow(files, memory); err != nil {
			return nil, err
		}
		if len(files) == 1 {
			return r.passed(files[0]), nil
		}
		runs = runsOf(files, 0)
	}
	file, err := r.space.write(r.space.takeWriter(), func(w *runWriter) error {
		return r.space.mergeRuns(w, 0, runs)
	})
	if err != nil {
		return nil, err
	}
	return r.passed(file), remove(files)
}

func (r *reduceRun) passed(f *scratchFile) *sortedRun {
	r.t.Progress.Out(f.size, f.stats[0].records)
	r.counters["SPILLED_RECORDS"] += f.stats[0].records
	return &sortedRun{path: f.path, extent: f.extents[0], stat: f.stats[0]}
}

// combine merges runs through the combiner into files, mostly one.
func (r *reduceRun) combine(runs []*sortedRun) ([]*scratchFile, error) {
	s := r.space
	var files []*scratchFile
	writer := s.takeWriter()
	add := func(fill func(w *runWriter) error) error {
		f, err := s.write(writer, fill)
		files = append(files, f)
		return err
	}
	b := newBuffer(s.mem.take(len(s.mem.rest)/2), recordLimit(r.t.Memory), hadoop.CombineFormat(r.t.Spec), nil, 1, r.cmp)
	defer b.close()
	b.from = "combiner"
	b.flush = func(e []entry) error {
		return add(func(w *runWriter) error { return s.writeEntries(w, b.mem, e) })
	}
	b.alone = func(part int, line []byte, keyLen int) error {
		return add(func(w *runWriter) error { return w.add(part, line, keyLen, 1) })
	}
	m, err := newMerger(runs, r.cmp, s.mem)
	if err != nil {
		return nil, err
	}
	lines := &mergedLines{cmp: r.cmp, tabs: wantsTabs(r.t.Combiner), m: m, next: func() (*merger, error) { return nil, nil }}
	defer lines.close()
	err = combine(r.ctx, r.t.Combiner, lines, b, r.t.Progress)
	s.uses(int64(len(writer)) + b.used() + m.space)
	if err != nil {
		return nil, err
	}
	r.t.Progress.In(lines.bytesTaken(), lines.records)
	r.counters["COMBINE_INPUT_RECORDS"] += lines.records
	r.counters["COMBINE_OUTPUT_RECORDS"] += b.records
	if len(files) == 0 { // the combiner wrote nothing
		err = add(func(*runWriter) error { return nil })
	}
	return files, err
}
