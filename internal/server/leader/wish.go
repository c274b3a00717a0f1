package leader

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"berth/internal/sys/statedir"
)

// A stand-in is a coordinator that runs inside an allocation, because none is left on the login node. Two files beside
// the lock tell it to end. Both are read again each time.

// wantedFile returns the path of the file with the request of a process that wants to replace a stand-in. It exists
// while a stand-in runs, and is written in place: a network file system shows new contents sooner than a new file.
func (s Seat) wantedFile() string { return filepath.Join(s.home.Server(), "wanted") }

// stoppedFile returns the path of the file that exists while the user wants no stand-in: from "berth server stop" until
// the next coordinator is started.
func (s Seat) stoppedFile() string { return filepath.Join(s.home.Server(), "stopped") }

// wishLength is the length of all contents of the file, so that no reader finds parts of two.
const wishLength = 128

// ask asks a stand-in to end. It is called repeatedly, because a stand-in that is just starting forgets earlier
// requests.
func (s Seat) ask() error {
	host, err := hostname()
	if err != nil {
		return err
	}
	return s.writeWish(fmt.Sprintf("%s %d %d", host, os.Getpid(), time.Now().UnixNano()))
}

// ForgetWish creates the file for requests, without a request.
func (s Seat) ForgetWish() error { return s.writeWish(noWish) }

const noWish = "nobody"

func (s Seat) writeWish(text string) error {
	f, err := os.OpenFile(s.wantedFile(), os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return statedir.WriteError(s.wantedFile(), err)
	}
	_, err = f.WriteAt(fmt.Appendf(nil, "%-*.*s\n", wishLength-1, wishLength-1, text), 0)
	return statedir.WriteError(s.wantedFile(), errors.Join(err, f.Close()))
}

// MakeWay reports whether a stand-in has to end: another process has asked for that since ForgetWish, or the user wants
// no stand-in.
func (s Seat) MakeWay() bool { return s.wanted() || s.Stopped() }

func (s Seat) wanted() bool {
	b, err := os.ReadFile(s.wantedFile())
	said := strings.TrimSpace(string(b))
	return err == nil && said != "" && said != noWish
}

// Stop records that the user wants no stand-in until a coordinator is started.
func (s Seat) Stop() error {
	return statedir.WriteError(s.stoppedFile(), os.WriteFile(s.stoppedFile(), nil, 0o600))
}

// Unstop reverses Stop.
func (s Seat) Unstop() error {
	return remove(s.stoppedFile())
}

// Stopped reports whether the user wants no stand-in.
func (s Seat) Stopped() bool {
	_, err := os.Stat(s.stoppedFile())
	return err == nil
}
