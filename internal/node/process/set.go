package process

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/hits/plant"
	"berth/internal/sys/probe"
	"berth/internal/sys/procattr"
)

// Command describes a program to run.
type Command struct {
	Path   string   // path of the program's file
	Args   []string // Args[0] is the program's own name
	Dir    string   // working folder
	Env    []string
	Change *procattr.Change // changes to what a child inherits from this process; nil: none
	Grace  time.Duration    // time between SIGTERM and SIGKILL
	Idle   time.Duration    // time after which what the program has left is ended if it does nothing
	// Planter counts the entries of the program's functions; nil: they are not counted.
	Planter *plant.Planter
	// Instructions says that the program's instructions are to be counted, where that is possible.
	Instructions bool
	// Warm forks the program if it is one of Python that runs the first of these modules (python -m), separated by commas; nil: it is executed.
	Warm    *Warm
	Modules string
}

// Set is the programs of one attempt. They are killed and watched together, and Meter adds up their
// use.
type Set struct {
	Meter *probe.Meter

	mu       sync.Mutex
	killed   bool
	hurried  bool // programs that are killed have no time to end themselves
	programs map[*Process]struct{}
	counts   Counts // of programs that have ended
	left     []string
	warnings []string
	cpu      time.Duration  // of programs that have ended
	most     int64          // the most memory that the programs were seen to use at once, bytes
	apart    sync.WaitGroup // programs of Attend of which something is left
}

// Run runs a command with these three files and waits for its end. It is called on a lane. An error
// means that the program was not started.
func (s *Set) Run(c *Command, files []uintptr) (Exit, error) {
	p, err := s.start(c, files, nil)
	if err != nil {
		return Exit{}, err
	}
	e := p.wait()
	s.ended(p, e)
	return e, nil
}

// start starts a command and adds it to the set. act is nil for a program that may be idle.
func (s *Set) start(c *Command, files []uintptr, act *activity) (*Process, error) {
	p, err := spawn(c, files)
	if err != nil {
		return nil, err
	}
	p.activity = act
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.programs == nil {
		s.programs = make(map[*Process]struct{}, 1)
	}
	s.programs[p] = struct{}{}
	p.hurried.Store(s.hurried)
	if s.killed {
		p.kill()
	}
	return p, nil
}

// hugePages is the memory by which figures of the kernel for the same peak may differ.
const hugePages = 4 << 20

// ended adds the use of a program that has ended to the meter. A program shares the worker's memory until it executes,
// and then the kernel's figure for its peak memory begins at the worker's own peak. So the figure is correct only above
// that, by some pages, as threads of the worker get and return theirs at the same time. Below it the largest observed
// value counts, or 0 (unknown) if the program was never observed. The figure is of one process; what several
// used together is known of a task whose memory is limited.
func (s *Set) ended(p *Process, e Exit) {
	s.mu.Lock()
	delete(s.programs, p)
	s.counts.add(p)
	p.stopCounting()
	if e.Names != "" {
		s.left = append(s.left, e.Names)
	}
	if kills, own := starved.end(p); kills > 0 {
		s.warnings = append(s.warnings, killsText(kills, own))
	}
	s.mu.Unlock()
	together := p.together.Load()
	rss := max(p.peak.Load(), together)
	if e.maxRSS > p.floor+hugePages {
		rss = max(e.maxRSS, together)
	}
	e.CPU, e.Disk = p.spentCPU(), p.disk.Load()
	s.mu.Lock()
	s.cpu, s.most = s.cpu+e.CPU, max(s.most, rss)
	s.mu.Unlock()
	s.Meter.Child(e.Spent, rss)
}

// Left returns the names of the processes that were ended after the programs that had started them had ended.
func (s *Set) Left() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.left, ", ")
}

// Warnings returns what the kernel did to programs that have ended, whatever their exit status.
func (s *Set) Warnings() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.warnings)
}

func killsText(kills int64, own bool) string {
	text := "the kernel killed " + job.Count(int(kills), "process") + " for lack of memory while it ran"
	if own {
		return text + "; ask for more with --mem"
	}
	return text + ", of it or of other tasks on its node; ask for more with --mem"
}

// Counts are what was counted in the programs of a set, which is 0 where it was not counted.
type Counts struct {
	Hits         float64 // entries of functions
	Instructions float64 // in user mode
}

// add adds what was counted in a program. Hits that cannot be compared with those of other tasks do not count.
func (c *Counts) add(p *Process) {
	if p.counted != nil {
		if n, ok := p.counted.Hits(); ok {
			c.Hits += float64(n)
		}
	}
	if p.events != nil {
		c.Instructions += p.events.Count()
	}
}

// Counts returns what has been counted so far.
func (s *Set) Counts() Counts {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.counts
	for p := range s.programs {
		c.add(p)
	}
	return c
}

// Uncounted returns the reason why functions of a running program are not counted although they
// should be, or "".
func (s *Set) Uncounted() string {
	for _, p := range s.running() {
		if p.counted == nil {
			continue
		}
		if err := p.counted.Err(); err != nil {
			return err.Error()
		}
	}
	return ""
}

// Kill ends all programs of the set, including those that are started later.
func (s *Set) Kill() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.killed = true
	for p := range s.programs {
		p.kill()
	}
}

// Hurry takes from programs that are killed, now or later, the time in which they may end themselves.
func (s *Set) Hurry() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hurried = true
	for p := range s.programs {
		p.hurried.Store(true)
	}
}

func (s *Set) running() []*Process {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Keys(s.programs))
}

// Idle reports whether the set's programs have ended, and what they have left has done nothing for a while.
func (s *Set) Idle() bool {
	list := s.running()
	return len(list) > 0 && !slices.ContainsFunc(list, func(p *Process) bool { return !p.unused.Load() })
}

// Limits are what each program of a set may use; 0 means no limit.
type Limits struct {
	Time   time.Duration  // from its start
	Ends   time.Time      // the end of its worker's allocation
	Signal syscall.Signal // sent to the program so long before its time is over by Time or Ends
	Lead   time.Duration
	Idle   time.Duration // without reading, writing or reporting
	Memory int64         // of its family, bytes
	// Together says that Memory is for the families of all programs together.
	Together bool
}

// Deadline returns when the time of a program is over that starts then; zero: never.
func (l *Limits) Deadline(start time.Time) time.Time {
	end := l.Ends
	if limit := start.Add(l.Time); l.Time > 0 && (end.IsZero() || limit.Before(end)) {
		end = limit
	}
	return end
}

// Warn sends the programs whose time is nearly over the signal of the limits, once. If their end moves further away
// after that, they get it again before the new end.
func (s *Set) Warn(l Limits, now time.Time) {
	if l.Signal == 0 {
		return
	}
	for _, p := range s.running() {
		end := l.Deadline(p.started.Add(p.stood))
		due := !end.IsZero() && !now.Before(end.Add(-l.Lead))
		if due && !p.signalled {
			p.send(l.Signal)
		}
		p.signalled = due
	}
}

const (
	// Glance is the interval at which running programs are checked.
	Glance = 100 * time.Millisecond
	// measureEvery and sampleEvery are intervals in numbers of checks: processes of tasks with a
	// memory limit are measured every measureEvery checks, those of other tasks every sampleEvery
	// checks.
	measureEvery = 2
	sampleEvery  = 10
)

// Due reports whether the set's programs are to be measured at the n-th check: often if they have a
// memory limit, else rarely and only programs that have run long enough.
func (s *Set) Due(n int, now time.Time, l Limits) bool {
	for _, p := range s.running() {
		age := now.Sub(p.started)
		if l.Memory > 0 && n%measureEvery == 0 || age >= Glance && (age < 2*Glance || n%sampleEvery == 0) {
			return true
		}
	}
	return false
}

// Measured records what the families of the set's programs use now, more exactly where memory is limited, and returns their processes.
func (s *Set) Measured(l Limits, families map[*Process]Family) (pids []int) {
	var sum probe.Usage
	for _, p := range s.running() {
		f := families[p]
		sum.CPU += f.CPU + p.spentCPU()
		probe.Raise(&p.peak, f.RSS)
		if l.Memory > 0 {
			p.sawFamily(f)
		}
		pids = append(pids, f.PIDs()...)
		sum.RSS += f.RSS
	}
	s.mu.Lock()
	if len(s.programs) > 1 {
		s.most = max(s.most, sum.RSS)
	}
	s.mu.Unlock()
	sum.RSS = 0 // the peak of each program counts (Child)
	s.Meter.Live(sum)
	return pids
}

// Stood notes that the programs and their worker were stopped for so long, as a batch system does that suspends a job. Limits of time do not count it.
func (s *Set) Stood(by time.Duration) {
	for _, p := range s.running() {
		p.stood += by
		if !p.since.IsZero() {
			p.since = p.since.Add(by)
		}
	}
}

// Exceeded returns the reason why the attempt must be killed, or nil if all programs are within the
// limits. families is what they use, and empty if it was not measured.
func (s *Set) Exceeded(l Limits, now time.Time, families map[*Process]Family) *Failure {
	var all Family
	for _, p := range s.running() {
		if l.Time > 0 && now.Sub(p.started)-p.stood >= l.Time {
			f := Failed("killed: it ran longer than its time limit of %s", job.FormatDuration(l.Time))
			f.Lack = event.LackTime
			return f
		}
		if l.Idle > 0 && p.activity != nil && p.idle(now) >= l.Idle {
			return Failed("killed: no progress for %s: it neither read, wrote nor reported (mapreduce.task.timeout)",
				job.FormatDuration(l.Idle))
		}
		f := families[p]
		if l.Together {
			all.RSS, all.Members = all.RSS+f.RSS, append(all.Members, f.Members...)
			f = all
		}
		if used := f.memoryAbove(l.Memory); used > 0 {
			f := Failed("killed: it used %s of its %s of memory; ask for more with --mem",
				job.FormatSize(used), job.FormatSize(l.Memory))
			f.Lack = event.LackMemory
			return f
		}
	}
	return nil
}

// idle returns for how long the program has done nothing.
func (p *Process) idle(now time.Time) time.Duration {
	n := p.activity.count.Load()
	if n != p.seen || p.activity.busy.Load() > 0 || p.since.IsZero() {
		p.seen, p.since = n, now
	}
	return now.Sub(p.since)
}

// memoryAbove returns the memory of the family if it is above the limit, else 0. Resident
// sets have pages of files, which the kernel can take back, and count shared pages once for each process. So a value above the limit
// is measured exactly before the attempt is killed.
func (f Family) memoryAbove(limit int64) int64 {
	if limit <= 0 || f.RSS <= limit {
		return 0
	}
	used := probe.Unreclaimable(f.PIDs())
	if used > limit && len(f.Members) > 1 {
		used = probe.Proportional(f.PIDs())
	}
	if used <= limit {
		return 0
	}
	return used
}

// familyGrain is the part by which the resident sets of a family's processes must have grown for them to be measured exactly again.
const familyGrain = 10

// sawFamily updates the largest memory that the processes of the family used together, each shared page counted once. That is measured only when
// their resident sets have grown, as it takes long for large processes.
func (p *Process) sawFamily(f Family) {
	if len(f.Members) > 1 && f.RSS > p.group+p.group/familyGrain {
		p.group = f.RSS
		probe.Raise(&p.together, probe.Proportional(f.PIDs()))
	}
}

// ownPeak returns the largest resident set that this process has had, bytes.
func ownPeak() int64 {
	var use unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &use); err != nil {
		return 0
	}
	return use.Maxrss << 10
}
