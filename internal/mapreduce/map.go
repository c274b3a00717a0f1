package mapreduce

import (
	"context"
	"fmt"
	"io"

	"berth/internal/job"
	"berth/internal/mapreduce/hadoop"
	"berth/internal/mapreduce/input"
	"berth/internal/probe"
)

// MapResult is what a map attempt made: a map output in the node's store, or with
// no reduces a part file that is closed and not yet committed.
type MapResult struct {
	Size   int64   // bytes of the map output
	Output *Output // map-only
}

// combineFrom is the number of spills from which on merging them runs the combiner
// once more (Hadoop's mapreduce.map.combine.minspills).
const combineFrom = 3

// RunMap runs a map attempt: the split goes through the mapper, its output is
// partitioned, sorted and spilled whenever the memory is full (phase map), and the
// spills are merged into one map output (phase merge). Without reduces the mapper's
// output goes straight to a part file. What it writes to t.Dir on the way is gone
// when it succeeds; after an error the caller removes the folder.
func RunMap(ctx context.Context, t MapTask) (MapResult, error) {
	t.Progress.Enter(job.PhaseMap)
	count := &inputCount{Progress: t.Progress}
	in, err := input.OpenSplit(ctx, t.Split, t.Spec, count)
	if err != nil {
		return MapResult{}, err
	}
	defer in.Close() // only read
	if t.Partitions == 0 {
		return mapOnly(ctx, &t, in, count)
	}
	m, err := newMapRun(ctx, &t)
	if err != nil {
		return MapResult{}, err
	}
	defer m.close()
	if err := m.collect(in); err != nil {
		return MapResult{}, err
	}
	t.Progress.Enter(job.PhaseMerge)
	m.space.uses(0)
	var size int64
	err = probe.Metered(t.Progress.CPU, func() error {
		size, err = m.merge()
		return err
	})
	if err != nil {
		return MapResult{}, err
	}
	m.counters["MAP_INPUT_RECORDS"] = count.records.Load()
	m.counters.tell(t.Progress)
	return MapResult{Size: size}, nil
}

// mapRun is a map attempt with reduces.
type mapRun struct {
	ctx      context.Context
	t        *MapTask
	space    *scratchSpace
	writer   []byte  // memory for the writer of spills
	buf      *buffer // of what the mapper writes
	combined *buffer // of what the combiner writes; nil without one
	spills   []*scratchFile
	told     struct{ bytes, records int64 }
	counters counters

	partition hadoop.Partitioner
	cmp       hadoop.Comparator
}

func newMapRun(ctx context.Context, t *MapTask) (*mapRun, error) {
	if t.Partitions > maxPartitions {
		return nil, &job.Error{
			Class: job.User, Code: job.CodeConfig, Where: "reduces",
			What: fmt.Sprintf("%d reduces are too many", t.Partitions), Do: fmt.Sprintf("ask for at most %d", maxPartitions),
		}
	}
	m := &mapRun{ctx: ctx, t: t, counters: counters{}}
	var err error
	if m.partition, err = hadoop.NewPartitioner(t.Spec, t.Partitions); err != nil {
		return nil, err
	}
	if m.cmp, err = hadoop.NewComparator(t.Spec); err != nil {
		return nil, err
	}
	if m.space, err = newScratchSpace(ctx, t.Dir, t.Partitions, m.cmp, t.Memory, t.Files, t.Progress); err != nil {
		return nil, err
	}
	m.writer = m.space.takeWriter()
	if t.Combiner != nil && !IsIdentity(t.Combiner) {
		m.combined = m.newCombined(m.space.mem.take(len(m.space.mem.rest) / 4))
	}
	m.buf = newBuffer(m.space.mem.take(len(m.space.mem.rest)), recordLimit(t.Memory), hadoop.MapFormat(t.Spec), m.partition, t.Partitions, m.cmp)
	m.buf.from = "mapper"
	m.buf.flush, m.buf.alone = m.spill, m.spillAlone
	if m.combined != nil {
		m.buf.alone = m.combineAlone
	}
	return m, nil
}

// newCombined makes a buffer for what the combiner writes, which spills to files.
func (m *mapRun) newCombined(mem []byte) *buffer {
	b := newBuffer(mem, recordLimit(m.t.Memory), hadoop.CombineFormat(m.t.Spec), m.partition, m.t.Partitions, m.cmp)
	b.from = "combiner"
	b.flush = func(e []entry) error { return m.spillEntries(b.mem, e) }
	b.alone = m.spillAlone
	return b
}

func (m *mapRun) close() {
	m.buf.close()
	if m.combined != nil {
		m.combined.close()
	}
	m.space.close()
}

// collect takes what the mapper makes of in and spills it.
func (m *mapRun) collect(in io.Reader) error {
	if err := m.runMapper(in); err != nil {
		return err
	}
	err := probe.Metered(m.t.Progress.CPU, func() error { return m.buf.finish() })
	m.tell()
	m.counters["MAP_OUTPUT_RECORDS"] = m.buf.records
	m.counters["MAP_OUTPUT_BYTES"] = m.buf.bytes
	return err
}

func (m *mapRun) runMapper(in io.Reader) error {
	ctx, cancel := context.WithCancelCause(m.ctx)
	defer cancel(nil)
	stdin := newStream(ctx, m.t.Mapper, in, m.t.Progress, cancel)
	stdout := newSink(m.t.Mapper, m.buf, m.t.Progress, m.tell, cancel)
	err := runProgram(ctx, m.t.Mapper, m.t.Progress, stdin, stdout)
	return programError("mapper", err, stdin.err, stdout.err)
}

// tell tells progress what the mapper wrote since the last time, and the memory used.
func (m *mapRun) tell() {
	m.t.Progress.Out(m.buf.bytes-m.told.bytes, m.buf.records-m.told.records)
	m.told.bytes, m.told.records = m.buf.bytes, m.buf.records
	used := m.buf.used()
	if m.combined != nil {
		used += m.combined.used()
	}
	if len(m.spills) > 0 {
		used += int64(len(m.writer))
	}
	m.space.uses(used)
}

// spill writes the buffer's sorted entries out, through the combiner if there is one.
func (m *mapRun) spill(e []entry) error {
	if m.combined == nil {
		return m.spillEntries(m.buf.mem, e)
	}
	return m.combine(&entryLines{mem: m.buf.mem, entries: e, tabs: wantsTabs(m.t.Combiner)}, m.combined)
}

// combine runs lines through the combiner.
func (m *mapRun) combine(src io.Reader, b *buffer) error {
	before := b.records
	err := combine(m.ctx, m.t.Combiner, src, b, m.t.Progress)
	m.counters["COMBINE_OUTPUT_RECORDS"] += b.records - before
	switch l := src.(type) {
	case *entryLines:
		m.counters["COMBINE_INPUT_RECORDS"] += l.records
	case *mergedLines:
		m.counters["COMBINE_INPUT_RECORDS"] += l.records
	}
	return err
}

func (m *mapRun) spillEntries(mem []byte, e []entry) error {
	return m.addSpill(func(w *runWriter) error { return m.space.writeEntries(w, mem, e) })
}

func (m *mapRun) spillAlone(part int, line []byte, keyLen int) error {
	return m.addSpill(func(w *runWriter) error { return w.add(part, line, keyLen, 1) })
}

// combineAlone runs a record that is larger than the buffer through the combiner.
func (m *mapRun) combineAlone(_ int, line []byte, keyLen int) error {
	only := []entry{{keyLen: uint32(keyLen), lineLen: uint32(len(line) - 1), count: 1}}
	return m.combine(&entryLines{mem: line, entries: only, tabs: wantsTabs(m.t.Combiner)}, m.combined)
}

func (m *mapRun) addSpill(fill func(w *runWriter) error) error {
	f, err := m.space.write(m.writer, fill)
	if err != nil {
		return err
	}
	m.spills = append(m.spills, f)
	for _, s := range f.stats {
		m.counters["SPILLED_RECORDS"] += s.records
	}
	return nil
}

// merge makes the map output of the spills and returns its size.
func (m *mapRun) merge() (int64, error) {
	if m.combined != nil && len(m.spills) >= combineFrom {
		if err := m.combineSpills(); err != nil {
			return 0, err
		}
	}
	one, err := m.mergeSpills()
	if err != nil {
		return 0, err
	}
	if err := m.t.Outputs.adopt(m.t.Attempt, one.path); err != nil {
		return 0, err
	}
	var records int64
	for _, s := range one.stats {
		records += s.records
	}
	m.t.Progress.Out(one.size, records)
	return one.size, nil
}

// mergeSpills merges the spills until there is one.
func (m *mapRun) mergeSpills() (*scratchFile, error) {
	if len(m.spills) == 1 {
		return m.spills[0], nil
	}
	memory := int64(len(m.space.mem.all) - writerMemory(m.space.block))
	files, err := m.space.narrow(m.spills, memory)
	if err != nil {
		return nil, err
	}
	m.tellTotal(files)
	one, err := m.space.merge(files)
	if err != nil {
		return nil, err
	}
	return one, remove(files)
}

// combineSpills replaces the spills by what the combiner makes of all of them together.
func (m *mapRun) combineSpills() error {
	s := m.space
	half := (len(s.mem.all) - writerMemory(s.block)) / 2
	files, err := s.narrow(m.spills, int64(half))
	if err != nil {
		return err
	}
	m.tellTotal(files)
	m.spills = nil
	m.writer = s.takeWriter()
	b := m.newCombined(s.mem.take(half))
	defer b.close()
	rest, part := s.mem.rest, 0
	lines := &mergedLines{cmp: m.cmp, tabs: wantsTabs(m.t.Combiner), next: func() (*merger, error) {
		if part == s.parts {
			return nil, nil
		}
		part++
		s.mem.rest = rest
		merge, err := newMerger(runsOf(files, part-1), m.cmp, s.mem)
		if err == nil {
			s.uses(int64(len(m.writer)) + b.used() + merge.space)
		}
		return merge, err
	}}
	defer lines.close()
	if err := m.combine(lines, b); err != nil {
		return err
	}
	s.read += lines.bytesTaken()
	s.prog.In(lines.taken, lines.records)
	return remove(files)
}

// tellTotal tells what the phase will have read after the pass over files.
func (m *mapRun) tellTotal(files []*scratchFile) {
	sum := m.space.read
	for _, f := range files {
		sum += f.size
	}
	m.t.Progress.Total(sum)
}
