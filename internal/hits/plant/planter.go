package plant

import (
	"cmp"
	"errors"
	"sync"
	"syscall"
	"time"
)

// Planter starts programs whose functions are counted. A process has one Planter, which keeps the
// analysed objects.
type Planter struct {
	Dir string // folder of what is kept about objects and programs; "": nothing is kept

	// A function is counted if it is entered at most Threshold times the mean; 0 means 1.
	Threshold float64

	// objects are the objects that this process has analysed, or the reasons why they cannot be planted.
	objects  sync.Map // of func() (*object, error) by fileID
	programs programs
	// crashes are the programs that are never planted again, because they were ended by a signal while
	// they were planted. Planting may not have been the cause; but then a program that fails anyway is not
	// counted, which harms nobody.
	crashes sync.Map
}

// Options select what is counted.
type Options struct {
	// Exact counts every hit, even if several threads enter a function at once, which costs a few
	// more cycles.
	Exact bool
	// All counts all functions, whatever is known of the program, and adds the counts to the
	// statistics.
	All bool
	// Chosen reports whether a function is to be counted; nil: all functions that can be.
	Chosen func(buildID string, entry uint64) bool
}

// Start starts a program like syscall.ForkExec and returns its session. Follow must be called on the
// session by the same thread, which is locked to its goroutine. If the functions cannot be counted,
// the program is started anyway: the session has the reason, and Follow does nothing.
func (p *Planter) Start(path string, argv []string, attr *syscall.ProcAttr, o Options) (pid int, s *Session, err error) {
	s = &Session{planter: p, options: o, parts: map[partID]*part{}, changed: map[string]bool{}, objects: map[string]string{}, began: time.Now()}
	why := cmp.Or(here, refuse(within(attr.Dir, path)))
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

// within returns the path relative to the folder in which the program starts.
func within(dir, path string) string {
	if dir == "" || path == "" || path[0] == '/' {
		return path
	}
	return dir + "/" + path
}
