package plant

import (
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// memory has the counters of a session: an anonymous file in memory, of which this process and the
// programs map parts.
type memory struct {
	fd     int
	size   int64
	mapped [][]byte
}

func newMemory() (*memory, error) {
	fd, err := unix.MemfdCreate("berth-counters", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("cannot make memory for counters: %w", err)
	}
	return &memory{fd: fd}, nil
}

// counters returns n zero counters of 8 bytes, and their offset in the file, which is a multiple of
// the page size.
func (m *memory) counters(n int) ([]uint64, int64, error) {
	at, size := m.size, pages(int64(n)*8)
	var b []byte
	err := unix.Ftruncate(m.fd, at+size)
	if err == nil {
		b, err = unix.Mmap(m.fd, at, int(size), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	}
	if err != nil {
		return nil, 0, fmt.Errorf("no memory for counters: %w", err)
	}
	m.size += size
	m.mapped = append(m.mapped, b)
	return unsafe.Slice((*uint64)(unsafe.Pointer(&b[0])), n), at, nil
}

// path is a path by which programs on this machine that the user may trace can open the file.
func (m *memory) path() string { return fmt.Sprintf("/proc/%d/fd/%d", os.Getpid(), m.fd) }

// is reports whether a path leads to the file.
func (m *memory) is(path string) bool {
	var own, other unix.Stat_t
	return unix.Fstat(m.fd, &own) == nil && unix.Stat(path, &other) == nil && own.Dev == other.Dev && own.Ino == other.Ino
}

// close releases the memory. Programs that still count keep theirs.
func (m *memory) close() {
	for _, b := range m.mapped {
		_ = unix.Munmap(b) // it was mapped here
	}
	_ = unix.Close(m.fd) // nothing is kept in it
	m.mapped = nil
}

const pageSize = 4096

// pages rounds up to whole pages.
func pages[T int64 | uint64](n T) T { return (n + pageSize - 1) &^ (pageSize - 1) }
