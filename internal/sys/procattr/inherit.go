// Package procattr reads what programs inherit from the process that starts them (file mode mask, soft
// resource limits, nice value, scheduling, place among those that the kernel ends for lack of memory), and
// changes how a program is started so that it has those of a job:
//
//	change := inherit.From(inherit.Own(), spec.Inherit)
//	path, args := change.Command(path, args)
//
// It also finds what an environment names: a program in its PATH, its user. The only program that it
// starts is a shell, which it asks for one limit.
package procattr

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"berth/internal/core/job"
	"berth/internal/sys/probe"
)

// resources are the limits that programs inherit, with their names for prlimit(1).
var resources = []struct {
	name string
	id   int
}{
	{"as", unix.RLIMIT_AS}, {"core", unix.RLIMIT_CORE}, {"cpu", unix.RLIMIT_CPU}, {"data", unix.RLIMIT_DATA},
	{"fsize", unix.RLIMIT_FSIZE}, {"memlock", unix.RLIMIT_MEMLOCK}, {"nofile", unix.RLIMIT_NOFILE},
	{"nproc", unix.RLIMIT_NPROC}, {"rss", unix.RLIMIT_RSS}, {"stack", unix.RLIMIT_STACK},
}

// Own returns what programs inherit from this process. Values that cannot be read are missing.
func Own() job.Inherit {
	own := job.Inherit{Limits: map[string]uint64{}}
	if status, err := os.ReadFile("/proc/self/status"); err == nil {
		own.Umask = umaskOf(status)
	}
	if raw, err := unix.Getpriority(unix.PRIO_PROCESS, 0); err == nil {
		own.Nice = new(20 - raw) // the kernel's own return value is never negative
	}
	own.Policy, own.IO, own.OOM = policy(), ioClass(), oomAdjust()
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

// umaskOf returns the file mode mask in the text of /proc/PID/status (proc(5)), or nil if an old
// kernel does not tell it.
func umaskOf(status []byte) *int {
	mask, err := strconv.ParseUint(probe.Line(status, "Umask:"), 8, 16)
	if err != nil {
		return nil
	}
	return new(int(mask))
}

// openFiles returns the limit of open files that a program inherits. Go's runtime raises the limit of this
// process to just below the hard limit, and restores the original one for programs, so only a program can
// tell it. A limit that is the hard limit was not raised.
func openFiles() (uint64, bool) {
	var l unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &l) == nil && l.Cur == l.Max {
		return l.Cur, true
	}
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

// Change says how to start a program so that it has the mask, limits and nice value of a job, and not
// those of the process that starts it.
type Change struct {
	Umask   int      // file mode mask; −1: unchanged
	Prefix  []string // words before the program's path and arguments; nil if none are needed
	Refused []string // messages about what cannot be set
}

// From returns the change for programs of a job that wants want, started by a process that has own. It
// returns nil if there is nothing to change.
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
	if want.Policy != "" && want.Policy != own.Policy {
		c.attempt("chrt", strings.Fields(want.Policy)...)
	}
	if want.IO != "" && want.IO != own.IO {
		c.attempt("ionice", strings.Fields(want.IO)...)
	}
	if want.OOM != nil && own.OOM != nil && *want.OOM != *own.OOM {
		c.attempt("choom", "-n", strconv.Itoa(*want.OOM), "--")
	}
	if c.Umask < 0 && c.Prefix == nil && c.Refused == nil {
		return nil
	}
	return c
}

// limits sets the soft limits that differ, up to the hard limits of this process.
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
			c.Refused = append(c.Refused, fmt.Sprintf("limit %s of %s: this machine allows at most %s", r.name, amount(soft), amount(l.Max)))
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

// nice changes the nice value by the difference. Whether it may be lowered, the program says on its standard error alone.
func (c *Change) nice(own, want *int) {
	if own == nil || want == nil || *own == *want {
		return
	}
	words := []string{"-n", strconv.Itoa(*want - *own)}
	if *want < *own {
		if out, err := exec.Command("nice", append(words, "nice")...).Output(); err != nil || strings.TrimSpace(string(out)) != strconv.Itoa(*want) {
			c.Refused = append(c.Refused, fmt.Sprintf("nice value of %d: berth itself runs with %d, which cannot be lowered", *want, *own))
			return
		}
	}
	c.use("nice", append(words, "--")...)
}

// attempt adds a program to the prefix if it can run another program with these words.
func (c *Change) attempt(program string, words ...string) {
	if path := lookUp(program); path != "" && exec.Command(path, append(words, lookUp("true"))...).Run() == nil {
		c.use(program, words...)
		return
	}
	c.Refused = append(c.Refused, program+" "+strings.Join(words, " ")+": this machine or user may not")
}

// use adds a program to the prefix.
func (c *Change) use(program string, words ...string) {
	path := lookUp(program)
	if path == "" {
		c.Refused = append(c.Refused, fmt.Sprintf("%s: there is no program %s", strings.Join(words, " "), program))
		return
	}
	c.Prefix = append(append(c.Prefix, path), words...)
}

// lookUp returns the path of a program of the system, "" if there is none. PATH may lack the system's folders.
func lookUp(program string) string { return LookPath(os.Getenv("PATH")+":/usr/bin:/bin", "/", program) }

// Mask returns the file mode mask for programs, or −1 for the mask of this process.
func (c *Change) Mask() int {
	if c == nil {
		return -1
	}
	return c.Umask
}

// Command returns path and arguments that start a program with the prefix before it. args[0] is the
// program's name.
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
