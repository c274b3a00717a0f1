package process

import (
	"cmp"
	"maps"
	"os"
	"slices"
	"sync"

	"berth/internal/core/job"
	"berth/internal/sys/probe"
)

// kin says to which programs a process may belong: to one, to one of several, or to none.
type kin struct {
	start  int64 // of the process, as its number may be used again
	of     []*Process
	known  bool // it certainly belongs to one of these, and to the attempt of that
	sure   bool // that it belongs to none, until it ends
	below  bool // it descends from this process
	marked bool // it has the cookie of its program in its environment, or had when it was forked
}

// look is one look at the process table. A process belongs to a program
//   - if its parent does;
//   - or its environment has the mark of the attempt (mark), wherever it was started from;
//   - or it is an orphan whose group or session has a process of the program;
//   - or it is another orphan, and only this program ran when it began.
//
// Orphans come to this process (Adopt). One that may belong to several programs belongs to none of them while they run: it is not ended with any, and
// does not count for their limits. It belongs to the last of them that is not over, once that has ended, too. What was found out of a process
// holds until it ends.
type look struct {
	*registry
	table map[int]probe.Process // nil: the look is at orphans only
	found map[int]kin
	bonds map[int]*Process // the programs to which process groups and sessions belong; nil: to several
	// before counts the programs that had begun to start when the processes were listed.
	before  int
	vague   bool // an orphan may be a program that is being started
	environ func(pid int) []string
	entry   func(pid int) (probe.Process, bool)
}

func newLook(r *registry, list []probe.Process, before int) *look {
	l := &look{registry: r, found: make(map[int]kin, len(list)), before: before, environ: probe.Environ, entry: probe.Entry}
	l.table, l.bonds = make(map[int]probe.Process, len(list)), make(map[int]*Process)
	for _, p := range list {
		l.table[p.PID] = p
		q := l.leader(p)
		if k := l.seen[p.PID]; q == nil && k.start == p.Start && k.known && len(k.of) == 1 && !k.of[0].over {
			q = k.of[0]
		}
		if q != nil {
			l.bind(p.Group, q)
			l.bind(p.Session, q)
		}
	}
	return l
}

// own returns the entry of this process. It is read when a program is started first, as most commands start none.
var own = sync.OnceValue(func() probe.Process {
	p, _ := probe.Entry(os.Getpid())
	return p
})

// bind notes that a process of a program is in a process group or session. Nobody can have the number meanwhile for another one.
func (l *look) bind(bond int, q *Process) {
	if other, bound := l.bonds[bond]; bound && other != q {
		q = nil
	}
	if bond != own().Group && bond != own().Session {
		l.bonds[bond] = q
	}
}

// leader returns the program or helper that the process is, or nil. Its number may have been another one's, and may be once it has ended.
func (l *look) leader(p probe.Process) *Process {
	q := l.leaders[p.PID]
	if q == nil || q.helper && p.Start != q.born || !q.had(p) {
		return nil
	}
	return q
}

// had reports whether a process began before the program had ended.
func (p *Process) had(m probe.Process) bool {
	ended := p.ended.Load()
	return ended == 0 || m.Start <= ended
}

// owner returns the program to which a process belongs certainly, or as the last of those to which it may belong.
func (l *look) owner(k kin) *Process {
	if len(k.of) != 1 || k.of[0].helper {
		return nil
	}
	q := k.of[0]
	if leader, runs := l.table[q.pid]; k.known || q.ended.Load() != 0 || runs && leader.Ended() {
		return q
	}
	return nil
}

// kin returns to which programs a process may belong.
func (l *look) kin(p probe.Process) kin {
	k, known := l.found[p.PID]
	if !known {
		k = l.find(p)
		k.start = p.Start
		_, fromAbove := l.above(p)
		k.below = k.below || p.PID == own().PID || p.Parent == own().PID || fromAbove.below
		some := len(k.of) > 0
		k.of = slices.DeleteFunc(k.of, func(q *Process) bool { return q.over && !q.helper })
		k.sure = k.sure || some && len(k.of) == 0 // nothing can be done about it
		l.found[p.PID] = k
	}
	return k
}

// above returns whether the table has the parent of a process, and what is known of that.
func (l *look) above(p probe.Process) (there bool, k kin) {
	parent, there := l.table[p.Parent]
	if there = there && parent.Start <= p.Start; there {
		k = l.kin(parent)
	}
	return there, k
}

// find is kin for a process at which this look has not looked yet.
func (l *look) find(p probe.Process) kin {
	if q := l.leader(p); q != nil {
		return kin{of: []*Process{q}, known: true}
	}
	if k := l.seen[p.PID]; k.start == p.Start && (k.sure || len(k.of) > 0) {
		k.of = slices.Clone(k.of)
		return k
	}
	if forked(p) {
		return kin{}
	}
	if p.PID == own().PID || p.Parent == own().PID && p.Group == own().Group {
		return kin{sure: !p.Forked}
	}
	there, parent := l.above(p)
	if p.Parent != own().PID && (len(parent.of) > 0 || parent.below && parent.sure) {
		return kin{of: slices.Clone(parent.of), known: parent.known, sure: parent.sure}
	}
	if of := l.marked(l.environ(p.PID)); len(of) > 0 && !l.elsewhere(p) {
		return kin{of: of, known: true}
	}
	if p.Parent != own().PID { // a process may have another environment once it executes a program, and become an orphan
		return kin{sure: there && !parent.below && !p.Forked}
	}
	if q := l.bond(p); q != nil {
		return kin{of: []*Process{q}, known: true}
	}
	return l.stray(p)
}

// bond returns the program to which the group and the session of an orphan belong, or nil.
func (l *look) bond(p probe.Process) (q *Process) {
	for _, number := range [...]int{p.Group, p.Session} {
		of, bound := l.bonds[number]
		if bound && of == nil {
			return nil
		}
		leader := l.leaders[number]
		if leader != nil && (leader.helper || !leader.had(p)) {
			leader = nil
		}
		for _, of := range [...]*Process{of, leader} {
			if of != nil && q != nil && q != of {
				return nil
			}
			q = cmp.Or(q, of)
		}
	}
	return q
}

// stray returns to which programs an orphan may belong of which nothing else is known: to those that ran when it began. If another one was over since
// then, it may have been of that.
func (l *look) stray(p probe.Process) (k kin) {
	if again, ok := l.entry(p.PID); !ok || again.Start != p.Start || again.Ended() != p.Ended() { // perhaps it was a program
		return k
	}
	if l.unknown(l.before) {
		l.vague = l.vague || !p.Ended()
	}
	for q := range l.programs {
		if q.born <= p.Start+1 {
			k.of = append(k.of, q)
		}
	}
	k.known = len(k.of) == 1 && p.Start > l.overAt
	return k
}

// marks reports whether an environment has the cookie of the program's node.
func (p *Process) marks(env []string) bool {
	cookie, ok := job.LookupEnv(p.env, cookieName)
	return ok && slices.Contains(env, cookieName+"="+cookie)
}

// marked returns the programs whose mark the environment of a process has. A batch job that a program has submitted is not of the program.
func (l *look) marked(env []string) (of []*Process) {
	if len(env) == 0 || !l.batch.sameJob(env) {
		return nil
	}
	has := func(q *Process) bool {
		m := q.mark()
		return m != nil && !slices.ContainsFunc(m, func(variable string) bool { return !slices.Contains(env, variable) })
	}
	for q := range l.programs {
		if has(q) {
			of = append(of, q)
		}
	}
	return of
}

// elsewhere reports whether an ancestor of a process is of a program on another node, whose worker is on this machine, too. Launchers of ranks
// hand their environment, with its mark, on to other nodes.
func (l *look) elsewhere(p probe.Process) bool {
	for parent, there := l.table[p.Parent]; there && parent.PID > 1 && parent.PID != own().PID; parent, there = l.table[parent.Parent] {
		cookie, ok := job.LookupEnv(l.environ(parent.PID), cookieName)
		ours := func(q *Process) bool { return job.Getenv(q.env, cookieName) == cookie }
		if ok && !slices.ContainsFunc(slices.Collect(maps.Keys(l.programs)), ours) {
			return true
		}
	}
	return false
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
	return p.Parent == own().PID && p.Group != own().Group && l.leader(p) == nil && (!l.unknown(l.before) || l.seen[p.PID].start == p.Start && len(k.of) > 0)
}

// forked reports whether the process is one that this process has forked and that has not executed its program yet.
func forked(p probe.Process) bool {
	return p.Parent == own().PID && p.Forked && p.Stack == own().Stack
}
