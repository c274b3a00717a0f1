package probe

import (
	"bytes"
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// blockSize is the unit of ru_inblock and ru_oublock on Linux, whatever the disk (getrusage(2)).
const blockSize = 512

// BlockBytes returns the bytes that were read from disks and written to files on them. They are what
// the kernel counts as read_bytes and write_bytes (proc(5), /proc/PID/io) of the process and of
// the children that it waited for: reads that the page cache could not serve, and all writes, which are counted
// when a page in the cache becomes dirty. So it is what disks have to do sooner or later. The
// other pair of counts there, rchar and wchar, would take in what goes through pipes, sockets and terminals,
// which is most of what programs of MapReduce jobs and shell pipelines move, and what is read again from memory.
func BlockBytes(use *unix.Rusage) int64 { return (use.Inblock + use.Oublock) * blockSize }

// ErrNoBlocks says that this machine's kernel does not count what processes read and write.
var ErrNoBlocks = errors.New("the kernel does not count what processes read from disks and write to them (CONFIG_TASK_IO_ACCOUNTING)")

// Blocks returns ErrNoBlocks where BlockBytes says nothing on this machine: then it is always 0.
func Blocks() error {
	b, err := os.ReadFile("/proc/self/io") // is there where the kernel counts
	if err != nil {
		return fmt.Errorf("%w: %w", ErrNoBlocks, err)
	}
	return countsBlocks(b)
}

// countsBlocks looks for the counts in the text of /proc/PID/io.
func countsBlocks(b []byte) error {
	for _, name := range []string{"read_bytes:", "write_bytes:"} {
		if !bytes.Contains(b, []byte("\n"+name)) {
			return fmt.Errorf("%w: no %s in /proc/self/io", ErrNoBlocks, name)
		}
	}
	return nil
}
