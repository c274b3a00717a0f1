package parse

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"berth/internal/job"
)

// Option is one thing that can be asked of a job. The same table serves the flags of
// every command and the tables of job files, where a name's hyphens are underscores.
type Option struct {
	Name  string // long flag
	Short string // short flag; may be empty
	Arg   string // what the value is called in help; empty: the option takes none
	Usage string
	Many  bool // may be given several times, each adding to the ones before
	Batch bool // means something to a batch system only
	File  bool // a value that names a file stands for the file's text
	Limit bool // of a bag: says how its tasks may fail and how many may run, which a resume may change
	set   func(a *Ask, where, value string) error
}

// Ask gathers options as they are met; Apply puts them into a spec.
type Ask struct {
	Sources BagSources // of a bag's entries

	bag     []func(*job.BagSpec)
	request job.Request
	name    string
	after   []job.ID // as the user names them
	need    job.Resources
	rates   job.NodeRates
	power   []job.NodePower

	amends bool // the request is one that stands, and what is met replaces parts of it

	nodesWhere string // where the bound came from, for errors
	timeSet    bool
	argsSet    bool
	hostsSet   bool

	machinesSet bool

	capNodes int // from --max-nodes
	capTime  time.Duration
	idleSet  bool
}

// Options returns the table of what can be asked of any kind of job, in the order in which help shows it.
func Options() []Option { return options[:] }

var options = [...]Option{
	{Name: "on", Arg: "PLACE", Usage: "where to run: local (this machine), slurm, ssh (hosts that --hosts names), ec2 (machines that are rented), or auto: ssh with --hosts, ec2 with --machines, else what BERTH_ON says, else slurm on a machine that has it, else local", set: into(place, func(a *Ask) *string { return &a.request.On })},
	{Name: "hosts", Arg: "LIST|FILE", Many: true, File: true, Usage: "ssh: hosts to run on, 8/host1,user@host2 (8 cores of host1, all of host2, : for this machine), or a file with one a line", set: setHosts},
	{Name: "machines", Arg: "LIST", Many: true, Usage: "ec2: machines to rent, types and how many: m1.m=30,c1.m:spot=4 (4 at the spot price)", set: setMachines},
	{Name: "catalogue", Arg: "FILE", Usage: "TOML file with the types of machines and their prices (docs/rented.md)", set: into(asIs, func(a *Ask) *string { return &a.request.Remote.Rent.Catalogue })},
	{Name: "budget", Arg: "N", Usage: "ec2: end rented machines before they cost more", set: into(number(0, 1e9), func(a *Ask) *float64 { return &a.request.Remote.Rent.Budget })},
	{Name: "deadline", Arg: "TIME", Usage: "ec2: rent further machines of the types of --machines where the job would not be done so long after it was submitted, and give back what it does not need", set: into(Duration, func(a *Ask) *time.Duration { return &a.request.Remote.Rent.Deadline })},
	{Name: "pass-env", Arg: "NAMES", Many: true, Usage: "ec2: variables of yours that tasks get on rented machines, beside PATH, TZ, LANG and LC_*", set: setPassEnv},
	{Name: "nodes", Short: "N", Arg: "MIN[-MAX]", Usage: "bound the number of nodes; auto: berth decides", set: setNodes},
	{Name: "max-nodes", Arg: "N", Usage: "use no more nodes than this", set: into(from(1, job.MaxNodes), func(a *Ask) *int { return &a.capNodes })},
	{Name: "time", Short: "t", Arg: "TIME", Usage: "bound the wall time; auto: berth decides", set: setTime},
	{Name: "max-time", Arg: "TIME", Usage: "ask for no more wall time than this", set: into(Limit, func(a *Ask) *time.Duration { return &a.capTime })},
	{Name: "cpus-per-task", Short: "c", Arg: "N", Usage: "cores of a task", set: into(from(1, job.MaxCPUs), func(a *Ask) *int { return &a.need.CPUs })},
	{Name: "mem", Arg: "SIZE", Usage: "memory of a task; a plain number is megabytes", set: into(Mem, func(a *Ask) *int64 { return &a.need.Mem })},
	{Name: "job-name", Short: "J", Arg: "NAME", Usage: "name of the job", set: into(asIs, func(a *Ask) *string { return &a.name })},
	{Name: "workers", Arg: "N", Usage: "this machine: worker processes that share it", set: into(from(1, job.MaxWorkers), func(a *Ask) *int { return &a.request.Workers })},
	{Name: "sort-memory", Arg: "SIZE", Usage: "memory of a worker for sorting", set: into(Size, func(a *Ask) *int64 { return &a.request.SortMemory })},
	{Name: "scratch", Arg: "DIR", Usage: "folder for intermediate data", set: into(asIs, func(a *Ask) *string { return &a.request.Scratch })},
	{Name: "idle-timeout", Arg: "TIME", Usage: "give back nodes without work after this", set: setIdleTimeout},
	{Name: "weight", Arg: "N", Usage: "share of nodes that the job has in common with others, beside theirs; each has 1 by default", set: into(weight, func(a *Ask) *float64 { return &a.request.Weight })},
	{Name: "stragglers", Arg: "HOW", Usage: "what is done about tasks that are clearly slower than others: auto, duplicate (the first attempt that is done wins), abort (kill, and start elsewhere), tell or off; default: auto, which acts where two attempts of a task do no harm", set: into(stragglers, func(a *Ask) *job.Stragglers { return &a.request.Stragglers })},
	{Name: "speculation", Arg: "SHARE", Usage: "processor time that duplicates of slow tasks may waste, as a share of what the job takes: 5% by default", set: into(share, func(a *Ask) *float64 { return &a.request.Speculation })},
	{Name: "node-power", Arg: "IDLE:MAX", Many: true, Usage: "watts of a node with nothing to do and with all cores in use, for berth report's energy: 80:250; gpu*=150:700 for nodes as in --node-disk; default: what BERTH_NODE_POWER says", set: setPower},
	{Name: "node-disk", Arg: "RATE", Many: true, Usage: "what the disk of a node does, in bytes a second: 500M; gpu*=2G for nodes or features (--constraint) of that name; default: measured", set: setRates(func(a *Ask) *[]job.NodeRate { return &a.rates.Disk })},
	{Name: "node-net", Arg: "RATE", Many: true, Usage: "what the network of a node does, likewise; default: the speed of its link", set: setRates(func(a *Ask) *[]job.NodeRate { return &a.rates.Net })},
	{Name: "partition", Short: "p", Arg: "NAME", Batch: true, Usage: "batch system: partition", set: into(asIs, func(a *Ask) *string { return &a.request.Partition })},
	{Name: "account", Short: "A", Arg: "NAME", Batch: true, Usage: "batch system: account", set: into(asIs, func(a *Ask) *string { return &a.request.Account })},
	{Name: "qos", Short: "q", Arg: "NAME", Batch: true, Usage: "batch system: quality of service", set: into(asIs, func(a *Ask) *string { return &a.request.QOS })},
	{Name: "constraint", Short: "C", Arg: "LIST", Batch: true, Usage: "batch system: features of the nodes", set: into(asIs, func(a *Ask) *string { return &a.request.Constraint })},
	{Name: "exclusive", Batch: true, Usage: "batch system: share no node with other jobs", set: into(Bool, func(a *Ask) *bool { return &a.request.Exclusive })},
	{Name: "sbatch-arg", Arg: "ARG", Many: true, Batch: true, Usage: "batch system: hand this argument to sbatch; none: take back those before", set: setBatchArg},
	{Name: "wall-time", Arg: "HOW", Batch: true, Usage: "batch system: which time to ask for: auto, upper (bound of the run) or max (all that is allowed)", set: into(wallTime, func(a *Ask) *string { return &a.request.WallTime })},
	{Name: "max-allocs", Arg: "N", Batch: true, Usage: "batch system: ask for no more allocations at once", set: into(from(1, job.MaxAllocs), func(a *Ask) *int { return &a.request.MaxAllocs })},
	{Name: "no-scout", Batch: true, Usage: "batch system: without a profile, run no sample of tasks first", set: into(Bool, func(a *Ask) *bool { return &a.request.NoScout })},
	{Name: "energy-weight", Arg: "N", Batch: true, Usage: "batch system: seconds of turnaround that a joule is worth, so that nodes which save little time are left off; needs the power of a node", set: into(number(0, job.MaxEnergyWeight), func(a *Ask) *float64 { return &a.request.EnergyWeight })},
}

// Set takes one option. where is the flag or file:line that an error names.
func (o *Option) Set(a *Ask, where, value string) error {
	if o.Arg != "" && strings.TrimSpace(value) == "" {
		do := "write " + o.Name + " " + o.Arg
		if o.Arg == "FILE" || o.Arg == "TEMPLATE" {
			do = "name a file"
		}
		return job.ArgumentError(where, "the value is empty", do)
	}
	return o.set(a, where, value)
}

// Amend returns what a spec asks for already, to be changed by further options. An option that may be
// given several times replaces all that the spec has of it; a cap replaces the bound.
func Amend(s *job.Spec) *Ask { return &Ask{request: s.Request, amends: true, idleSet: true} }

// dropBounds forgets those bounds of a spec that a cap is to replace.
func (a *Ask) dropBounds() {
	if a.capNodes > 0 && a.nodesWhere == "" {
		a.request.MinNodes, a.request.MaxNodes = 0, 0
	}
	if a.capTime > 0 && !a.timeSet {
		a.request.MaxTime = 0
	}
}

// Apply puts what was asked for into the spec, and checks how the parts go together.
func (a *Ask) Apply(s *job.Spec) error {
	if a.amends {
		a.dropBounds()
	}
	r := a.request
	if r.On == "" {
		r.On = s.Request.On
	}
	if !a.idleSet {
		r.IdleTimeout = s.Request.IdleTimeout
	}
	if a.capNodes > 0 {
		if r.MinNodes > a.capNodes {
			return job.ArgumentError(a.nodesWhere, fmt.Sprintf("wants %d nodes, but max-nodes allows %d", r.MinNodes, a.capNodes), "change either")
		}
		if r.MaxNodes == 0 || r.MaxNodes > a.capNodes {
			r.MaxNodes = a.capNodes
		}
	}
	if a.capTime > 0 && (r.MaxTime == 0 || r.MaxTime > a.capTime) {
		r.MaxTime = a.capTime
	}
	a.applyRates(&r.Rates)
	if len(a.power) > 0 {
		r.NodePower = a.power
	}
	s.Request = r
	if a.name != "" {
		s.Name = a.name
	}
	if len(a.after) > 0 {
		s.After = a.after
	}
	a.applyNeed(s)
	if s.Bag != nil {
		for _, set := range a.bag {
			set(s.Bag)
		}
	}
	return nil
}

// applyNeed gives the resources of a task to those kinds of task the job has.
func (a *Ask) applyNeed(s *job.Spec) {
	var needs []*job.Resources
	if s.Bag != nil {
		needs = append(needs, &s.Bag.Need)
	}
	if s.MapReduce != nil {
		needs = append(needs, &s.MapReduce.MapNeed, &s.MapReduce.ReduceNeed)
	}
	for _, n := range needs {
		if a.need.CPUs > 0 {
			n.CPUs = a.need.CPUs
		}
		if a.need.Mem > 0 {
			n.Mem = a.need.Mem
		}
	}
}

// into sets a field to what a parser makes of the value.
func into[T any](parse func(where, value string) (T, error), field func(*Ask) *T) func(*Ask, string, string) error {
	return func(a *Ask, where, value string) (err error) {
		*field(a), err = parse(where, value)
		return err
	}
}

// asIs takes a value as it is.
func asIs(_, value string) (string, error) { return value, nil }

// from returns a parser of whole numbers from low to high.
func from(low, high int) func(where, value string) (int, error) {
	return func(where, value string) (int, error) { return Count(where, value, low, high) }
}

func place(_, value string) (string, error) { return strings.ToLower(value), nil }

// number returns a parser of numbers from low to high.
func number(low, high float64) func(where, value string) (float64, error) {
	return func(where, value string) (float64, error) {
		n, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
		if err != nil || !(n >= low && n <= high) {
			return 0, job.ConfigError(where, fmt.Sprintf("%q is no such number", value), fmt.Sprintf("write a number from %g to %g", low, high))
		}
		return n, nil
	}
}

func weight(where, value string) (float64, error) {
	w, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
	if err != nil || !(w > 0 && w <= job.MaxWeight) {
		return 0, job.ConfigError(where, fmt.Sprintf("%q is no weight", value), fmt.Sprintf("write a number above 0 and up to %d: 2 for twice the share of other jobs", job.MaxWeight))
	}
	return w, nil
}

func stragglers(where, value string) (job.Stragglers, error) {
	s, ok := job.ParseStragglers(strings.ToLower(strings.TrimSpace(value)))
	if !ok {
		return "", job.ConfigError(where, fmt.Sprintf("%q is nothing that can be done about slow tasks", value), "write auto, duplicate, abort, tell or off")
	}
	return s, nil
}

// share takes a part of something: 5% or 0.05.
func share(where, value string) (float64, error) {
	text, percent := strings.CutSuffix(strings.TrimSpace(value), "%")
	v, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if percent {
		v /= 100
	}
	if err != nil || !(v > 0 && v <= 1) {
		return 0, job.ConfigError(where, fmt.Sprintf("%q is no share", value), "write one above 0% and up to 100%: 5%, or use --stragglers abort or off")
	}
	return v, nil
}

func wallTime(where, value string) (string, error) {
	switch value = strings.ToLower(value); value {
	case "auto":
		return job.WallAuto, nil
	case job.WallUpper, job.WallMax:
		return value, nil
	}
	return "", job.ConfigError(where, fmt.Sprintf("%q is no way to choose a time", value), "write auto, upper or max")
}

func setNodes(a *Ask, where, value string) (err error) {
	a.nodesWhere = where
	a.request.MinNodes, a.request.MaxNodes, err = Nodes(where, value)
	return err
}

func setTime(a *Ask, where, value string) (err error) {
	a.timeSet = true
	a.request.MaxTime, err = Limit(where, value)
	return err
}

func setIdleTimeout(a *Ask, where, value string) (err error) {
	a.idleSet = true
	a.request.IdleTimeout, err = Duration(where, value)
	return err
}

// clusterArgs send a job to another cluster than the one that is asked for the queue and watched.
var clusterArgs = []string{"-M", "--clusters", "--cluster"}

// ownBatchArgs are what berth decides or needs itself; a second voice would be wrong.
var ownBatchArgs = []string{"-N", "--nodes", "-t", "--time", "-n", "--ntasks", "-a", "--array", "-o", "--output",
	"-W", "--wait", "--wrap", "--parsable", "--test-only", "--ntasks-per-node", "-c", "--cpus-per-task", "--requeue"}

// noBatchArgs as a value takes back the arguments for sbatch.
const noBatchArgs = "none"

func setBatchArg(a *Ask, where, value string) error {
	if a.amends && !a.argsSet || value == noBatchArgs {
		a.request.BatchArgs = nil
	}
	a.argsSet = true
	if value == noBatchArgs {
		return nil
	}
	names := func(own string) bool {
		name, _, _ := strings.Cut(value, "=")
		return name == own || len(own) == 2 && strings.HasPrefix(value, own)
	}
	if slices.ContainsFunc(clusterArgs, names) {
		return job.ArgumentError(where, fmt.Sprintf("%q names another cluster, of which berth would not look at the queue", value),
			"name one cluster by the environment: export SLURM_CLUSTERS=NAME")
	}
	if slices.ContainsFunc(ownBatchArgs, names) {
		return job.ArgumentError(where, fmt.Sprintf("%q is berth's to decide", value), "bound it with --nodes, --max-nodes, --time or --max-time")
	}
	a.request.BatchArgs = append(a.request.BatchArgs, value)
	return nil
}

// Count parses a whole number from low to high.
func Count(where, value string, low, high int) (int, error) {
	n, err := strconv.Atoi(strings.TrimSpace(value))
	if err == nil && n >= low && n <= high {
		return n, nil
	}
	do := fmt.Sprintf("write a whole number from %d to %d", low, high)
	if high == math.MaxInt32 {
		do = fmt.Sprintf("write a whole number from %d", low)
	}
	return 0, job.ConfigError(where, fmt.Sprintf("%q is no such number", value), do)
}

// Bool parses true or false, as Hadoop's keys and job files have them; an
// empty value is true.
func Bool(where, value string) (bool, error) {
	switch strings.ToLower(strings.TrimSpace(value)) {
	case "true", "":
		return true, nil
	case "false":
		return false, nil
	}
	return false, job.ConfigError(where, fmt.Sprintf("%q is neither true nor false", value), "write true or false")
}
