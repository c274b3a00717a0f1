package plan

import (
	"cmp"
	"slices"

	"berth/internal/core/job"
)

// Of the requests on which a job meets its deadline the cheapest is made (models.md, "Deadlines"): that with the fewest core-seconds,
// which is what others cannot have. Where none meets it, or the times of tasks are unknown, the plan is that of a job without one.

// likely is the fraction of runs that must meet a deadline for a request to count as one that meets it.
const likely = 0.95

// Deadline compares the deadline of a job with the upper bound of its predicted end.
type Deadline struct {
	Due   job.Time `json:"due_ns"`  // when the job should be done, in nanoseconds since 1970
	Slack *float64 `json:"slack_s"` // seconds from the end of 95 % of predicted runs to the deadline; null: no prediction
}

// dueIn returns the time until the deadline in seconds; 0: there is none, or it has passed. The present queue says nothing of a job that
// comes after others.
func (q *Question) dueIn() float64 {
	due := q.Spec.Request.Due
	if due == 0 || q.Remaining == nil && len(q.Spec.After) > 0 {
		return 0
	}
	return max(0, due.Sub(q.Now).Seconds())
}

// meetsDeadline reports whether the job is likely to be done by its deadline on the candidate's nodes.
func (a *adaptor) meetsDeadline(c *Candidate) bool {
	return a.due > 0 && c.rejected == "" && !c.beaten && c.likely <= a.due
}

// presentMeets reports whether the job is likely to be done by its deadline on the present and the chosen allocations. The first choice
// of a job without present ones was seen to meet it, by more runs than these.
func (d *decision) presentMeets() bool {
	return d.due > 0 && (d.first.main || len(d.runs.Finish) > 0 && d.runs.Quantile(likely) <= d.due)
}

// coreSecondsTaken returns the core-seconds that a request takes from others.
func coreSecondsTaken(c *Candidate) float64 {
	return float64(c.Take) * float64(max(1, c.PerNode.CPUs)) * (c.Total - c.Wait)
}

// inTime returns those of the evaluated candidates that meet the deadline, each also with fewer nodes, the cheapest first. Fewer nodes may be
// free so much sooner that they meet a deadline which all of them miss.
func (d *decision) inTime() (all []Candidate) {
	for _, c := range d.evaluated {
		for n, ok := c.Take, true; ok && c.rejected == ""; {
			if d.meetsDeadline(&c) {
				all = append(all, c)
			}
			if n -= max(1, n/8); n < max(1, c.offer.minNodes) || d.spent >= maxPlaced {
				break
			}
			c.beaten = false
			c, ok = d.withNodes(c, c.offer.filled(n), nil, d.due)
		}
	}
	slices.SortStableFunc(all, func(x, y Candidate) int {
		return cmp.Or(cmp.Compare(x.hourlyPrice(), y.hourlyPrice()), cmp.Compare(coreSecondsTaken(&x), coreSecondsTaken(&y)), cmp.Compare(x.Total, y.Total))
	})
	return all
}

// surely reports whether the job meets the deadline on the candidate's nodes by as many simulated runs as the prediction has.
func (d *decision) surely(c *Candidate) (ok bool) {
	d.withFineSample(func() {
		got := d.evaluate(*c, nil, noLimit)
		ok = d.meetsDeadline(&got)
	})
	return ok
}

// judgeDeadline sets what the plan says of the deadline.
func (p *Plan) judgeDeadline(q *Question) {
	if q.Spec.Request.Due == 0 || q.Brief && p.Predicted == nil || q.Remaining == nil && len(q.Spec.After) > 0 {
		return
	}
	p.Deadline = &Deadline{Due: q.Spec.Request.Due}
	if p.Predicted == nil {
		p.Notes = append(p.Notes, "whether the deadline is met is not known: there is no prediction ("+p.Source+")")
		return
	}
	up := p.Predicted.P95
	if p.Outlook != nil {
		up += p.Outlook.Start
	}
	slack := micros(p.Deadline.Due.Sub(q.Now).Seconds() - up)
	p.Deadline.Slack = &slack
	says := "done " + duration(slack) + " before the deadline"
	if slack < 0 {
		says = "done " + duration(-slack) + " after the deadline"
		p.Notes = append(p.Notes, "the deadline cannot be met: the job is "+says+" (bound of 95 % of predicted runs); it is planned to be done as soon as possible")
	}
	if len(p.Reasons) > 0 {
		p.Reasons[0] += "; " + says
	}
}
