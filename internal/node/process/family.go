package process

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"berth/internal/core/job"
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

// kin says to which programs a process may belong: to one, to one of several, or to none.
type kin struct {
	start  int64 // of the process, as its number may be used again
	of     []*Process
	sure   bool // that it belongs to none, until it ends
	marked bool // it has the cookie of its program in its environment, or had when it was forked
}

// registry knows to which programs of this process the processes of the machine belong. A process belongs to a program if
//   - its parent, or another process of its group or session, does, now or when it was seen last;
//   - or its environment has the mark of the attempt (mark), wherever it was started from;
//   - or it is an orphan, and only this program ran when it began. Orphans come to this process (Adopt). One that may belong to several programs
//     belongs to the last of these that is not over.
type registry struct {
	looking  sync.Mutex // one look at all processes after the other; nothing else waits for them
	mu       sync.RWMutex
	batch    BatchVariables
	starting map[*Process]int // programs and helpers whose numbers are not known yet, counted in the order of their starts
	begun    int              // starts so far
	programs map[int]*Process // programs that are not over, by number
	helpers  map[int]struct{} // other children of this process that have process groups of their own
	seen     map[int]kin      // what was found out of the processes of the last look
	bonds    map[int]*Process // the programs to which process groups and sessions belong
	bare     string           // processes of the last look without the cookie of their programs
}

var relations = registry{starting: make(map[*Process]int), programs: make(map[int]*Process), helpers: make(map[int]struct{}),
	bonds: make(map[int]*Process)}

// Adopt makes the orphans of programs children of this process (prctl(2), PR_SET_CHILD_SUBREAPER), so that none is lost. The variables are those by
// which a batch job of its own is known that a program has submitted.
func Adopt(v BatchVariables) error {
	relations.mu.Lock()
	relations.batch = v
	relations.mu.Unlock()
	return unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
}

// StartHelper starts a child of this process that belongs to no program, although it has a process group of its own.
func StartHelper(cmd *exec.Cmd) error {
	r, helper := &relations, new(Process)
	r.begin(helper)
	err := cmd.Start()
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.starting, helper)
	if err == nil {
		r.helpers[cmd.Process.Pid] = struct{}{}
	}
	return err
}

// begin notes that a program is about to be started.
func (r *registry) begin(p *Process) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.begun++
	r.starting[p] = r.begun
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
		r.programs[pid], r.bonds[pid] = p, p
	}
}

// over notes that nothing of a program is left, or that nothing can be done about it.
func (r *registry) over(p *Process) {
	r.mu.Lock()
	defer r.mu.Unlock()
	p.over = true
	delete(r.programs, p.pid)
}

// family returns the family of a program.
func (r *registry) family(p *Process) Family {
	all, err := Families()
	if err != nil {
		return Family{}
	}
	return all[p]
}

// Families reads the process table and returns the families of the programs. It reaps orphans that have ended.
func Families() (map[*Process]Family, error) {
	r := &relations
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
	l := &look{registry: r, before: n, table: make(map[int]probe.Process, len(list)), found: make(map[int]kin, len(list))}
	for _, p := range list {
		l.table[p.PID] = p
	}
	var bare []string
	families, bonds := make(map[*Process]Family, len(r.programs)), make(map[int]*Process)
	for pid, q := range r.programs {
		if !q.reaped.Load() {
			bonds[pid] = q
		}
	}
	for _, p := range list {
		k := l.kin(p)
		switch {
		case l.orphan(p, k) && p.Ended():
			r.reap(p.PID, k)
		case len(k.of) != 1 || p.Ended():
		default:
			q := k.of[0]
			u := families[q]
			families[q] = Family{probe.Usage{RSS: u.RSS + p.RSS, CPU: u.CPU + p.CPU}, append(u.Members, p)}
			if k.marked = k.marked || p.PID == q.pid || q.marks(probe.Environ(p.PID)); !k.marked {
				bare = append(bare, fmt.Sprintf("%d:%d", p.PID, p.Start))
			}
			k.marked = k.marked && !p.Forked // it may still execute a program with another environment
			l.found[p.PID] = k
			for _, bond := range [...]int{p.Group, p.Session} {
				if bond != own.Group && bond != own.Session {
					bonds[bond] = q
				}
			}
		}
	}
	r.seen, r.bonds, r.bare = l.found, bonds, strings.Join(bare, " ")
	return families, nil
}

// Bare lists the processes of programs that did not have the cookie in their environment when Families was called last, each as PID:START.
func Bare() string {
	relations.mu.Lock()
	defer relations.mu.Unlock()
	return relations.bare
}

// marks reports whether an environment has the cookie of the program's node.
func (p *Process) marks(env []string) bool {
	cookie, ok := job.LookupEnv(p.env, cookieName)
	return ok && slices.Contains(env, cookieName+"="+cookie)
}

// own is the entry of this process.
var own, _ = probe.Entry(os.Getpid())

// look is one look at the process table.
type look struct {
	*registry
	table  map[int]probe.Process
	found  map[int]kin
	before int // so many programs had begun to start when the processes were listed
	// environs has the environments of some processes that were read before.
	environs map[int][]string
	vague    bool // a child may be an orphan or a program that is being started
}

// kin returns to which programs a process may belong.
func (l *look) kin(p probe.Process) kin {
	k, known := l.found[p.PID]
	if !known {
		k = l.find(p)
		k.start = p.Start
		k.of = slices.DeleteFunc(k.of, func(q *Process) bool { return q.over })
		l.found[p.PID] = k
	}
	return k
}

// find is kin for a process at which this look has not looked yet.
func (l *look) find(p probe.Process) kin {
	if k := l.seen[p.PID]; k.start == p.Start && (k.sure || len(k.of) > 0) {
		return kin{of: slices.Clone(k.of), sure: k.sure, marked: k.marked}
	}
	if q := l.programs[p.PID]; q != nil && !q.reaped.Load() {
		return kin{of: []*Process{q}}
	}
	if forked(p) {
		return kin{}
	}
	if _, helps := l.helpers[p.PID]; helps || p.PID == own.PID || p.Parent == own.PID && p.Group == own.Group {
		return kin{sure: !p.Forked}
	}
	if parent, ok := l.table[p.Parent]; ok && p.Parent != own.PID {
		if k := l.kin(parent); len(k.of) > 0 {
			return kin{of: slices.Clone(k.of)}
		}
	}
	env := l.environs[p.PID]
	if env == nil {
		env = probe.Environ(p.PID)
	}
	if of := l.marked(env); len(of) > 0 {
		return kin{of: of}
	}
	for _, bond := range [...]int{p.Group, p.Session} {
		if q := l.bonds[bond]; q != nil {
			return kin{of: []*Process{q}}
		}
	}
	if p.Parent == own.PID {
		return l.stray(p)
	}
	_, there := l.table[p.Parent]
	return kin{sure: there && !p.Forked} // a process may have another environment once it executes a program, and become an orphan
}

// stray returns to which programs an orphan may belong of which nothing else is known: to those that ran when it began.
func (l *look) stray(p probe.Process) (k kin) {
	if again, ok := probe.Entry(p.PID); !ok || again.Start != p.Start || again.Ended() != p.Ended() { // perhaps it was a program
		return k
	}
	if l.unknown(l.before) {
		l.vague = l.vague || !p.Ended()
		return k
	}
	born := time.Now().Add(-p.Age())
	for _, q := range l.programs {
		if q.started.Before(born.Add(startGrain)) {
			k.of = append(k.of, q)
		}
	}
	return k
}

// startGrain is how exactly the kernel tells when a process began, and the time for which a program may run before its start is noted.
const startGrain = 20 * time.Millisecond

// marked returns the programs whose mark the environment of a process has. A batch job that a program has submitted is not of the program.
func (l *look) marked(env []string) (of []*Process) {
	if len(env) == 0 || !l.batch.sameJob(func(name string) (string, bool) { return job.LookupEnv(env, name) }) {
		return nil
	}
	has := func(q *Process) bool {
		m := q.mark()
		return m != nil && !slices.ContainsFunc(m, func(variable string) bool { return !slices.Contains(env, variable) })
	}
	for _, q := range l.programs {
		if has(q) {
			of = append(of, q)
		}
	}
	for q := range l.starting {
		if has(q) {
			of = append(of, q)
		}
	}
	return of
}

// mark returns the variables by which processes of the program's attempt are known, or nil if it has none.
func (p *Process) mark() []string {
	var m []string
	for _, name := range [...]string{cookieName, "BERTH_JOB_ID", "BERTH_TASK_ID", "BERTH_ATTEMPT"} {
		value, ok := job.LookupEnv(p.env, name)
		if !ok {
			return nil
		}
		m = append(m, name+"="+value)
	}
	return m
}

// orphan reports whether the process is an orphan that this process may reap. A program is reaped on its lane, and a helper by what started it.
func (l *look) orphan(p probe.Process, k kin) bool {
	_, helps := l.helpers[p.PID]
	_, leads := l.programs[p.PID]
	return p.Parent == own.PID && p.Group != own.Group && !helps && !leads && (!l.unknown(l.before) || l.seen[p.PID].start == p.Start && len(k.of) > 0)
}

// reap reaps an orphan. What it used counts for its program.
func (r *registry) reap(pid int, k kin) {
	var use unix.Rusage
	if n, err := unix.Wait4(pid, nil, unix.WNOHANG, &use); n == pid && err == nil && len(k.of) == 1 {
		k.of[0].adopted.add(spent(&use))
	}
}

// few is the number of processes that a machine starts during a short program, at which it takes less time to look singly.
const few = 200

// executing is how often to look at a process that is just executing a program, before its environment can be read.
const executing = 20

// left reports whether a program that has ended has left processes. All that it has started are descendants of orphans, which are children of this
// process now, and began after it. So a short program, which leaves none as a rule, costs some system calls.
func (r *registry) left(p *Process) bool {
	orphans, environs := r.orphans(p)
	if len(orphans) == 0 {
		return false
	}
	n := r.starts()
	left, vague := r.leaves(p, orphans, environs, n)
	if vague {
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

// leaves reports whether a program has left any of these processes, or whether that is vague.
func (r *registry) leaves(p *Process, orphans []probe.Process, environs map[int][]string, before int) (left, vague bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	l := &look{registry: r, before: before, found: make(map[int]kin), environs: environs}
	for _, c := range orphans {
		switch k := l.kin(c); {
		case c.Ended():
			if l.orphan(c, k) {
				r.reap(c.PID, k)
			}
		case len(k.of) == 1 && k.of[0] == p:
			return true, false
		}
	}
	return false, l.vague
}

// leads reports whether the process is a program.
func (r *registry) leads(pid int) bool {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.programs[pid] != nil
}

// forked reports whether the process is one that this process has forked and that has not executed its program yet.
func forked(p probe.Process) bool {
	return p.Parent == own.PID && p.Forked && p.Stack == own.Stack
}

// isChild reports whether the process is a child of this one.
func isChild(pid int) bool {
	return unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT, nil) == nil
}
