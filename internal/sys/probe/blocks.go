package probe

import (
	"bytes"
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// blockSize is the unit of ru_inblock and ru_oublock on Linux, for every disk (getrusage(2)),
// bytes.
const blockSize = 512

// BlockBytes returns the bytes that were read from disks and written to files on disks. The kernel
// counts them as read_bytes and write_bytes (proc(5), /proc/PID/io) for a process and the children
// that it waited for. They are the reads that the page cache could not serve, and all writes, which
// count when a page in the cache becomes dirty: the work of the disks. The kernel's other counts,
// rchar and wchar, would include reads from the page cache and all data in pipes, sockets and
// terminals, which is most of the data of MapReduce programs and shell pipelines.
func BlockBytes(use *unix.Rusage) int64 { return (use.Inblock + use.Oublock) * blockSize }

// ErrNoBlocks means that the kernel of this machine does not count what processes read and write.
var ErrNoBlocks = errors.New("the kernel does not count what processes read from disks and write to them (CONFIG_TASK_IO_ACCOUNTING)")

// Blocks returns ErrNoBlocks if BlockBytes is always 0 on this machine.
func Blocks() error {
	b, err := os.ReadFile("/proc/self/io") // exists only if the kernel counts
	if err != nil {
		return fmt.Errorf("%w: %w", ErrNoBlocks, err)
	}
	return countsBlocks(b)
}

// countsBlocks checks that the text of /proc/PID/io contains both counts.
func countsBlocks(b []byte) error {
	for _, name := range []string{"read_bytes:", "write_bytes:"} {
		if !bytes.Contains(b, []byte("\n"+name)) {
			return fmt.Errorf("%w: no %s in /proc/self/io", ErrNoBlocks, name)
		}
	}
	return nil
}
