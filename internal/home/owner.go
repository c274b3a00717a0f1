package home

import (
	"errors"
	"os"
	"path/filepath"
	"time"

	"berth/internal/job"
)

// Owner is who the user's coordinator is. It is told in a file beside the lock, as the
// state folder may be in a home that several login nodes share: on another node than the
// coordinator's the lock is seen to be held, and the socket leads nowhere.
type Owner struct {
	Host    string    `json:"host"` // as os.Hostname has it
	PID     int       `json:"pid"`
	Started time.Time `json:"started"`
}

func (h Home) owner() string { return filepath.Join(h.Server(), "owner") }

// Own makes this process the user's coordinator until release is called. It returns
// ErrLocked where another process is.
func (h Home) Own(started time.Time) (release func(), err error) {
	lock, err := TryLock(h.Lock())
	if err != nil {
		return nil, err
	}
	host, err := os.Hostname()
	if err == nil {
		err = WriteJSON(h.owner(), Owner{Host: host, PID: os.Getpid(), Started: started.Truncate(time.Second)})
	}
	if err != nil {
		_ = lock.Close()
		return nil, err
	}
	return func() {
		_ = os.Remove(h.owner()) // one that stays is outdated: nobody holds the lock
		_ = lock.Close()
	}, nil
}

// Elsewhere returns the coordinator that runs on another machine, nil where none does.
func (h Home) Elsewhere() (*Owner, error) {
	var o Owner
	if ReadJSON(h.owner(), &o) != nil {
		return nil, nil // there is none, or it is damaged: the next coordinator writes it anew
	}
	host, err := os.Hostname()
	if err != nil {
		return nil, &job.Error{Class: job.Fatal, Where: "hostname", What: "this machine has no name", Err: err}
	}
	if o.Host == host {
		return nil, nil
	}
	lock, err := TryLock(h.Lock())
	switch {
	case errors.Is(err, ErrLocked):
		return &o, nil
	case err != nil:
		return nil, err
	}
	return nil, lock.Close() // it died and left the file
}
