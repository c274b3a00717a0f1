// Package inherit reads what a process hands on to the programs it starts (file mode mask, nice value,
// soft resource limits), and says how a program is started with others. It also finds what an
// environment names: a program on its PATH, its user. It starts nothing but a shell that it asks
// for one limit.
package inherit

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"berth/internal/job"
)

// resources are the limits that are handed on, by their names for prlimit(1).
var resources = []struct {
	name string
	id   int
}{
	{"as", unix.RLIMIT_AS}, {"core", unix.RLIMIT_CORE}, {"cpu", unix.RLIMIT_CPU}, {"data", unix.RLIMIT_DATA},
	{"fsize", unix.RLIMIT_FSIZE}, {"memlock", unix.RLIMIT_MEMLOCK}, {"nofile", unix.RLIMIT_NOFILE},
	{"nproc", unix.RLIMIT_NPROC}, {"rss", unix.RLIMIT_RSS}, {"stack", unix.RLIMIT_STACK},
}

// Own returns what programs get that this process starts. What cannot be read is left out.
func Own() job.Inherit {
	own := job.Inherit{Limits: map[string]uint64{}}
	if status, err := os.ReadFile("/proc/self/status"); err == nil {
		own.Umask = umaskOf(status)
	}
	if raw, err := unix.Getpriority(unix.PRIO_PROCESS, 0); err == nil {
		nice := 20 - raw // the kernel's own return value is never negative
		own.Nice = &nice
	}
	for _, r := range resources {
		var l unix.Rlimit
		if r.name != "nofile" && unix.Getrlimit(r.id, &l) == nil {
			own.Limits[r.name] = l.Cur
		}
	}
	if n, ok := openFiles(); ok {
		own.Limits["nofile"] = n
	}
	return own
}

// umaskOf finds the mask in the text of /proc/PID/status (proc(5)), nil in that of an old kernel.
func umaskOf(status []byte) *int {
	for line := range bytes.Lines(status) {
		if rest, ok := bytes.CutPrefix(line, []byte("Umask:")); ok {
			if mask, err := strconv.ParseUint(string(bytes.TrimSpace(rest)), 8, 16); err == nil {
				n := int(mask)
				return &n
			}
		}
	}
	return nil
}

// openFiles returns the limit of open files that a program gets. Go's runtime raises that of this process
// and gives programs the one before, which only they can tell.
func openFiles() (uint64, bool) {
	out, err := exec.Command("/bin/sh", "-c", "ulimit -S -n").Output()
	if err != nil {
		return 0, false
	}
	text := strings.TrimSpace(string(out))
	if text == "unlimited" {
		return job.Unlimited, true
	}
	n, err := strconv.ParseUint(text, 10, 64)
	return n, err == nil
}

// Change is how a program is started so that it has what a job is to hand on, from a process that hands
// on something else.
type Change struct {
	Umask   int      // file mode mask; −1: as it is
	Prefix  []string // words that go before the program's path and arguments; nil: none are needed
	Refused []string // what cannot be had, for people
}

// From returns what has to change for programs that this process starts, which hands on own; nil where
// nothing has to.
func From(own job.Inherit, want *job.Inherit) *Change {
	if want == nil {
		return nil
	}
	c := &Change{Umask: -1}
	if want.Umask != nil && (own.Umask == nil || *own.Umask != *want.Umask) {
		c.Umask = *want.Umask
	}
	c.limits(own.Limits, want.Limits)
	c.nice(own.Nice, want.Nice)
	if c.Umask < 0 && c.Prefix == nil && c.Refused == nil {
		return nil
	}
	return c
}

// limits sets the soft limits that differ, as far as this process's hard limits go.
func (c *Change) limits(own, want map[string]uint64) {
	var flags []string
	for _, r := range resources {
		soft, wanted := want[r.name]
		if !wanted || soft == own[r.name] {
			continue
		}
		var l unix.Rlimit
		if unix.Getrlimit(r.id, &l) != nil {
			continue
		}
		if soft > l.Max {
			c.Refused = append(c.Refused, fmt.Sprintf("limit %s of %s: no more than %s is allowed here", r.name, amount(soft), amount(l.Max)))
			soft = l.Max
		}
		if soft != own[r.name] {
			flags = append(flags, "--"+r.name+"="+amount(soft)+":")
		}
	}
	if len(flags) > 0 {
		c.use("prlimit", append(flags, "--")...)
	}
}

// nice raises the nice value by the difference; only root could lower it.
func (c *Change) nice(own, want *int) {
	switch {
	case own == nil || want == nil || *own == *want:
	case *want < *own:
		c.Refused = append(c.Refused, fmt.Sprintf("nice value of %d: berth itself runs with %d, which cannot be lowered", *want, *own))
	default:
		c.use("nice", "-n", strconv.Itoa(*want-*own), "--")
	}
}

// use adds a program to the prefix.
func (c *Change) use(program string, words ...string) {
	path, err := exec.LookPath(program)
	if err != nil {
		c.Refused = append(c.Refused, fmt.Sprintf("%s: %v", strings.Join(words, " "), err))
		return
	}
	c.Prefix = append(append(c.Prefix, path), words...)
}

// Mask returns the file mode mask that programs are to have, −1 for that of this process.
func (c *Change) Mask() int {
	if c == nil {
		return -1
	}
	return c.Umask
}

// Command returns path and arguments of a program behind the prefix. args[0] is the program's name.
func (c *Change) Command(path string, args []string) (string, []string) {
	if c == nil || len(c.Prefix) == 0 {
		return path, args
	}
	return c.Prefix[0], slices.Concat(c.Prefix, []string{path}, args[1:])
}

func amount(n uint64) string {
	if n == job.Unlimited {
		return "unlimited"
	}
	return strconv.FormatUint(n, 10)
}
