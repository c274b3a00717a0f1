package engine_test

import (
	"cmp"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"berth/internal/core/engine"
	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/core/job/parse"
	"berth/internal/core/sched"
	"berth/internal/core/step"
	"berth/internal/server/journal"
	"berth/lab/schedulers"
	"berth/test/support/enginetest"
)

// TestScenarios runs the scenarios of testdata/scenarios. Each line of a "steps" block is one
// input; its records are printed with *, its actions with !. With -rewrite the output becomes the
// expected one.
func TestScenarios(t *testing.T) {
	datadriven.Walk(t, "testdata/scenarios", func(t *testing.T, path string) {
		s := newScenario(t)
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			s.t, s.d = t, d
			s.out.Reset()
			for line := range strings.Lines(d.Input) {
				if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
					s.line(line)
				}
			}
			return s.out.String()
		})
	})
}

// scenario is an engine that is controlled by text commands.
type scenario struct {
	t       *testing.T
	d       *datadriven.TestData
	cfg     engine.Config
	e       *engine.Engine
	now     job.Time
	journal []event.Entry
	out     strings.Builder
}

func newScenario(t *testing.T) *scenario {
	s := &scenario{t: t, cfg: engine.Config{NodeTimeout: time.Minute}}
	s.e = engine.New(s.cfg)
	return s
}

// line runs one command, "[+5s] verb argument… key=value…".
func (s *scenario) line(line string) {
	s.out.WriteString("> " + line + "\n")
	if strings.HasPrefix(line, "+") {
		after, rest, _ := strings.Cut(line, " ")
		s.now = s.now.Add(s.duration(after[1:]))
		line = rest
	}
	verb, rest, _ := strings.Cut(line, " ")
	a := s.parse(rest)
	if s.query(verb, a) {
		return
	}
	out, err := s.e.Step(s.now, s.input(verb, a))
	s.print(out)
	if err != nil {
		fmt.Fprintf(&s.out, "  error: %v\n", err)
	}
}

func (s *scenario) print(out engine.Output) {
	for _, r := range out.Records {
		s.journal = append(s.journal, event.Entry{Seq: uint64(len(s.journal) + 1), At: s.now, Record: r})
		fmt.Fprintf(&s.out, "  * %s\n", showRecord(r))
	}
	for _, a := range out.Actions {
		fmt.Fprintf(&s.out, "  ! %s\n", showAction(a))
	}
}

// query runs the commands that are no inputs.
func (s *scenario) query(verb string, a args) bool {
	switch verb {
	case "explain":
		for _, l := range s.e.Explain(s.now, a.job(0)) {
			s.out.WriteString("  " + l + "\n")
		}
	case "jobs":
		for _, j := range s.e.Jobs() {
			fmt.Fprintf(&s.out, "  %s %s %q tasks %+v reduces %+v\n", j.ID, j.State, j.Reason, j.Tasks, j.Reduces)
		}
	case "allocs":
		for _, al := range s.e.AllocStatuses() {
			fmt.Fprintf(&s.out, "  %s joined %d idle %t%s\n", al.ID, al.Joined, al.Idle, s.elasticStatus(al))
		}
	case "held":
		for _, l := range s.e.Held() {
			fmt.Fprintf(&s.out, "  %s busy %t next %v free %v over %t\n", l.ID, l.Busy, time.Duration(l.Next), time.Duration(l.Free), l.Over)
		}
	case "nodes":
		for _, n := range s.e.Nodes() {
			fmt.Fprintf(&s.out, "  %s %s running %d used {%d %d} of {%d %d} suspected %t\n", n.ID, n.State, n.Running, n.Used.CPUs, n.Used.Mem, n.Capacity.CPUs, n.Capacity.Mem, n.Suspected)
		}
	case "in-use":
		for _, l := range s.e.Limits() {
			fmt.Fprintf(&s.out, "  %s\n", l.Words())
		}
	case "kept":
		fmt.Fprintf(&s.out, "  %d of %v\n", s.e.Kept(), s.e.Uncleared())
	case "timeout":
		at, ok := s.e.NextTimeout()
		fmt.Fprintf(&s.out, "  %v %t\n", at.Sub(s.now), ok)
	case "replay":
		s.replay(a.pos[0])
	case "restart":
		s.restart(a.num("lose", 0), job.ID(a.str("without", "")))
	case "config":
		s.cfg.MaxLost, s.cfg.MaxBadOutputs = a.num("max-lost", 0), a.num("max-bad-outputs", 0)
		s.cfg.Order, s.cfg.Scheduler = sched.Order(a.str("order", "")), scheduler(a.str("scheduler", ""))
		s.cfg.Yield = a.str("yield", "") != ""
		s.cfg.Limits = s.limits(a.str("limits", ""))
		s.cfg.Behind, s.cfg.Ahead = a.num("behind", 0), s.duration(a.str("ahead", "0s"))
		s.e, s.journal = engine.New(s.cfg), nil
	case "known":
		fmt.Fprintf(&s.out, "  %v\n", s.e.KnownNodes())
	case "dismiss":
		fmt.Fprintf(&s.out, "  %t\n", s.e.Dismiss(a.job(0), a.flag("must")))
	case "recall":
		for _, ent := range s.journal {
			if ent.Record.Of() == a.job(0) {
				s.e.Replay(ent)
			}
		}
	default:
		return false
	}
	return true
}

// replay makes a new engine from journals on disk, one second after their last record.
func (s *scenario) replay(name string) {
	paths, err := filepath.Glob(filepath.Join("testdata/journals", name, "*"))
	s.must(err)
	var jobs []job.ID
	for _, path := range paths {
		if id := filepath.Base(path); id != "server" {
			jobs = append(jobs, job.ID(id))
		}
	}
	set := journal.NewSet(func(id job.ID) string {
		return filepath.Join("testdata/journals", name, cmp.Or(string(id), "server"))
	})
	s.e, s.journal = engine.New(s.cfg), nil
	_, err = set.Replay(jobs, func(ent event.Entry) error {
		s.journal, s.now = append(s.journal, ent), ent.At.Add(time.Second)
		s.e.Replay(ent)
		return nil
	})
	s.must(err)
	fmt.Fprintf(&s.out, "  %d records of %d journals\n", len(s.journal), len(paths))
	s.print(s.e.Recover(s.now))
}

// restart makes a new engine from the journal without its last records
// and without those of one job, or with "server" without those of no job.
func (s *scenario) restart(lose int, without job.ID) {
	before := s.e.Dump()
	s.journal = s.journal[:len(s.journal)-lose]
	s.e = engine.New(s.cfg)
	for _, ent := range s.journal {
		if id := ent.Record.Of(); without == "" || id != without && (id != "" || without != "server") {
			s.e.Replay(ent)
		}
	}
	if after := s.e.Dump(); lose == 0 && without == "" && after != before {
		s.d.Fatalf(s.t, "the replayed state differs:\n%s\nbefore:\n%s", after, before)
	}
	s.print(s.e.Recover(s.now))
}

func (s *scenario) input(verb string, a args) step.Input {
	switch verb {
	case "submit":
		return step.Submit{Work: s.work(a)}
	case "add":
		in := step.Add{TasksAdded: event.TasksAdded{Job: a.job(0), N: a.num("tasks", 1), Shares: a.flag("shares")}}
		for _, c := range strings.FieldsFunc(a.str("order", ""), func(r rune) bool { return r == ';' }) {
			in.After = append(in.After, s.comes(c))
		}
		needs := s.needs(a.key["needs"])
		in.Further, in.Which = needs.Further, needs.Runs()
		return in
	case "close":
		return step.Close{Job: a.job(0)}
	case "cancel":
		in := step.Cancel{Job: a.job(0), Reason: a.key["reason"]}
		for _, task := range a.pos[1:] {
			i, err := strconv.Atoi(task)
			s.must(err)
			in.Tasks = append(in.Tasks, int32(i))
		}
		return in
	case "resume":
		w := s.work(a)
		in := event.JobResumed{Job: a.job(0), Failed: a.flag("failed"), Alloc: w.Alloc, Followup: w.Followup}
		if w.Weight > 0 {
			in.Terms = &w.Terms
		}
		return step.Resume{JobResumed: in}
	case "limits":
		return step.SetLimits{Limits: s.limits(a.pos[0])}
	case "set":
		return step.Set{TermsChanged: event.TermsChanged{Job: a.job(0), Terms: s.work(a).Terms, PlaceOnly: a.flag("place-only")}}
	case "finalized":
		return step.Finalized{Job: a.job(0), Failed: a.flag("failed"), Reason: a.key["reason"]}
	case "join":
		up := step.NodeUp{Running: s.attempts(a.key["running"]), Held: s.attempts(a.key["held"])}
		n := job.NodeID(a.pos[0])
		up.NodeJoined = event.NodeJoined{Node: n, Host: a.str("host", "h"), Addr: a.str("addr", string(n)+":1"), Capacity: s.resources(a.str("cap", "2,4G")), Outputs: a.key["outputs"]}
		return up
	case "down":
		return step.NodeDown{Node: job.NodeID(a.pos[0]), Gone: a.flag("gone"), Dead: a.flag("dead"), Reason: a.key["reason"]}
	case "alloc-down":
		down := step.AllocDown{Alloc: job.AllocID(a.pos[0]), Refuse: a.flag("refuse"), Reason: a.key["reason"], Bad: a.key["bad"]}
		switch {
		case a.flag("taken"):
			down.How = event.EndTaken
		case a.flag("larger"):
			down.How = event.EndRefused
		case a.flag("broken"):
			down.How = event.EndBroken
		}
		return down
	case "found":
		return step.Found{Job: a.job(0), State: event.State(a.str("state", "")), Reason: a.key["reason"]}
	case "tick":
		return step.Tick{}
	}
	if in := s.elasticInput(verb, a); in != nil {
		return in
	}
	in := s.attemptInput(verb, a)
	if from := a.key["from"]; from != "" {
		in = step.FromWorker{Node: job.NodeID(from), Input: in}
	}
	return in
}

func (s *scenario) attemptInput(verb string, a args) step.Input {
	at := s.attempt(a.pos[0])
	switch verb {
	case "phase":
		return step.PhaseEntered{PhaseEntered: event.PhaseEntered{Attempt: at, Phase: s.phase(a.pos[1])}}
	case "progress":
		return step.Progress{Node: job.NodeID(a.pos[1]), Of: []job.Progress{{Attempt: at, Fraction: -1, Idle: a.flag("idle")}}}
	case "want-grant":
		return step.GrantWanted{Attempt: at, Phase: s.phase(a.pos[1])}
	case "want-commit":
		in := step.CommitWanted{Attempt: at}
		for _, f := range strings.FieldsFunc(a.key["files"], func(r rune) bool { return r == ',' }) {
			n, err := strconv.ParseUint(f, 10, 64)
			s.must(err)
			in.Files = append(in.Files, n)
		}
		return in
	case "asks":
		return step.Asks{Attempt: at}
	case "fetch-failed":
		return step.FetchFailed{By: at, Map: s.attempt(a.pos[1]), Addr: a.key["addr"], Reason: a.key["reason"]}
	case "ended":
		for o := event.Done; o <= event.Outgrown; o++ {
			if o.String() == a.pos[1] {
				return step.AttemptEnded{AttemptEnded: event.AttemptEnded{Attempt: at, Outcome: o, Signal: a.num("signal", 0), Lack: s.lack(a.str("lack", "")), Returned: a.flag("returned"), Cut: a.flag("cut"), Reason: a.key["reason"], Stats: s.stats(a.key["stats"])}}
			}
		}
	}
	s.d.Fatalf(s.t, "unknown command %s %v", verb, a)
	return nil
}

// work makes a job of "ID tasks=3 need=1,512M …" or "ID maps=3 reduces=2 …".
func (s *scenario) work(a args) job.Work {
	w := job.Work{ID: a.job(0), Name: a.pos[0], Kind: job.Bag, Tasks: a.num("tasks", 0), Terms: job.Terms{Attempts: a.num("attempts", 1),
		MaxFails: a.num("max-fails", -1), Throttle: a.num("throttle", 0), Weight: float64(a.num("weight", 0)), Priority: a.num("priority", 0), Need: s.resources(a.str("need", "1,1G"))}}
	if _, ok := a.key["maps"]; ok {
		w.Kind, w.Tasks, w.Reduces, w.MaxFails = job.MapReduce, a.num("maps", 0), a.num("reduces", 0), 0
		w.ReduceAttempts, w.ReduceNeed = w.Attempts, s.resources(a.str("reduce-need", "1,1G"))
		f, err := strconv.ParseFloat(a.str("slow-start", "1"), 64)
		s.must(err)
		w.SlowStart = f
	}
	w.Gang = job.Gang{Ranks: a.num("ranks", 0), RanksPerNode: a.num("ranks-per-node", 0)}
	for name, n := range s.limits(a.key["use"]) {
		w.Uses = w.Uses.With(name, n)
	}
	w.Shares, w.Log = a.flag("shares"), uint64(a.num("log", 0))
	w.DataHosts = enginetest.Shared(a.key["reads"])
	w.Open, w.StartWithin = a.flag("open"), s.duration(a.str("start-within", "0s"))
	if _, ok := a.key["due"]; ok {
		w.Due = s.now.Add(s.duration(a.str("due", "0s")))
	}
	s.grows(a, &w)
	needs := s.needs(a.key["needs"])
	w.Further, w.Which = needs.Further, needs.Runs()
	w.Requeues, w.Lead = a.flag("requeues"), s.duration(a.str("lead", "0s"))
	w.Demands, w.Trusted = s.demands(a), a.flag("trusted")
	for _, id := range strings.FieldsFunc(a.str("after", ""), func(r rune) bool { return r == ',' }) {
		w.After = append(w.After, job.ID(id))
	}
	var idle []job.AllocID
	for _, id := range strings.FieldsFunc(a.str("idle-allocs", ""), func(r rune) bool { return r == ',' }) {
		idle = append(idle, job.AllocID(id))
	}
	w.Alloc, w.Followup = s.alloc(a), job.Followup{More: s.requests(a, a.key["more"]), Scout: a.num("scout", 0), Idle: idle, TaskTimes: s.times(a)}
	return w
}

// limits reads amounts as in x:1;y:2.
func (s *scenario) limits(v string) map[string]int {
	all := make(map[string]int)
	for _, one := range strings.FieldsFunc(v, func(r rune) bool { return r == ';' }) {
		name, amount, _ := strings.Cut(one, ":")
		n, err := strconv.Atoi(amount)
		s.must(err)
		all[name] = n
	}
	return all
}

// needs reads the needs of tasks, as in 2*8,1G;1*1,1G@2;1*1,1Gx4: two tasks of 8 cores, one that may fail twice, and one of four ranks. An empty
// one is the bag's.
func (s *scenario) needs(v string) (l job.NeedsList) {
	for _, run := range strings.FieldsFunc(v, func(r rune) bool { return r == ';' }) {
		count, said, _ := strings.Cut(run, "*")
		n, err := strconv.Atoi(count)
		s.must(err)
		var own job.Needs
		said, ranks, _ := strings.Cut(said, "x")
		_, err = fmt.Sscan("0"+ranks, &own.Ranks)
		s.must(err)
		said, attempts, _ := strings.Cut(said, "@")
		if own.Attempts, err = strconv.Atoi("0" + attempts); said != "" {
			r := s.resources(said)
			own.CPUs, own.Mem, own.GPUs, own.GPUShare, own.GPUType = r.CPUs, r.Mem, r.GPUs, r.GPUShare, r.GPUType
		}
		s.must(err)
		for range n {
			l.Add(own)
		}
	}
	return l
}

// grows reads what the memory and the time of tasks may grow to, and what earlier ones used, as in max-mem=8G and samples=1G,1G,2G.
func (s *scenario) grows(a args, w *job.Work) {
	w.MaxMem, w.NodeMem, w.AutoMem = s.size(a.key["max-mem"]), s.size(a.key["node-mem"]), a.flag("auto")
	w.TimeLimit, w.MaxTimeLimit = s.duration(a.str("limit", "0s")), s.duration(a.str("max-limit", "0s"))
	for _, peak := range strings.FieldsFunc(a.key["samples"], func(r rune) bool { return r == ',' }) {
		w.Memory = append(w.Memory, job.MemorySample{Peak: s.size(peak), Time: time.Minute})
	}
}

func (s *scenario) lack(name string) event.Lack {
	for l := event.LackNothing; l <= event.LackDisk; l++ {
		if l.String() == strings.ReplaceAll(name, "-", " ") {
			return l
		}
	}
	s.d.Fatalf(s.t, "unknown lack %q", name)
	return 0
}

// comes parses "3>1,2": task 3 comes after tasks 1 and 2.
func (s *scenario) comes(v string) (c event.Comes) {
	task, after, _ := strings.Cut(v, ">")
	for i, text := range append([]string{task}, strings.Split(after, ",")...) {
		n, err := strconv.Atoi(text)
		s.must(err)
		if i == 0 {
			c.Task = int32(n)
		} else {
			c.After = append(c.After, int32(n))
		}
	}
	return c
}

// times parses the expected times of tasks.
func (s *scenario) times(a args) job.TaskTimes {
	d := func(key string) time.Duration { return s.duration(a.str(key, "0s")) }
	return job.TaskTimes{TaskTime: d("task-time"), ReduceTime: d("reduce-time"), TaskMean: d("task-mean"), ReduceMean: d("reduce-mean")}
}

func (s *scenario) alloc(a args) job.AllocRequest {
	r := job.AllocRequest{On: a.str("on", "local"), Nodes: a.num("nodes", 1), PerNode: s.resources(a.str("per-node", "2,4G")),
		IdleTimeout: s.duration(a.str("idle", "5m")), SortMemory: int64(a.num("sort-memory", 0)), Time: s.duration(a.str("time", "0s"))}
	if p, ok := a.key["elastic"]; ok {
		r.On, r.Elastic, r.Batch.Partition = "slurm", true, p
		r.Batch.Licences = job.Uses(strings.ReplaceAll(a.key["licences"], ":", "="))
	}
	if v, ok := a.key["latest"]; ok {
		r.Latest = s.now.Add(s.duration(v))
	}
	for _, name := range strings.FieldsFunc(a.key["hosts"], func(r rune) bool { return r == ',' }) {
		r.On, r.Remote.Hosts = "ssh", append(r.Remote.Hosts, job.Host{Name: name})
	}
	_, r.Courteous = a.key["courteous"]
	return r
}

func (s *scenario) must(err error) {
	if err != nil {
		s.d.Fatalf(s.t, "%v", err)
	}
}

func (s *scenario) duration(v string) time.Duration {
	d, err := time.ParseDuration(v)
	s.must(err)
	return d
}

// resources parses "2,4G": cores and memory.
func (s *scenario) resources(v string) job.Resources {
	parts := append(strings.Split(v, ","), "", "", "", "")
	c, err := strconv.Atoi(parts[0])
	s.must(err)
	r := job.Resources{CPUs: c, Mem: s.size(parts[1]), Disk: s.size(parts[2]), Net: s.size(parts[3])}
	if gpus, kind, _ := strings.Cut(parts[4], ":"); gpus != "" {
		milli, err := strconv.ParseFloat(gpus, 64)
		s.must(err)
		of := job.Vector{GPU: int64(milli * job.Milli)}.Resources()
		r.GPUs, r.GPUShare, r.GPUType = of.GPUs, of.GPUShare, kind
	}
	return r
}

func (s *scenario) size(v string) int64 {
	if v == "" {
		return 0
	}
	n, err := parse.Size("size", v)
	s.must(err)
	return n
}

func (s *scenario) phase(v string) job.Phase {
	for p := job.PhaseNone; p <= job.PhaseReduce; p++ {
		if p.String() == v {
			return p
		}
	}
	s.d.Fatalf(s.t, "unknown phase %q", v)
	return 0
}

// attempt parses "bag-1/0#1".
func (s *scenario) attempt(v string) job.Attempt {
	id, rest, _ := strings.Cut(v, "/")
	var at job.Attempt
	at.Job = job.ID(id)
	_, err := fmt.Sscanf(rest, "%d#%d", &at.Task, &at.N)
	s.must(err)
	return at
}

func (s *scenario) attempts(v string) []job.Attempt {
	var as []job.Attempt
	for _, f := range strings.FieldsFunc(v, func(r rune) bool { return r == ',' }) {
		as = append(as, s.attempt(f))
	}
	return as
}

// args are the arguments of a command. A value has _ for spaces.
type args struct {
	s   *scenario
	pos []string
	key map[string]string
}

func (s *scenario) parse(rest string) args {
	a := args{s: s, key: make(map[string]string)}
	for _, f := range strings.Fields(rest) {
		if k, v, ok := strings.Cut(f, "="); ok {
			a.key[k] = strings.ReplaceAll(v, "_", " ")
		} else {
			a.pos = append(a.pos, f)
		}
	}
	return a
}

func (a args) job(i int) job.ID { return job.ID(a.pos[i]) }

func (a args) str(key, def string) string {
	if v, ok := a.key[key]; ok {
		return v
	}
	return def
}

func (a args) num(key string, def int) int {
	n, err := strconv.Atoi(a.str(key, strconv.Itoa(def)))
	a.s.must(err)
	return n
}

func (a args) flag(name string) bool {
	for _, p := range a.pos {
		if p == name {
			return true
		}
	}
	return false
}

// scheduler returns the scheduler of that name; the empty name means sched.Cores.
func scheduler(name string) *sched.Scheduler {
	s, err := sched.SchedulerNamed("scheduler", cmp.Or(name, sched.Cores.Name), schedulers.All())
	if err != nil {
		panic(err)
	}
	return s
}
