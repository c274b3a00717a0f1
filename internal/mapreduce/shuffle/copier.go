package shuffle

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"berth/internal/mapreduce/extsort"
	"berth/internal/sys/probe"
)

// fetchTries is how many times a segment is requested from a node before the map output counts as
// unreachable. The pause between two requests begins with fetchWait and doubles.
const (
	fetchTries = 4
	fetchWait  = 100 * time.Millisecond
)

// copier fetches one segment after the other.
type copier struct {
	*Collector
	path  string   // of the file for copies
	file  *os.File // nil: not yet needed
	buf   []byte
	end   int64 // of the complete copies in file
	waits *waits
	done  func() // called when no segment is missing
}

// run fetches segments until ctx ends.
func (f *copier) run(ctx context.Context) error {
	defer f.close()
	for {
		loc, err := f.await(ctx)
		if err != nil {
			return err
		}
		f.waits.begin()
		err = f.tryFetch(ctx, loc)
		f.waits.end()
		var scratch *scratchFault
		switch {
		case err == nil:
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.As(err, &scratch):
			return scratch.err
		default:
			f.giveUp(loc, err)
		}
	}
}

// scratchFault is an error of the own scratch folder, which no map has caused.
type scratchFault struct{ err error }

func (e *scratchFault) Error() string { return e.err.Error() }

// tryFetch fetches a segment. It tries again after errors that may be transient.
func (f *copier) tryFetch(ctx context.Context, loc Location) error {
	wait := f.Wait
	for try := 1; ; try++ {
		err := f.fetch(ctx, loc)
		var scratch *scratchFault
		if err == nil || errors.As(err, &scratch) || errors.Is(err, extsort.ErrDamaged) || errors.Is(err, ErrNotHeld) || try == fetchTries {
			return err
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return ctx.Err()
		}
		wait *= 2
	}
}

// fetch opens a segment, and copies it if it is remote. If a newer location is known, fetch does not try
// the old one, as each request to a node that does not answer takes long.
func (f *copier) fetch(ctx context.Context, loc Location) error {
	if newer := f.Locations.newest(loc.Attempt.Task); newer != loc {
		return fmt.Errorf("%v at %s: %w: a newer one is at %s", loc.Attempt, loc.Addr, ErrNotHeld, newer.Addr)
	}
	seg, err := f.Open(ctx, loc, f.Partition)
	if err != nil {
		return err
	}
	if seg.Body != nil {
		defer seg.Body.Close() // only read
	}
	var file *extsort.File
	switch {
	case seg.Length == 0:
	case seg.Body != nil:
		file, err = f.copy(seg)
	default:
		file, err = extsort.OpenSegment(seg.Path, seg.Offset, seg.Length)
	}
	if err != nil {
		return err
	}
	if f.add(loc, file, seg.Length) {
		f.done()
	}
	return nil
}

// copy verifies a stream block by block and writes it to the file of the copier.
func (f *copier) copy(seg Segment) (file *extsort.File, err error) {
	if f.file == nil {
		if f.file, err = os.OpenFile(f.path, os.O_CREATE|os.O_WRONLY, 0o600); err == nil {
			f.end, err = f.file.Seek(0, io.SeekEnd)
		}
		if err != nil {
			return nil, &scratchFault{extsort.ScratchError(f.path, err)}
		}
		f.buf = make([]byte, pieceSize)
	}
	err = probe.Metered(f.Progress.Spent, func() error {
		file, err = extsort.CopySegment(io.NewOffsetWriter(f.file, f.end), seg.Body, f.path, f.end, seg.Length, f.buf)
		return err
	})
	switch {
	case errors.As(err, new(*fs.PathError)): // of the file, not of the stream
		return nil, &scratchFault{extsort.ScratchError(f.path, err)}
	case err == nil:
		f.end += seg.Length
		f.Progress.Out(seg.Length, 0)
		f.Progress.Net(seg.Length)
	}
	return file, err
}

func (f *copier) close() {
	if f.file != nil {
		_ = f.file.Close() // the file is verified again when it is read
	}
}
