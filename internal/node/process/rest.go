package process

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"berth/internal/sys/probe"
)

// A family works if since the last time it has used that much processor time, has read that many bytes, or has written any. Less is that of a loop
// which waits for something.
const (
	workTime = 100 * time.Millisecond
	workRead = 256 << 10
)

// work is what a family has done so far.
type work struct {
	cpu           time.Duration
	read, written int64
}

// done returns what a family has done so far.
func (p *Process) done(f Family) work {
	w := work{cpu: f.CPU + p.spentCPU()}
	for _, m := range f.Members {
		r, wr := probe.ReadWritten(m.PID)
		w.read, w.written = w.read+r, w.written+wr
	}
	return w
}

// since reports whether the family has worked since it had done that.
func (w work) since(before work) bool {
	return w.cpu-before.cpu >= workTime || w.read-before.read >= workRead || w.written > before.written
}

// idleAfter is how long what is left of a program does nothing until others may use its cores.
const idleAfter = time.Second

// sooner is the part of Command.Idle after which what has no file open for writing is ended.
const sooner = 10

// rest waits for what is left of a program that has ended. That belongs to the program as long as it works. Once it has been idle for Command.Idle it
// is ended, and after a part of that time if it has nothing to write to. eof is closed when the output has ended that it writes to; nil: that is a
// file. rest returns what was ended.
func (p *Process) rest(eof <-chan struct{}) (ended Remains) {
	defer relations.over(p)
	killed := p.awaitKilled()
	switch {
	case !relations.left(p):
		return ended
	case killed && !p.hangs: // it may have been another program's that is over now
		p.end()
		fallthrough
	case killed:
		return ended
	}
	var last work
	idle, worked := time.Now(), false
	for pause, n := time.Millisecond, 0; ; pause, n = min(2*pause, Glance), n+1 {
		f := relations.family(p)
		if len(f.Members) > 0 {
			ended = Remains{Names: names(f)}
		}
		switch {
		case p.awaitKilled():
			return ended
		case len(f.Members) == 0:
			return Remains{}
		}
		now := p.done(f)
		if n == 0 || now.since(last) || p.activity != nil && p.activity.busy.Load() > 0 {
			last, idle, worked = now, time.Now(), n > 0
		}
		last.read, last.written = min(last.read, now.read), min(last.written, now.written) // what members had done that have ended
		p.unused.Store(time.Since(idle) >= idleAfter)
		limit := p.idling / sooner
		if writes(f) || eof != nil && !closed(eof) {
			limit, ended.Unfinished = p.idling, worked
		}
		if time.Since(idle) >= limit {
			p.kill()
			p.awaitKilled()
			return ended
		}
		time.Sleep(pause)
	}
}

// closed reports whether c is closed; c carries no values.
func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// Remains is what was left of a program that had ended, and was ended.
type Remains struct {
	Names      string // of the processes, with their numbers; empty: nothing was ended
	Unfinished bool   // it had worked after the end of the program, and could have written more
}

// names lists the names and numbers of the members.
func names(f Family) string {
	const most = 5
	var list []string
	for i, m := range f.Members {
		if i == most {
			list = append(list, fmt.Sprintf("%d more", len(f.Members)-most))
			break
		}
		list = append(list, fmt.Sprintf("%s (%d)", m.Name, m.PID))
	}
	return strings.Join(list, ", ")
}

// writes reports whether a member has a file open for writing.
func writes(f Family) (yes bool) {
	for _, m := range f.Members {
		probe.EachFile(m.PID, func(path string, _ int64, writes bool) {
			yes = yes || writes && !strings.HasPrefix(path, "/dev/")
		})
	}
	return yes
}

// kill ends the family of the program, whether the program itself has ended or not: by SIGTERM, and by SIGKILL what is left after the grace period.
func (p *Process) kill() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.killed == nil {
		p.killed = make(chan struct{})
		go func() {
			defer close(p.killed)
			p.hangs = !p.end()
		}()
	}
}

// awaitKilled waits until nothing is left of a program that is being killed. It returns false at once if it is not being killed.
func (p *Process) awaitKilled() bool {
	p.mu.Lock()
	killed := p.killed
	p.mu.Unlock()
	if killed != nil {
		<-killed
	}
	return killed != nil
}

// end sends the signals of kill, and reports whether nothing is left. What is found to be a member later gets SIGTERM if it began before the others
// got it, as they may start something to clear up.
func (p *Process) end() bool {
	begun, told := probe.Ticks(), make(map[int]bool)
	f := relations.family(p)
	signal(f.Members, unix.SIGTERM)
	signal(f.Members, unix.SIGCONT) // a stopped process does not handle SIGTERM
	hard := time.Now().Add(p.grace)
	for pause := time.Millisecond; len(f.Members) > 0 && time.Since(hard) < KillPatience; pause = min(2*pause, Glance) {
		for _, m := range f.Members {
			told[m.PID] = true
		}
		if left := time.Until(hard); left > 0 && !p.hurried.Load() {
			time.Sleep(min(pause, left))
		} else {
			signal(f.Members, unix.SIGKILL)
			time.Sleep(time.Millisecond) // a killed process stays visible until the kernel has removed it
		}
		f = relations.family(p)
		signal(slices.DeleteFunc(slices.Clone(f.Members), func(m probe.Process) bool { return told[m.PID] || m.Start >= begun }), unix.SIGTERM)
	}
	return len(f.Members) == 0
}

// signal sends a signal to members of a family: by process groups that have no other processes, as a member that is just being forked gets it, too.
// Each is looked at again just before, as its number may be another process's by now.
func signal(members []probe.Process, s unix.Signal) {
	sent := make(map[int]bool)
	for _, m := range members {
		switch now, there := probe.Find(m.PID); {
		case !there || now.Start != m.Start:
		case m.Group <= 1 || m.Group != now.Group:
			_ = unix.Kill(m.PID, s) // it may have ended meanwhile
		case !sent[m.Group]:
			sent[m.Group] = true
			_ = unix.Kill(-m.Group, s)
		}
	}
}
