package gridengine

import (
	"cmp"
	"context"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"berth/internal/core/cluster"
	"berth/internal/core/job"
	"berth/internal/core/job/parse"
	"berth/internal/core/pattern"
	"berth/internal/driver"
	"berth/internal/driver/batch"
)

// Name is the batch system's name, as in --on.
const Name = "gridengine"

// argFlag is the flag with which users give arguments to qsub.
const argFlag = "sge-arg"

// System reaches Grid Engine by its commands in one environment.
type System struct {
	batch.Tools
	hearing time.Duration // how long a host must be without an answer for it to count as lost
	site    batch.Kept[*site]

	mu      sync.Mutex
	unheard map[string]time.Time // the hosts that do not answer, since when
}

// Open returns Grid Engine as it is reached in an environment. It runs no command.
func Open(env []string) *System {
	return &System{hearing: hearing, Tools: batch.Tools{User: env, Env: commandEnv(env), Needed: []string{"qsub", "qconf"}, Variable: "SGE_ROOT",
		Load: "log in where Grid Engine is installed, or source its settings.sh", Patience: commandTimeout, Classify: classify, ID: jobID}}
}

// jobID finds the id in the output of qsub -terse. PBS has a qsub, too, but no qconf.
var jobID = pattern.Lazy(`^([0-9]+)$`)

// Words returns Grid Engine's own names.
func (s *System) Words() driver.BatchWords {
	return driver.BatchWords{
		System: "Grid Engine", Controller: "the qmaster of Grid Engine", Ask: "qhost", Cancel: "qdel",
		Mark:      "#$",
		Variables: variables,
		Cores:     coresOf,
		Where:     []string{"-P", "-A", "-ar"},
		BatchSystem: parse.BatchSystem{
			Name: Name, Flag: argFlag, Command: "qsub",
			Own:       strings.Fields("-t -tc -o -e -j -i -cwd -wd -sync -terse -now -b -S -R -w -N -notify -clear -@"),
			Elsewhere: []string{"-cell"},
			Choose:    "name one cluster in the environment: export SGE_ROOT and SGE_CELL",
		},
	}
}

// queueWords are the names that a plan uses.
var queueWords = cluster.Words{Limits: "qconf -srqs, qconf -sconf"}

// Test checks a request with qsub -w v, which says whether it could run if no other job were there. Grid Engine does not predict
// the start: that is unknown (0), unless the user runs as many jobs as the cluster allows.
func (s *System) Test(ctx context.Context, req job.AllocRequest) (job.Time, error) {
	c, err := s.config(ctx)
	if err != nil {
		return 0, err
	}
	args, err := c.shapeArgs(req)
	if err != nil {
		return 0, err
	}
	rows, err := s.jobs(ctx, batch.UserName(s.User))
	if err != nil {
		return 0, err
	}
	at, err := c.room(rows)
	if err != nil {
		return 0, err
	}
	_, err = s.Output(ctx, slices.Concat([]string{"qsub"}, args, strings.Fields("-w v -b y /bin/true"))...)
	if err != nil && req.Batch.Exclusive && strings.Contains(err.Error(), inUse) {
		req.Batch.Exclusive = false
		return s.Test(ctx, req)
	}
	return at, err
}

// inUse is what qsub -w v says of hosts that run a job now if the request is exclusive. Of all that jobs have now, it counts only this.
const inUse = "exclusive resource"

// Submit submits a job. qsub writes the job's id directly to out.
func (s *System) Submit(ctx context.Context, sub batch.Submission, out *os.File) (string, error) {
	c, err := s.config(ctx)
	if err != nil {
		return "", err
	}
	args, err := c.shapeArgs(sub.Request)
	if err != nil {
		return "", err
	}
	args = slices.Concat(args, ownArgs(sub), waitArgs(sub.Wait, time.Now()), []string{sub.Script})
	return s.Tools.Submit(ctx, batch.Call{Name: "qsub", Args: args, Env: s.Env, Out: out})
}

// Find returns the id of the job with this script that has not ended.
func (s *System) Find(ctx context.Context, script string) (string, error) {
	rows, err := s.jobs(ctx, batch.UserName(s.User))
	if err != nil {
		return "", err
	}
	for i := range rows {
		if strings.HasSuffix(rows[i].Name, "."+mark(script)) {
			return rows[i].Number, nil
		}
	}
	return "", nil
}

// noJob is a name that no job has: qalter cannot take a dependency away, but replace it by one on a job that is not there.
const noJob = "berth-none"

// Delay changes the earliest start of a pending job and the jobs that it depends on.
func (s *System) Delay(ctx context.Context, id string, w batch.Wait) error {
	after := strings.Join(w.After, ",")
	if after == "" {
		after = noJob
	}
	_, err := s.Output(ctx, "qalter", "-a", w.Begin(time.Now()), "-hold_jid", after, id)
	return err
}

// Cancel cancels a job.
func (s *System) Cancel(ctx context.Context, id string, _ bool) error {
	_, err := s.Output(ctx, "qdel", id)
	return err
}

// jobs returns the jobs of a user, or of all users ("*"), with a row for each slot of the running ones.
func (s *System) jobs(ctx context.Context, user string) ([]row, error) {
	out, err := s.Output(ctx, strings.Fields(qstat(user))...)
	if err != nil {
		return nil, err
	}
	return parseJobs(out)
}

// room returns when the user, whose jobs these are, may run one more, as far as that is known; 0: now. The error says that the cluster
// allows no further job in its queue.
func (c *site) room(rows []row) (at job.Time, err error) {
	seen, ends := map[string]bool{}, []job.Time{}
	for i := range rows {
		seen[rows[i].Number] = true
	}
	if c.unended > 0 && len(seen) >= c.unended {
		return 0, job.TransientError("max_u_jobs", "you have "+job.Count(len(seen), "job")+" in the queue, as many as the cluster allows a user", batch.ErrLater).Advice("wait until one has ended, or delete one")
	}
	for _, p := range placesOf(rows) {
		if limit := cmp.Or(c.limit(p.row, p.queue, p.master), c.length); limit > 0 {
			ends = append(ends, parseTime(p.Started).Add(limit))
		}
	}
	slices.Sort(ends)
	if before := len(seen) - c.atOnce; c.atOnce > 0 && before >= 0 && before < len(ends) {
		return ends[before], nil
	}
	return 0, nil
}

// coresOf returns how many slots the batch job has on a host that a process with this environment is part of.
func coresOf(env []string, host string) (c driver.BatchCores) {
	if job.Getenv(env, "JOB_ID") != "" {
		c.Least("NSLOTS", driver.Number(env, "NSLOTS"))
		c.Least("PE_HOSTFILE", slotsOn(job.Getenv(env, "PE_HOSTFILE"), host))
	}
	return c
}

// slotsOn returns the slots that a file of a job's hosts says of one of them (sge_pe(5), PE_HOSTFILE), or 0.
func slotsOn(file, host string) (slots int) {
	text, err := os.ReadFile(file)
	if err != nil {
		return 0
	}
	short := func(name string) string { name, _, _ = strings.Cut(name, "."); return name }
	for line := range strings.Lines(string(text)) {
		if f := strings.Fields(line); len(f) > 1 && short(f[0]) == short(host) {
			n, _ := strconv.Atoi(f[1])
			slots += n
		}
	}
	return slots
}
