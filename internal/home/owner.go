package home

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"berth/internal/job"
)

const (
	// ownerBeat is how often a live coordinator says anew that it is alive.
	ownerBeat = 4 * time.Second
	// ownerPatience is how long that is waited for where one of another machine may live.
	ownerPatience = 3 * ownerBeat
)

// Owner is who the user's coordinator is. It is told in a file beside the lock, as the
// state folder may be in a home that several login nodes share: on another node than the
// coordinator's the lock is seen to be held, and the socket leads nowhere.
type Owner struct {
	Host    string    `json:"host"` // as os.Hostname has it
	PID     int       `json:"pid"`
	Started time.Time `json:"started"`
	Alive   time.Time `json:"alive"` // by its own clock; it is renewed, which is all that counts
}

// elsewhere is the error for a command on another machine than the coordinator's.
func (o *Owner) elsewhere(h Home) error {
	return &job.Error{Class: job.User, Code: job.CodeConfig, Where: o.Host,
		What: fmt.Sprintf("your coordinator runs there (process %d, since %s)", o.PID, o.Started.Local().Format("2006-01-02 15:04")),
		Do: fmt.Sprintf("use berth there, or stop it there with: berth server stop (if %s is gone for good: remove %s)",
			o.Host, h.Lock())}
}

func (h Home) owner() string { return filepath.Join(h.Server(), "owner") }

// readOwner returns who is told to be the coordinator, nil where nobody is or the file is
// damaged: the next coordinator writes it anew.
func (h Home) readOwner() *Owner {
	var o Owner
	if ReadJSON(h.owner(), &o) != nil {
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

// Own makes this process the user's coordinator until release is called. It returns
// ErrLocked where another process of this machine is, and an error of class User that says
// so where one on another machine is, also if the file system keeps locks from each other's sight.
func (h Home) Own(started time.Time) (release func(), err error) {
	lock, err := TryLock(h.Lock())
	if err != nil {
		return nil, err
	}
	host, err := hostname()
	if err == nil {
		err = h.yield(host)
	}
	o := Owner{Host: host, PID: os.Getpid(), Started: started.UTC().Truncate(time.Second), Alive: time.Now().UTC().Truncate(time.Second)}
	if err == nil {
		err = WriteJSON(h.owner(), o)
	}
	if err != nil {
		_ = lock.Close()
		return nil, err
	}
	over, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		h.beat(o, over)
	}()
	return sync.OnceFunc(func() {
		close(over)
		<-stopped
		_ = os.Remove(h.owner()) // one that stays is outdated: nobody holds the lock
		_ = lock.Close()
	}), nil
}

// yield refuses to take the place of a coordinator on another machine that is alive. Who
// has the lock knows of none such where locks hold between machines; elsewhere the file is
// watched for a while.
func (h Home) yield(host string) error {
	first := h.readOwner()
	if first == nil || first.Host == host {
		return nil
	}
	for waited := time.Duration(0); waited < ownerPatience; waited += ownerBeat / 4 {
		time.Sleep(ownerBeat / 4)
		if o := h.readOwner(); o != nil && o.Host != host && *o != *first {
			return o.elsewhere(h)
		}
	}
	return nil
}

// beat says that the coordinator is alive, until it is over. The file is written in place,
// the same length each time: a network file system shows a new content of a known file
// sooner than a new file, and no reader finds half of it.
func (h Home) beat(o Owner, over <-chan struct{}) {
	tick := time.NewTicker(ownerBeat)
	defer tick.Stop()
	for {
		select {
		case <-over:
			return
		case now := <-tick.C:
			o.Alive = now.UTC().Truncate(time.Second)
			h.renew(o)
		}
	}
}

// renew writes over what was told. What fails is tried again at the next beat; where the
// locks do what they should, nobody depends on it.
func (h Home) renew(o Owner) {
	b, err := json.MarshalIndent(o, "", "  ")
	if err != nil {
		return
	}
	f, err := os.OpenFile(h.owner(), os.O_WRONLY, 0)
	if err != nil {
		return
	}
	_, _ = f.WriteAt(b, 0)
	_ = f.Close()
}

// Elsewhere returns an error of class User that names the machine where the coordinator
// runs, if that is another than this one.
func (h Home) Elsewhere() error {
	o := h.readOwner()
	if o == nil {
		return nil
	}
	host, err := hostname()
	if err != nil || o.Host == host {
		return err
	}
	lock, err := TryLock(h.Lock()) // for a moment: who is about to take it tries again
	if errors.Is(err, ErrLocked) {
		return o.elsewhere(h)
	}
	if err != nil {
		return err
	}
	return lock.Close() // it died and left the file
}
