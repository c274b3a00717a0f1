package leader

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"sync"
	"time"

	"berth/internal/core/job"
	"berth/internal/sys/statedir"
)

// ErrTakenOver is returned by Confirm if another coordinator has replaced this one.
var ErrTakenOver = job.FatalError("", "another coordinator has taken over", nil).Advice("nothing: the jobs go on there")

// Ownership is the right to be the user's coordinator. The lock is checked first. If locks do not work between
// machines, or this process was paused for long, the owner file decides: a coordinator that finds another owner in it
// must not write any more.
type Ownership struct {
	seat  Seat
	told  Owner
	known os.FileInfo // of the owner file that this process created
	keep  *os.File    // that file: while it is open, no other file gets its inode
	lock  *os.File

	over    chan struct{}
	beating sync.WaitGroup // until over is closed
	once    sync.Once

	lost context.Context // is over once another is the owner
	lose func()

	mu        sync.Mutex
	confirmed time.Time // when it was last confirmed to be the owner; the time before the check
}

func newOwnership(s Seat, o Owner) (*Ownership, error) {
	f, err := os.Open(s.owner())
	if err != nil {
		return nil, statedir.ReadError(s.owner(), err)
	}
	st, err := f.Stat()
	if err != nil {
		_ = f.Close()
		return nil, statedir.ReadError(s.owner(), err)
	}
	own := &Ownership{seat: s, told: o, known: st, keep: f, over: make(chan struct{}), confirmed: time.Now()}
	own.lost, own.lose = context.WithCancel(context.Background())
	return own, nil
}

// Lost returns a channel that is closed when another coordinator is found to be the owner.
func (w *Ownership) Lost() <-chan struct{} { return w.lost.Done() }

// Release ends the ownership, so that another process can be the coordinator. It does not remove the owner file of
// another one.
func (w *Ownership) Release() {
	w.once.Do(func() {
		close(w.over)
		w.beating.Wait()
		if w.check() == nil {
			_ = os.Remove(w.seat.owner()) // if it remains, it is outdated, because nobody holds the lock
		}
		_ = w.keep.Close()
		_ = w.lock.Close()
	})
}

// Confirm returns nil while this process is the owner. It reads the owner file only if the last check is older than
// ownerTrust, by the monotonic or by the wall clock: the monotonic clock stands still while the machine is suspended.
// Clocks of two machines are never compared.
func (w *Ownership) Confirm() error {
	now := time.Now()
	w.mu.Lock()
	age, wall := now.Sub(w.confirmed), now.Round(0).Sub(w.confirmed.Round(0)).Abs()
	w.mu.Unlock()
	switch {
	case w.lost.Err() != nil:
		return ErrTakenOver
	case max(age, wall) < ownerTrust:
		return nil
	}
	return w.look(nil)
}

// beat renews the owner file until the ownership ends.
func (w *Ownership) beat() {
	tick := time.Tick(ownerBeat)
	for {
		select {
		case <-w.over:
			return
		case now := <-tick:
			alive := w.told
			alive.Alive = now.UTC().Truncate(time.Second)
			if errors.Is(w.look(&alive), ErrTakenOver) {
				return
			}
		}
	}
}

// look checks whether this process is the owner, and renews the owner file if alive is not nil. If the file cannot be
// read now, the next check may succeed.
func (w *Ownership) look(alive *Owner) error {
	now := time.Now()
	err := w.check()
	if err == nil && alive != nil {
		err = w.renew(*alive)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case err == nil:
		w.confirmed = now
	case errors.Is(err, ErrTakenOver):
		w.lose()
	}
	return err
}

// check reads the owner file. If the file is gone, a later owner, which has ended, has removed it. If it is damaged, it is
// still the owner's that created it, and beat writes it anew.
func (w *Ownership) check() error {
	var o Owner
	err := statedir.ReadJSON(w.seat.owner(), &o)
	var unread *fs.PathError
	switch {
	case errors.Is(err, fs.ErrNotExist) || err == nil && o.ID != w.told.ID:
		return ErrTakenOver
	case err == nil || errors.As(err, &unread):
		return err
	}
	return w.ours(os.Stat(w.seat.owner()))
}

// ours returns an error unless what was found is the owner file that this process created: another owner creates its own.
func (w *Ownership) ours(found os.FileInfo, err error) error {
	if errors.Is(err, fs.ErrNotExist) || err == nil && !os.SameFile(found, w.known) {
		return ErrTakenOver
	}
	return err
}

// renew overwrites the owner file in place, with the same length each time: a network file system shows new contents of
// a known file sooner than a new file. A reader that finds a part of it reads it again.
func (w *Ownership) renew(o Owner) error {
	b, err := statedir.EncodeJSON(w.seat.owner(), o)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(w.seat.owner(), os.O_WRONLY, 0)
	if err != nil {
		return w.ours(nil, err)
	}
	if err = w.ours(f.Stat()); err == nil {
		_, err = f.WriteAt(b, 0)
		err = errors.Join(err, f.Truncate(int64(len(b)))) // it may be damaged
	}
	return errors.Join(err, f.Close())
}
