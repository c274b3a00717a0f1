package probe

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// diskSample is how much is written to measure a disk, diskChunk how much at once, and diskTime for how long at most.
	diskSample = 64 << 20
	diskChunk  = 4 << 20
	diskTime   = 400 * time.Millisecond
	// diskSpare is how many samples must be free on the disk.
	diskSpare = 16
)

// DiskRate measures how many bytes a second can be written to the disk that a folder is on: it writes some to a file that
// has no name any more, past the page cache where the file system can do that (open(2), O_DIRECT), and brings them to the disk.
// It takes about half a second, longer where the disk is so slow that a single write takes that long.
func DiskRate(dir string) (int64, error) {
	var fs unix.Statfs_t
	if err := unix.Statfs(dir, &fs); err != nil {
		return 0, fmt.Errorf("look at the file system of %s: %w", dir, err)
	}
	if free := int64(fs.Bavail) * fs.Bsize; free < diskSpare*diskSample {
		return 0, fmt.Errorf("%s has too little space left to measure its disk: %d bytes", dir, free)
	}
	buf, err := unix.Mmap(-1, 0, diskChunk, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS) // aligned as O_DIRECT wants it
	if err != nil {
		return 0, fmt.Errorf("take memory: %w", err)
	}
	defer func() { _ = unix.Munmap(buf) }()
	var seed [32]byte
	_, _ = rand.NewChaCha8(seed).Read(buf) // a file system may compress, and make a hole of zeros; never fails
	fd, err := nameless(dir)
	if err != nil {
		return 0, fmt.Errorf("make a file to measure the disk: %w", err)
	}
	defer func() { _ = unix.Close(fd) }() // nothing of it is kept
	return writeRate(fd, buf)
}

// nameless makes a file that has no name, for direct writing where that can be.
func nameless(dir string) (fd int, err error) {
	path := filepath.Join(dir, "disk-probe")
	const flags = unix.O_WRONLY | unix.O_CREAT | unix.O_TRUNC | unix.O_CLOEXEC | unix.O_NOFOLLOW
	if fd, err = unix.Open(path, flags|unix.O_DIRECT, 0o600); errors.Is(err, unix.EINVAL) {
		fd, err = unix.Open(path, flags, 0o600)
	}
	if err != nil {
		return -1, err
	}
	return fd, os.Remove(path)
}

// writeRate writes buf again and again and returns the bytes a second.
func writeRate(fd int, buf []byte) (int64, error) {
	begin, sum := time.Now(), 0
	for sum < diskSample && time.Since(begin) < diskTime {
		n, err := unix.Write(fd, buf)
		if err != nil {
			return 0, fmt.Errorf("write: %w", err)
		}
		sum += n
	}
	if err := unix.Fdatasync(fd); err != nil {
		return 0, fmt.Errorf("sync: %w", err)
	}
	return int64(float64(sum) / max(time.Since(begin).Seconds(), 1e-6)), nil
}
