package rundir

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"unicode/utf8"

	"golang.org/x/sys/unix"

	"berth/internal/core/job"
)

// checkScratch returns an error for a scratch folder in which the user's workers could not write. The folder may be
// missing if it can be created.
func checkScratch(dir string) error {
	if dir == "" {
		return nil
	}
	refuse := func(what string, err error) error {
		return job.ConfigError("--scratch", what, "name a folder that you may write to").Because(err)
	}
	if !utf8.ValidString(dir) {
		return refuse("the path is not UTF-8", nil)
	}
	there := filepath.Clean(dir)
	info, err := os.Stat(there)
	for errors.Is(err, fs.ErrNotExist) && there != filepath.Dir(there) {
		there = filepath.Dir(there)
		info, err = os.Stat(there)
	}
	switch {
	case err != nil:
		return refuse("the folder cannot be examined", err)
	case !info.IsDir():
		return refuse(there+" is not a folder", nil)
	}
	if err := unix.Access(there, unix.W_OK|unix.X_OK); err != nil {
		return refuse(there+" cannot be written", err)
	}
	return nil
}
