package report

import (
	"time"

	"berth/internal/event"
)

// PlanView is a plan that was made for what was left of a job.
type PlanView struct {
	At       time.Time `json:"at"`
	Decision string    `json:"decision"`        // one line
	Scout    int       `json:"scout,omitempty"` // planned anew once so many tasks are done
}

// maxPlans is how many plans a view lists.
const maxPlans = 20

// plans keeps the last plans that were made for what was left and counts all plans,
// the one that the job began with included.
type plans struct {
	total int
	last  []PlanView
}

func (p *plans) add(e event.Entry, r event.JobPlanned) {
	p.total++
	if len(p.last) == maxPlans {
		copy(p.last, p.last[1:])
		p.last = p.last[:maxPlans-1]
	}
	p.last = append(p.last, PlanView{At: e.At.Std(), Decision: r.Decision, Scout: r.Scout})
}
