package engine

import "berth/internal/core/job"

// setUrgency sets whether the job goes before others because of its deadline, and whether it is behind it: all cores of its pool together would
// do later what has yet to start. On a batch system it may get more nodes; elsewhere it goes in the line as a job without a deadline then, as
// others can still meet theirs.
func (j *jobState) setUrgency(now job.Time) {
	j.Due, j.behind = j.work.Due, false
	if j.Due == 0 || j.pool.Cores == 0 && now < j.Due {
		return
	}
	late := j.LatestStart(j.pool.Cores) < now
	j.behind = late && now < j.Due && !j.pool.shape.Endless()
	if late && !j.behind {
		j.Due = 0
	}
}
