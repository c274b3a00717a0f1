package engine

import (
	"fmt"
	"time"

	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/core/step"
)

// locate tells a node where the output of a map is, if the output is available.
func (e *Engine) locate(to *node, j *jobState, i int) {
	t := &j.tasks[i]
	if t.status != done || to.state != up {
		return
	}
	if n := e.nodeList[j.holder[i]]; n != nil && (n.state == up || n.outputs != "") {
		l := step.Locate{Node: to.id, Attempt: job.Attempt{Job: j.ID, Task: i, N: t.winner()}, Holder: n.id, Addr: n.addr}
		if to.outputs != "" { // both nodes are on the same file system
			l.Outputs = n.outputs
		}
		e.do(l)
	}
}

// tellAll tells all nodes that follow the job's map outputs where the output of a map is.
func (e *Engine) tellAll(j *jobState, i int) {
	j.informed.All(func(to int) { e.locate(e.nodeList[to], j, i) })
}

// tellOutputs tells a node where all outputs of the job are, unless it knows.
func (e *Engine) tellOutputs(to *node, j *jobState) {
	if j.informed.Has(to.Index) {
		return
	}
	j.informed.Add(to.Index)
	for i := range j.work.Tasks {
		e.locate(to, j, i)
	}
}

// dropOutputs makes maps run again whose outputs were on lost nodes and are still
// needed by a reduce.
func (e *Engine) dropOutputs(lost func(*node) bool) {
	for _, j := range e.line {
		if !j.active() || !j.needsOutputs() {
			continue
		}
		for i := range j.work.Tasks {
			if n := e.nodeList[j.holder[i]]; j.tasks[i].status == done && n != nil && lost(n) {
				reason := fmt.Sprintf("node %s is gone", n.id)
				e.emit(event.OutputLost{Job: j.ID, Task: i, Reason: reason})
			}
		}
	}
}

// hasOutputs reports whether the node's map outputs are available or may become available again: it may come back with them, or
// they are in a folder that stays.
func (n *node) hasOutputs() bool { return n.state != gone || n.outputs != "" }

// claimGrace is how long, after a resume, the engine waits for nodes to join that may hold map outputs whose holder is unknown.
const claimGrace = time.Minute

// claimable returns when unclaimed outputs of the job are given up: at once if all
// nodes of an allocation have reported what they hold, later if some have not. ok is
// false while no node is up on which the maps could run again.
func (e *Engine) claimable(j *jobState) (at job.Time, ok bool) {
	if !j.pool.shape.Endless() { // outputs that outlive their allocation still have a holder
		return e.now, true
	}
	for _, a := range j.pool.allocs {
		if a.joined == a.req.Nodes {
			return e.now, true
		}
		if a.joined > 0 && (!ok || a.first < at) {
			at, ok = a.first, true
		}
	}
	return max(at, j.Released).Add(claimGrace), ok
}

// giveUpClaims makes those maps of a resumed job run again whose outputs no node holds.
func (e *Engine) giveUpClaims(j *jobState) {
	for i := range j.work.Tasks {
		if j.tasks[i].status == done && j.holder[i] == 0 {
			e.emit(event.OutputLost{Job: j.ID, Task: i, Reason: "no node has it since the job was resumed"})
		}
	}
}
