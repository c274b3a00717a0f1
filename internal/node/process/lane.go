package process

import (
	"os"
	"runtime"
	"slices"
	"strconv"
	"sync"

	"golang.org/x/sys/unix"
)

// Lane is a thread that starts processes and waits for them. It stays locked to its goroutine and
// never ends, because the kernel kills a child with a parent-death signal when the thread that
// started it ends (prctl(2)).
//
// A child inherits its cores and its file mode mask from the thread. They are set on the lane
// before the start, and only if they differ from those of the lane's last child, so they usually
// cost nothing.
type Lane struct {
	of    *Lanes
	work  chan func()
	bound []int // cores to which the thread is bound; nil: those of the worker
	own   bool  // the thread has a file mode mask of its own
	umask int   // the mask of the thread, if own
}

// Lanes keeps the idle threads. Their number never exceeds the number of attempts that ran at the
// same time.
type Lanes struct {
	mu   sync.Mutex
	idle []*Lane
	all  unix.CPUSet // cores of a task that has no cores of its own
	mask int         // file mode mask of this process
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

// Run calls f on a lane whose thread has the file mode mask; −1 means the worker's. It does not
// wait for f. f binds the lane before it starts a process.
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

// serve runs on the lane's thread.
func (l *Lanes) serve(ln *Lane) {
	runtime.LockOSThread()
	for f := range ln.work {
		f()
		l.mu.Lock()
		l.idle = append(l.idle, ln)
		l.mu.Unlock()
	}
}

// Bind binds the lane's thread, which must be the caller's, to the cores; none means all of the
// worker's cores. If the kernel refuses, the task runs on the worker's cores, which may be slower.
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

// setMask sets the file mode mask of the calling thread, which is the lane's. The first call
// separates the thread from the mask that all threads of a process share (unshare(2), CLONE_FS). If
// the kernel refuses, the mask stays the worker's.
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

// Bind binds every thread of this process to the cores. Threads that are created later inherit the
// binding. One that is not bound yet may create another meanwhile, so it looks again until all are, some
// times at most, as the kernel may bind them to fewer.
func Bind(cores []int) error {
	set := cpuSet(cores)
	for all, try := false, 0; !all && try < 10; try++ {
		threads, err := os.ReadDir("/proc/self/task")
		if err != nil {
			return err
		}
		all = true
		for _, t := range threads {
			var has unix.CPUSet
			tid, _ := strconv.Atoi(t.Name()) // the kernel lists numbers only
			if unix.SchedGetaffinity(tid, &has) != nil || has == set {
				continue // it has ended, or is bound
			}
			all = false
			if err := unix.SchedSetaffinity(tid, &set); err != nil && err != unix.ESRCH {
				return err
			}
		}
	}
	return nil
}
