package job

import (
	"cmp"
	"fmt"
	"strconv"
	"time"
)

// Kind is what sort of job a spec describes.
type Kind string

const (
	// Bag is a bag of independent tasks.
	Bag Kind = "bag"
	// MapReduce is a map, shuffle and reduce job in the manner of Hadoop Streaming.
	MapReduce Kind = "mapreduce"
)

// Spec is what a user asks for, with every default filled in by Normalize and
// every relative path resolved against Dir. Exactly one of Bag and MapReduce is
// set. It is kept as JSON in the run's folder and sent to workers.
type Spec struct {
	ID   ID     `json:"id"`
	Name string `json:"name"`
	Kind Kind   `json:"kind"`
	Dir  string `json:"dir"` // absolute; where the user stood

	// After names the jobs that must be done before this one begins.
	After []ID   `json:"after,omitempty"`
	Stage *Stage `json:"stage,omitempty"` // of a job that is one of several stages; nil: it is none

	Inherit *Inherit `json:"inherit,omitempty"` // what tasks have of the command that submitted the job; nil: of the worker

	Request   Request        `json:"request"`
	Bag       *BagSpec       `json:"bag,omitempty"`
	MapReduce *MapReduceSpec `json:"mapreduce,omitempty"`
}

// Stage says which of several jobs in a row a job is that one job file made.
type Stage struct {
	Name   string `json:"name"`   // split, operation or merge
	Folder string `json:"folder"` // absolute: what the stages hand on
	Keep   bool   `json:"keep,omitempty"`
	First  ID     `json:"first,omitempty"` // the first of the stages; empty: this one

	Env []string `json:"env"` // BERTH_…=VALUE, for its tasks
}

// Request is what the user says about where and how the job shall run.
// The zero value of a field means "berth decides".
type Request struct {
	On          string        `json:"on"`                    // auto, local, …
	Workers     int           `json:"workers,omitempty"`     // local: worker processes that share the machine
	MinNodes    int           `json:"min_nodes,omitempty"`   // bound from --nodes
	MaxNodes    int           `json:"max_nodes,omitempty"`   // bound from --nodes or --max-nodes
	MaxTime     time.Duration `json:"max_time_ns,omitempty"` // bound from --time or --max-time
	IdleTimeout time.Duration `json:"idle_timeout_ns"`       // an allocation without work is given back after this
	SortMemory  int64         `json:"sort_memory,omitempty"` // bytes a worker; 0: a share of the node
	Weight      float64       `json:"weight,omitempty"`      // of the job among those that share nodes; 0: 1

	Stragglers  Stragglers  `json:"stragglers,omitempty"`  // what is done about slow tasks
	Speculation float64     `json:"speculation,omitempty"` // extra processor time that duplicates may take, as a share; 0: DefaultSpeculation
	NodePower   []NodePower `json:"node_power,omitempty"`  // of the nodes, as told
	Scratch     string      `json:"scratch,omitempty"`     // folder for intermediate data; empty: the worker's default
	Remote      Remote      `json:"remote,omitzero"`       // the hosts to run on, where the place is not to find them
	Rates       NodeRates   `json:"rates,omitzero"`        // of the nodes\' disks and networks, as told

	// What only a batch system understands; BatchOnly names those that are set.
	Partition  string   `json:"partition,omitempty"`
	Account    string   `json:"account,omitempty"`
	QOS        string   `json:"qos,omitempty"`
	Constraint string   `json:"constraint,omitempty"`
	Exclusive  bool     `json:"exclusive,omitempty"`
	BatchArgs  []string `json:"batch_args,omitempty"` // from --sbatch-arg, verbatim

	// EnergyWeight is how many seconds of turnaround a joule is worth; 0: energy decides nothing.
	EnergyWeight float64 `json:"energy_weight,omitempty"`

	// How the queue is used; the zero value is berth's own choice.
	NoScout   bool   `json:"no_scout,omitempty"`   // never run a sample of tasks first where there is no profile
	MaxAllocs int    `json:"max_allocs,omitempty"` // allocations to ask for at once; 0: berth decides
	WallTime  string `json:"wall_time,omitempty"`  // which time to ask for: WallAuto, WallUpper, WallMax
}

// What Request.WallTime may say.
const (
	WallAuto  = ""      // what gives the least expected turnaround
	WallUpper = "upper" // the upper bound T_up, as the paper does (models.md, "Completion time")
	WallMax   = "max"   // as much as the user and the partition allow
)

// BagSpec describes a bag of tasks. Its entries are kept beside the spec, in the
// run's task table, as there can be a million of them.
type BagSpec struct {
	// Command is the argument vector run for each entry, with placeholders.
	// With Shell it has one element, which is given to /bin/sh -c.
	Command []string `json:"command"`
	Shell   bool     `json:"shell,omitempty"`

	Need      Resources     `json:"need"`               // of one task; CPUs ≥ 1
	TimeLimit time.Duration `json:"time_limit_ns"`      // of one attempt; 0: none
	Retries   int           `json:"retries"`            // further attempts after a failed one
	MaxFails  int           `json:"max_fails"`          // the job stops once more tasks than this failed; −1: never
	Throttle  int           `json:"throttle,omitempty"` // at most so many at once; 0: no limit (--array …%N)
	// DuplicatesOK says that two attempts of one task may run at the same time: they do each other no harm.
	DuplicatesOK bool `json:"duplicates_ok,omitempty"`
	Array        bool `json:"array,omitempty"` // entries are array indices: the task id is the entry

	Stdout string `json:"stdout"` // path template; {job} and {task} are replaced; "none" discards
	Stderr string `json:"stderr"` // path template
	// Collect says that what tasks print goes to a few files for all of them (package collect) in CollectFolder. Then Stdout and Stderr are the defaults or discard.
	// Ungroup says that tasks write to the FIFOs LiveStdout and LiveStderr in the run's folder while a command reads them, and to files for what comes after it has gone.
	Ungroup bool   `json:"ungroup,omitempty"`
	Collect bool   `json:"collect,omitempty"`
	Joblog  string `json:"joblog,omitempty"` // absolute path; empty: none
	// Outputs says which files a task leaves behind, in patterns of paths below the job's folder (OutputPatterns); {Discard}: none but
	// Stdout. A task with patterns runs in a folder of its own. Empty: nothing is known.
	Outputs []string `json:"outputs,omitempty"`
	// Inputs says which files a task needs beside those that its command names, in patterns of paths below the job's folder (InputPatterns). Only where
	// tasks run on hosts that do not see that folder it makes a difference.
	Inputs []string `json:"inputs,omitempty"`
	Env    []string `json:"env,omitempty"` // KEY=VALUE; the user's environment at submission
	// EnvSaid repeats the part of Env that the job file says. Only it and what TravelEnv adds goes to hosts that share no file system with the user's machine.
	EnvSaid []string `json:"env_said,omitempty"`

	Trusted bool `json:"trusted,omitempty"` // no task ever starts on a node that is suspected
}

// MapReduceSpec describes a MapReduce job in Hadoop Streaming's terms.
type MapReduceSpec struct {
	Inputs      []string `json:"inputs"`       // as given: files, folders, globs; absolute
	InputFormat string   `json:"input_format"` // "" or one of InputFormats
	Output      string   `json:"output"`       // folder; absolute
	// PartMode is the permission bits of part files; 0: what the mask of the process that makes them leaves.
	PartMode uint32 `json:"part_mode,omitempty"`

	Mapper   Program  `json:"mapper"`
	Combiner *Program `json:"combiner,omitempty"`
	Reducer  *Program `json:"reducer,omitempty"` // nil: map-only (no sort; output straight from the mappers)

	Reduces     int   `json:"reduces"`                 // partitions; 0: map-only. −1: berth decides
	MapsHint    int   `json:"maps_hint,omitempty"`     // mapreduce.job.maps
	LinesPerMap int   `json:"lines_per_map,omitempty"` // NLineInputFormat
	OffsetKeys  bool  `json:"offset_keys,omitempty"`   // a mapper's line is preceded by its byte offset and a TAB (stream.map.input.ignoreKey=false)
	IgnoreKeys  bool  `json:"ignore_keys,omitempty"`   // a mapper reads the values of a SequenceFile without their keys (stream.map.input.ignoreKey=true)
	MinSplit    int64 `json:"min_split,omitempty"`     // bytes
	MaxSplit    int64 `json:"max_split,omitempty"`     // bytes; 0: berth decides
	// OneFilePerSplit forbids splits over several files: the mapper asks for its input file's name.
	OneFilePerSplit bool `json:"one_file_per_split,omitempty"`

	Files []ShipFile        `json:"files,omitempty"` // put into each task's folder
	Env   []string          `json:"env,omitempty"`   // KEY=VALUE; the user's environment and -cmdenv
	Conf  map[string]string `json:"conf,omitempty"`  // job keys that tasks see in their environment, '.' as '_'
	// CmdEnv repeats the -cmdenv part of Env: it wins over the job keys (TaskEnv).
	CmdEnv []string `json:"cmd_env,omitempty"`

	// Separators and key fields; a record is key, separator, value.
	MapOutputSeparator    string `json:"map_output_separator"`    // stream.map.output.field.separator
	MapOutputKeyFields    int    `json:"map_output_key_fields"`   // stream.num.map.output.key.fields
	ReduceOutputSeparator string `json:"reduce_output_separator"` // stream.reduce.output.field.separator
	KeyFieldSeparator     string `json:"key_field_separator"`     // mapreduce.map.output.key.field.separator

	Partitioner       string `json:"partitioner"`                  // "hash" or "keyfield"
	PartitionOptions  string `json:"partition_options,omitempty"`  // mapreduce.partition.keypartitioner.options
	PartitionFields   int    `json:"partition_fields,omitempty"`   // num.key.fields.for.partition
	Comparator        string `json:"comparator"`                   // "bytes" or "keyfield"
	ComparatorOptions string `json:"comparator_options,omitempty"` // mapreduce.partition.keycomparator.options

	OutputFormat string `json:"output_format,omitempty"` // "" for text, or SequenceOutput
	Compress     string `json:"compress,omitempty"`      // output codec: "", gzip, zstd, bzip2, deflate, snappy

	MapNeed           Resources     `json:"map_need"`
	ReduceNeed        Resources     `json:"reduce_need"`
	MapAttempts       int           `json:"map_attempts"`
	ReduceAttempts    int           `json:"reduce_attempts"`
	TaskTimeout       time.Duration `json:"task_timeout_ns"` // an attempt that neither reads, writes nor reports for so long is killed; 0: never
	SlowStart         float64       `json:"slow_start"`      // share of maps done before reduces start
	NonZeroExitIsFail bool          `json:"non_zero_exit_is_failure"`
	LazyOutput        bool          `json:"lazy_output,omitempty"` // no part file for an empty output
	MapDebug          string        `json:"map_debug,omitempty"`
	ReduceDebug       string        `json:"reduce_debug,omitempty"`
}

// Program is a mapper, combiner or reducer.
type Program struct {
	Native string   `json:"native,omitempty"` // "identity" or "aggregate": run inside the worker
	Args   []string `json:"args,omitempty"`   // otherwise: the command and its arguments
}

// ShipFile is a file put into the folder of each task under Name.
type ShipFile struct {
	Path    string `json:"path"`              // absolute
	Name    string `json:"name"`              // path below the task's folder
	Archive bool   `json:"archive,omitempty"` // unpacked into a folder of that name
	Sum     string `json:"sum,omitempty"`     // tells its content from others, for profiles; empty: no program names it, or it is a folder
}

// Entry is what sets one bag task apart: its columns, one for each input source.
// A bag over one source has one column.
type Entry []string

// Split is the input of one map task: byte ranges of files. Length is exact for
// plain files (a range is moved to line ends by the reader) and −1 where the
// whole of a compressed file is meant.
type Split struct {
	Ranges []Range `msgpack:"r" json:"ranges"`
}

// Range is a part of a file, in bytes.
type Range struct {
	Path   string `msgpack:"p" json:"path"`
	Offset int64  `msgpack:"o,omitempty" json:"offset"`
	Length int64  `msgpack:"l" json:"length"`         // −1: to the end, compressed
	Size   int64  `msgpack:"z,omitempty" json:"size"` // of the file, for predictions and to see that it did not change
}

// Work is the engine's view of a job: how many tasks of which kind, what each
// needs and how often it may fail. It says nothing about commands or files.
type Work struct {
	ID      ID     `msgpack:"id"`
	Name    string `msgpack:"n"`
	Kind    Kind   `msgpack:"k"`
	Tasks   int    `msgpack:"t"` // bag tasks, or maps
	Reduces int    `msgpack:"r,omitempty"`
	Terms
	SlowStart float64 `msgpack:"ss,omitempty"` // share of maps done before reduces start
	After     []ID    `msgpack:"af,omitempty"` // jobs that must be done before this one begins
	// Demands is what each phase is known to take, by the application's profile; those of phases that
	// are missing are learned from the first tasks.
	Demands []PhaseDemand `msgpack:"pd,omitempty"`
	// Curves is how attempts of earlier runs of the application came on, by its profile.
	Curves []Curve      `msgpack:"cu,omitempty"`
	Alloc  AllocRequest `msgpack:"al"`
	Course
	// Homes is where bag tasks or maps have their data, as far as that is known; empty: everywhere the same.
	Homes []Home `msgpack:"ho,omitempty"`
}

// Home is a host that has data of tasks.
type Home struct {
	Host  string  `msgpack:"h"` // as its worker calls it (event.NodeJoined)
	Tasks []int32 `msgpack:"t"` // whose data is there, in ascending order
}

// AllocRequest is the shape of an allocation: what the plan decided.
type AllocRequest struct {
	On          string        `msgpack:"on" json:"on"` // driver
	Nodes       int           `msgpack:"n" json:"nodes"`
	PerNode     Resources     `msgpack:"pn" json:"per_node"`
	Time        time.Duration `msgpack:"t,omitempty" json:"time_ns"` // wall time; 0: unlimited
	IdleTimeout time.Duration `msgpack:"it,omitempty" json:"idle_timeout_ns"`
	SortMemory  int64         `msgpack:"sm,omitempty" json:"sort_memory"` // bytes a node
	Scratch     string        `msgpack:"sc,omitempty" json:"scratch"`
	Remote      Remote        `msgpack:"rm,omitempty" json:"remote,omitzero"` // the hosts of its nodes, by rank; as many as Nodes, or none
	Rates       NodeRates     `msgpack:"ra,omitempty" json:"rates,omitzero"`  // as told; allocations may differ in them and serve the same jobs

	// Elastic allocations come from a batch system: those of one Batch serve the same
	// jobs whatever their size and time, and each is asked for on behalf of one job.
	Elastic bool  `msgpack:"el,omitempty" json:"elastic,omitempty"`
	Batch   Batch `msgpack:"b,omitempty" json:"batch,omitzero"`
	// Start is when it is predicted to begin; 0: unknown.
	Start Time `msgpack:"st,omitempty" json:"start_ns,omitempty"`
	// Latest is when it must have begun, as its free slot is too short for it later: it was
	// meant for that slot, and may stand in the way of others elsewhere. 0: no such time.
	Latest Time `msgpack:"lt,omitempty" json:"latest_ns,omitempty"`
}

// Batch is what a batch system is told beside the size and time of an allocation.
type Batch struct {
	Partition  string   `msgpack:"p,omitempty" json:"partition,omitempty"`
	Account    string   `msgpack:"a,omitempty" json:"account,omitempty"`
	QOS        string   `msgpack:"q,omitempty" json:"qos,omitempty"`
	Constraint string   `msgpack:"c,omitempty" json:"constraint,omitempty"`
	Exclusive  bool     `msgpack:"x,omitempty" json:"exclusive,omitempty"`
	Args       []string `msgpack:"g,omitempty" json:"args,omitempty"` // for sbatch, verbatim
	Name       string   `msgpack:"n,omitempty" json:"name,omitempty"` // what the queue shows it as
	// Among are the partitions of which Partition is one, as sbatch takes them, where the job may
	// run in several: its allocations in any of them serve the same jobs. Empty: Partition alone.
	Among string `msgpack:"am,omitempty" json:"among,omitempty"`
	// Cluster tells clusters apart that the same driver reaches (cluster.Queue.ID); empty:
	// the one of the coordinator's own environment, as in journals of older versions.
	Cluster string `msgpack:"cl,omitempty" json:"cluster,omitempty"`
}

// Batch returns what the request asks of a batch system in that partition.
func (r *Request) Batch(partition string) Batch {
	return Batch{Partition: partition, Account: r.Account, QOS: r.QOS, Constraint: r.Constraint, Exclusive: r.Exclusive, Args: r.BatchArgs}
}

// BatchOnly names the options that are set and mean something to a batch system
// only, so that a command which runs elsewhere can say that they have no effect.
func (r *Request) BatchOnly() []string {
	var names []string
	for _, o := range []struct {
		name string
		set  bool
	}{
		{"partition", r.Partition != ""},
		{"account", r.Account != ""},
		{"qos", r.QOS != ""},
		{"constraint", r.Constraint != ""},
		{"exclusive", r.Exclusive},
		{"sbatch-arg", len(r.BatchArgs) > 0},
		{"wall-time", r.WallTime != WallAuto},
		{"max-allocs", r.MaxAllocs > 0},
		{"no-scout", r.NoScout},
		{"energy-weight", r.EnergyWeight > 0},
	} {
		if o.set {
			names = append(names, o.name)
		}
	}
	return names
}

// Partitions returns the partitions in which allocations serve the jobs that this one serves.
func (b Batch) Partitions() string { return cmp.Or(b.Among, b.Partition) }

// Key returns what two elastic requests must have in common to serve the same jobs:
// everything but the name, and but which of several partitions each is in.
func (b Batch) Key() string {
	return fmt.Sprintf("%q", []string{b.Cluster, b.Partitions(), b.Account, b.QOS, b.Constraint, strconv.FormatBool(b.Exclusive), fmt.Sprintf("%q", b.Args)})
}

// Total returns the number of tasks of the job.
func (w *Work) Total() int { return w.Tasks + w.Reduces }

// TaskKind returns the kind of the task with that index.
func (w *Work) TaskKind(task int) TaskKind { return w.Kind.TaskKind(w.Tasks, task) }

// TaskKind returns the kind of the task with that index, of a job with so many maps if it has any.
func (k Kind) TaskKind(maps, task int) TaskKind {
	switch {
	case k == Bag:
		return BagTask
	case task < maps:
		return MapTask
	default:
		return ReduceTask
	}
}
