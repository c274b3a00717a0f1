package plan

import "math"

// preemptedEvery is the mean time, in seconds, after which an allocation of a preemptible partition is assumed to lose its nodes. No batch system
// tells how often that happens.
const preemptedEvery = 8 * 3600.0

// preemption returns by how much longer a job is expected to take on a candidate's nodes because jobs of other partitions may take them, in
// seconds: tasks that are lost start again, and the rest waits for other nodes as long as for these (models.md, "Preemptible partitions"). A user
// who names a partition, or none, has made that choice.
func (a *adaptor) preemption(c *Candidate) float64 {
	run := c.Total - c.Wait
	if !a.req.Anywhere || c.offer.part.Preempted == "" || run <= 0 {
		return 0
	}
	task := min(max(a.known.inv.Map.Avg, a.known.inv.Reduce.Avg), run) / preemptedEvery
	lost := run * (math.Expm1(task)/max(task, rounding) - 1)
	return max(0, lost) - math.Expm1(-run/preemptedEvery)*(c.Wait+c.offer.startUp)
}
