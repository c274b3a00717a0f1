package probe

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
)

// Transferred returns how many bytes a process, and those of its children that it has waited for, read and wrote so far by
// read(2), write(2) and their like, wherever they came from and went (proc(5), io: rchar and wchar); 0 where the kernel does
// not tell. What a program does to memory that a file is mapped to does not count.
func Transferred(pid int) int64 {
	b, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "io"))
	if err != nil {
		return 0
	}
	return number(b, "rchar:", 10) + number(b, "wchar:", 10)
}

// EachFile calls f for each file of a file system that a process has open: with its path, without links, the position in it,
// and whether it may be written. It looks only at what the kernel has in memory, so a file system that hangs keeps nothing waiting.
func EachFile(pid int, f func(path string, position int64, writes bool)) {
	proc := filepath.Join("/proc", strconv.Itoa(pid))
	fds, err := os.Open(filepath.Join(proc, "fd"))
	if err != nil {
		return // it has ended, or is another user's
	}
	names, _ := fds.Readdirnames(maxFiles) // what was read before an error is good
	_ = fds.Close()                        // only read
	for _, fd := range names {
		path, err := os.Readlink(filepath.Join(proc, "fd", fd))
		if err != nil || !filepath.IsAbs(path) { // pipes and sockets are called "pipe:[7]"
			continue
		}
		info, err := os.ReadFile(filepath.Join(proc, "fdinfo", fd))
		if err == nil {
			f(path, number(info, "pos:", 10), number(info, "flags:", 8)&int64(os.O_WRONLY|os.O_RDWR) != 0)
		}
	}
}

// maxFiles bounds how many files of a process are looked at.
const maxFiles = 256

// number returns the number of the line that begins with name, 0 without one.
func number(b []byte, name string, base int) int64 {
	for line := range bytes.Lines(b) {
		if rest, ok := bytes.CutPrefix(line, []byte(name)); ok {
			n, _ := strconv.ParseInt(string(bytes.TrimSpace(rest)), base, 64) // the kernel writes a number there
			return n
		}
	}
	return 0
}
