package engine

import (
	"cmp"
	"slices"
	"sort"

	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/core/step"
)

// Tasks of several jobs may write files of the same paths. Such a file belongs to the task that claimed it last: when its job was submitted
// or resumed, or when the task was added. While there are two jobs that may do so, or another one has put files into place that a job
// wanted, their attempts ask before they put files into place, and say which (step.CommitWanted). An attempt waits while a job with an older
// claim may be putting the same files into place, so that its own come after those; and an older claim is not granted any more.
//
// The engine knows numbers that stand for paths, and those of no file before an attempt asks for it.

// claim is when tasks of a job claimed their files: those from an index on, up to that of the next claim.
type claim struct {
	from  int32
	at    job.Time
	order uint64 // for claims at the same time
}

func (c claim) compare(d claim) int {
	return cmp.Or(cmp.Compare(c.at, d.at), cmp.Compare(c.order, d.order))
}

// claimFiles notes that the tasks that the job gets now claim their files.
func (e *Engine) claimFiles(at job.Time, j *jobState) {
	c := claim{from: int32(j.work.Tasks), at: at, order: e.claims}
	if e.claims++; len(j.claims) == 0 {
		c.from = 0
	}
	j.claims = append(j.claims, c)
	if !j.state.Final() && !slices.Contains(e.sharing, j) {
		e.sharing = append(e.sharing, j)
	}
}

// claim returns the claim to the files of the attempt.
func (a *attempt) claim() claim {
	all := a.job.claims
	return all[sort.Search(len(all), func(i int) bool { return int(all[i].from) > a.ID.Task })-1]
}

// takeLog takes the path of the job's log away from other jobs.
func (e *Engine) takeLog(j *jobState) {
	for _, k := range e.line {
		if _, taken := k.taken[j.work.Log]; j.work.Log != 0 && k.work.Log == j.work.Log && k != j && !taken && !k.state.Final() {
			e.emit(event.FilesTaken{Job: k.ID, By: j.ID, At: e.now, Files: []uint64{j.work.Log}})
		}
	}
}

// contested reports whether attempts of the job must ask before they put files into place.
func (e *Engine) contested(j *jobState) bool {
	return len(j.claims) > 0 && (len(e.sharing) > 1 || len(j.taken) > 0)
}

// contest has running attempts ask from now on, as the job has claimed files and there are others that may write them.
func (e *Engine) contest(j *jobState) {
	if !e.contested(j) {
		return
	}
	for _, k := range e.sharing {
		for _, a := range k.sorted() {
			e.askFirst(a)
		}
	}
}

// askFirst tells a running attempt to ask. If its worker is away, it is told when it is back.
func (e *Engine) askFirst(a *attempt) {
	if !a.asks && a.node.state == up {
		e.do(step.Ask{Attempt: a.ID, Node: a.node.id})
	}
}

// attemptAsks handles that an attempt asks from now on.
func (e *Engine) attemptAsks(in step.Asks) {
	if a := e.runningAttempt(in.Attempt); a != nil {
		a.asks = true
		e.unblock()
	}
}

// mustWait reports whether a job with an older claim may be putting files of the attempt into place.
func (e *Engine) mustWait(a *attempt) bool {
	if !e.contested(a.job) {
		return false
	}
	mine, files := a.claim(), make(map[uint64]bool, len(a.file))
	for _, f := range a.file {
		files[f] = true
	}
	older := func(b *attempt) bool {
		switch {
		case b.claim().compare(mine) >= 0:
			return false
		case b.puts:
			return slices.ContainsFunc(b.file, func(f uint64) bool { return files[f] })
		}
		return !b.asks
	}
	for _, j := range e.sharing {
		for _, b := range j.live {
			for ; b != nil; b = b.duplicate {
				if j != a.job && older(b) {
					return true
				}
			}
		}
	}
	return false
}

// unblock has attempts commit that waited for others.
func (e *Engine) unblock() {
	waiting := e.blocked
	e.blocked = nil
	for _, a := range waiting {
		if a.held && a.node.state == up && e.runningAttempt(a.ID) == a {
			e.tryCommit(a)
		}
	}
}

// takeFiles takes the files of the attempt away from older claims. It returns the indices of those that belong to later ones.
func (e *Engine) takeFiles(a *attempt) (except []int32) {
	if !e.contested(a.job) {
		return nil
	}
	mine := a.claim()
	var files []uint64
	for i, f := range a.file {
		if at, taken := a.job.taken[f]; taken && at >= mine.at {
			except = append(except, int32(i))
		} else {
			files = append(files, f)
		}
	}
	for _, j := range e.sharing {
		anew := func(f uint64) bool { at, taken := j.taken[f]; return !taken || at < mine.at }
		if j != a.job && j.claims[0].compare(mine) < 0 && slices.ContainsFunc(files, anew) {
			e.emit(event.FilesTaken{Job: j.ID, By: a.ID.Job, At: mine.at, Files: files})
		}
	}
	return except
}

func (j *jobState) applyTaken(r event.FilesTaken) {
	if j.taken == nil {
		j.taken = make(map[uint64]job.Time)
	}
	for _, f := range r.Files {
		j.taken[f] = max(j.taken[f], r.At)
	}
}
