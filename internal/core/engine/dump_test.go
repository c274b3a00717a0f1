package engine

import (
	"crypto/sha256"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strings"

	"berth/internal/core/job"
	"berth/internal/core/sched"
)

// Fingerprint returns a digest of the state of the records. Engines that received
// the same records have the same fingerprint. What is open between engine and
// workers (requested grants, attempts that are being killed) is not included.
func (e *Engine) Fingerprint() string {
	h := sha256.New()
	e.dump(h)
	return fmt.Sprintf("%x", h.Sum(nil))
}

// Dump returns the text of which Fingerprint is the digest: one line for each job, task, pool,
// allocation and node.
func (e *Engine) Dump() string {
	var b strings.Builder
	e.dump(&b)
	return b.String()
}

func (e *Engine) dump(w io.Writer) {
	fmt.Fprintf(w, "orders %d last alloc %d\n", e.orders, e.lastAlloc)
	for _, j := range e.line {
		j.dump(w)
	}
	for _, p := range e.pools {
		p.dump(w)
	}
	for _, a := range e.over {
		a.dump(w)
	}
	for _, n := range e.nodeList {
		if n != nil {
			n.dump(w)
		}
	}
}

func (j *jobState) dump(w io.Writer) {
	place := j.Priority
	if j.work.Due != 0 { // whether it can still meet its deadline depends on the time at which something happened to it
		place.Rank = 0
	}
	fmt.Fprintf(w, "job %s place %v %s ending %q code %d reason %q times %d %d %d %d counts %v fails %d last %q broken %q unclaimed %d touched %v\n",
		j.work.ID, place, j.state, j.ending, j.code, j.reason, j.submitted, j.started, j.Released, j.ended,
		j.counts, j.fails, j.lastFail+j.lastLost, j.broken, j.unclaimed, list(j.touched))
	fmt.Fprintf(w, "  work %+v\n", j.work)
	if len(j.after) > 0 {
		fmt.Fprintf(w, "  after %v\n", j.after)
	}
	if j.asked > 0 || j.dones > 0 {
		fmt.Fprintf(w, "  asked %d dones %d unproductive %+v losses %+v bad %v misses %d closed %t measured %t\n", j.asked, j.dones, j.unproductive, j.losses, j.bad, j.misses, j.closed, j.measured)
	}
	if len(j.order.left) > 0 {
		fmt.Fprintf(w, "  order %v\n", j.order)
	}
	if len(j.claims) > 0 {
		fmt.Fprintf(w, "  claims")
		for _, c := range j.claims {
			fmt.Fprintf(w, " %d at %d", c.from, c.at)
		}
		fmt.Fprintf(w, " taken %v\n", j.taken)
	}
	if len(j.cancelled) > 0 {
		fmt.Fprintf(w, "  cancelled %v\n", slices.Sorted(maps.Keys(j.cancelled)))
	}
	if len(j.unbegun) > 0 {
		fmt.Fprintf(w, "  unbegun %v\n", j.unbegun)
	}
	if len(j.kept) > 0 {
		fmt.Fprintf(w, "  kept %v reserve %v\n", j.kept, j.reserve)
	}
	for _, t := range j.of {
		l := &t.Left
		fmt.Fprintf(w, "  needs %v raised %t least %v counts %v waits %t span %v\n", t.needs, t.raised, t.least, t.counts, t.waits, t.span)
		fmt.Fprintf(w, "  left %d of %d cores, shuffles %d, %v\n", l.Tasks, l.CPUs, j.Shuffles, deep(reflect.ValueOf(l.Times)))
	}
	for _, i := range slices.Sorted(maps.Keys(j.lostRuns)) {
		for _, r := range j.lostRuns[i] {
			fmt.Fprintf(w, "  lost %d#%d on %s\n", i, r.n, r.node.id)
		}
	}
	fmt.Fprintf(w, "  holders %v failed on %v\n", j.holder, j.failedOn)
	for i, t := range j.tasks {
		if t != (task{}) { // printed by field, as there are many
			fmt.Fprintf(w, "  task %d attempt %d fails %d lost %d bad %d status %d cut %t\n", i, t.attempt, t.fails, t.lost, t.bad, t.status, t.cut)
		}
	}
	for i, t := range j.of {
		c := &t.Begin
		fmt.Fprintf(w, "  ready %d %v startable %t waits %t urgent %d spent %v\n", i, &c.Ready, j.startable(t), c.Group() != nil, t.Urgent.Ready.WithoutAttempt(), t.spent)
	}
	fmt.Fprintf(w, "  singly %d\n", j.singly)
	for _, a := range j.sorted() {
		if a.behind != nil {
			fmt.Fprintf(w, "  behind %v\n", a.behind.ID)
		}
		fmt.Fprintf(w, "  attempt %v on %s leave %v phase %v working %d commit %t asked %t late %t\n",
			a.ID, a.node.id, a.Through, a.phase, a.Working, a.commit, a.asked, a.late)
		for _, h := range a.shares {
			fmt.Fprintf(w, "  and on %s, holds %v\n", h.node.id, h.Holds)
		}
	}
}

func (p *pool) dump(w io.Writer) {
	fmt.Fprintf(w, "pool %+v scale %d done %d idle since %d start-up %v jobs", p.shape, p.Scale, p.done, p.idleSince, p.startUp)
	for _, j := range p.active {
		fmt.Fprintf(w, " %s", j.work.ID)
	}
	fmt.Fprintln(w)
	for _, a := range p.allocs {
		a.dump(w)
	}
	var groups []string
	for _, c := range p.Groups {
		if c.Urgent { // duplicates that have not started are not part of the state
			continue
		}
		groups = append(groups, fmt.Sprintf("%+v:%v", c.Needs, slices.Sorted(c.Jobs())))
	}
	slices.Sort(groups)
	fmt.Fprintf(w, "  groups %v\n", groups)
}

func (a *alloc) dump(w io.Writer) {
	fmt.Fprintf(w, "  alloc %s %+v requested %d first %d joined %d\n", a.id, a.req, a.requested, a.first, a.joined)
	fmt.Fprintf(w, "    for %q begun %t %d ends %d measured %t sizes %v live %d used %d mark %d ended %d keeps", a.job, a.begun, a.began, a.Ends, a.measured, a.sizes, a.live, a.used, a.mark, a.endedAt)
	for _, n := range a.keeps {
		fmt.Fprintf(w, " %s", n.id)
	}
	fmt.Fprintln(w)
}

func (n *node) dump(w io.Writer) {
	var alloc job.AllocID
	if n.alloc != nil {
		alloc = n.alloc.id
	}
	fmt.Fprintf(w, "node %s alloc %q %s since %d reason %q host %q addr %q outputs %q joined %t capacity %v used %v coreless %d %d health %+v\n",
		n.id, alloc, n.state, n.since, n.reason, n.Host, n.addr, n.outputs, n.joined, n.Capacity, n.Used, n.Shuffles, n.ShuffleMem, n.Health)
}

// deep prints a value with what its pointers lead to.
func deep(v reflect.Value) string {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return "nil"
		}
		return deep(v.Elem())
	case reflect.Struct:
		var b strings.Builder
		for i := range v.NumField() {
			fmt.Fprintf(&b, " %s %s", v.Type().Field(i).Name, deep(v.Field(i)))
		}
		return "{" + b.String() + "}"
	}
	return fmt.Sprint(v)
}

// list returns the indices in the set.
func list(s sched.IndexSet) []int {
	var l []int
	s.All(func(i int) { l = append(l, i) })
	return l
}
