package process

import (
	"fmt"
	"testing"

	"berth/internal/sys/probe"
)

// machine is a made-up state of programs a and b and a helper h of this process, and of the process table. Programs begin at the ticks 1000 and 1100.
type machine struct {
	*registry
	a, b, h *Process
	list    []probe.Process
	environ map[int][]string
}

func newMachine() *machine {
	env := func(task string) []string {
		return []string{cookieName + "=n", "BERTH_JOB_ID=bag-1", "BERTH_TASK_ID=" + task, "BERTH_ATTEMPT=1"}
	}
	m := &machine{registry: newRegistry(), environ: make(map[int][]string)}
	m.a, m.b, m.h = &Process{pid: 10, born: 1000, env: env("1")}, &Process{pid: 20, born: 1100, env: env("2")}, &Process{pid: 30, born: 900, helper: true}
	m.list = []probe.Process{{PID: 1, State: 'S'}, {PID: own().PID, Parent: 1, Group: own().Group, Session: own().Session, Start: 500, State: 'S'}}
	for _, p := range []*Process{m.a, m.b} {
		m.programs[p], m.leaders[p.pid] = struct{}{}, p
		m.add(p.pid, own().PID, p.pid, own().Session, p.born)
	}
	return m
}

// add adds a process.
func (m *machine) add(pid, parent, group, session int, start int64) {
	m.list = append(m.list, probe.Process{PID: pid, Parent: parent, Group: group, Session: session, Start: start, State: 'S'})
}

// saw notes what the last look has found.
func (m *machine) saw(pid int, start int64, k kin) {
	k.start = start
	if m.seen == nil {
		m.seen = make(map[int]kin)
	}
	m.seen[pid] = k
}

// ends notes that a program has ended, and removes its process.
func (m *machine) ends(p *Process, at int64) {
	p.ended.Store(at)
	for i := range m.list {
		if m.list[i].PID == p.pid {
			m.list = append(m.list[:i], m.list[i+1:]...)
			return
		}
	}
}

// look returns the families, and the group of each member, as PID:GROUP.
func (m *machine) look() (a, b string) {
	l := newLook(m.registry, m.list, m.begun)
	l.environ = func(pid int) []string { return m.environ[pid] }
	l.entry = func(pid int) (p probe.Process, ok bool) { p, ok = l.table[pid]; return }
	f := l.families(m.list)
	m.seen = l.found
	text := func(p *Process) (s string) {
		for _, m := range f[p].Members {
			s += fmt.Sprintf("%d:%d ", m.PID, m.Group)
		}
		return s
	}
	return text(m.a), text(m.b)
}

// TestWhose: a process is of a program only if it can be of no other, whatever numbers it has and whatever has become of others.
func TestWhose(t *testing.T) {
	const alone = "10:10 "
	for name, tt := range map[string]struct {
		build func(m *machine)
		a, b  string
	}{
		"no other processes":                            {func(*machine) {}, alone, "20:20 "},
		"a child, in whatever session":                  {func(m *machine) { m.add(11, 10, 11, 11, 1200) }, "10:10 11:11 ", "20:20 "},
		"an orphan that began while one program ran":    {func(m *machine) { m.add(11, own().PID, 11, 11, 1050) }, "10:10 11:11 ", "20:20 "},
		"an orphan that began while two ran":            {func(m *machine) { m.add(11, own().PID, 11, 11, 1150) }, alone, "20:20 "},
		"an orphan that began with the second":          {func(m *machine) { m.add(11, own().PID, 11, 11, 1100) }, alone, "20:20 "},
		"an orphan that began just before the second":   {func(m *machine) { m.add(11, own().PID, 11, 11, 1099) }, alone, "20:20 "},
		"a child of an orphan that began while two ran": {func(m *machine) { m.add(11, own().PID, 11, 11, 1150); m.add(12, 11, 12, 12, 1160) }, alone, "20:20 "},
		"an orphan that may be a program which is being started": {func(m *machine) {
			c := &Process{born: 1010}
			m.begin(c)
			m.add(11, own().PID, 11, 11, 1050)
		}, alone, "20:20 "},
		"an orphan that began while a helper ran": {func(m *machine) {
			m.programs[m.h] = struct{}{}
			m.add(11, own().PID, 11, 11, 1050)
		}, alone, "20:20 "},
		"a helper, its child and the orphan of that": {func(m *machine) {
			m.leaders[30] = m.h
			m.add(30, own().PID, 30, own().Session, 900)
			m.add(31, 30, 30, own().Session, 1200)
			m.saw(32, 1050, kin{of: []*Process{m.h}, known: true})
			m.add(32, own().PID, 32, 32, 1050)
			m.add(33, own().PID, 33, 32, 1060)
		}, alone, "20:20 "},
		"an orphan with the number that a helper had": {func(m *machine) { m.leaders[30] = m.h; m.add(30, own().PID, 30, 30, 1050) }, "10:10 30:30 ", "20:20 "},
		"the mark of an attempt": {func(m *machine) {
			m.environ[11], m.environ[12] = m.a.env, m.b.env
			m.add(11, own().PID, 11, 11, 1150)
			m.add(12, 1, 12, 12, 1150)
		}, "10:10 11:11 ", "20:20 12:12 "},
		"the mark of an attempt, below a program of another node": {func(m *machine) {
			m.environ[11], m.environ[12], m.environ[13] = []string{cookieName + "=other"}, m.a.env, m.a.env
			m.add(11, 1, 11, 11, 1150)
			m.add(12, 11, 11, 11, 1160)
			m.add(13, 12, 11, 11, 1170)
		}, alone, "20:20 "},
		"an orphan in the group of a program": {func(m *machine) { m.add(11, own().PID, 10, own().Session, 1150) }, "10:10 11:10 ", "20:20 "},
		"an orphan in the session of a process that was seen": {func(m *machine) {
			m.saw(11, 1050, kin{of: []*Process{m.a}, known: true})
			m.add(11, own().PID, 11, 11, 1050)
			m.add(12, own().PID, 12, 11, 1150)
		}, "10:10 11:11 12:12 ", "20:20 "},
		"the number of a process, group and session that were a program's, and are others' now": {func(m *machine) {
			m.saw(11, 1050, kin{of: []*Process{m.a}, known: true})
			m.add(11, own().PID, 11, 11, 1150)
			m.add(12, own().PID, 11, 11, 1160)
		}, alone, "20:20 "},
		"a stranger in the group that a process has joined": {func(m *machine) {
			m.add(7, 1, 7, 7, 600)
			m.add(8, 1, 7, 7, 1150)
			m.add(11, 10, 7, own().Session, 1150)
		}, "10:10 11:0 ", "20:20 "},
		"a process that has joined another program's group": {func(m *machine) { m.add(11, 10, 20, own().Session, 1150) }, "10:10 11:0 ", "20:0 "},
		"an orphan in a group of a program that has ended and of a process of another": {func(m *machine) {
			m.ends(m.b, 1300)
			m.saw(11, 1150, kin{of: []*Process{m.a}, known: true})
			m.add(11, own().PID, 20, own().Session, 1150)
			m.add(12, own().PID, 20, own().Session, 1150)
		}, "10:10 11:0 ", ""},
		"an orphan in a group of two programs": {func(m *machine) {
			m.saw(11, 1150, kin{of: []*Process{m.a}, known: true})
			m.add(11, own().PID, 20, own().Session, 1150)
			m.add(12, own().PID, 20, own().Session, 1150)
		}, "10:10 11:0 ", "20:0 "},
		"a stranger whose parent's number is a program's now": {func(m *machine) { m.add(8, 10, 8, 8, 700) }, alone, "20:20 "},
		"an orphan of one of two, when the other is over": {func(m *machine) {
			m.add(11, own().PID, 11, 11, 1150)
			m.look()
			m.ends(m.a, 1300)
			m.end(m.a)
		}, "", "20:20 "},
		"an orphan of one of two, when the other is over and it has ended": {func(m *machine) {
			m.add(11, own().PID, 11, 11, 1150)
			m.look()
			m.ends(m.a, 1300)
			m.end(m.a)
			m.ends(m.b, 1400)
		}, "", "11:11 "},
		"an orphan of one of two that have ended": {func(m *machine) {
			m.add(11, own().PID, 11, 11, 1150)
			m.ends(m.a, 1300)
			m.ends(m.b, 1400)
		}, "", ""},
		"an orphan that another program may have left that is over": {func(m *machine) {
			m.add(11, own().PID, 11, 11, 1150)
			m.ends(m.b, 1300)
			m.end(m.b)
			m.overAt = 1300
		}, alone, ""},
		"what could not be ended of a program that is over, and its child": {func(m *machine) {
			m.ends(m.b, 1300)
			m.saw(11, 1150, kin{of: []*Process{m.b}, known: true, below: true})
			m.add(11, own().PID, 11, 11, 1150)
			m.add(12, 11, 12, 12, 1160)
			m.end(m.b)
			m.look()
			m.overAt = 0
		}, alone, ""},
		"an orphan in the group of a program that has ended": {func(m *machine) { m.ends(m.b, 1300); m.add(21, own().PID, 20, own().Session, 1200) }, alone, "21:20 "},
		"an orphan in a group with the number of a program that has ended": {func(m *machine) {
			m.ends(m.b, 1300)
			m.add(20, own().PID, 20, 20, 1400)
			m.add(21, own().PID, 20, 20, 1400)
		}, alone, ""},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMachine()
			tt.build(m)
			if a, b := m.look(); a != tt.a || b != tt.b {
				t.Errorf("the families are %q and %q, want %q and %q", a, b, tt.a, tt.b)
			}
		})
	}
}

// TestReusedNumber: a program that is over takes nothing from a later one that has its number.
func TestReusedNumber(t *testing.T) {
	m := newMachine()
	m.ends(m.a, 1300)
	later := &Process{born: 1400, env: m.b.env}
	m.begin(later)
	m.began(later, m.a.pid)
	m.end(m.a)
	if m.leaders[later.pid] != later {
		t.Error("the later program is not known by its number")
	}
}
