package enginetest

import (
	"slices"

	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/core/step"
)

// worker is a worker process of a node, with its scratch folder.
type worker struct {
	w         *World
	id        job.NodeID
	alloc     job.AllocID
	capacity  job.Resources
	addr      string
	alive     bool
	connected bool
	notices   []step.Input // reports to the coordinator that it does not answer

	in  []func()     // messages from the coordinator in transit
	out []step.Input // messages to the coordinator in transit

	ends job.Time // the end of its allocation, as the coordinator told it on this connection; 0: not told

	runs  []*run
	gangs []job.Attempt        // those that it has joined
	ended []event.AttemptEnded // ends that are not acknowledged
	sent  int                  // number of those that were sent on this connection
	*disk
	outputs string // path of the disk on the shared file system; empty: it is the node's own
	where   map[job.ID]map[int]step.Locate
}

// disk is a folder of map outputs.
type disk struct {
	held []job.Attempt
	bad  []job.Attempt // damaged outputs
}

func (d *disk) has(id job.Attempt) bool {
	return d != nil && slices.Contains(d.held, id) && !slices.Contains(d.bad, id)
}

// run is an attempt that runs.
type run struct {
	step.Start
	kind    job.TaskKind
	work    job.Work
	through job.Phase
	phase   int // index in the kind's phases
	commit  bool
	asked   job.Phase // grant that it asked for on this connection
	wanted  bool      // it asked to commit on this connection
	fetched map[int]job.Attempt
	blamed  map[int]job.Attempt // outputs that it reported as unavailable
	stuck   *job.Attempt        // map output that it found damaged after the shuffle
	shares  bool                // other jobs write its files, too
	told    bool                // its question for its files was answered on this connection
	except  []int32             // indices of those that belong to other jobs
	puts    bool                // it puts its files into place
	keeps   bool                // it was killed, and puts into place what it printed
}

func (k *worker) start(a step.Start) {
	if k.find(a.Attempt) != nil {
		k.w.fail("%v is started twice on %s", a.Attempt, k.id)
	}
	work := k.w.work(a.Attempt.Job)
	if b := k.w.alloc(k.alloc); (work.Requeues || work.Lead > 0) && b != nil && b.ends != 0 && k.ends == 0 {
		k.w.fail("%v is started on %s, which was not told when its allocation ends", a.Attempt, k.id)
	}
	if k.find(a.Behind) == nil {
		a.Behind = job.Attempt{}
	}
	k.runs = append(k.runs, &run{
		Start: a, kind: work.TaskKind(a.Attempt.Task), work: work, through: a.Through, phase: -1, commit: a.Commit, shares: k.w.Ledger.Claims.claim(a.Attempt) > 0,
		fetched: make(map[int]job.Attempt), blamed: make(map[int]job.Attempt),
	})
}

func (k *worker) find(id job.Attempt) *run {
	for _, r := range k.runs {
		if r.Attempt == id {
			return r
		}
	}
	return nil
}

func (k *worker) kill(a step.Kill) {
	switch r := k.find(a.Attempt); {
	case r == nil, r.puts:
	case a.Keep && r.shares && r.Behind.N == 0:
		r.commit, r.keeps = true, true
	default:
		k.end(r, event.Killed, "killed")
	}
}

func (k *worker) grant(id job.Attempt, f func(*run)) {
	if r := k.find(id); r != nil {
		f(r)
	}
}

func (k *worker) locate(a step.Locate) {
	if k.where == nil {
		k.where = make(map[job.ID]map[int]step.Locate)
	}
	if k.where[a.Attempt.Job] == nil {
		k.where[a.Attempt.Job] = make(map[int]step.Locate)
	}
	k.where[a.Attempt.Job][a.Attempt.Task] = a
	for _, r := range k.runs {
		if r.Attempt.Job == a.Attempt.Job {
			delete(r.blamed, a.Attempt.Task) // its location was sent again
			if r.stuck != nil && *r.stuck == a.Attempt {
				k.say(step.FetchFailed{By: r.Attempt, Map: *r.stuck, Reason: "still damaged"})
			}
		}
	}
}

func (k *worker) forget(id job.ID) {
	other := func(a job.Attempt) bool { return a.Job == id }
	k.held = slices.DeleteFunc(k.held, other)
	k.bad = slices.DeleteFunc(k.bad, other)
	delete(k.where, id)
}

// end ends a run; the coordinator is told when the worker is connected.
func (k *worker) end(r *run, o event.Outcome, reason string) {
	k.runs = slices.DeleteFunc(k.runs, func(q *run) bool { return q == r })
	for _, q := range k.runs {
		if q.Behind == r.Attempt {
			q.Behind = r.Behind
		}
	}
	if o == event.Done {
		reason = ""
		if r.kind == job.MapTask && r.work.Reduces > 0 {
			k.held = append(k.held, r.Attempt)
		} else {
			k.w.Ledger.Commit(r.Attempt)
		}
	}
	end := event.AttemptEnded{Attempt: r.Attempt, Outcome: o, Reason: reason}
	switch {
	case o == event.Failed && reason == signalled:
		end.Signal = 15
	case reason == notBegun:
		end.Returned = true
	case o == event.Failed && reason == ranOut:
		end.Lack = k.runOut()
	case o == event.Done && r.kind == job.BagTask:
		end.Stats = k.used(r)
	}
	k.ended = append(k.ended, end)
}

// notBegun is the reason of attempts that are returned.
const notBegun = "not begun"

// signalled is the reason of attempts that the batch system ends.
const signalled = "signal 15"

// ranOut is the reason of attempts that run out of memory or time.
const ranOut = "ran out"

// send sends the ends that were not sent on this connection.
func (k *worker) send() {
	for k.connected && k.alive && k.sent < len(k.ended) {
		k.out = append(k.out, step.AttemptEnded{AttemptEnded: k.ended[k.sent]})
		k.sent++
	}
}

// say sends a message to the coordinator, if the worker is connected.
func (k *worker) say(in step.Input) {
	if k.connected {
		k.out = append(k.out, in)
	}
}

// hear lets the next message in transit from the coordinator arrive.
func (k *worker) hear() {
	if len(k.in) > 0 {
		f := k.in[0]
		k.in = k.in[1:]
		f()
		k.send()
	}
}

// deliver lets the next message in transit to the coordinator arrive.
func (k *worker) deliver() {
	if len(k.out) == 0 {
		return
	}
	in := k.out[0]
	k.out = k.out[1:]
	_, end := in.(step.AttemptEnded)
	if _, of := in.(step.FromWorker); of {
		k.w.fromWorker(in)
		return
	}
	if k.w.step(in) && end && k.sent > 0 { // acknowledged
		k.ended = k.ended[1:]
		k.sent--
	}
}

// join connects to the coordinator.
func (k *worker) join() {
	k.lose() // messages of the old connection are lost
	k.connected, k.notices = true, nil
	up := step.NodeUp{NodeJoined: event.NodeJoined{Node: k.id, Host: "h" + string(k.id), Addr: k.addr, Capacity: k.capacity, Outputs: k.outputs}, Held: slices.Clone(k.held)}
	for _, r := range k.runs {
		up.Running = append(up.Running, r.Attempt)
		r.commit, r.told, r.asked, r.wanted = false, false, job.PhaseNone, false
	}
	for _, e := range k.ended {
		up.Running = append(up.Running, e.Attempt)
	}
	up.Running = append(up.Running, k.gangs...)
	k.w.step(up)
	k.send()
}

// lose breaks the connection. A grant to commit expires with it.
func (k *worker) lose(notices ...step.Input) {
	k.connected = false
	k.in, k.out, k.sent, k.ends = nil, nil, 0, 0
	k.notices = append(k.notices, notices...)
	for _, r := range slices.Clone(k.runs) {
		if r.commit, r.told = false, false; r.puts { // it is done within the lease
			k.place(r)
		}
	}
}

// crash ends the process. If disk is false, its scratch folder is lost, too.
func (k *worker) crash(disk bool) {
	k.alive = false
	k.w.Ledger.Died(k.ended)
	k.runs, k.gangs, k.ended, k.where = nil, nil, nil, nil
	if !disk && k.outputs == "" {
		k.held, k.bad = nil, nil
	}
}

// advance advances a run by one step.
func (k *worker) advance(r *run) {
	phases := r.kind.Phases()
	switch {
	case r.Behind.N > 0:
		if k.w.chance(10) {
			k.end(r, event.Killed, notBegun)
		}
	case r.stuck != nil, !r.commit && !k.w.isWhole(r.Start):
	case r.puts, r.keeps:
		k.put(r)
	case k.w.chance(40):
		k.end(r, event.Failed, "failed")
	case r.Mem > 0 && k.w.chance(3):
		k.end(r, event.Failed, ranOut)
	case r.work.Requeues && k.w.chance(8):
		k.end(r, event.Requeued, "not done")
	case k.w.chance(300):
		k.end(r, event.Broken, "disk full")
	case r.phase >= 0 && phases[r.phase] == job.PhaseShuffle && !k.shuffle(r):
	case r.phase+1 < len(phases) && phases[r.phase+1] > r.through:
		if r.asked <= r.through && k.connected {
			r.asked = phases[r.phase+1]
			k.say(step.GrantWanted{Attempt: r.Attempt, Phase: r.asked})
		}
	case r.phase+1 < len(phases):
		r.phase++
		k.say(step.PhaseEntered{PhaseEntered: event.PhaseEntered{Attempt: r.Attempt, Phase: phases[r.phase]}})
		k.damage(r)
	case r.shares:
		k.put(r)
	case r.kind == job.MapTask && r.work.Reduces > 0 || r.commit:
		k.end(r, event.Done, "")
	case !r.wanted && k.connected:
		r.wanted = true
		k.say(step.CommitWanted{Attempt: r.Attempt, Files: r.writes()})
	}
	k.send()
}

// damage lets a reduce find its input damaged after the shuffle.
func (k *worker) damage(r *run) {
	if r.kind != job.ReduceTask || r.phase == 0 || len(r.fetched) == 0 || !k.w.chance(20) || k.find(r.Attempt) == nil {
		return
	}
	bad := r.fetched[k.w.choose(r.work.Tasks)]
	r.stuck = &bad // until it is killed
	if !k.connected {
		k.end(r, event.Failed, "its input is damaged, and no coordinator is connected")
		return
	}
	k.say(step.FetchFailed{By: r.Attempt, Map: bad, Reason: "damaged"})
}

// reach reports whether a map output is available, in place or from its holder.
func (k *worker) reach(loc step.Locate) bool {
	if loc.Outputs != "" {
		if k.outputs == "" {
			k.w.fail("%s is to read %s in place, but cannot", k.id, loc.Outputs)
		}
		return k.w.disks[loc.Outputs].has(loc.Attempt)
	}
	h := k.w.worker(loc.Holder)
	return h != nil && h.alive && h.addr == loc.Addr && h.has(loc.Attempt)
}

// shuffle fetches the available outputs and reports whether all were fetched.
func (k *worker) shuffle(r *run) bool {
	for i := range r.work.Tasks {
		if _, ok := r.fetched[i]; ok {
			continue
		}
		loc, known := k.where[r.Attempt.Job][i]
		if _, blamed := r.blamed[i]; !known || blamed {
			return false
		}
		if k.reach(loc) {
			r.fetched[i] = loc.Attempt
			continue
		}
		if k.connected {
			r.blamed[i] = loc.Attempt
			k.say(step.FetchFailed{By: r.Attempt, Map: loc.Attempt, Reason: "cannot be fetched"})
		}
		return false
	}
	return true
}
