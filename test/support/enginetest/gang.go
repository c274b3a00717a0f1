package enginetest

import (
	"slices"

	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/core/step"
)

// gang chooses how many ranks tasks have, mostly one.
func (w *World) gang() (g job.Gang) {
	if w.choose(3) == 0 {
		g.Ranks = 1 + w.choose(5)
		g.RanksPerNode = min(g.Ranks, w.choose(3))
	}
	return g
}

// together returns how many ranks of such a task a node has at least.
func together(n job.Needs) int {
	if !n.Several() {
		return 1
	}
	return max(1, n.RanksPerNode)
}

// nodesOf returns how many such nodes the job needs for each of its tasks, whatever memory they get.
func (w *World) nodesOf(work job.Work, has job.Resources) (nodes int) {
	if known := w.Ledger.works[work.ID]; known.ID != "" {
		work.Further = known.Further
	}
	for k := range work.NeedsCount() {
		n := work.NeedsAt(k)
		n.Mem = room(n)
		nodes = max(nodes, n.NodesOf(has))
	}
	return nodes
}

func (k *worker) joinGang(a step.Join) {
	if slices.Contains(k.gangs, a.Attempt) || k.find(a.Attempt) != nil {
		k.w.fail("%v is joined twice on %s", a.Attempt, k.id)
	}
	k.gangs = append(k.gangs, a.Attempt)
}

func (k *worker) leaveGang(id job.Attempt) {
	k.gangs = slices.DeleteFunc(k.gangs, func(a job.Attempt) bool { return a == id })
}

// loseShare has a worker give up its share of a gang in some cases, and say so.
func (k *worker) loseShare() {
	if k.alive && len(k.gangs) > 0 && k.w.chance(20) {
		id := k.gangs[0]
		k.leaveGang(id)
		k.say(step.FromWorker{Node: k.id, Input: step.AttemptEnded{AttemptEnded: event.AttemptEnded{Attempt: id, Outcome: event.Lost, Reason: "its worker ends"}}})
	}
}

// fromWorker gives the engine what a worker says in its own name, which is never refused.
func (w *World) fromWorker(in step.Input) {
	w.callGiven(in)
	out, err := w.Engine.Step(w.Now, in)
	if err != nil {
		w.fail("%+v is refused: %v", in, err)
	}
	w.carryOut(out)
}

// isWhole reports whether all nodes of an attempt have joined it, so that its program can work.
func (w *World) isWhole(a step.Start) bool {
	for i, s := range a.Gang {
		if k := w.worker(s.Node); i > 0 && (k == nil || !slices.Contains(k.gangs, a.Attempt)) {
			return false
		}
	}
	return true
}

// ranksOn returns how many ranks of an attempt are on the node, 1 for the process of one that is no gang.
func (a *liveAttempt) ranksOn(node job.NodeID) int {
	for _, s := range a.gang {
		if s.Node == node {
			return s.Ranks
		}
	}
	if a.gang == nil && a.node == node {
		return 1
	}
	return 0
}

// checkGang checks that a gang starts as a whole, on different nodes of one allocation with as many ranks each as it wants.
func (l *Ledger) checkGang(r event.AttemptStarted) {
	w := l.works[r.Attempt.Job]
	n := w.NeedsAt(int(l.needs[taskID{r.Attempt.Job, r.Attempt.Task}]))
	if w.Kind != job.Bag || !n.Several() {
		if r.Gang != nil {
			l.fail("%v is no gang and starts on %v", r.Attempt, r.Gang)
		}
		return
	}
	ranks, on := 0, make(map[job.NodeID]bool)
	for i, s := range r.Gang {
		ranks += s.Ranks
		on[s.Node] = true
		if allocOf(s.Node) != allocOf(r.Node) || s.Ranks < 1 || n.RanksPerNode > 0 && s.Ranks != n.RanksPerNode && i < len(r.Gang)-1 {
			l.fail("%v of %+v starts on %v", r.Attempt, n.Gang, r.Gang)
		}
		l.check(s.Node)
	}
	if ranks != n.Ranks || len(on) < len(r.Gang) || r.Gang[0].Node != r.Node || r.Commit {
		l.fail("%v of %+v starts on %v, commit %t", r.Attempt, n.Gang, r.Gang, r.Commit)
	}
	if len(r.Gang) > 1 {
		l.Gangs++
	}
}
