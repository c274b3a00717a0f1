package probe

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// ReadWritten returns how many bytes a process and the children that it has waited for have read
// and written with read(2), write(2) and similar calls, from and to anything (proc(5), io: rchar
// and wchar). Access to mapped files is not counted. The results are 0 if the kernel does not count.
func ReadWritten(pid int) (read, written int64) {
	b, _ := file(pid, "io")
	return number(b, "rchar:", 10), number(b, "wchar:", 10)
}

// EachFile calls f for each regular file that a process has open, with the path without links, the
// position, and whether it is open for writing. It uses only data in the kernel's memory, so it
// does not hang when a file system hangs.
func EachFile(pid int, f func(path string, position int64, writes bool)) {
	proc := filepath.Join("/proc", strconv.Itoa(pid))
	fds, err := os.Open(filepath.Join(proc, "fd"))
	if err != nil {
		return // the process has ended or belongs to another user
	}
	names, _ := fds.Readdirnames(maxFiles) // names that were read before an error are valid
	_ = fds.Close()                        // the folder was only read
	for _, fd := range names {
		path, err := os.Readlink(filepath.Join(proc, "fd", fd))
		if err != nil || !filepath.IsAbs(path) { // the name of a pipe or socket is like "pipe:[7]"
			continue
		}
		info, err := os.ReadFile(filepath.Join(proc, "fdinfo", fd))
		if err == nil {
			f(path, number(info, "pos:", 10), number(info, "flags:", 8)&int64(os.O_WRONLY|os.O_RDWR) != 0)
		}
	}
}

// maxFiles is the largest number of open files of a process that are visited.
const maxFiles = 256

// Line returns the rest of the first line of a text that begins with name, without blanks around it, or "" if there is none.
func Line(text []byte, name string) string {
	for line := range bytes.Lines(text) {
		if rest, ok := bytes.CutPrefix(line, []byte(name)); ok {
			return string(bytes.TrimSpace(rest))
		}
	}
	return ""
}

// number returns the number, which a unit may follow, in the line that begins with name, or 0 if there is no such line.
func number(b []byte, name string, base int) int64 {
	text, _, _ := strings.Cut(Line(b, name), " ")
	n, _ := strconv.ParseInt(text, base, 64) // the kernel always writes a number here
	return n
}
