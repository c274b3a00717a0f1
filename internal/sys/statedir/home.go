// Package statedir defines the layout of berth's state on disk, and its access rights:
// the user's state folder, a folder for each run in it, and the folder of the coordinator.
//
//	h, err := home.Open()
//	run, err := h.NewRun(job.Bag, nil)
//	err = run.Save(spec, statedir.Tasks{Entries: statedir.EntriesOf(entries...)})
//
// It reads and writes these files. It makes no decisions.
package statedir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/sys/unix"

	"berth/internal/core/job"
	"berth/internal/sys/private"
)

// Home is the user's state folder, $XDG_STATE_HOME/berth, mode 0700.
type Home struct{ Dir string }

// Locate returns the path of the state folder without any access to the disk.
func Locate() (Home, error) {
	if d := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(d) {
		return Home{filepath.Join(d, "berth")}, nil
	}
	u, err := os.UserHomeDir()
	if err != nil {
		return Home{}, job.UserError("HOME", "no home folder to keep state in", "set HOME or XDG_STATE_HOME").Because(err)
	}
	return Home{filepath.Join(u, ".local", "state", "berth")}, nil
}

// Open returns the state folder and creates it if necessary. It is an error if another
// user owns the folder or could read it.
func Open() (Home, error) {
	h, err := Locate()
	if err != nil {
		return Home{}, err
	}
	if !utf8.ValidString(h.Dir) { // the path is written into configuration files, which are text
		return Home{}, job.UserError(h.Dir, "the path of the state folder is not valid UTF-8", "set XDG_STATE_HOME to a path that is")
	}
	return h, h.check(true)
}

// Existing returns the state folder for a command that only reads it. Folders that exist are
// checked as by Open; missing ones are not created.
func Existing() (Home, error) {
	h, err := Locate()
	if err != nil {
		return Home{}, err
	}
	return h, h.check(false)
}

// check checks the folders that exist, and creates the others if create is true.
func (h Home) check(create bool) error {
	for _, d := range []string{h.Dir, h.Runs(), h.Server()} {
		if _, err := os.Lstat(d); !create && errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err := privateDir(d); err != nil {
			return err
		}
	}
	return nil
}

// privateDir creates one of the state folder's folders, or checks it if it exists.
func privateDir(dir string) error {
	target := dir
	if info, err := os.Lstat(dir); err == nil && info.Mode()&os.ModeSymlink != 0 && private.Owner(info) == os.Geteuid() {
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			target = real // the user's own link to another folder is allowed
		}
	}
	err := private.Folder(target)
	var u *private.Untrusted
	switch {
	case err == nil:
		return nil
	case errors.As(err, &u):
		advice := "set XDG_STATE_HOME to a folder of your own"
		if u.Mode {
			advice = "if everything in it is yours, chmod 700 it"
		}
		return job.IOError(job.User, dir, "the state folder "+u.What, nil).Advice(advice)
	}
	return job.IOError(job.User, dir, "cannot create the state folder", err).Advice("set XDG_STATE_HOME to a folder you may write to")
}

// Runs returns the folder that contains a folder for each run.
func (h Home) Runs() string { return filepath.Join(h.Dir, "runs") }

// Server returns the coordinator's own folder: keys, socket, journal, allocations.
func (h Home) Server() string { return filepath.Join(h.Dir, "server") }

// Database returns the path of the store of profiles and history.
func (h Home) Database() string { return filepath.Join(h.Dir, "berth.db") }

// Trace returns the folder of what was learned about programs whose functions are counted.
func (h Home) Trace() string { return filepath.Join(h.Dir, "trace") }

// Socket returns the path of the coordinator's control socket.
func (h Home) Socket() string { return filepath.Join(h.Server(), "socket") }

// WorkerSocket returns the path of the socket to which workers connect from this machine.
func (h Home) WorkerSocket() string { return filepath.Join(h.Server(), "workers") }

// ServerLog returns the path of the log of coordinators that run in the background.
func (h Home) ServerLog() string { return filepath.Join(h.Server(), "log") }

// Lock returns the path of the file that a live coordinator holds locked.
func (h Home) Lock() string { return filepath.Join(h.Server(), "lock") }

// Journal returns the path of the journal of nodes and allocations.
func (h Home) Journal() string { return filepath.Join(h.Server(), "journal") }

// runsLock returns the path of the file that is locked while a run is given its number.
func (h Home) runsLock() string { return filepath.Join(h.Runs(), ".lock") }

// JournalOf returns the path of a job's journal. For the empty id it is the journal of nodes and allocations.
func (h Home) JournalOf(id job.ID) string {
	if id == "" {
		return h.Journal()
	}
	return h.Run(id).Journal()
}

// Run returns the run with this id, whether it exists or not.
func (h Home) Run(id job.ID) Run {
	return Run{Home: h, ID: id, Dir: filepath.Join(h.Runs(), string(id))}
}

// KindOf returns the kind of the job with that id.
func KindOf(id job.ID) job.Kind {
	if strings.HasPrefix(string(id), "bag-") {
		return job.Bag
	}
	return job.MapReduce
}

// RunNumber returns the number in a job's id, as in bag-7 or mr-12, or 0 if id is not a job's id.
func RunNumber(id job.ID) int {
	kind, digits, _ := strings.Cut(string(id), "-")
	n, err := strconv.ParseUint(digits, 10, 32)
	if err != nil || kind != "bag" && kind != "mr" || digits[0] == '0' {
		return 0
	}
	return int(n)
}

// NewRun creates the folder of a new run. Its number is the next one whose id is not taken;
// taken may be nil.
func (h Home) NewRun(kind job.Kind, taken func(job.ID) bool) (Run, error) {
	lock, err := flock(h.runsLock(), unix.LOCK_EX)
	if err != nil {
		return Run{}, err
	}
	defer lock.Close() // lets go of the lock
	runs, err := h.List()
	if err != nil {
		return Run{}, err
	}
	next, err := h.highestRemoved()
	if err != nil {
		return Run{}, err
	}
	if len(runs) > 0 {
		next = max(next, RunNumber(runs[len(runs)-1].ID))
	}
	next++
	prefix := "bag"
	if kind == job.MapReduce {
		prefix = "mr"
	}
	name := func() job.ID { return job.ID(fmt.Sprintf("%s-%d", prefix, next)) }
	for taken != nil && taken(name()) {
		next++
	}
	r := h.Run(name())
	if err := os.Mkdir(r.Dir, 0o700); err != nil {
		return Run{}, job.IOError(job.Fatal, r.Dir, "cannot create the run's folder", err)
	}
	return r, nil
}
