package gridengine

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"berth/internal/core/job"
	"berth/internal/driver/batch"
)

// Jobs asks qstat for the states of the user's jobs, and qacct for the end of those that it does not know any more.
func (s *System) Jobs(ctx context.Context, jobs []batch.Job) (map[string]batch.Status, error) {
	c, err := s.config(ctx)
	if err != nil {
		return nil, err
	}
	said, errs := s.Each(ctx, qstat(batch.UserName(s.User)), "qselect -qs u")
	rows, err := parseJobs(said[0])
	if err := cmp.Or(errs[0], unlessEmpty(errs[1]), err); err != nil {
		return nil, err
	}
	lost := s.lost(said[1])
	running := map[string]*place{}
	for _, p := range placesOf(rows) {
		running[p.Number] = p
	}
	all := make(map[string]batch.Status, len(jobs))
	var waiting []*row
	var numbers []string
	for _, j := range jobs {
		i := slices.IndexFunc(rows, func(r row) bool { return r.Number == j.ID && ours(&r, j) })
		switch {
		case i < 0:
			st := s.gone(ctx, j)
			st.Other = slices.ContainsFunc(rows, func(r row) bool { return r.Number == j.ID })
			all[j.ID] = st
		case !rows[i].running():
			waiting, numbers = append(waiting, &rows[i]), append(numbers, j.ID)
		default:
			all[j.ID] = c.status(running[j.ID], j, lost, job.TimeOf(time.Now()))
		}
	}
	if waiting == nil {
		return all, nil
	}
	said, errs = s.Each(ctx, qstatDetails(numbers), "qselect -qs DC")
	if err := cmp.Or(unlessEmpty(errs[0]), unlessEmpty(errs[1])); err != nil {
		return nil, err
	}
	details, _ := parseDetails(said[0]) // without them it is only known that they wait
	for _, r := range waiting {
		all[r.Number] = c.waiting(r, details[r.Number], said[1])
	}
	return all, nil
}

// holds returns what holds a pending job.
func (r *row) holds() string {
	if len(r.After) > 0 {
		return "it depends on another job"
	}
	return "it is held (qrls lets it start)"
}

// hearing is how long a host must be without an answer for it to count as lost. To a qmaster that was started again no host has
// answered, and running hosts need half a minute to notice that and report. (max_unheard, 5 min by default, has passed before.)
const hearing = 90 * time.Second

// lost returns the hosts that have not answered for so long, given the queue instances that do not answer now.
func (s *System) lost(instances string) map[string]bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	now, since, lost := time.Now(), map[string]time.Time{}, map[string]bool{}
	for instance := range strings.FieldsSeq(instances) {
		_, host, _ := strings.Cut(instance, "@")
		since[host] = now
		if first, known := s.unheard[host]; known {
			since[host] = first
		}
		lost[host] = now.Sub(since[host]) >= s.hearing
	}
	s.unheard = since
	return lost
}

// ours reports whether a job is the one that was submitted with the script in the allocation's folder. After a crash of the qmaster the ids of jobs that have ended are
// given again.
func ours(r *row, j batch.Job) bool {
	script, _ := batch.Submitted(j.Dir)
	return script == "" || strings.HasSuffix(r.Name, "."+mark(script))
}

// waiting returns the state of a pending job. asleep has the queue instances that calendars have closed, a line each.
func (c *site) waiting(r *row, d detail, asleep string) batch.Status {
	st := batch.Status{Phase: batch.Waiting, Why: "its nodes are not free yet"}
	failures := slices.Concat(d.Errors, d.Faults)
	switch {
	case strings.Contains(r.State, "E"):
		st.Never, st.Why = true, "it could not be started"
		if len(failures) > 0 {
			st.Why = failures[len(failures)-1]
		}
	case strings.Contains(r.State, "h"):
		st.Why = r.holds()
	case len(failures) > 0:
		_, why, _ := strings.Cut(failures[len(failures)-1], "]: ") // after the time and the process
		st.Why = fmt.Sprintf("its start failed on %s: %s (such queues are in error until an administrator clears that by qmod -cq)",
			job.Count(len(failures), "node"), cmp.Or(why, failures[len(failures)-1]))
	case r.Priority == 0:
		st.Why = "Grid Engine has not considered it yet, or its earliest start is not reached"
	case slices.ContainsFunc(r.Queue, func(name string) bool { return strings.Contains(asleep, name+"@") }):
		st.Why += ", or its queue is closed by its calendar now"
	case c.quotas:
		st.Why += ", or a quota of the site holds it (qquota)"
	}
	if strings.Contains(r.State, "d") {
		st.Phase, st.Never = batch.Ending, false
	}
	return st
}

// status returns the state of a job that runs. If the host of its script is lost, the job has failed, although Grid Engine shows it until the host answers again.
func (c *site) status(p *place, j batch.Job, lost map[string]bool, now job.Time) batch.Status {
	st := batch.Status{Phase: batch.Running, Start: parseTime(p.Started)}
	limit := c.limit(p.row, p.queue, p.master)
	if limit > 0 && st.Start > 0 {
		st.End = st.Start.Add(limit)
	}
	for _, h := range p.order {
		if !lost[h] {
			st.Hosts = append(st.Hosts, h)
		}
	}
	switch {
	case lost[p.master]:
		st.Phase, st.Verdict = batch.Ending, batch.Taken(batch.NodeFailed(p.master))
	case strings.Contains(p.State, "d"):
		st.Phase, st.Verdict = batch.Ending, ending(j, limit, st.End > 0 && now >= st.End)
	case strings.Contains(p.State, "t") && now > st.Start.Add(startPatience):
		st.Phase, st.Verdict = batch.Ending, batch.Taken("its node has not started it for "+job.FormatDuration(startPatience)+": "+p.master)
	case strings.Contains(p.State, "t"):
		st.Phase = batch.Starting
	case strings.ContainsAny(p.State, "sST"):
		st.Phase, st.Why = batch.Odd, "suspended"
	}
	return st
}

// startPatience is how long a host has to start a job. One that was killed when it was given the job has forgotten it, and Grid Engine
// gives it the job again after five minutes.
const startPatience = 2 * time.Minute

// ending returns why a job is ending that is marked for deletion: the qmaster, too, marks it so at its wall time.
func ending(j batch.Job, limit time.Duration, late bool) batch.Verdict {
	if _, err := os.Stat(filepath.Join(j.Dir, exitFile)); err == nil {
		return batch.Verdict{Script: true}
	}
	if late {
		return batch.Verdict{Reason: batch.TimePassed(limit)}
	}
	return batch.Taken("it was cancelled (qdel)")
}
