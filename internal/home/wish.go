package home

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// A stand-in is a coordinator that runs inside an allocation, as nobody on the login node is
// left. Two files beside the lock tell it to make way. Both are read anew each time.

// wantedFile holds who wants the place of a stand-in. It is there while a stand-in runs and is
// written in place: a network file system shows a new content sooner than a new file.
func (h Home) wantedFile() string { return filepath.Join(h.Server(), "wanted") }

// stoppedFile is there while the user wants no stand-in: from "berth server stop" until the
// next coordinator is started.
func (h Home) stoppedFile() string { return filepath.Join(h.Server(), "stopped") }

// wishLength is the length of all contents of the file, so that none is read together with the rest of another.
const wishLength = 128

// AskForPlace asks a stand-in to make way. It is called again while the place is not free: a
// stand-in that is just starting forgets what was asked before.
func (h Home) AskForPlace() error {
	host, err := hostname()
	if err != nil {
		return err
	}
	return h.writeWish(fmt.Sprintf("%s %d %d", host, os.Getpid(), time.Now().UnixNano()))
}

// ForgetWish makes the file for wishes, with nobody's wish in it.
func (h Home) ForgetWish() error { return h.writeWish(noWish) }

const noWish = "nobody"

func (h Home) writeWish(text string) error {
	f, err := os.OpenFile(h.wantedFile(), os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return writeError(h.wantedFile(), err)
	}
	_, err = f.WriteAt(fmt.Appendf(nil, "%-*.*s\n", wishLength-1, wishLength-1, text), 0)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return writeError(h.wantedFile(), err)
	}
	return nil
}

// PlaceWanted reports whether anybody has asked for the place since ForgetWish.
func (h Home) PlaceWanted() bool {
	b, err := os.ReadFile(h.wantedFile())
	said := strings.TrimSpace(string(b))
	return err == nil && said != "" && said != noWish
}

// Stop says that the user wants no stand-in until a coordinator is started.
func (h Home) Stop() error {
	if err := os.WriteFile(h.stoppedFile(), nil, 0o600); err != nil {
		return writeError(h.stoppedFile(), err)
	}
	return nil
}

// Unstop takes Stop back.
func (h Home) Unstop() error {
	if err := os.Remove(h.stoppedFile()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return writeError(h.stoppedFile(), err)
	}
	return nil
}

// Stopped reports whether the user wants no stand-in.
func (h Home) Stopped() bool {
	_, err := os.Stat(h.stoppedFile())
	return err == nil
}
