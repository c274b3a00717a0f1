package plant

import (
	"errors"
	"syscall"
	"time"
)

// Planter starts programs whose functions are counted. A process has one: it knows the objects that were analysed.
type Planter struct {
	Dir string // of what is kept of objects and programs; "": nothing is kept

	// Threshold is how many times the mean a function may be entered and still be counted; 0: once.
	Threshold float64

	objects  objects
	programs programs
}

// Options say what of a program is counted.
type Options struct {
	// Exact has no hit be lost where several threads enter a function at once, at the price of some cycles more.
	Exact bool
	// All has all functions be counted, whatever is known of the program, and what was counted be added to that.
	All bool
	// Chosen reports whether a function is to be counted; nil: all that can be.
	Chosen func(buildID string, entry uint64) bool
}

// Start starts a program as syscall.ForkExec does, and returns the session that Follow is to be called of by the
// same thread, which is locked to its goroutine. Where the functions cannot be counted, the program
// is started all the same: the session says so, and Follow has nothing to do.
func (p *Planter) Start(path string, argv []string, attr *syscall.ProcAttr, o Options) (pid int, s *Session, err error) {
	s = &Session{planter: p, options: o, parts: map[partID]*part{}, began: time.Now()}
	why := here
	if why == "" {
		why = refuse(within(attr.Dir, path))
	}
	if why == "" {
		if s.memory, err = newMemory(); err != nil {
			why = err.Error()
		}
	}
	if why == "" {
		traced, sys := *attr, syscall.SysProcAttr{}
		if attr.Sys != nil {
			sys = *attr.Sys
		}
		sys.Ptrace = true
		traced.Sys = &sys
		if pid, err = syscall.ForkExec(path, argv, &traced); !errors.Is(err, syscall.EPERM) && !errors.Is(err, syscall.EACCES) && !errors.Is(err, syscall.ENOSYS) {
			s.traced = err == nil
			return pid, s, err
		}
		why = "ptrace is forbidden"
	}
	pid, err = syscall.ForkExec(path, argv, attr)
	s.refused(why)
	return pid, s, err
}

// within returns the path as seen from the folder in which the program starts.
func within(dir, path string) string {
	if dir == "" || path == "" || path[0] == '/' {
		return path
	}
	return dir + "/" + path
}
