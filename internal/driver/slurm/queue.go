package slurm

import (
	"path/filepath"
	"slices"
	"strings"
	"time"

	"berth/internal/core/cluster"
	"berth/internal/core/job"
	"berth/internal/driver"
	"berth/internal/driver/batch"
)

// queued is a job with its place in the queue: what is less comes first.
type queued struct {
	cluster.Queued
	place [3]int64
}

// parseQueue returns the running and the pending jobs in squeue's rows (queueFields). The
// pending ones are in the order in which Slurm tries to start them.
func parseQueue(rows [][]string, partitions []cluster.Partition, tiers map[string]int, at *places, s site) (running, pending []cluster.Queued) {
	byName := make(map[string]*cluster.Partition, len(partitions))
	for i := range partitions {
		byName[partitions[i].Name] = &partitions[i]
	}
	busy := runningTasks(rows)
	var waiting []queued
	for _, f := range rows {
		q := parseJob(f, byName, s)
		q.place[0] = -int64(tiers[q.Partition])
		switch state := f[3]; {
		case state == "PENDING":
			q.Nodes = at.indices(f[13])
			for _, q.Queued = range split(q.Queued, busy) {
				waiting = append(waiting, q)
			}
		case states.Phase(state).HoldsNodes():
			q.Nodes = at.indices(f[12])
			running = append(running, q.Queued)
		}
	}
	slices.SortStableFunc(waiting, func(a, b queued) int { return slices.Compare(a.place[:], b.place[:]) })
	for _, q := range waiting {
		pending = append(pending, q.Queued)
	}
	return running, pending
}

// parseJob reads all fields of a row except the nodes.
func parseJob(f []string, partitions map[string]*cluster.Partition, s site) queued {
	q := queued{Queued: cluster.Queued{ID: f[0], User: f[1], Partition: f[2], Account: given(f[15]), QOS: given(f[16]), Count: max(parseCount(f[4]), 1)}}
	priority, _ := digits(f[11])
	q.place = [3]int64{0, -priority, int64(driver.LeadingNumber(f[0]))}
	mem := int64(0)
	if s.memory {
		mem = parseMegabytes(tres(f[6], "mem"))
	}
	q.PerNode = perNode(parseCount(f[5]), mem, q.Count)
	q.PerNode.GPUs, q.PerNode.GPUType = jobGPUs(f[6], f[17], f[18], q.Count)
	q.Whole = s.wholeNodes || f[7] == "NO" // the user asked for nodes of its own
	q.Start, q.Limit = parseTime(f[9]), parseLimit(f[8])
	for name := range strings.SplitSeq(f[2], ",") { // of several partitions, the first that exists
		if p := partitions[name]; p != nil {
			q.Partition = name
			q.Whole = q.Whole || p.Whole
			break
		}
	}
	if f[3] == "PENDING" {
		q.Held = held(f[19], q.Start)
	} else if end := parseTime(f[10]); q.Limit > 0 && end > q.Start { // the end may have been moved, for example by a suspension
		q.Limit = end.Sub(q.Start)
	}
	return q
}

// perNode divides a job's resources by its number of nodes, rounded up. A pending job with
// fewer CPUs than nodes gets one CPU on each node.
func perNode(cpus int, mem int64, nodes int) job.Resources {
	if cpus > 0 && cpus < nodes {
		return job.Resources{CPUs: 1, Mem: mem / int64(cpus)}
	}
	return job.Resources{CPUs: (cpus + nodes - 1) / nodes, Mem: (mem + int64(nodes) - 1) / int64(nodes)}
}

// runningTasks returns the number of tasks that occupy nodes, by the array's id.
func runningTasks(rows [][]string) map[string]int {
	busy := map[string]int{}
	for _, f := range rows {
		if array, _, ok := strings.Cut(f[0], "_"); ok && states.Phase(f[3]).HoldsNodes() {
			busy[array]++
		}
	}
	return busy
}

// split makes one entry of a pending job, and two of an array that may not run all its tasks at once.
func split(q cluster.Queued, busy map[string]int) []cluster.Queued {
	tasks, throttle := arrayTasks(q.ID)
	if tasks > 1 {
		q.Repeat = tasks
	}
	array, _, _ := strings.Cut(q.ID, "_")
	return batch.Throttled(q, throttle, busy[array], reasons.Of("JobArrayTaskLimit"))
}

// held returns the reason why a pending job cannot start by itself, or "". A job that waits for nodes or
// priority can start, and so can a job for which Slurm has planned a start.
func held(reason string, start job.Time) string {
	if name := reasonName(reason); canStart(name) || start > 0 && !isHeld(name) {
		return ""
	}
	return reasonWords(reason)
}

var (
	canStart = driver.Says(`^(None|Priority|Resources|Cleaning|Prolog|SchedDefer)$`)
	isHeld   = driver.Says(`^(Dependency|DependencyNeverSatisfied|JobHeldUser|JobHeldAdmin|BeginTime|JobArrayTaskLimit)$`)
)

// watched is the state of one of berth's jobs in a poll. The zero value is that of a job that squeue does not know.
type watched struct {
	batch.Status
	state  string
	exit   int // exit status of its script
	signal int // signal that ended its script
	reason string
	at     job.Time // when it was submitted
	script string
}

// parseWatched returns the jobs in squeue's rows (watchFields), by id.
func parseWatched(rows [][]string) map[string]watched {
	jobs := make(map[string]watched, len(rows))
	for _, f := range rows {
		w := watched{state: f[1], reason: f[7], at: parseTime(f[8]), script: f[9], Status: batch.Status{Phase: states.Phase(f[1]), Start: parseTime(f[2]), End: parseTime(f[3])}}
		if parseLimit(f[4]) == 0 && w.Phase != batch.Over {
			w.End = 0 // Slurm prints a time in one year
		}
		if w.Phase != batch.Waiting {
			w.Hosts, _ = expandHosts(f[5]) // without hosts no node counts as lost
		}
		switch w.Phase {
		case batch.Waiting:
			w.Why, w.Never = reasonWords(w.reason), neverStarts(w.reason)
		case batch.Odd, batch.Gone: // a state that is not known here
			w.Phase, w.Why = batch.Odd, strings.ToLower(w.state)
		}
		w.exit, w.signal = parseExit(f[6])
		jobs[f[0]] = w
	}
	return jobs
}

// sameBy is by how much clocks may differ by which a job was submitted.
const sameBy = time.Minute

// isOther reports whether the job is another than the one with this id that was submitted: it has another script, and came later. (A site's
// sbatch may submit a copy of the script.)
func (w watched) isOther(j batch.Job) bool {
	script, at := batch.Submitted(j.Dir)
	return w.script != "" && script != "" && at != 0 && filepath.Base(w.script) != filepath.Base(script) && w.at > at.Add(sameBy)
}

// states are the states of jobs.
var states = batch.States{
	batch.Waiting:  " PENDING REQUEUED REQUEUE_HOLD REQUEUE_FED RESV_DEL_HOLD ",
	batch.Starting: " CONFIGURING ",
	batch.Running:  " RUNNING ",
	batch.Ending:   " COMPLETING ",
	batch.Over:     " COMPLETED FAILED CANCELLED TIMEOUT NODE_FAIL PREEMPTED BOOT_FAIL DEADLINE OUT_OF_MEMORY REVOKED LAUNCH_FAILED SPECIAL_EXIT ",
	batch.Odd:      " SUSPENDED STOPPED SIGNALING RESIZING STAGE_OUT ",
}

// findByScript returns the id of the user's job that was submitted with this script and
// has not ended, or "" (findFields).
func findByScript(rows [][]string, script string) string {
	for _, f := range rows {
		if f[2] == script && states.Phase(f[1]) != batch.Over {
			return f[0]
		}
	}
	return ""
}
