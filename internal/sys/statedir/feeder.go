package statedir

import (
	"io"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// feeder returns the file of an open bag that the program which adds its tasks keeps locked (fcntl(2)), and which has the name of its
// machine. It is put into place locked.
func (r Run) feeder() string { return filepath.Join(r.Dir, "feeder") }

// Orphaned reports whether a program of this machine has ended that added tasks to an open bag. Of those of others it is not known, as
// there are file systems whose locks other machines do not see.
func (r Run) Orphaned() bool {
	f, err := os.Open(r.feeder())
	if err != nil {
		return false // there is none, mostly
	}
	defer f.Close() // only read
	host, err := os.Hostname()
	named, _ := io.ReadAll(io.LimitReader(f, 1<<10))
	lk := unix.Flock_t{Type: unix.F_RDLCK}
	return err == nil && string(named) == host && unix.FcntlFlock(f.Fd(), unix.F_GETLK, &lk) == nil && lk.Type == unix.F_UNLCK
}

// ForgetFeeder removes the file, once the bag was closed in the place of the program.
func (r Run) ForgetFeeder() error { return os.Remove(r.feeder()) }
