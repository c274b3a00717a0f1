package leader

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"berth/internal/core/job"
	"berth/internal/sys/probe"
	"berth/internal/sys/statedir"
)

const (
	// ownerBeat is how often a live coordinator says anew that it is alive.
	ownerBeat = 4 * time.Second
	// ownerPatience is how long that is waited for where one of another machine may live.
	ownerPatience = 3 * ownerBeat
	// ownerTrust is how long a coordinator may write journals after it last saw that it is still
	// the owner. It is shorter than ownerPatience: whoever takes the place of a silent owner has
	// watched it for longer than that owner goes on unconfirmed.
	ownerTrust = 2 * ownerBeat
)

// Owner is who the user's coordinator is. It is told in a file beside the lock, as the
// state folder may be in a home that several login nodes share: on another node than the
// coordinator's the lock is seen to be held, and the socket leads nowhere.
type Owner struct {
	// ID is different for every coordinator. It is what a coordinator that was paused for
	// long recognises itself by: the process number and the start may be equal on two machines.
	ID      string    `json:"id,omitempty"`
	Host    string    `json:"host"` // as os.Hostname has it
	PID     int       `json:"pid"`
	StandIn bool      `json:"stand_in,omitempty"` // it runs inside an allocation, and makes way for a command
	Started time.Time `json:"started"`
	Alive   time.Time `json:"alive"` // by its own clock; it is renewed, which is all that counts
}

// ElsewhereError says that the user's coordinator runs on another machine.
type ElsewhereError struct {
	Owner Owner
	err   *job.Error
}

// Error says where the coordinator runs and what to do.
func (e *ElsewhereError) Error() string { return e.err.Error() }

// Unwrap returns the error of class User that says so.
func (e *ElsewhereError) Unwrap() error { return e.err }

// elsewhere is the error for a command on another machine than the coordinator's.
func (o *Owner) elsewhere(s Seat) error {
	as := ""
	if o.StandIn {
		as = " as a stand-in, inside a batch job"
	}
	what := fmt.Sprintf("your coordinator runs there%s (process %d, since %s)", as, o.PID, o.Started.Local().Format("2006-01-02 15:04"))
	return &ElsewhereError{Owner: *o, err: &job.Error{Class: job.User, Code: job.CodeConfig, Where: o.Host, What: what,
		Do: fmt.Sprintf("use berth there, or stop it there with: berth server stop (if %s is gone for good: remove %s)",
			o.Host, s.home.Lock())}}
}

func (s Seat) owner() string { return filepath.Join(s.home.Server(), "owner") }

// Owner returns who is told to be the coordinator, nil where nobody is or the file is
// damaged: the next coordinator writes it anew. The owner need not be alive.
func (s Seat) Owner() *Owner {
	var o Owner
	if statedir.ReadJSON(s.owner(), &o) != nil {
		return nil
	}
	return &o
}

// hostname returns the machine's name.
func hostname() (string, error) {
	host, err := os.Hostname()
	if err != nil {
		return "", &job.Error{Class: job.Fatal, Where: "hostname", What: "this machine has no name", Err: err}
	}
	return host, nil
}

// ErrTaken says that another process of this machine is the user's coordinator.
var ErrTaken = errors.New("a coordinator is running already")

// Take makes this process the user's coordinator until the ownership is released; standIn is
// what Owner says of it. It returns ErrTaken where another process of this machine is the
// coordinator, and an *ElsewhereError where one on another machine is, also if the file
// system keeps locks from each other's sight.
func (s Seat) Take(started time.Time, standIn bool) (*Ownership, error) {
	lock, err := statedir.TryLock(s.home.Lock())
	if errors.Is(err, statedir.ErrLocked) {
		return nil, ErrTaken
	}
	if err != nil {
		return nil, err
	}
	own, err := s.own(started, standIn, lock)
	if err != nil {
		_ = lock.Close()
		return nil, err
	}
	own.lock = lock
	own.start()
	return own, nil
}

// own writes the owner file for this process once nobody else is seen to be alive.
func (s Seat) own(started time.Time, standIn bool, lock *os.File) (*Ownership, error) {
	host, err := hostname()
	if err != nil {
		return nil, err
	}
	if err := s.yield(host); err != nil {
		return nil, err
	}
	if !sameFile(lock, s.home.Lock()) { // somebody has broken the lock meanwhile
		return nil, ErrTaken
	}
	o := Owner{ID: rand.Text(), Host: host, PID: os.Getpid(), StandIn: standIn,
		Started: started.UTC().Truncate(time.Second), Alive: time.Now().UTC().Truncate(time.Second)}
	if err := statedir.WriteJSON(s.owner(), o); err != nil {
		return nil, err
	}
	return newOwnership(s, o)
}

// sameFile reports whether an open file is still the one of that path.
func sameFile(f *os.File, path string) bool {
	mine, err := f.Stat()
	if err != nil {
		return false
	}
	now, err := os.Stat(path)
	return err == nil && os.SameFile(mine, now)
}

// yield refuses to take the place of a coordinator that is alive. Whoever has the lock knows
// of none such where locks hold between machines. Elsewhere, and where the lock file was
// replaced under a live coordinator, the owner file is watched for a while.
func (s Seat) yield(host string) error {
	first := s.Owner()
	if first == nil {
		return nil
	}
	if first.Host == host {
		if _, alive := probe.Find(first.PID); !alive || first.PID == os.Getpid() {
			return nil
		}
	}
	for waited := time.Duration(0); waited < ownerPatience; waited += ownerBeat / 4 {
		time.Sleep(ownerBeat / 4)
		o := s.Owner()
		switch {
		case o == nil:
			return nil // it ended in order
		case *o == *first:
		case o.Host != host:
			return o.elsewhere(s)
		default:
			return ErrTaken
		}
	}
	return nil
}

// held reports whether a process holds the lock of the coordinator.
func (s Seat) held() (bool, error) {
	lock, err := statedir.TryLock(s.home.Lock()) // for a moment: who is about to take it tries again
	if errors.Is(err, statedir.ErrLocked) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	return false, lock.Close()
}

// holder returns the owner that holds the lock, nil where there is none: who died left the file.
func (s Seat) holder() (*Owner, error) {
	o := s.Owner()
	if o == nil {
		return nil, nil
	}
	held, err := s.held()
	if !held {
		return nil, err
	}
	return o, nil
}

// StandIn returns the stand-in that is the coordinator now, nil where none is.
func (s Seat) StandIn() *Owner {
	if o, _ := s.holder(); o != nil && o.StandIn { // a lock that cannot be looked at is told to who wants it
		return o
	}
	return nil
}

// Elsewhere returns an *ElsewhereError that names the machine where the coordinator runs, if
// that is another than this one.
func (s Seat) Elsewhere() error {
	o := s.Owner()
	if o == nil {
		return nil
	}
	host, err := hostname()
	if err != nil || o.Host == host {
		return err
	}
	if o, err = s.holder(); o == nil {
		return err
	}
	return o.elsewhere(s)
}
