package run

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"unicode/utf8"

	"golang.org/x/sys/unix"

	"berth/internal/job"
)

// checkScratch refuses a scratch folder of the user's choice in which no worker of
// theirs could write. It may be missing if it can be made.
func checkScratch(dir string) error {
	if dir == "" {
		return nil
	}
	refuse := func(what string, err error) error {
		return &job.Error{Class: job.User, Code: job.CodeConfig, Where: "--scratch", What: what, Err: err,
			Do: "name a folder that you may write to"}
	}
	if !utf8.ValidString(dir) {
		return refuse("the path is no UTF-8", nil)
	}
	there := filepath.Clean(dir)
	info, err := os.Stat(there)
	for errors.Is(err, fs.ErrNotExist) && there != filepath.Dir(there) {
		there = filepath.Dir(there)
		info, err = os.Stat(there)
	}
	switch {
	case err != nil:
		return refuse("cannot look at the folder", err)
	case !info.IsDir():
		return refuse(there+" is no folder", nil)
	}
	if err := unix.Access(there, unix.W_OK|unix.X_OK); err != nil {
		return refuse(there+" cannot be written", err)
	}
	return nil
}
