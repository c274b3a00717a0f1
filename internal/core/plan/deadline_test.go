package plan

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"berth/internal/core/cluster"
	"berth/internal/core/job"
)

// deciding decides what to request, for a look at what was compared.
func deciding(t *rapid.T, q *Question) *decision {
	d := &decision{adaptor: newAdaptor(q)}
	if err := d.decide(0); err != nil {
		t.Skip(err.Error())
	}
	return d
}

// dueWithin returns the question of the job with a deadline.
func dueWithin(q Question, within time.Duration) Question {
	spec := *q.Spec
	spec.Request.Due, q.Spec = begin.Add(within), &spec
	return q
}

// TestDeadlineAtLeastCost: where a request meets the deadline, with any number of nodes of any free slot, the whole plan does, with one request
// that costs no more than that.
func TestDeadlineAtLeastCost(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		due := rapid.IntRange(1, 20_000).Draw(t, "seconds")
		q := dueWithin(genQuestion(t), time.Duration(due)*time.Second)
		d := deciding(t, &q)
		if d.spent > maxPlaced/2 { // not all are compared
			t.Skip("not all candidates were compared")
		}
		met := d.due > 0
		if d.due = float64(due); met {
			if len(d.chosen) != 1 || !d.meetsDeadline(&d.first) {
				t.Fatalf("%d requests, and the job is done after %g s of %d", len(d.chosen), d.first.likely, due)
			}
			if s := *decided(t, q).Deadline.Slack; s < -tightBy*d.due {
				t.Fatalf("the plan says that it is %g s late", -s)
			}
		}
		feasible, _ := d.candidates(d.offers)
		for _, slot := range feasible {
			for n := slot.offer.minNodes; n <= slot.Take && slot.Total <= d.due; n++ {
				c, ok := slot, true
				if n == slot.Take { // all of them begin when the slot does
					c = d.bestOf(slot, noLimit)
				} else {
					c, ok = d.withNodes(slot, n, nil, noLimit)
				}
				switch {
				case !ok || !d.meetsDeadline(&c) || !d.surely(&c):
				case !met:
					t.Fatalf("%d nodes after %g s meet the deadline (%g s of %d), %d of %d nodes are requested after %g s", n, c.Wait, c.likely, due, len(d.chosen), d.first.Take, d.first.Wait)
				case coreSecondsTaken(&c) < coreSecondsTaken(&d.first)*(1-1e-9):
					t.Fatalf("%g core-seconds meet the deadline of %d s, but %g are requested", coreSecondsTaken(&c), due, coreSecondsTaken(&d.first))
				}
			}
		}
	})
}

// TestDeadlineOfNoEffect: a job is planned as if it had no deadline where that has passed, where the job comes after others, where nothing is
// known of its tasks, and where no request meets it. How far off a deadline is has no effect once it is far off.
func TestDeadlineOfNoEffect(t *testing.T) {
	const far = 10 * 365 * 24 * time.Hour
	rapid.Check(t, func(t *rapid.T) {
		q := genQuestion(t)
		within := rapid.SampledFrom([]time.Duration{-time.Second, far, 20 * time.Second, time.Duration(rapid.IntRange(1, 20_000).Draw(t, "seconds")) * time.Second}).Draw(t, "due")
		switch rapid.SampledFrom([]string{"", "", "after", "unknown"}).Draw(t, "kind") {
		case "after":
			spec := *q.Spec
			spec.After, q.Spec = []job.ID{"y-1"}, &spec
		case "unknown":
			q.Profile = nil
		}
		timed := dueWithin(q, within)
		got, want := decided(t, timed), decided(t, q)
		if within == far {
			want = decided(t, dueWithin(q, 2*far))
		} else if within > 0 && len(q.Spec.After) == 0 && q.Profile != nil {
			if d := deciding(t, &timed); d.due > 0 {
				t.Skip("a request meets it")
			}
		}
		if !reflect.DeepEqual(got.Requests(), want.Requests()) {
			t.Fatalf("%+v is requested, and %+v without a deadline", got.Requests(), want.Requests())
		}
		if len(q.Spec.After) > 0 {
			if got.Deadline != nil || !slices.Equal(got.Reasons, want.Reasons) {
				t.Fatalf("%+v: %q, and %q without a deadline", got.Deadline, got.Reasons, want.Reasons)
			}
			return
		}
		if s := got.Deadline.Slack; (s == nil) != (q.Profile == nil) || s != nil && within < 0 && (*s >= 0 || !strings.Contains(got.Decision(), "after the deadline")) {
			t.Fatalf("slack %v: %s", *got.Deadline, got.Decision())
		}
	})
}

// TestDeadlineBehind: a job that would miss its deadline on what it has gets no more nodes than it needs to meet it, however much sooner others
// would end it, and as many as without a deadline where it misses it with all.
func TestDeadlineBehind(t *testing.T) {
	var nodes []int
	for _, due := range []time.Duration{0, time.Minute, 15 * time.Minute, 25 * time.Minute, 110 * time.Minute} {
		q := openBag(8, 200)
		q.Spec.Bag.Open = false
		q.Profile = profileOf(q.Spec, 60)
		has := q.Snap.Nodes[0].Capacity
		q.Snap.Nodes[0].Free = job.Resources{}
		q.Snap.Queue.Running = []cluster.Queued{{ID: "2", User: "me", Partition: "main", Nodes: []int{0}, Count: 1, PerNode: has, Start: begin, Limit: 2 * time.Hour}}
		q.Remaining.Live = []job.Live{{Request: job.AllocRequest{On: "slurm", Nodes: 1, PerNode: has, Time: 2 * time.Hour}, Start: begin, Began: begin, Ends: begin.Add(2 * time.Hour)}}
		q.Spec.Request.MaxAllocs = 1
		if due > 0 {
			q.Spec.Request.Due = begin.Add(due)
		}
		p, err := Decide(q)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, r := range p.Requests() {
			n += r.Nodes * r.PerNode.CPUs
		}
		if nodes = append(nodes, n); due > time.Minute && *p.Deadline.Slack < 0 {
			t.Errorf("due in %v: %s", due, p.Decision())
		}
	}
	if nodes[1] != nodes[0] || nodes[2] >= nodes[0] || nodes[3] >= nodes[2] || nodes[4] != 0 {
		t.Errorf("cores by deadline: %v", nodes)
	}
}
