package rundir

import (
	"context"
	"strings"
	"time"

	"berth/internal/core/job"
	"berth/internal/core/job/task"
	"berth/internal/core/plan"
	"berth/internal/core/predict"
	"berth/internal/mapreduce"
	"berth/internal/mapreduce/bucket"
	"berth/internal/mapreduce/hadoop"
	"berth/internal/mapreduce/input"
	"berth/internal/node/transfer"
	"berth/internal/server/history"
	"berth/internal/server/queuelog"
	"berth/internal/sys/statedir"
)

// Decided is a job with its tasks and its plan.
type Decided struct {
	Spec  *job.Spec
	Tasks statedir.Tasks
	Plan  plan.Plan
	asked plan.Question
}

// Elsewhere returns what to tell a user who named no partition of others (plan.Elsewhere).
func (d *Decided) Elsewhere() []string { return plan.Elsewhere(d.asked, &d.Plan) }

// Decide reads the job's input, observes its backend, and plans. It writes nothing but what a batch system refuses. entries are those of a bag. held
// returns the user's allocations of batch systems, and is called only for a job on one.
func Decide(ctx context.Context, h statedir.Home, spec *job.Spec, entries []job.Entry, held func() []job.Live) (*Decided, error) {
	at, err := observe(ctx, spec)
	if err != nil {
		return nil, err
	}
	if spec.Bag != nil && (at.NoSharedFiles || spec.Bag.Local) {
		if err := transfer.Check(spec, entries, !at.NoSharedFiles); err != nil {
			return nil, err
		}
	}
	at.use(h, spec, held)
	d := &Decided{Spec: spec, Tasks: statedir.Tasks{Entries: statedir.EntriesOf(entries...)}}
	counts := plan.Counts{Tasks: len(entries)}
	var notes []string
	if spec.Kind == job.MapReduce {
		sum, err := d.split(ctx, at)
		if err != nil {
			return nil, err
		}
		notes = inputNotes(sum)
		counts = plan.Counts{Tasks: len(d.Tasks.Splits), InputBytes: sum.Bytes}
	}
	chosen := at.chooseMemory(ctx, h, spec, entries)
	own := EntryNeeds(spec.Bag, d.Tasks.Entries.At)
	switch {
	case own != nil:
		counts.Needs, err = own.left(spec, len(entries), &at.Snapshot)
	case chosen.Runs() != nil:
		counts.Needs = leftOf(spec, len(entries), chosen)
	}
	if err != nil {
		return nil, err
	}
	if d.Plan, err = at.decide(ctx, h, spec, counts, nil); err != nil {
		return nil, own.nameTask(err, spec, len(entries))
	}
	d.asked = at.asked
	d.Plan.Further, d.Plan.Which = chosen.Further, chosen.Runs()
	d.Plan.Notes = append(d.Plan.Notes, notes...)
	if spec.Kind == job.MapReduce {
		spec.MapReduce.Reduces = d.Plan.Reduces
	}
	return d, nil
}

// PlanTasks plans a bag whose tasks are the lines of an input of that name, as if it got no more. It writes nothing.
func PlanTasks(ctx context.Context, h statedir.Home, spec *job.Spec, from string, tasks []task.Spec,
	held func() []job.Live) (p plan.Plan, err error) {
	at, err := observe(ctx, spec)
	if err != nil {
		return p, err
	}
	at.use(h, spec, held)
	at.chooseMemory(ctx, h, spec, nil)
	own := OwnNeeds(func(i int) (job.Needs, string, error) { return tasks[i].Needs, tasks[i].At(from), nil })
	needs, err := own.left(spec, len(tasks), &at.Snapshot)
	if err != nil {
		return p, err
	}
	after, err := task.Order(from, tasks, 0, func(string) (int, bool) { return 0, false })
	if err != nil {
		return p, err
	}
	p, err = at.decide(ctx, h, spec, extent(plan.Counts{Tasks: len(tasks), Needs: needs}, after), nil)
	if err == nil {
		p.Notes = append(p.Notes, plan.Elsewhere(at.asked, &p)...)
	}
	return p, own.nameTask(err, spec, len(tasks))
}

// extent sets how many tasks can run at once and how many are in a row, as some come after others.
func extent(c plan.Counts, after [][]int32) plan.Counts {
	behind, left := map[int32][]int32{}, map[int32]int32{}
	for i, list := range after {
		for _, before := range list {
			behind[before], left[int32(i)] = append(behind[before], int32(i)), left[int32(i)]+1
		}
	}
	c.Width, c.Path = task.Extent(len(after)-len(left), behind, left)
	return c
}

// split cuts the input of a MapReduce job into splits that fit the nodes.
func (d *Decided) split(ctx context.Context, at backend) (input.InputSummary, error) {
	if err := mapreduce.CheckOutput(ctx, d.Spec.MapReduce); err != nil {
		return input.InputSummary{}, err
	}
	if err := hadoop.Check(d.Spec.MapReduce); err != nil {
		return input.InputSummary{}, err
	}
	layout, err := plan.DivideMachine(at.Snapshot, d.Spec)
	if err != nil {
		return input.InputSummary{}, err
	}
	ctx = bucket.With(ctx, d.Spec.MapReduce.Env)
	opts := input.SplitOptions{Slots: layout.TaskSlots, Memory: layout.MapMemory(),
		List: func(prefix string, each func(string, int64, string)) error { return bucket.List(ctx, prefix, each) },
		Tag:  func(name string) (string, error) { return bucket.Tag(ctx, name) }}
	splits, sum, err := input.PlanSplits(d.Spec.MapReduce, opts)
	d.Tasks.Splits = splits
	return sum, err
}

// decide plans a job of a known size, or the rest of it.
func (at *backend) decide(ctx context.Context, h statedir.Home, spec *job.Spec, counts plan.Counts, rest *job.Remaining) (plan.Plan, error) {
	if at.Snapshot.Queue == nil { // nodes of a batch system may have folders that this machine does not have
		if err := checkScratch(spec.Request.Scratch); err != nil {
			return plan.Plan{}, err
		}
	}
	needs := counts.Needs
	if rest != nil {
		needs = rest.Needs
	}
	prof, own, warning := profile(ctx, h, spec, needs, at.NodeType)
	q := plan.Question{Now: now(), Snap: at.Snapshot, Spec: Limited(h, spec, &at.Snapshot), Counts: counts, Profile: prof, Own: own, Remaining: rest, Idle: at.idle, Beside: at.beside,
		Past: queuelog.Past(h, &at.Snapshot), LeftOut: at.LeftOut}
	at.asked = q
	p, err := PlanChecked(ctx, h, q, at.Tester)
	p.NodeType = at.NodeType
	p.Notes = append(p.Notes, at.Notes...)
	if none := spec.Request.BatchOnly(); at.Snapshot.Queue == nil && len(none) > 0 {
		p.Notes = append(p.Notes, "there is no batch system here, so this has no effect: --"+strings.Join(none, ", --"))
	}
	if warning != "" {
		p.Notes = append(p.Notes, warning)
	}
	return p, err
}

func now() job.Time { return job.TimeOf(time.Now()) }

// profile returns the profile of the application on that type of node, or else on any; nil without one. A store that
// cannot be read is not an error of the job; the warning names the cause. own has those of the applications that tasks name themselves.
func profile(ctx context.Context, h statedir.Home, spec *job.Spec, needs []job.NeedsLeft, nodeType string) (prof *predict.Profile, own []plan.Own, warning string) {
	s, err := history.Open(ctx, h.Database())
	if err == nil {
		defer s.Close()
		prof, err = Profile(ctx, s, spec, nodeType)
	}
	if err != nil {
		return nil, nil, "profiles cannot be read: " + err.Error()
	}
	return prof, OwnProfiles(ctx, s, spec, needs, nodeType), ""
}

// Profile returns the stored profile of a job's application on that type of node, or else on the type where it ran
// last; nil without one. For an unknown application it returns the profile of the one that ran last with the same
// files, before they were edited.
func Profile(ctx context.Context, s *history.Store, spec *job.Spec, nodeType string) (*predict.Profile, error) {
	prof, err := s.Profile(ctx, predict.Application(spec), nodeType)
	if prof == nil && err == nil {
		before, err := s.LastAt(ctx, predict.ApplicationByPath(spec))
		if before == "" || err != nil {
			return nil, err
		}
		if prof, err = s.Profile(ctx, before, nodeType); err != nil {
			return nil, err
		}
	}
	if prof != nil {
		prof.Slow, err = s.Spells(ctx, nodeType, now().Add(-lately))
	}
	return prof, err
}

// lately is for how long plans remember how often nodes were slow.
const lately = 30 * 24 * time.Hour
