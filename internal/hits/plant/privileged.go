package plant

import (
	"bytes"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// refuse returns why a program must not be executed under ptrace, or "". The kernel gives a program
// no privileges of its file if its tracer does not have the privileges of root. A missing file is no
// reason: execve reports it.
func refuse(path string) string {
	for range 5 { // the number of interpreters that the kernel follows
		why, next := refuseFile(path)
		if why != "" || next == "" {
			return why
		}
		path = next
	}
	return ""
}

// refuseFile checks one file. next is its interpreter if the file is a script.
func refuseFile(path string) (why, next string) {
	var st unix.Stat_t
	if unix.Stat(path, &st) != nil || st.Mode&unix.S_IFMT != unix.S_IFREG {
		return "", ""
	}
	if st.Mode&(unix.S_ISUID|unix.S_ISGID) != 0 {
		return "it is set-uid or set-gid", ""
	}
	if n, err := unix.Getxattr(path, "security.capability", nil); err == nil && n > 0 {
		return "its file has capabilities", ""
	}
	f, _, err := openRegular(path)
	if err != nil {
		return "its file cannot be read", ""
	}
	defer f.Close() // nothing was written
	head := make([]byte, 256)
	n, err := f.Read(head)
	if err != nil && err != io.EOF {
		return "its file cannot be read", ""
	}
	return "", interpreter(head[:n])
}

// interpreter returns the program named in the first line of a script, or "".
func interpreter(head []byte) string {
	line, ok := bytes.CutPrefix(head, []byte("#!"))
	if !ok {
		return ""
	}
	line, _, _ = bytes.Cut(line, []byte("\n"))
	words := bytes.Fields(line)
	if len(words) == 0 || !filepath.IsAbs(string(words[0])) {
		return ""
	}
	return string(words[0])
}

// launchers are programs that start others and do little else. They are traced beyond their entry,
// which costs a stop at each of their system calls. All other programs are detached once they are
// planted.
const launchers = `sh dash bash ksh ksh93 mksh zsh rbash busybox env nice ionice chrt taskset nohup timeout setsid stdbuf time xargs find make gmake
	numactl prlimit setarch script flock chroot unshare cpulimit`

// compilers are launchers, too. Their names may have a target as prefix and a version as suffix.
var compilers = []string{"gcc", "g++", "c++", "cc", "cpp", "gfortran", "gnat", "gdc", "collect2", "lto-wrapper"}

// launcher reports whether a program of that name is traced beyond its entry.
func launcher(name string) bool {
	if slices.Contains(strings.Fields(launchers), name) {
		return true
	}
	name = strings.TrimRight(name, "0123456789.-")
	return slices.ContainsFunc(compilers, func(c string) bool { return name == c || strings.HasSuffix(name, "-"+c) })
}
