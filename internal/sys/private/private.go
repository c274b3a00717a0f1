// Package private opens files and folders that only this user may own, under names that
// another user of the machine can guess and may have created first.
//
// It checks who owns the file, who else may use it, whether it is a plain file, and whether
// the name is a link. It checks the descriptor that it has opened, so that nobody can replace
// the file between check and use. Nothing that it opens can block, as opening a FIFO would.
// The package also listens on Unix sockets in such folders and connects to them, however long
// the folder's path is.
//
// It returns errors of type *Untrusted. The caller adds what the refused file was for and
// what the user can do.
package private

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

// Untrusted is the error for a file or folder that others made or may write to.
type Untrusted struct {
	Path string
	What string // what is wrong, without a subject: "belongs to user 7, not to you"
	Mode bool   // only the mode is wrong; chmod helps if nobody else has used the file
}

// Error returns the path and the reason.
func (u *Untrusted) Error() string { return u.Path + " " + u.What }

// Bits of a file mode.
const (
	forOthers       = 0o077
	writtenByOthers = 0o022
)

// Folder creates a folder with mode 0700, and its parents, or checks the folder if it exists.
// If others may read it, or its user may not, Folder changes that. It returns an *Untrusted error if others
// may write to the folder, if it belongs to another user, if it is a symbolic link, or if any
// user could replace it in its parent folder.
func Folder(dir string) error {
	if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
		return err
	}
	if err := checkParent(dir); err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	f, info, err := openFolder(dir)
	if errors.Is(err, fs.ErrPermission) && !errors.As(err, new(*Untrusted)) && os.Chmod(dir, 0o700) == nil {
		f, info, err = openFolder(dir)
	}
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // nothing was written
	if info.Mode().Perm()&writtenByOthers != 0 {
		return openTo(dir, "write to", info)
	}
	if info.Mode().Perm() == 0o700 {
		return nil
	}
	return f.Chmod(0o700)
}

// CheckFolder returns an error if a folder is not this user's or if others may use it in any
// way. If the folder does not exist, the error wraps fs.ErrNotExist.
func CheckFolder(dir string) error {
	f, info, err := openFolder(dir)
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // nothing was written
	if info.Mode().Perm()&forOthers != 0 {
		return openTo(dir, "use", info)
	}
	return nil
}

// openFolder opens a folder that belongs to this user.
func openFolder(dir string) (*os.File, os.FileInfo, error) {
	f, err := os.OpenFile(dir, os.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	switch {
	case errors.Is(err, unix.ENOTDIR), errors.Is(err, unix.ELOOP):
		return nil, nil, &Untrusted{Path: dir, What: "is not a folder"}
	case errors.Is(err, fs.ErrPermission):
		if info, serr := os.Lstat(dir); serr == nil { // that the folder is another user's explains more
			err = errors.Join(checkOwner(dir, info), err)
		}
		return nil, nil, err
	case err != nil:
		return nil, nil, err
	}
	info, err := f.Stat()
	if err == nil {
		err = checkOwner(dir, info)
	}
	if err != nil {
		_ = f.Close()
		return nil, nil, err
	}
	return f, info, nil
}

// checkParent returns an error if any user could rename dir. A parent folder to which all may
// write needs the sticky bit, as /tmp has it.
func checkParent(dir string) error {
	parent := filepath.Dir(dir)
	info, err := os.Stat(parent)
	if err != nil {
		return err
	}
	if info.Mode().Perm()&0o002 != 0 && info.Mode()&os.ModeSticky == 0 {
		return &Untrusted{Path: dir, What: fmt.Sprintf("could be replaced by any user: all may write to %s, which has no sticky bit", parent)}
	}
	return nil
}

// Open opens a plain file that belongs to this user and that nobody else may write to. flag is
// that of os.OpenFile. A file that Open creates has mode 0600.
func Open(path string, flag int) (*os.File, error) {
	return open(path, flag, writtenByOthers, "write to")
}

// WriteFile replaces the content of a file that it opens as Open does, or creates.
func WriteFile(path, text string) error {
	f, err := Open(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Sync(), f.Close())
}

// ReadFile opens a file as Open does and reads at most limit bytes of it.
func ReadFile(path string, limit int64) ([]byte, error) {
	return read(path, limit, writtenByOthers, "write to")
}

// ReadSecret reads at most limit bytes of a file that nobody else may use in any way.
func ReadSecret(path string, limit int64) ([]byte, error) {
	return read(path, limit, forOthers, "use")
}

func read(path string, limit int64, denied os.FileMode, verb string) ([]byte, error) {
	f, err := open(path, os.O_RDONLY, denied, verb)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // only read
	return io.ReadAll(io.LimitReader(f, limit))
}

// open opens a file and checks it before it uses or truncates it.
func open(path string, flag int, denied os.FileMode, verb string) (*os.File, error) {
	f, err := os.OpenFile(path, flag&^os.O_TRUNC|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0o600)
	switch {
	case errors.Is(err, unix.ELOOP), errors.Is(err, unix.ENXIO), errors.Is(err, unix.EISDIR): // a link, a FIFO or socket, a folder
		return nil, &Untrusted{Path: path, What: "is not a plain file"}
	case err != nil:
		return nil, err
	}
	if err = check(f, path, denied, verb); err == nil && flag&os.O_TRUNC != 0 {
		err = f.Truncate(0)
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

func check(f *os.File, path string, denied os.FileMode, verb string) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return &Untrusted{Path: path, What: "is not a plain file"}
	}
	if err := checkOwner(path, info); err != nil {
		return err
	}
	if st, ok := info.Sys().(*syscall.Stat_t); ok && st.Nlink > 1 {
		return &Untrusted{Path: path, What: "is a hard link: the file has a second name"}
	}
	if info.Mode().Perm()&denied != 0 {
		return openTo(path, verb, info)
	}
	return nil
}

// checkOwner returns an error if a file does not belong to this user.
func checkOwner(path string, info os.FileInfo) error {
	if uid := Owner(info); uid != os.Geteuid() {
		return &Untrusted{Path: path, What: fmt.Sprintf("belongs to user %d, not to you", uid)}
	}
	return nil
}

// Owner returns the id of the user that a file belongs to, or −1 if the system does not tell it.
func Owner(info os.FileInfo) int {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(st.Uid)
	}
	return -1
}

// openTo returns the error for a file that others may use.
func openTo(path, verb string, info os.FileInfo) error {
	return &Untrusted{Path: path, Mode: true, What: fmt.Sprintf("is open to others, who may %s it (mode %03o)", verb, info.Mode().Perm())}
}
