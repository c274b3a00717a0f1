package journal

import (
	"errors"
	"fmt"
	"io"

	"berth/internal/core/event"
	"berth/internal/core/job"
)

// Recovery is what was found when a journal was read.
type Recovery struct {
	LastSeq        uint64 // sequence number of the last whole entry; 0: none
	End            int64  // offset behind the last whole entry; 0: the file has no header yet
	TruncatedBytes int64  // torn bytes behind End, which opening the journal cuts off
}

// Replay calls fn for every entry of the journal, in order. It changes nothing, so the
// journal may be in use. A torn tail is skipped and reported in the Recovery. If the middle
// of the journal is damaged, Replay returns a *job.Error that wraps *Damage, after fn was
// called for the entries before the damage. An error of fn ends the replay and is returned
// unchanged.
func Replay(path string, fn func(event.Entry) error) (Recovery, error) {
	r, err := openReader(path, 0)
	if err != nil {
		return Recovery{}, err
	}
	return r.each(fn)
}

// next returns the next entry, or io.EOF behind the last entry. With io.EOF rec is complete.
func (r *reader) next() (event.Entry, error) {
	at := r.end
	payload, err := r.frame()
	if err != nil {
		r.rec.End, r.rec.TruncatedBytes = r.end, r.size-r.end
		return event.Entry{}, err
	}
	e, err := event.Unmarshal(payload)
	if err != nil {
		return event.Entry{}, undecodable(r.path, at, err)
	}
	if e.Seq <= r.rec.LastSeq {
		return event.Entry{}, outOfOrder(r.path, at, e.Seq, r.rec.LastSeq)
	}
	r.rec.LastSeq = e.Seq
	return e, nil
}

// each calls fn for every remaining entry.
func (r *reader) each(fn func(event.Entry) error) (Recovery, error) {
	for {
		e, err := r.next()
		if errors.Is(err, io.EOF) {
			return r.rec, nil
		}
		if err != nil {
			return r.rec, err
		}
		if err := fn(e); err != nil {
			return r.rec, err
		}
	}
}

func undecodable(path string, at int64, err error) error {
	return job.IOError(job.Fatal, path, fmt.Sprintf("the record at byte %d is intact but its format is unknown", at), err).
		Advice("use the version of berth that wrote it, or a newer one")
}

func outOfOrder(path string, at int64, seq, last uint64) error {
	return job.IOError(job.Fatal, path, fmt.Sprintf("the record at byte %d has number %d but follows number %d", at, seq, last), nil).Advice(backup)
}
