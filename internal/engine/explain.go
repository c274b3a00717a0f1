package engine

import (
	"fmt"
	"strings"
	"time"

	"berth/internal/event"
	"berth/internal/job"
	"berth/internal/sched"
)

// Explain says why a job is where it is, one reason a line, for people. It returns
// nothing for a job that is not known.
func (e *Engine) Explain(now job.Time, id job.ID) []string {
	j := e.jobs[id]
	if j == nil {
		return nil
	}
	x := &explanation{e: e, j: j, now: now}
	switch {
	case j.state.Final():
		x.final()
	case j.state == event.StateFinalizing:
		x.say("all tasks are done; the output is being put into place")
	case j.state == event.StateStopping:
		x.say("it is being stopped: %s", j.reason)
		x.running()
		x.nodes()
	default:
		x.running()
		x.allocation()
		x.nodes()
		x.leave()
		x.tasks()
		x.reduces()
		x.claims()
	}
	return x.lines
}

// explanation gathers the reasons why a job is where it is.
type explanation struct {
	e     *Engine
	j     *jobState
	now   job.Time
	lines []string
}

func (x *explanation) say(format string, args ...any) {
	x.lines = append(x.lines, fmt.Sprintf(format, args...))
}

func (x *explanation) final() {
	j := x.j
	switch {
	case j.state == event.StateDone:
		x.say("it is done: %d of %s", j.work.Total(), number(j.work.Total(), "task"))
		return
	case j.state == event.StateCancelled:
		x.say("it was cancelled: %s", j.reason)
	default:
		x.say("it failed: %s", j.reason)
	}
	if n := j.unfinished(); n > 0 {
		x.say("%d %s can go on: berth resume %s", n, plural(n, "task"), j.work.ID)
	}
	if n := j.counts[0].failed + j.counts[1].failed; n > 0 && j.work.Kind == job.Bag {
		x.say("%d failed %s can be tried again: berth resume --failed %s", n, plural(n, "task"), j.work.ID)
	}
}

// running tells how many attempts run, and where.
func (x *explanation) running() {
	var where []string
	count := make(map[*node]int)
	var nodes []*node
	for _, a := range x.j.sorted() {
		if count[a.node] == 0 {
			nodes = append(nodes, a.node)
		}
		count[a.node]++
	}
	for _, n := range nodes {
		where = append(where, fmt.Sprintf("%d on %s", count[n], n.id))
	}
	if n := len(x.j.live); n > 0 {
		x.say("%d of %s: %s", n, number(x.j.work.Total(), "task")+verb(n, " run"), some(where))
	}
}

// allocation tells what allocation the job waits for.
func (x *explanation) allocation() {
	p := x.j.pool
	if p.shape.elastic {
		x.elastic(p)
		return
	}
	if p.anyUp() {
		return
	}
	for _, a := range p.allocs {
		if a.joined == 0 {
			x.say("it waits for allocation %s: %d %s with %s each, asked of %s %s ago; none has come up yet",
				a.id, a.req.Nodes, plural(a.req.Nodes, "node"), describe(a.req.PerNode), a.req.On, x.since(a.requested))
		}
	}
}

// nodes tells of nodes that are away, with what of the job they hold, or suspected.
func (x *explanation) nodes() {
	for _, n := range x.j.pool.nodes {
		switch {
		case n.state == down:
			x.say("%s has not answered for %s (%s); it is waited for %v more, with %s and %s of this job", n.id, x.since(n.since), n.reason,
				max(0, n.since.Add(x.e.cfg.NodeTimeout).Sub(x.now)).Round(time.Second), number(x.attemptsOn(n), "attempt"), number(x.outputsOn(n), "map output"))
		case n.state == up && n.Health.Suspected(x.now):
			x.say("%s is kept away from for %v more: attempts there failed or got lost while others did not",
				n.id, n.Health.Until().Sub(x.now).Round(time.Second))
		}
	}
}

func (x *explanation) attemptsOn(n *node) int {
	count := 0
	for _, a := range n.live {
		if a.job == x.j {
			count++
		}
	}
	return count
}

func (x *explanation) outputsOn(n *node) int {
	count := 0
	if x.j.shuffles() {
		for i := range x.j.work.Tasks {
			if t := &x.j.tasks[i]; t.status == done && int(t.holder) == n.Index {
				count++
			}
		}
	}
	return count
}

// leave tells of attempts that wait for leave to go on.
func (x *explanation) leave() {
	for _, n := range x.j.pool.nodes {
		waiting := 0
		for _, a := range n.live {
			if a.job == x.j && a.wants != job.PhaseNone {
				waiting++
			}
		}
		if waiting > 0 {
			x.say("%d %s on %s for %s to sort and reduce; it has %s free", waiting, plural(waiting, "reduce")+verb(waiting, " wait"),
				n.id, describe(job.Resources{CPUs: x.j.work.ReduceNeed.CPUs}), describe(n.Free()))
		}
	}
}

// tasks tells why bag tasks or maps that are ready do not start.
func (x *explanation) tasks() {
	j := x.j
	q := &j.queues[0]
	if q.ready() == 0 {
		return
	}
	word := plural(q.ready(), q.kind.String())
	if w := &j.work; w.Throttle > 0 && j.counts[0].running >= w.Throttle {
		x.say("%d %s: no more than %d are to run at once", q.ready(), word+verb(q.ready(), " wait"), w.Throttle)
		return
	}
	x.room(q, word)
}

// reduces tells why reduces that are ready do not start.
func (x *explanation) reduces() {
	j := x.j
	q, maps := &j.queues[1], &j.counts[0]
	if q.ready() == 0 {
		return
	}
	word := plural(q.ready(), "reduce")
	if n := sched.SlowStart(maps.total, j.work.SlowStart); maps.done < n {
		x.say("%d %s until %d of %d maps are done; %d are", q.ready(), word+verb(q.ready(), " wait"), n, maps.total, maps.done)
		return
	}
	x.room(q, word)
}

// room tells what a class waits for on the nodes that are up.
func (x *explanation) room(q *queue, word string) {
	p := x.j.pool
	if !p.anyUp() || q.class == nil {
		return
	}
	var where []string
	for _, n := range p.nodes {
		switch {
		case n.state != up:
		case n.alloc.retired:
			where = append(where, fmt.Sprintf("%s is being given back: the job that it was asked for is done", n.id))
		case !n.inTime(x.now, q.class.key.span):
			where = append(where, fmt.Sprintf("%s has %s left, too little for one", n.id, x.left(n.alloc)))
		case q.kind == job.ReduceTask:
			where = append(where, fmt.Sprintf("%s has %s free and %d of at most %d shuffling", n.id, job.FormatSize(n.Free().Mem), n.Shuffling, n.Capacity.CPUs))
		default:
			where = append(where, fmt.Sprintf("%s has %s free", n.id, describe(n.Free())))
		}
	}
	want, kept := describe(q.class.key.need)+" each", ""
	if q.kind == job.ReduceTask {
		want = job.FormatSize(q.class.key.need.Mem) + " each to shuffle in"
		room, whose := max(q.class.key.room, q.class.room), "maps"
		if q.job.pool.shortest && q.class.room > q.class.key.room {
			whose = "jobs that go first"
		}
		if room > 0 {
			kept = fmt.Sprintf(", %s on each node being kept for %s", job.FormatSize(room), whose)
		}
	}
	x.say("%d %s for %s: %s%s", q.ready(), word+verb(q.ready(), " wait"), want, some(where), kept)
	x.before()
}

// claims tells of map outputs whose holder is unknown since a resume.
func (x *explanation) claims() {
	if n := x.j.unclaimed; n > 0 {
		x.say("it looks for %s from before the resume on the nodes that join", number(n, "map output"))
	}
}

func (x *explanation) since(t job.Time) time.Duration {
	return max(0, x.now.Sub(t)).Round(time.Second)
}

func number(n int, word string) string { return fmt.Sprintf("%d %s", n, plural(n, word)) }

// verb returns a verb in the form that goes with n of something.
func verb(n int, v string) string {
	if n == 1 {
		return v + "s"
	}
	return v
}

// some joins a list that can be long.
func some(l []string) string {
	const most = 4
	if len(l) > most {
		return fmt.Sprintf("%s and %d more", strings.Join(l[:most], ", "), len(l)-most)
	}
	return strings.Join(l, ", ")
}
