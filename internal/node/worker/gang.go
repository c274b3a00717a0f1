package worker

import (
	"context"
	"crypto/rand"
	"io"
	"maps"
	"net"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/core/step"
	"berth/internal/mapreduce/shuffle"
	"berth/internal/node/gang"
	"berth/internal/node/process"
	"berth/internal/sys/disk"
	"berth/internal/sys/private"
	"berth/internal/sys/probe"
	"berth/internal/wire"
)

// part is the part of a gang on this node: what its processes here have, and the connections to its other nodes.
type part struct {
	w      *worker
	a      *attempt
	self   int // index of this node in the gang
	nodes  []gang.Node
	cwd    string   // folder in which the command of the bag runs
	cores  []int    // of its processes; nil: all of the worker's
	env    []string // of its processes
	dir    string   // their private folder
	folder gang.Folder
	secret string // by which they show that they are of the gang

	held  chan *hold    // a share: receives the connection of the gang's first node
	holds []*holding    // the first node: the other shares
	over  chan struct{} // a share: closed when nothing of it is left, and report is set
	report

	released bool // the coordinator does not count on the share any more; it belongs to the worker's mutex
}

// report is how a share ended.
type report struct {
	Use     event.ShareUse   `json:"use"`
	Failure *process.Failure `json:"failure,omitempty"` // why it ended by itself; nil: the first node ended it
}

// newPart returns the part of an attempt's gang on this node.
func (w *worker) newPart(a *attempt) *part {
	p := &part{w: w, a: a, secret: rand.Text(), held: make(chan *hold), over: make(chan struct{})}
	shares := a.start.Gang
	p.self = slices.IndexFunc(shares, func(s step.Share) bool { return s.Node == w.cfg.Node })
	hosts := make([]string, len(shares))
	for i, s := range shares {
		hosts[i] = s.Host
	}
	for i, name := range gang.Name(hosts) {
		p.nodes = append(p.nodes, gang.Node{Name: name, Ranks: shares[i].Ranks})
	}
	return p
}

// ranks returns how many ranks of the attempt are on this node.
func (a *attempt) ranks() int {
	if a.part == nil || a.part.self < 0 {
		return 1
	}
	return a.part.nodes[a.part.self].Ranks
}

// gpus returns the numbers of the GPUs of which the attempt has a share on this node.
func (a *attempt) gpus() []uint16 {
	if a.part == nil || a.part.self < 0 {
		return a.start.GPUs
	}
	return a.start.Gang[a.part.self].GPUs
}

// signals reports whether programs of the attempt here get the signal of --signal. What launchers have started on other nodes gets it from them.
func (a *attempt) signals() bool { return !a.isShare() || a.spec.Bag.EachRank }

// isShare reports whether another node is the first one of the attempt's gang, and reports its end.
func (a *attempt) isShare() bool { return a.part != nil && a.part.self != 0 }

// occupy returns the cores of an attempt and an environment with its GPUs, and what gives both back.
func (w *worker) occupy(a *attempt, env []string) (cores []int, with []string, release func(), err error) {
	need := a.spec.Bag.Need
	held, err := w.gpus.Acquire(a.ctx, need, a.ranks(), a.gpus())
	if err != nil {
		return nil, nil, nil, err
	}
	cores = w.cores.Acquire(need.CPUs * a.ranks())
	return cores, w.gpus.Env(env, held), func() {
		w.cores.Release(cores)
		w.gpus.Release(held)
	}, nil
}

// open makes what the processes of the gang on this node need. env is that of the attempt's task here.
func (p *part) open(env []string, cores []int) error {
	socket, err := p.w.launcher()
	if err == nil {
		p.folder.Dir, err = p.w.dirs.Acquire()
	}
	if err == nil {
		err = p.folder.Fill(p.nodes)
	}
	if err != nil {
		return process.ScratchFailure(p.w.scratch.dir, err)
	}
	p.cores = cores
	p.env = process.Merge(env, p.folder.Variables(p.nodes, gang.Key(p.secret, socket)))
	if slices.ContainsFunc(p.a.start.Gang[:p.self], func(s step.Share) bool { return s.Host == p.a.start.Gang[p.self].Host }) {
		p.env = process.Merge(gang.SharedMachine(p.dir), p.env)
	}
	p.w.mu.Lock()
	defer p.w.mu.Unlock()
	p.w.parts[p.secret] = p
	return nil
}

// close ends the processes of the gang on this node that are left, and releases what they had.
func (p *part) close() {
	p.w.mu.Lock()
	delete(p.w.parts, p.secret)
	p.w.mu.Unlock()
	p.a.programs.Kill()
	p.a.programs.AwaitAll()
	if p.folder.Dir != "" {
		if err := p.w.dirs.Release(p.folder.Dir); err != nil {
			p.w.log.Warn("the folder of a gang stays", "dir", p.folder.Dir, "err", err)
		}
	}
}

// use returns what the processes of the gang have used on this node.
func (p *part) use() event.ShareUse {
	cpu, memory := p.a.programs.Use()
	return event.ShareUse{Node: p.w.cfg.Node, CPU: cpu, Memory: memory}
}

// program returns what runs the program of a request on this node.
func (p *part) program(r gang.Request) gang.Program {
	return func(ctx context.Context, in io.Reader, out, errs io.Writer) gang.Result {
		argv := r.Command
		if r.Shell != "" {
			argv = []string{job.PosixShell, "-c", r.Shell}
		}
		dir := r.Dir
		if !filepath.IsAbs(dir) || !exists(dir) {
			dir = p.cwd
		}
		env := process.Merge(p.env, r.Env)
		path, err := lookPath(argv[0], dir, env)
		if err != nil {
			return gang.Result{Failure: process.FailureOf(err)}
		}
		c := p.w.command(p.a, path, argv, dir, env)
		if r.Shell != "" {
			c.Idle = process.Stays // it may serve a launcher
		}
		e, err := p.a.programs.Attend(ctx, p.w.lanes, p.cores, &c, in, out, errs)
		if err != nil {
			return gang.Result{Failure: process.FailureOf(err)}
		}
		f := process.ExitFailure(e)
		if f != nil {
			f.FullDisk(dir)
		}
		return gang.Result{Failure: f}
	}
}

// connect returns a connection on which the worker of a node of the gang starts programs.
func (p *part) connect(ctx context.Context, node int) (io.ReadWriteCloser, error) {
	if node == p.self {
		ours, theirs := net.Pipe()
		go p.answer(theirs)
		return ours, nil
	}
	return p.w.shuffle.Upgrade(ctx, p.a.start.Gang[node].Addr, gangPath(p.a.id)+"/run")
}

// answer serves a connection of another worker, which the gang's processes on that node have asked to start a program here.
func (p *part) answer(conn io.ReadWriteCloser) {
	call, err := gang.Accept(conn)
	if err != nil {
		_ = conn.Close()
		return
	}
	call.Serve(p.program(call.Request))
}

// launcher returns the socket on which launch agents ask this worker. It listens there from the first gang on.
func (w *worker) launcher() (path string, err error) {
	path = filepath.Join(w.scratch.dir, "launch")
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.agents != nil && exists(path) {
		return path, nil
	}
	if w.agents != nil {
		_ = w.agents.Close() // the folder was removed
	}
	if w.agents, err = private.Listen(path); err != nil {
		w.agents = nil
		return "", err
	}
	go func(l net.Listener) {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go w.launch(conn)
		}
	}(w.agents)
	return path, nil
}

// launch serves a launch agent.
func (w *worker) launch(conn net.Conn) {
	call, err := gang.Accept(conn)
	if err != nil {
		_ = conn.Close()
		return
	}
	w.mu.Lock()
	p := w.parts[call.Secret]
	w.mu.Unlock()
	if p == nil {
		call.Refuse("the task has ended")
		return
	}
	names := make([]string, len(p.nodes))
	for i, n := range p.nodes {
		names[i] = n.Name
	}
	switch node := gang.Find(names, call.Host); {
	case node < 0:
		call.Refuse(job.Quote(call.Host) + " is not a node of this task; $BERTH_HOSTFILE lists them")
	case node == p.self:
		call.Serve(p.program(call.Request))
	default:
		next, err := p.connect(p.a.ctx, node)
		if err != nil {
			call.Refuse("the worker of " + call.Host + " does not answer: " + process.OneLine(err.Error()))
			return
		}
		call.Forward(next)
	}
}

// disbandPatience is how long the first node of a gang waits for the ends of the other shares, beside the time that their processes have to
// end themselves.
const disbandPatience = 5 * time.Second

// gather has the other nodes of a gang ready for its processes. Its failure is that one of them is not.
func (p *part) gather() error {
	for i, s := range p.a.start.Gang {
		if i != p.self {
			p.holds = append(p.holds, p.w.holdShare(p, s))
		}
	}
	for _, h := range p.holds {
		select {
		case <-p.a.ctx.Done():
			return p.a.killed()
		case <-h.answered:
		}
		select {
		case <-h.over:
			if h.failure != nil {
				return h.failure
			}
		default:
		}
	}
	for _, h := range p.holds {
		go func() {
			<-h.over
			if h.failure != nil {
				p.a.kill(h.failure)
			}
		}()
	}
	context.AfterFunc(p.a.ctx, p.dismiss)
	return nil
}

// dismiss has the other nodes of the gang end its processes.
func (p *part) dismiss() {
	for _, h := range p.holds {
		h.dismiss()
	}
}

// disband ends the gang on all nodes, and adds up what it has used. It returns why a share was lost or ended by itself; nil: none was. A node that does
// not answer is no such reason.
func (p *part) disband() (failed error) {
	p.dismiss()
	p.a.programs.Kill()
	patience := time.NewTimer(p.w.cfg.Grace + disbandPatience)
	defer patience.Stop()
	p.a.programs.AwaitAll()
	uses := map[job.NodeID]event.ShareUse{p.w.cfg.Node: p.use()}
	for _, h := range p.holds {
		select {
		case <-h.over:
			uses[h.node] = h.Use
			if failed == nil && h.failure != nil {
				failed = h.failure
			}
		case <-patience.C:
			patience.Reset(0) // the others had this time, too
			p.w.log.Warn("a node of a gang does not say how its share ended", "attempt", p.a.id, "node", h.node)
		}
		h.hangUp()
	}
	var others probe.Spent
	var memory int64
	for _, s := range p.a.start.Gang {
		use := uses[s.Node]
		use.Node = s.Node
		if len(p.nodes) > 1 || p.a.ranks() > 1 {
			p.a.shares = append(p.a.shares, use)
		}
		if memory += use.Memory; s.Node != p.w.cfg.Node {
			others.CPU += use.CPU
		}
	}
	p.a.meter.Child(others, memory)
	return failed
}

// gangPath returns the path under which workers speak of an attempt's gang.
func gangPath(at job.Attempt) string {
	return shuffle.GangRoute + string(at.Job) + "/" + strconv.Itoa(at.Task) + "/" + strconv.Itoa(at.N)
}

// join prepares this node for its share of a gang.
func (w *worker) join(m *wire.Join) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.attempts[m.Attempt] != nil {
		return
	}
	start := &wire.Start{Start: step.Start{Attempt: m.Attempt, Gang: []step.Share{}}} // whose gang it is, its first node says
	wk := w.works[m.Attempt.Job]
	if err := w.refuse(wk, start); err != nil {
		w.lose(m.Attempt, err.Error())
		return
	}
	a := w.newGangAttempt(start, wk, 0)
	w.attempts[a.id] = a
	w.attend.Add(1)
	if c := w.awaited[a.id]; c != nil {
		close(c)
		delete(w.awaited, a.id)
	}
	go w.liveShare(a)
	poke(w.monitor.wake)
}

// newGangAttempt returns an attempt with its part of the gang, if it has several ranks.
func (w *worker) newGangAttempt(m *wire.Start, wk *work, epoch uint64) *attempt {
	a := newAttempt(m, wk, epoch)
	a.ahead = time.Duration(w.ahead.Load())
	a.meter.Missing = w.missing
	a.meter.Energy = w.energy
	b := a.spec.Bag
	switch {
	case m.Gang != nil:
		a.part = w.newPart(a)
	case b != nil && (b.Ranks == 1 || b.EachRank): // it finds the same as one of several ranks
		m.Gang = []step.Share{{Share: event.Share{Node: w.cfg.Node, Ranks: 1, GPUs: m.GPUs}, Host: w.rates.host}}
		a.part = w.newPart(a)
	}
	return a
}

// lose reports that a share of a gang has ended without its first node.
func (w *worker) lose(at job.Attempt, reason string) {
	w.link.keep(process.Ended(at, &process.Failure{Outcome: event.Lost, Reason: reason}), nil)
	w.link.told(at)
}

// sharesOver returns the shares that have ended, which the coordinator must not take for lost as long as it does not know how the attempts ended.
func (w *worker) sharesOver() []job.Attempt {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Collect(maps.Keys(w.over))
}

// release notes that the coordinator does not count on the attempt here any more. The caller holds the lock.
func (w *worker) release(at job.Attempt) {
	delete(w.over, at)
	if a := w.attempts[at]; a != nil && a.isShare() {
		a.part.released = true
	}
}

// leaveGang ends what is left of a gang whose attempt has ended for the coordinator: the task may start again at any time.
func (w *worker) leaveGang(m wire.Leave) {
	w.mu.Lock()
	w.release(m.Attempt)
	w.mu.Unlock()
	w.endGang(m.Attempt, true)
}

// endGang ends what is left of a gang here, without the time in which programs may end themselves if there is hurry.
func (w *worker) endGang(at job.Attempt, hurry bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if a := w.attempts[at]; a != nil && a.isShare() {
		if hurry {
			a.programs.Hurry()
		}
		w.end(a, &process.Failure{Outcome: event.Killed, Reason: "the attempt has ended"})
	}
}

// liveShare keeps a share of a gang until it ends.
func (w *worker) liveShare(a *attempt) {
	select {
	case <-a.ctx.Done():
	case h := <-a.part.held:
		if b := w.begin(a, h.start); b != nil {
			a = b
			w.serveShare(a, h)
		}
	}
	w.endShare(a)
}

// begin returns the attempt of a share with what the first node of its gang knows of it, or nil if the share has ended.
func (w *worker) begin(a *attempt, start *wire.Start) *attempt {
	w.mu.Lock()
	defer w.mu.Unlock()
	wk := w.works[a.id.Job]
	if a.killed() != nil || wk == nil {
		return nil
	}
	b := w.newGangAttempt(start, wk, 0)
	w.attempts[a.id] = b
	return b
}

// serveShare makes the share ready, and keeps it until it is over.
func (w *worker) serveShare(a *attempt, h *hold) {
	p := a.part
	p.cwd = h.dir
	var env []string
	var release func()
	dir, err := w.dirs.Acquire()
	if err == nil {
		p.dir = dir
		defer func() { _ = w.dirs.Release(dir) }()
	}
	if err == nil && w.far() {
		p.cwd, err = w.fetchShare(a)
		defer func() { _ = disk.RemoveTree(p.cwd) }()
	}
	if err == nil {
		p.cores, env, release, err = w.occupy(a, w.taskEnv(a, dir, p.cwd, p.cwd != a.spec.Dir, w.far()))
	}
	if err == nil {
		defer release()
		err = p.open(env, p.cores)
	}
	defer p.close()
	if err != nil {
		a.kill(process.FailureOf(err))
	}
	h.taken <- p
	<-a.ctx.Done()
}

// endShare reports the end of a share, to the first node of its gang and, if this worker ends, to the coordinator.
func (w *worker) endShare(a *attempt) {
	defer w.attend.Done()
	p, f := a.part, process.FailureOf(a.killed())
	p.Use = p.use()
	if f.Outcome != event.Killed {
		p.Failure = f
	}
	w.mu.Lock()
	lost := w.stopping != nil && f == w.stopping
	if lost {
		w.link.keep(process.Ended(a.id, f), nil)
	}
	if !lost && !p.released && w.works[a.id.Job] != nil {
		w.over[a.id] = true
	}
	last := w.removed(a)
	w.mu.Unlock()
	if lost {
		w.link.told(a.id)
	}
	if last {
		w.removeScratch(a.id.Job)
	}
	close(p.over)
}
