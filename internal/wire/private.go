package wire

import (
	"fmt"
	"io"
	"os"
	"syscall"

	"berth/internal/job"
)

// maxKeyFile bounds a file of keys, in bytes; they have about two thousand.
const maxKeyFile = 1 << 20

// checkPrivateDir refuses a folder that is not this user's alone.
func checkPrivateDir(dir string) error {
	info, err := os.Lstat(dir)
	if err != nil {
		return keyError(dir, "cannot read the folder for keys", err)
	}
	if !info.IsDir() {
		return &job.Error{Class: job.User, Code: job.CodeConfig, Where: dir, What: "not a folder", Do: "remove it"}
	}
	return checkOwner(dir, info, "700")
}

// checkOwner refuses what does not belong to this user or is open to others.
func checkOwner(path string, info os.FileInfo, mode string) error {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return &job.Error{Class: job.Fatal, Where: path, What: "its owner cannot be told on this system"}
	}
	if int(st.Uid) != os.Geteuid() {
		return &job.Error{
			Class: job.User, Code: job.CodeConfig, Where: path,
			What: fmt.Sprintf("it belongs to user %d, not to you", st.Uid), Do: "remove it; the keys in it cannot be trusted",
		}
	}
	if perm := info.Mode().Perm(); perm&0o077 != 0 {
		return &job.Error{
			Class: job.User, Code: job.CodeConfig, Where: path,
			What: fmt.Sprintf("others may use it (mode %03o), so its keys may be known to them", perm),
			Do:   fmt.Sprintf("if nobody else could have read it, `chmod %s` it, else remove it", mode),
		}
	}
	return nil
}

// readPrivate reads a file of keys that is this user's alone. What is checked is the
// file that was opened, not a name that could point elsewhere by then.
func readPrivate(path string) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, keyError(path, "cannot read keys", err)
	}
	defer f.Close() //nolint:errcheck // only read
	info, err := f.Stat()
	if err != nil {
		return nil, keyError(path, "cannot read keys", err)
	}
	if !info.Mode().IsRegular() {
		return nil, &job.Error{Class: job.User, Code: job.CodeConfig, Where: path, What: "not a plain file", Do: "remove it"}
	}
	if err := checkOwner(path, info, "600"); err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.LimitReader(f, maxKeyFile))
	if err != nil {
		return nil, keyError(path, "cannot read keys", err)
	}
	return data, nil
}
