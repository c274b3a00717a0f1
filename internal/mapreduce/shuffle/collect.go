package shuffle

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"berth/internal/mapreduce/extsort"
	"berth/internal/probe"
)

const (
	// fetchers is how many segments are fetched at once.
	fetchers = 4
	// fetchTries is how often a node is asked before its map output counts as
	// unreachable; between two tries the wait doubles, from fetchWait on.
	fetchTries = 4
	fetchWait  = 100 * time.Millisecond
)

// Progress is told what a reduce fetches.
type Progress interface {
	In(bytes, records int64)  // of segments that were taken
	Out(bytes, records int64) // copied into the scratch folder
	CPU(d time.Duration)
}

// Config says what a reduce fetches.
type Config struct {
	Segments  Segments
	Partition int
	Maps      int    // number of map tasks: segments to fetch
	Dir       string // scratch folder, which is there
	Progress  Progress
	Wait      time.Duration // before a failed fetch is tried again; 0: fetchWait
}

// Collector brings the segments of a reduce together: local ones stay where they are,
// others are copied, verified, behind each other into a file for each fetcher.
type Collector struct {
	t Config

	mu      sync.Mutex
	have    []*mapSegment // by map task; nil: missing
	missing int
	Bytes   int64 // of all segments that were taken
}

// mapSegment is the segment of one map.
type mapSegment struct {
	loc  Location
	file *extsort.File // nil: empty
}

// NewCollector begins with nothing fetched.
func NewCollector(t Config) *Collector {
	t.Wait = cmp.Or(t.Wait, fetchWait)
	return &Collector{t: t, have: make([]*mapSegment, t.Maps), missing: t.Maps}
}

// Files returns the segments that hold anything, in the order of their maps.
func (s *Collector) Files() []*extsort.File {
	var files []*extsort.File
	for _, m := range s.have {
		if m.file != nil {
			files = append(files, m.file)
		}
	}
	return files
}

// Lose gives up a segment that turned out to be damaged. It reports whether the file is one:
// others were made by merges.
func (s *Collector) Lose(file *extsort.File, err error) bool {
	task := slices.IndexFunc(s.have, func(m *mapSegment) bool { return m != nil && m.file == file })
	if task < 0 {
		return false
	}
	loc := s.have[task].loc
	s.have[task] = nil
	s.missing++
	s.t.Segments.Bad(loc, err)
	return true
}

// Collect fetches what is missing.
func (s *Collector) Collect(ctx context.Context) error {
	if s.missing == 0 {
		return nil
	}
	all, done := context.WithCancel(ctx)
	defer done()
	group, within := errgroup.WithContext(all)
	found := make(chan Location)
	group.Go(func() error {
		defer close(found)
		return s.locate(within, found)
	})
	for i := range fetchers {
		group.Go(func() error {
			f := &copier{Collector: s, path: filepath.Join(s.t.Dir, fmt.Sprintf("fetched-%d", i)), done: done}
			return f.run(within, found)
		})
	}
	err := group.Wait()
	if s.missing == 0 {
		return nil
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

// locate hands on the places of maps that are missing.
func (s *Collector) locate(ctx context.Context, found chan<- Location) error {
	for {
		loc, err := s.t.Segments.Next(ctx)
		if err != nil {
			return err
		}
		if !s.wanted(loc) {
			continue
		}
		select {
		case found <- loc:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (s *Collector) wanted(loc Location) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	task := loc.Map.Task
	return task >= 0 && task < len(s.have) && s.have[task] == nil
}

// got takes a segment, unless another one of its map was faster, and reports
// whether it did and whether that was the last one.
func (s *Collector) got(loc Location, file *extsort.File, bytes int64) (took, last bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.have[loc.Map.Task] != nil {
		return false, false
	}
	var records int64
	if file != nil {
		records = file.Records()
	}
	s.have[loc.Map.Task] = &mapSegment{loc: loc, file: file}
	s.missing--
	s.Bytes += bytes
	s.t.Progress.In(bytes, records)
	return true, s.missing == 0
}

// copier takes in one segment after the other.
type copier struct {
	*Collector
	path string   // of the file for copies
	file *os.File // nil: not yet needed
	end  int64    // of the copies in file that count
	done func()   // called when no segment is missing
}

// run fetches what is found until there is nothing more.
func (f *copier) run(ctx context.Context, found <-chan Location) error {
	defer f.close()
	for loc := range found {
		if !f.wanted(loc) {
			continue
		}
		err := f.tryFetch(ctx, loc)
		var scratch *scratchFault
		switch {
		case err == nil:
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.As(err, &scratch):
			return scratch.err
		case f.wanted(loc): // another fetch of the same map may have been luckier
			f.t.Segments.Bad(loc, err)
		}
	}
	return nil
}

// scratchFault is an error of our own folder, for which no map is to blame.
type scratchFault struct{ err error }

func (e *scratchFault) Error() string { return e.err.Error() }

// tryFetch fetches a segment, and tries again where that may help.
func (f *copier) tryFetch(ctx context.Context, loc Location) error {
	wait := f.t.Wait
	for try := 1; ; try++ {
		err := f.fetch(ctx, loc)
		var scratch *scratchFault
		if err == nil || errors.As(err, &scratch) || errors.Is(err, extsort.ErrDamaged) || errors.Is(err, ErrNotHeld) || try == fetchTries {
			return err
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		}
		wait *= 2
	}
}

// fetch opens a segment, and copies it if it is remote.
func (f *copier) fetch(ctx context.Context, loc Location) error {
	seg, err := f.t.Segments.Open(ctx, loc, f.t.Partition)
	if err != nil {
		return err
	}
	var file *extsort.File
	switch {
	case seg.Body != nil:
		defer seg.Body.Close() // only read
		if seg.Length > 0 {
			if file, err = f.copy(seg); err != nil {
				return err
			}
		}
	case seg.Length > 0:
		if file, err = extsort.OpenSegment(seg.Path, seg.Offset, seg.Length); err != nil {
			return err
		}
	}
	took, last := f.got(loc, file, seg.Length)
	if took && seg.Body != nil {
		f.end += seg.Length
	}
	if last {
		f.done()
	}
	return nil
}

// copy verifies a stream block by block and writes it to the fetcher's file.
func (f *copier) copy(seg Segment) (file *extsort.File, err error) {
	if f.file == nil {
		if f.file, err = os.OpenFile(f.path, os.O_CREATE|os.O_WRONLY, 0o600); err != nil {
			return nil, &scratchFault{extsort.ScratchError(f.path, err)}
		}
		if f.end, err = f.file.Seek(0, io.SeekEnd); err != nil {
			return nil, &scratchFault{extsort.ScratchError(f.path, err)}
		}
	}
	buf := pieces.Get().(*[]byte)
	defer pieces.Put(buf)
	err = probe.Metered(f.t.Progress.CPU, func() error {
		to := &scratchWriter{io.NewOffsetWriter(f.file, f.end), f.path, f.t.Progress}
		file, err = extsort.CopySegment(to, seg.Body, f.path, f.end, seg.Length, *buf)
		return err
	})
	return file, err
}

func (f *copier) close() {
	if f.file != nil {
		_ = f.file.Close() // what was written is verified when it is read
	}
}

// scratchWriter writes copies and counts them.
type scratchWriter struct {
	io.Writer
	path string
	prog Progress
}

func (w *scratchWriter) Write(p []byte) (int, error) {
	n, err := w.Writer.Write(p)
	if err != nil {
		return n, &scratchFault{extsort.ScratchError(w.path, err)}
	}
	w.prog.Out(int64(n), 0)
	return n, nil
}
