package input

import (
	"fmt"
	"io/fs"
	"slices"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"berth/internal/core/job"
)

// Difference is the cause of errors of input that is not what it was when the job was planned: it says what differs. It is the same on every
// host, and another attempt does not help.
type Difference string

func (d Difference) Error() string { return string(d) }

// Changed returns the error of an input that has changed.
func Changed(path string, how Difference) error {
	return job.IOError(job.User, path, "input changed while the job ran", how).Advice("put the earlier file back, or submit the job again when nothing writes to it any more")
}

func changedSize(path string, planned, now int64) error {
	return Changed(path, Difference(fmt.Sprintf("it had %d bytes when the job was planned, and has %d now", planned, now)))
}

// inode returns the inode number of a file, or 0 if it says nothing.
func (f *finder) inode(path string, info fs.FileInfo) uint64 {
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0
	}
	keeps, known := f.numbered[s.Dev]
	if !known {
		var system unix.Statfs_t
		keeps = unix.Statfs(path, &system) == nil && keepsInodes(int64(system.Type))
		if f.numbered == nil {
			f.numbered = map[uint64]bool{}
		}
		f.numbered[s.Dev] = keeps
	}
	if !keeps {
		return 0
	}
	return s.Ino
}

// keepsInodes reports whether a file has the same inode number for as long as it exists, and on all hosts. File systems in user space and
// those of Windows servers invent numbers.
func keepsInodes(system int64) bool {
	return !slices.Contains([]int64{unix.FUSE_SUPER_MAGIC, unix.CIFS_SUPER_MAGIC, unix.SMB2_SUPER_MAGIC, unix.SMB_SUPER_MAGIC, unix.V9FS_MAGIC}, system)
}

// check returns an error if the open file is not the one of the range. It asks the server of a network file system, as what this host
// remembers of the file may be a minute old.
func (f ownFile) check() error {
	var s unix.Statx_t
	err := unix.Statx(int(f.Fd()), "", unix.AT_EMPTY_PATH|unix.AT_STATX_FORCE_SYNC, unix.STATX_BASIC_STATS, &s)
	size, modified, inode := int64(s.Size), time.Unix(s.Mtime.Sec, int64(s.Mtime.Nsec)), s.Ino
	if err != nil { // kernels before 4.11, and containers that forbid the call
		info, err := f.Stat()
		if err != nil {
			return inputError(f.Name(), err)
		}
		size, modified, inode = info.Size(), info.ModTime(), info.Sys().(*syscall.Stat_t).Ino
	}
	planned := time.Unix(0, f.is.Modified)
	switch {
	case size != f.is.Size:
		return changedSize(f.Name(), f.is.Size, size)
	case f.is.Modified != 0 && !modified.Equal(planned):
		const form = "2006-01-02 15:04:05.999999"
		return Changed(f.Name(), Difference(fmt.Sprintf("it was modified at %s, and before the job was planned at %s", modified.Format(form), planned.Format(form))))
	case f.is.Inode != 0 && inode != f.is.Inode && f.keepsInode():
		return Changed(f.Name(), "another file of the same size and time of modification has its place")
	}
	return nil
}

func (f ownFile) keepsInode() bool {
	var s unix.Statfs_t
	return unix.Fstatfs(int(f.Fd()), &s) == nil && keepsInodes(int64(s.Type))
}

// Check returns an error if a file of the splits is not what it was when the job was planned, or cannot be opened. Objects are left out.
func Check(splits []job.Split) error {
	seen := map[string]bool{}
	for _, s := range splits {
		for _, r := range s.Ranges {
			if seen[r.Path] || job.IsObject(r.Path) {
				continue
			}
			seen[r.Path] = true
			file, err := Open(r)
			if err == nil {
				err = file.Close()
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}
