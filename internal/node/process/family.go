package process

import (
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"berth/internal/sys/probe"
)

// Family is the processes that belong to a program and have not ended, and what they use together. They are the program itself and all that it
// has started, in whatever process groups and sessions they are.
type Family struct {
	probe.Usage
	Members []probe.Process
}

// PIDs returns the numbers of the members.
func (f Family) PIDs() []int {
	pids := make([]int, len(f.Members))
	for i, m := range f.Members {
		pids[i] = m.PID
	}
	return pids
}

// registry knows to which programs of this process the processes of the machine belong (look).
type registry struct {
	looking  sync.Mutex // one look at all processes after the other; nothing else waits for them
	mu       sync.RWMutex
	batch    BatchVariables
	programs map[*Process]struct{} // programs that are not over, and helpers that start processes
	leaders  map[int]*Process      // programs and helpers whose numbers are known, by number
	starting map[*Process]int      // programs and helpers whose numbers are not known yet, counted in the order of their starts
	begun    int                   // starts so far
	overAt   int64                 // ticks when a program was over last
	seen     map[int]kin           // what was found out of the processes of the last look
	bare     string                // processes of the last look without the cookie of their programs
}

func newRegistry() *registry {
	return &registry{programs: make(map[*Process]struct{}), leaders: make(map[int]*Process), starting: make(map[*Process]int)}
}

var relations = newRegistry()

// Adopt makes the orphans of programs children of this process (prctl(2), PR_SET_CHILD_SUBREAPER), so that none is lost. The variables are those by
// which a batch job of its own is known that a program has submitted.
func Adopt(v BatchVariables) error {
	relations.mu.Lock()
	relations.batch = v
	relations.mu.Unlock()
	return unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
}

// StartHelper starts a child of this process that belongs to no program, although it has a process group of its own. So does what it starts itself,
// unless it is alone, and starts nothing.
func StartHelper(cmd *exec.Cmd, alone bool) error {
	r, h := relations, &Process{helper: true, born: probe.Ticks()}
	r.begin(h)
	err := cmd.Start()
	if err != nil {
		r.began(h, 0)
		return err
	}
	if e, ok := probe.Entry(cmd.Process.Pid); ok {
		h.born = e.Start
	}
	r.began(h, cmd.Process.Pid)
	if alone {
		r.over(h)
	}
	return nil
}

// begin notes that a program is about to be started.
func (r *registry) begin(p *Process) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.begun++
	r.starting[p], r.programs[p] = r.begun, struct{}{}
}

// starts returns how many programs have begun to start.
func (r *registry) starts() int {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.begun
}

// awaitStarts waits until the numbers of the first n programs are known, but not long for one that hangs.
func (r *registry) awaitStarts(n int) {
	for range 100 {
		r.mu.RLock()
		known := !r.unknown(n)
		r.mu.RUnlock()
		if known {
			return
		}
		time.Sleep(100 * time.Microsecond)
	}
}

// unknown reports whether the number of any of the first n programs is not known yet.
func (r *registry) unknown(n int) bool {
	for _, i := range r.starting {
		if i <= n {
			return true
		}
	}
	return false
}

// began notes the number of a program; 0: it was not started.
func (r *registry) began(p *Process, pid int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.starting, p)
	if p.pid = pid; pid > 0 {
		r.leaders[pid] = p
		return
	}
	p.over = true
	delete(r.programs, p)
}

// over notes that nothing of a program is left, or that nothing can be done about it.
func (r *registry) over(p *Process) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.end(p)
}

// end is over for one who has the lock.
func (r *registry) end(p *Process) {
	if p.over {
		return
	}
	p.over, r.overAt = true, probe.Ticks()
	delete(r.programs, p)
	if r.leaders[p.pid] == p && !p.helper { // the number may be that of a later program
		delete(r.leaders, p.pid)
	}
}

// family returns the family of a program. If that has ended and nothing is left, it is over from now on.
func (r *registry) family(p *Process) Family {
	all, err := r.look(p)
	if err != nil {
		return Family{}
	}
	return all[p]
}

// Families reads the process table and returns the families of the programs. It reaps orphans that have ended.
func Families() (map[*Process]Family, error) { return relations.look(nil) }

// look is Families, with the program that is over if it has ended and nothing is left. This is one step: what may be of two programs, and is of none
// of them while the other is not over, is found by the later one.
func (r *registry) look(ending *Process) (map[*Process]Family, error) {
	r.looking.Lock()
	defer r.looking.Unlock()
	list, err := probe.Processes()
	if err != nil {
		return nil, err
	}
	n := r.starts() // the table has no others
	r.awaitStarts(n)
	r.mu.Lock()
	defer r.mu.Unlock()
	l := newLook(r, list, n)
	families := l.families(list)
	r.seen = l.found
	if ending != nil && ending.ended.Load() != 0 && len(families[ending].Members) == 0 {
		r.end(ending)
	}
	return families, nil
}

// families returns the families of the programs, and reaps orphans that have ended.
func (l *look) families(list []probe.Process) map[*Process]Family {
	var bare []string
	families, groups := make(map[*Process]Family, len(l.programs)), make(map[int]*Process)
	for _, p := range list {
		k := l.kin(p)
		q := l.owner(k)
		if p.Ended() {
			if l.orphan(p, k) {
				reap(p, q)
			}
			continue
		}
		if other, known := groups[p.Group]; known && other != q {
			groups[p.Group] = nil
		} else {
			groups[p.Group] = q
		}
		if q == nil {
			continue
		}
		u := families[q]
		families[q] = Family{probe.Usage{RSS: u.RSS + p.RSS, CPU: u.CPU + p.CPU}, append(u.Members, p)}
		if k.marked = k.marked || p.PID == q.pid || q.marks(l.environ(p.PID)); !k.marked {
			bare = append(bare, fmt.Sprintf("%d:%d", p.PID, p.Start))
		}
		k.marked = k.marked && !p.Forked // it may still execute a program with another environment
		l.found[p.PID] = k
	}
	for q, f := range families {
		for i, m := range f.Members {
			if groups[m.Group] != q {
				f.Members[i].Group = 0
			}
		}
	}
	l.bare = strings.Join(bare, " ")
	return families
}

// Bare lists the processes of programs that did not have the cookie in their environment when Families was called last, each as PID:START.
func Bare() string {
	relations.mu.Lock()
	defer relations.mu.Unlock()
	return relations.bare
}

// reap reaps an orphan. What it used counts for the program that owns it, if there is one.
func reap(p probe.Process, q *Process) {
	if again, ok := probe.Entry(p.PID); !ok || again.Start != p.Start {
		return
	}
	var use unix.Rusage
	if n, err := unix.Wait4(p.PID, nil, unix.WNOHANG, &use); n == p.PID && err == nil && q != nil {
		q.spend(spent(&use))
	}
}

// few is the number of processes that a machine starts during a short program, at which it takes less time to look singly.
const few = 200

// executing is how often to look at a process that is just executing a program, before its environment can be read.
const executing = 20

// left reports whether a program that has ended may have left processes, and notes that it is over if it has not. All that it has started are descendants of orphans, which are children of this
// process now, and began after it. So a short program, which leaves none as a rule, costs some system calls.
func (r *registry) left(p *Process) bool {
	orphans, environs := r.orphans(p)
	if len(orphans) == 0 {
		r.over(p)
		return false
	}
	n := r.starts()
	left, vague := r.leaves(p, orphans, environs, n)
	if left && vague {
		r.awaitStarts(n)
		left, _ = r.leaves(p, orphans, environs, n)
	}
	return left
}

// orphans returns children of this process that began after a program and may be orphans, and their environments.
func (r *registry) orphans(p *Process) (orphans []probe.Process, environs map[int][]string) {
	environs = make(map[int][]string)
	consider := func(pid int) {
		if !isChild(pid) || r.leads(pid) {
			return
		}
		c, ok := probe.Entry(pid)
		if !ok || forked(c) {
			return
		}
		for try := 0; len(environs[pid]) == 0 && !c.Ended() && try < executing; try++ {
			environs[pid] = probe.Environ(pid)
		}
		orphans = append(orphans, c)
	}
	if last := probe.LastPID(); time.Since(p.started) < Glance && last >= p.pid && last-p.pid <= few {
		for pid := p.pid + 1; pid <= last; pid++ {
			consider(pid)
		}
	} else {
		pids, _ := probe.PIDs() // nothing can be seen without /proc
		for _, pid := range pids {
			consider(pid)
		}
	}
	return orphans, environs
}

// leaves reports whether any of these processes may be of a program that has ended, which is over if not, and whether that is vague.
func (r *registry) leaves(p *Process, orphans []probe.Process, environs map[int][]string, before int) (left, vague bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	l := newLook(r, nil, before)
	l.environ = func(pid int) []string { return environs[pid] }
	for _, c := range orphans {
		switch k := l.kin(c); {
		case !c.Ended():
			left = left || slices.Contains(k.of, p)
		case l.orphan(c, k):
			reap(c, l.owner(k))
		}
	}
	if !left {
		r.end(p)
	}
	return left, l.vague
}

// leads reports whether the process is a program.
func (r *registry) leads(pid int) bool {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.leaders[pid] != nil
}

// isChild reports whether the process is a child of this one.
func isChild(pid int) bool {
	return unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT, nil) == nil
}
