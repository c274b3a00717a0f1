package parse

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"berth/internal/core/job"
)

// Option is one setting of a job. The same table serves the flags of every command and
// the tables of job files. In a job file, underscores replace the hyphens of a name.
type Option struct {
	Name  string // long flag
	Short string // short flag; may be empty
	Arg   string // name of the value in the help text; empty if the option has no value
	Usage string
	Many  bool // may be given several times; each adds to the earlier ones
	Batch bool // used by batch systems only
	File  bool // if the value is the name of a file, the text of the file replaces it
	Limit bool // of a bag: bounds failures, time or parallelism; a resume may change it
	Alone bool // of a bag: the stages of a job do not have it, as their entries and files come from the stage before
	set   func(a *Ask, where, value string) error
}

// Ask collects options in the order in which they are given. Apply writes them into a spec.
type Ask struct {
	Sources BagSources // of a bag's entries

	bag     []func(*job.BagSpec)
	request job.Request
	name    string
	app     string   // name of the application
	after   []job.ID // as the user names them
	need    job.Resources
	command string // with which a bag goes on
	gpusSet bool   // need has the GPUs that were asked for, which may be none
	mem     Grow[int64]
	rates   job.NodeRates
	power   []job.NodePower

	amends bool // the request belongs to an existing job, and the options replace parts of it

	nodesWhere string // flag or file:line that set the number of nodes, for errors
	memWhere   string // the same for the memory
	timeSet    bool
	argsSet    bool
	hostsSet   bool

	machinesSet bool

	capNodes int // from --max-nodes
	capTime  time.Duration
	idleSet  bool
}

// Options returns the options of every kind of job, in the order in which the help text lists them. Each of the batch
// systems adds the flag for its own arguments.
func Options(systems ...BatchSystem) []Option {
	all := slices.Clone(options[:])
	all[0].Usage = placeUsage(systems)
	for _, system := range systems {
		all = slices.Insert(all, optionIndex(all, "wall-time"), system.option())
	}
	return all
}

func optionIndex(all []Option, name string) int {
	return slices.IndexFunc(all, func(o Option) bool { return o.Name == name })
}

var options = [...]Option{
	{Name: "on", Arg: "PLACE", set: into(place, func(a *Ask) *string { return &a.request.On })},
	{Name: "hosts", Arg: "LIST|FILE", Many: true, File: true, Usage: "ssh: hosts to run on, as in 8/host1,user@host2,: (8 cores of host1, all cores of host2, and this machine), or a file with one host on each line", set: setHosts},
	{Name: "machines", Arg: "LIST", Many: true, Usage: "ec2: types and numbers of the machines to rent, as in m1.m=30,c1.m:spot=4 (:spot rents at the spot price)", set: setMachines},
	{Name: "catalogue", Arg: "FILE", Usage: "ec2: TOML file with the types of machines and their prices (see docs/rented.md)", set: into(asIs, func(a *Ask) *string { return &a.request.Remote.Rent.Catalogue })},
	{Name: "budget", Arg: "N", Usage: "ec2: highest total cost; rented machines are ended before they cost more", set: into(number(0, 1e9), func(a *Ask) *float64 { return &a.request.Remote.Rent.Budget })},
	{Name: "deadline", Arg: "TIME", Usage: "when the job should be done: a time after its submission, as in 2h30m, or a date and time, as in 2026-11-29T08:00; the cheapest nodes that meet it are requested, more if the job falls behind, and its tasks go first (see docs/backends.md)", set: setDeadline},
	{Name: "pass-env", Arg: "NAMES", Many: true, Usage: "your variables that tasks get on hosts without your files, besides TZ, LANG and LC_*", set: setPassEnv},
	{Name: "nodes", Short: "N", Arg: "MIN[-MAX]", Usage: "number of nodes, or the smallest and the largest number; auto: berth decides", set: setNodes},
	{Name: "max-nodes", Arg: "N", Usage: "largest number of nodes", set: into(from(1, job.MaxNodes), func(a *Ask) *int { return &a.capNodes })},
	{Name: "time", Short: "t", Arg: "TIME", Usage: "wall time limit of an allocation; auto: berth decides", set: setTime},
	{Name: "max-time", Arg: "TIME", Usage: "largest wall time that an allocation may request", set: into(Limit, func(a *Ask) *time.Duration { return &a.capTime })},
	{Name: "cpus-per-task", Short: "c", Arg: "N", Usage: "number of cores of each task", set: into(from(1, job.MaxCPUs), func(a *Ask) *int { return &a.need.CPUs })},
	{Name: "mem", Arg: "SIZE", Usage: "memory of each task; a number without a unit is megabytes; 4G..64G: a task of a bag that runs out of its memory starts again with more, up to 64G; auto or auto..64G: chosen from what earlier tasks of the application used", set: setMem},
	{Name: "gpus", Arg: "N[:TYPE]", Usage: "number of GPUs of each task, and their type, as in 1 or 2:a100; a task sees only its own", set: setGPUs},
	{Name: "job-name", Short: "J", Arg: "NAME", Usage: "name of the job", set: into(asIs, func(a *Ask) *string { return &a.name })},
	{Name: "application", Arg: "NAME", Usage: "name of the application that the tasks run: jobs with this name share the measurements of earlier runs (default: berth tells applications apart by their commands)", set: into(asIs, func(a *Ask) *string { return &a.app })},
	{Name: "workers", Arg: "N", Usage: "local: number of worker processes on this machine", set: into(from(1, job.MaxWorkers), func(a *Ask) *int { return &a.request.Workers })},
	{Name: "sort-memory", Arg: "SIZE", Usage: "memory that each worker uses for sorting", set: into(Size, func(a *Ask) *int64 { return &a.request.SortMemory })},
	{Name: "scratch", Arg: "DIR", Usage: "folder for intermediate data on each node", set: into(asIs, func(a *Ask) *string { return &a.request.Scratch })},
	{Name: "idle-timeout", Arg: "TIME", Usage: "release nodes that have had no work for this time", set: setIdleTimeout},
	{Name: "weight", Arg: "N", Usage: "weight of the job when several jobs share nodes: a job with weight 2 gets twice the share of jobs with weight 1; in the order shortest it counts as one with half of its work (default 1)", set: into(weight, func(a *Ask) *float64 { return &a.request.Weight })},
	{Name: "notify", Arg: "COMMAND", Usage: "command for the shell that is run when the job is over, with its summary as JSON on standard input, as of berth report --json", set: into(asIs, func(a *Ask) *string { return &a.request.Notify })},
	{Name: "stragglers", Arg: "HOW", Usage: "what to do about stragglers, tasks that are clearly slower than the others: duplicate (start a second attempt; the first to end wins), abort (kill the attempt and start it elsewhere), tell (only report them), off or auto; auto acts only if two attempts of a task do no harm (default auto)", set: into(stragglers, func(a *Ask) *job.Stragglers { return &a.request.Stragglers })},
	{Name: "speculation", Arg: "SHARE", Usage: "processor time that duplicates may waste, as a share of the processor time of the job (default 5%)", set: into(share, func(a *Ask) *float64 { return &a.request.Speculation })},
	{Name: "node-power", Arg: "IDLE:MAX", Many: true, Usage: "power of a node in watts when idle and with all cores in use, as in 80:250, for the energy in berth report; gpu*=150:700 applies to nodes that match, as in --node-disk (default: the value of BERTH_NODE_POWER)", set: setPower},
	{Name: "node-disk", Arg: "RATE", Many: true, Usage: "disk throughput of a node in bytes per second, as in 500M; gpu*=2G applies to nodes whose name or feature (--constraint) matches (default: measured)", set: setRates(func(a *Ask) *[]job.NodeRate { return &a.rates.Disk })},
	{Name: "node-net", Arg: "RATE", Many: true, Usage: "network throughput of a node in bytes per second, written as in --node-disk (default: the speed of its link)", set: setRates(func(a *Ask) *[]job.NodeRate { return &a.rates.Net })},
	{Name: "partition", Short: "p", Arg: "NAME", Batch: true, Usage: "batch system: partition", set: into(asIs, func(a *Ask) *string { return &a.request.Partition })},
	{Name: "account", Short: "A", Arg: "NAME", Batch: true, Usage: "batch system: account", set: into(asIs, func(a *Ask) *string { return &a.request.Account })},
	{Name: "qos", Short: "q", Arg: "NAME", Batch: true, Usage: "batch system: quality of service", set: into(asIs, func(a *Ask) *string { return &a.request.QOS })},
	{Name: "constraint", Short: "C", Arg: "LIST", Batch: true, Usage: "batch system: features that the nodes must have", set: into(asIs, func(a *Ask) *string { return &a.request.Constraint })},
	{Name: "exclusive", Batch: true, Usage: "batch system: request whole nodes, which no other job shares", set: into(Bool, func(a *Ask) *bool { return &a.request.Exclusive })},
	{Name: "wall-time", Arg: "HOW", Batch: true, Usage: "batch system: wall time to request: auto, upper (the upper bound of the predicted run time) or max (the longest allowed)", set: into(wallTime, func(a *Ask) *string { return &a.request.WallTime })},
	{Name: "max-allocs", Arg: "N", Batch: true, Usage: "batch system: largest number of requests at the same time", set: into(from(1, job.MaxAllocs), func(a *Ask) *int { return &a.request.MaxAllocs })},
	{Name: "start-within", Arg: "TIME", Batch: true, Usage: "batch system: do not run the job at all if its first nodes do not start within this time: refused if a later start is predicted, and withdrawn once the time is over", set: into(Duration, func(a *Ask) *time.Duration { return &a.request.StartWithin })},
	{Name: "no-scout", Batch: true, Usage: "batch system: do not start with a scout, a small first allocation that measures a job without a profile", set: into(Bool, func(a *Ask) *bool { return &a.request.NoScout })},
	{Name: "energy-weight", Arg: "N", Batch: true, Usage: "batch system: seconds of turnaround that one joule is worth; with a larger weight fewer nodes are requested (needs --node-power)", set: into(number(0, job.MaxEnergyWeight), func(a *Ask) *float64 { return &a.request.EnergyWeight })},
	{Name: "courtesy", Arg: "X", Batch: true, Usage: "batch system: beside jobs of other users, ask for up to 1 + X times the wall time where the job starts no later for that, and give nodes back as soon as it is done, so that waiting jobs move forward (default 0)", set: into(number(0, job.MaxCourtesy), func(a *Ask) *float64 { return &a.request.Courtesy })},
}

// Set parses the value of one option and stores it in a. where is the flag or file:line that an error names.
func (o *Option) Set(a *Ask, where, value string) error {
	do := "write " + o.Name + " " + o.Arg
	if strings.HasPrefix(where, "-") {
		do = "write " + where + " " + o.Arg
	}
	if o.Arg != "" && strings.TrimSpace(value) == "" {
		if o.Arg == "FILE" || o.Arg == "TEMPLATE" {
			do = "name a file"
		}
		return job.ArgumentError(where, "the value is empty", do)
	}
	if o.Arg != "" && value == "--" {
		return job.ArgumentError(where, "it is followed by -- in the place of its value", do)
	}
	return o.set(a, where, value)
}

// Amend returns the request of an existing spec, which further options change. An option that may be
// given several times replaces all its values in the spec. --max-nodes and --max-time replace the bounds.
func Amend(s *job.Spec) *Ask { return &Ask{request: s.Request, amends: true, idleSet: true} }

// dropBounds removes the bounds of a spec that --max-nodes or --max-time replaces.
func (a *Ask) dropBounds() {
	if a.capNodes > 0 && a.nodesWhere == "" {
		a.request.MinNodes, a.request.MaxNodes = 0, 0
	}
	if a.capTime > 0 && !a.timeSet {
		a.request.MaxTime = 0
	}
}

// Apply writes the options into the spec and checks that they are consistent.
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
			return job.ArgumentError(a.nodesWhere, fmt.Sprintf("at least %d nodes are requested, but max-nodes allows %d", r.MinNodes, a.capNodes), "request fewer nodes, or raise max-nodes")
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
	if a.app != "" {
		s.Application = a.app
	}
	if len(a.after) > 0 {
		s.After = a.after
	}
	a.applyNeed(s)
	if err := a.applyMem(s); err != nil {
		return err
	}
	if s.Bag == nil {
		return nil
	}
	for _, set := range a.bag {
		set(s.Bag)
	}
	if a.command == "" {
		return nil
	}
	return s.Bag.ChangeCommand(a.command)
}

// applyNeed writes the cores and GPUs of a task into every kind of task that the job has.
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
		if a.gpusSet {
			n.GPUs, n.GPUType = a.need.GPUs, a.need.GPUType
		}
	}
}

// into returns a setter that parses the value and stores the result in a field.
func into[T any](parse func(where, value string) (T, error), field func(*Ask) *T) func(*Ask, string, string) error {
	return func(a *Ask, where, value string) (err error) {
		*field(a), err = parse(where, value)
		return err
	}
}

// asIs returns the value unchanged.
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
			return 0, job.ConfigError(where, fmt.Sprintf("%q is not a number in the allowed range", value), fmt.Sprintf("write a number from %g to %g", low, high))
		}
		return n, nil
	}
}

func weight(where, value string) (float64, error) {
	w, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
	if err != nil || !(w > 0 && w <= job.MaxWeight) {
		return 0, job.ConfigError(where, fmt.Sprintf("%q is not a valid weight", value), fmt.Sprintf("write a number above 0 and up to %d: 2 gives the job twice the share of a job with weight 1", job.MaxWeight))
	}
	return w, nil
}

func stragglers(where, value string) (job.Stragglers, error) {
	s, ok := job.ParseStragglers(strings.ToLower(strings.TrimSpace(value)))
	if !ok {
		return "", job.ConfigError(where, fmt.Sprintf("%q is not a way to handle slow tasks", value), "write auto, duplicate, abort, tell or off")
	}
	return s, nil
}

// share parses a share above 0 and up to 1, written as 5% or 0.05.
func share(where, value string) (float64, error) {
	text, percent := strings.CutSuffix(strings.TrimSpace(value), "%")
	v, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if percent {
		v /= 100
	}
	if err != nil || !(v > 0 && v <= 1) {
		return 0, job.ConfigError(where, fmt.Sprintf("%q is not a valid share", value), "write a share above 0% and up to 100%, as in 5%; for no duplicates use --stragglers abort or off")
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
	return "", job.ConfigError(where, fmt.Sprintf("%q is not a way to choose the wall time", value), "write auto, upper or max")
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

func setDeadline(a *Ask, where, value string) (err error) {
	r := &a.request
	if at, ok := Date(value); ok {
		r.Due, r.Deadline = at, 0
		return nil
	}
	if r.Deadline, err = Duration(where, value); err != nil || r.Deadline == 0 {
		return job.ConfigError(where, fmt.Sprintf("%q is neither a time after the submission nor a date with a time", value), "write 90m, 2h30m, or a date as in 2026-11-29T08:00")
	}
	return nil
}

func setIdleTimeout(a *Ask, where, value string) (err error) {
	a.idleSet = true
	a.request.IdleTimeout, err = Duration(where, value)
	return err
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
	return 0, job.ConfigError(where, fmt.Sprintf("%q is not a number in the allowed range", value), do)
}

// Bool parses true or false, as in Hadoop's keys and in job files. An
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
