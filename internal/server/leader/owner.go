package leader

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"berth/internal/core/job"
	"berth/internal/sys/probe"
	"berth/internal/sys/statedir"
)

const (
	// ownerBeat is the interval at which a live coordinator renews its owner file.
	ownerBeat = 4 * time.Second
	// ownerPatience is how long a renewal is waited for if the owner on another machine may live.
	ownerPatience = 3 * ownerBeat
	// ownerTrust is how long a coordinator may write journals after it last confirmed that it is the owner. It is
	// shorter than ownerPatience: a process that replaces a silent owner has watched it for longer than that owner
	// continues without confirmation.
	ownerTrust = 2 * ownerBeat
)

// Owner identifies the user's coordinator. It is stored in a file beside the lock, because several login nodes may
// share the state folder: on a node other than the coordinator's, the lock shows only that it is held, and the socket
// does not work.
type Owner struct {
	// ID is different for every coordinator. A coordinator that was paused for long recognises itself by it, because
	// the process number and the start may be equal on two machines.
	ID      string    `json:"id,omitempty"`       // different for every coordinator
	Host    string    `json:"host"`               // its machine
	PID     int       `json:"pid"`                // its process
	StandIn bool      `json:"stand_in,omitempty"` // it runs inside an allocation, and ends when a command asks for it
	Started time.Time `json:"started"`
	Alive   time.Time `json:"alive"` // when it last reported that it runs, by its own clock
}

// ElsewhereError means that the user's coordinator runs on another machine.
type ElsewhereError struct {
	Owner Owner
	err   *job.Error
}

// Error returns where the coordinator runs and what the user can do.
func (e *ElsewhereError) Error() string { return e.err.Error() }

// Unwrap returns the error of class User with this message.
func (e *ElsewhereError) Unwrap() error { return e.err }

// elsewhere returns the error for a command on another machine than the coordinator's.
func (o *Owner) elsewhere(s Seat) error {
	as := ""
	if o.StandIn {
		as = " as a stand-in, inside a batch job"
	}
	what := fmt.Sprintf("your coordinator runs there%s (process %d, since %s)", as, o.PID, o.Started.Local().Format("2006-01-02 15:04"))
	return &ElsewhereError{Owner: *o, err: job.ConfigError(o.Host, what,
		fmt.Sprintf("use berth there, or stop it there with: berth server stop (if %s is gone for good: remove %s)", o.Host, s.home.Lock()))}
}

func (s Seat) owner() string { return filepath.Join(s.home.Server(), "owner") }

// Owner returns the stored owner, or nil if there is none or its file is damaged. The owner need not be alive.
func (s Seat) Owner() *Owner {
	if o := s.look(); o != nil && *o != (Owner{}) {
		return o
	}
	return nil
}

// look returns the stored owner, or nil if there is none. It is the zero Owner if the file is damaged: an owner, of which
// nothing is known, may be alive and renews its file then. As the file is overwritten in place, it is read twice before it
// counts as damaged.
func (s Seat) look() *Owner {
	for range 2 {
		var o Owner
		switch err := statedir.ReadJSON(s.owner(), &o); {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err == nil:
			return &o
		}
	}
	return &Owner{}
}

// hostname returns the machine's name.
func hostname() (string, error) {
	host, err := os.Hostname()
	if err != nil {
		return "", job.FatalError("hostname", "this machine has no name", err)
	}
	return host, nil
}

// ErrTaken means that another process of this machine is the user's coordinator.
var ErrTaken = errors.New("a coordinator is running already")

// Take makes this process the user's coordinator until the ownership is released; standIn is stored in Owner. It
// returns ErrTaken if another process of this machine is the coordinator, and an *ElsewhereError if one on another
// machine is, even if the file system does not show locks of other machines.
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
	own.beating.Go(own.beat)
	return own, nil
}

// own writes the owner file for this process if no other coordinator appears to be alive.
func (s Seat) own(started time.Time, standIn bool, lock *os.File) (*Ownership, error) {
	host, err := hostname()
	if err != nil {
		return nil, err
	}
	if err := s.yield(host); err != nil {
		return nil, err
	}
	if !sameFile(lock, s.home.Lock()) { // another process has broken the lock meanwhile (Await)
		return nil, ErrTaken
	}
	o := Owner{ID: rand.Text(), Host: host, PID: os.Getpid(), StandIn: standIn,
		Started: started.UTC().Truncate(time.Second), Alive: time.Now().UTC().Truncate(time.Second)}
	if err := statedir.WriteJSON(s.owner(), o); err != nil {
		return nil, err
	}
	return newOwnership(s, o)
}

// sameFile reports whether an open file is still the one at the path.
func sameFile(f *os.File, path string) bool {
	mine, err := f.Stat()
	if err != nil {
		return false
	}
	now, err := os.Stat(path)
	return err == nil && os.SameFile(mine, now)
}

// yield returns an error if another coordinator is alive. If locks work between machines, the process that holds the
// lock knows that there is none. If they do not, or the lock file of a live coordinator was replaced, yield watches the
// owner file for a while.
func (s Seat) yield(host string) error {
	first := s.look()
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
		o := s.look()
		switch {
		case o == nil:
			return nil // it removed its file when it ended
		case *o == *first, *o == Owner{}:
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
	lock, err := statedir.TryLock(s.home.Lock()) // the lock is held only for a moment, and a process that wants it tries again
	if errors.Is(err, statedir.ErrLocked) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	return false, lock.Close()
}

// Holder returns the owner that holds the lock, or nil: the file of an owner that died remains.
func (s Seat) Holder() (*Owner, error) {
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

// StandIn returns the stand-in that is the coordinator now, or nil.
func (s Seat) StandIn() *Owner {
	if o, _ := s.Holder(); o != nil && o.StandIn { // an error of the lock is reported when it is taken
		return o
	}
	return nil
}

// Elsewhere returns an *ElsewhereError if the coordinator runs on another machine.
func (s Seat) Elsewhere() error {
	o := s.Owner()
	if o == nil {
		return nil
	}
	host, err := hostname()
	if err != nil || o.Host == host {
		return err
	}
	if o, err = s.Holder(); o == nil {
		return err
	}
	return o.elsewhere(s)
}
