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
	// diskSample is how many bytes are written to measure a disk, diskChunk the size of one write,
	// and diskTime the longest duration.
	diskSample = 64 << 20
	diskChunk  = 4 << 20
	diskTime   = 400 * time.Millisecond
	// diskSpare is how many times diskSample must be free on the disk.
	diskSpare = 16
)

// DiskRate measures the write rate of a folder's disk in bytes per second. It writes to an unnamed
// file, if possible without the page cache (open(2), O_DIRECT), and syncs it. This takes about half
// a second, or longer if a single write takes longer.
func DiskRate(dir string) (int64, error) {
	var fs unix.Statfs_t
	if err := unix.Statfs(dir, &fs); err != nil {
		return 0, fmt.Errorf("cannot read the state of the file system of %s: %w", dir, err)
	}
	if free := int64(fs.Bavail) * fs.Bsize; free < diskSpare*diskSample {
		return 0, fmt.Errorf("%s has too little space left to measure its disk: %d bytes", dir, free)
	}
	buf, err := unix.Mmap(-1, 0, diskChunk, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS) // aligned as O_DIRECT requires
	if err != nil {
		return 0, fmt.Errorf("cannot allocate memory: %w", err)
	}
	defer func() { _ = unix.Munmap(buf) }()
	var seed [32]byte
	_, _ = rand.NewChaCha8(seed).Read(buf) // random, because a file system may compress data or not store zeros; Read never fails
	fd, err := nameless(dir)
	if err != nil {
		return 0, fmt.Errorf("cannot create a file to measure the disk: %w", err)
	}
	defer func() { _ = unix.Close(fd) }() // the data is not needed
	return writeRate(fd, buf)
}

// nameless creates an unnamed file, for direct I/O if the file system supports it.
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

// writeRate writes buf repeatedly and returns the rate in bytes per second.
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
