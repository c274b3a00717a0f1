package process

import (
	"os"
	"runtime"
	"slices"
	"strconv"
	"sync"

	"golang.org/x/sys/unix"
)

// Lane is a thread that starts processes and waits for them. It stays locked to
// its goroutine and never ends: the kernel kills a child that asked for a
// parent-death signal when the thread that started it ends (prctl(2)).
//
// What a child inherits from its thread, the cores it may run on and the file mode mask, is set
// on the lane before the start, and only where it differs from the lane's last child's.
// That makes both free of charge.
type Lane struct {
	of    *Lanes
	work  chan func()
	bound []int // cores that the thread is bound to; nil: those of the worker
	own   bool  // the thread has a file mode mask of its own
	umask int   // that mask, while own
}

// Lanes keeps the threads that are idle. There are never more than attempts run at once.
type Lanes struct {
	mu   sync.Mutex
	idle []*Lane
	all  unix.CPUSet // what a task without cores of its own may use
	mask int         // the process's file mode mask
}

func NewLanes() (*Lanes, error) {
	l := &Lanes{}
	if err := unix.SchedGetaffinity(0, &l.all); err != nil {
		return nil, err
	}
	l.mask = unix.Umask(0)
	unix.Umask(l.mask)
	return l, nil
}

// Run has f run in a lane whose thread has the file mode mask, −1 means the worker's. It returns at
// once. f binds the lane before it starts a process.
func (l *Lanes) Run(mask int, f func(*Lane)) {
	l.mu.Lock()
	var ln *Lane
	if n := len(l.idle); n > 0 {
		ln, l.idle = l.idle[n-1], l.idle[:n-1]
	}
	l.mu.Unlock()
	if ln == nil {
		ln = &Lane{of: l, work: make(chan func(), 1)}
		go l.serve(ln)
	}
	ln.work <- func() {
		l.setMask(ln, mask)
		f(ln)
	}
}

// serve is the lane's thread.
func (l *Lanes) serve(ln *Lane) {
	runtime.LockOSThread()
	for f := range ln.work {
		f()
		l.mu.Lock()
		l.idle = append(l.idle, ln)
		l.mu.Unlock()
	}
}

// Bind binds the lane's thread, which calls it, to the cores; none means all of the worker's. Where
// the kernel refuses, the task runs where the worker does: slower at worst.
func (ln *Lane) Bind(cores []int) {
	if slices.Equal(ln.bound, cores) {
		return
	}
	set := ln.of.all
	if len(cores) > 0 {
		set = cpuSet(cores)
	}
	if unix.SchedSetaffinity(0, &set) == nil {
		ln.bound = cores
	}
}

// setMask gives the calling thread, the lane's, a file mode mask. The first time it parts from what all
// threads of a process have in common (unshare(2), CLONE_FS); where the kernel refuses, the mask
// stays the worker's.
func (l *Lanes) setMask(ln *Lane, mask int) {
	if mask < 0 {
		mask = l.mask
	}
	switch {
	case ln.own && ln.umask == mask, !ln.own && mask == l.mask:
		return
	case !ln.own && unix.Unshare(unix.CLONE_FS) != nil:
		return
	}
	unix.Umask(mask)
	ln.own, ln.umask = true, mask
}

func cpuSet(cores []int) (set unix.CPUSet) {
	for _, c := range cores {
		set.Set(c)
	}
	return set
}

// Bind binds every thread of this process to the cores; those made later inherit it.
func Bind(cores []int) error {
	set := cpuSet(cores)
	threads, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return err
	}
	for _, t := range threads {
		tid, err := strconv.Atoi(t.Name())
		if err != nil {
			continue
		}
		if err := unix.SchedSetaffinity(tid, &set); err != nil && err != unix.ESRCH {
			return err
		}
	}
	return nil
}
