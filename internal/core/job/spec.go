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

// Spec is a job as its user described it. Normalize fills in the defaults and resolves relative paths
// against Dir. Exactly one of Bag and MapReduce is set. A spec is stored as JSON in the run's folder and
// sent to workers.
type Spec struct {
	ID   ID     `json:"id"`
	Name string `json:"name"`
	Kind Kind   `json:"kind"`
	Dir  string `json:"dir"` // the user's current folder, absolute

	// Application is the name of the application whose profile the job uses; empty: its commands determine the application.
	Application string `json:"application,omitempty"`

	// After names the jobs that must be done before this one begins.
	After []ID   `json:"after,omitempty"`
	Stage *Stage `json:"stage,omitempty"` // of a job that is one of several stages; nil: it is not

	Inherit *Inherit `json:"inherit,omitempty"` // process attributes of the command that submitted the job; nil: tasks get the worker's

	Request   Request        `json:"request"`
	Bag       *BagSpec       `json:"bag,omitempty"`
	MapReduce *MapReduceSpec `json:"mapreduce,omitempty"`
}

// Stage describes a job that is one of the stages of a job file.
type Stage struct {
	Name   string `json:"name"`   // split, operation or merge
	Folder string `json:"folder"` // folder of the files between the stages, absolute
	Keep   bool   `json:"keep,omitempty"`
	First  ID     `json:"first,omitempty"` // id of the first stage; empty: this job is the first

	Env []string `json:"env"` // variables for its tasks, BERTH_…=VALUE
}

// Request says where and how the job runs, as far as the user decides it.
// The zero value of a field means "berth decides".
type Request struct {
	On          string        `json:"on"`                    // auto, local, …
	Workers     int           `json:"workers,omitempty"`     // local: worker processes that share the machine
	MinNodes    int           `json:"min_nodes,omitempty"`   // from --nodes
	MaxNodes    int           `json:"max_nodes,omitempty"`   // from --nodes or --max-nodes
	MaxTime     time.Duration `json:"max_time_ns,omitempty"` // from --time or --max-time
	IdleTimeout time.Duration `json:"idle_timeout_ns"`       // an allocation without work is given back after this time
	SortMemory  int64         `json:"sort_memory,omitempty"` // bytes for each worker; 0: a fraction of the node's memory
	Weight      float64       `json:"weight,omitempty"`      // share of the job on nodes that it shares with other jobs; 0: 1
	Priority    int           `json:"priority,omitempty"`    // above that of another job of the user: it goes before that one
	// Due is when the job should be done; 0: it has no deadline. Deadline is the time from a submission or a resume until then, before SetDue.
	Due      Time          `json:"due_ns,omitempty"`
	Deadline time.Duration `json:"deadline_ns,omitempty"`

	Stragglers  Stragglers  `json:"stragglers,omitempty"`  // action on slow tasks
	Speculation float64     `json:"speculation,omitempty"` // largest extra processor time of duplicates, as a fraction; 0: defaultSpeculation
	NodePower   []NodePower `json:"node_power,omitempty"`  // power of the nodes
	Scratch     string      `json:"scratch,omitempty"`     // folder for intermediate data; empty: the worker's default
	Remote      Remote      `json:"remote,omitzero"`       // hosts or rented machines to run on
	Rates       NodeRates   `json:"rates,omitzero"`        // rates of the nodes' disks and networks
	Notify      string      `json:"notify,omitempty"`      // command for the shell that is run when the job is over

	// The options of a batch system. BatchOnly lists those that are set.
	Partition  string   `json:"partition,omitempty"`
	Anywhere   bool     `json:"anywhere,omitempty"` // Partition is the list of those that the job may use, as the user asked for any
	Account    string   `json:"account,omitempty"`
	QOS        string   `json:"qos,omitempty"`
	Constraint string   `json:"constraint,omitempty"`
	Exclusive  bool     `json:"exclusive,omitempty"`
	BatchArgs  []string `json:"batch_args,omitempty"` // for the command that submits jobs, verbatim
	ArgsFlag   string   `json:"args_flag,omitempty"`  // the flag that gave BatchArgs, which one batch system has; "" in specs of older versions

	// EnergyWeight is the number of seconds of turnaround that a joule is worth; 0: energy does not count.
	EnergyWeight float64 `json:"energy_weight,omitempty"`

	// Courtesy says how much a request does for the jobs of others: 0 nothing. Beside them a request whose free slot has no end may ask
	// for up to 1 + Courtesy times its wall time, and is given back as soon as its own job is done (models.md, "Batch systems").
	Courtesy float64 `json:"courtesy,omitempty"`

	// How berth uses the queue. With the zero value berth decides.
	// PreemptibleOK says that it does no harm if the job loses nodes to jobs of other partitions.
	PreemptibleOK bool   `json:"preemptible_ok,omitempty"`
	NoScout       bool   `json:"no_scout,omitempty"`   // without a profile, do not run a scout first
	MaxAllocs     int    `json:"max_allocs,omitempty"` // largest number of requests at the same time; 0: berth decides
	WallTime      string `json:"wall_time,omitempty"`  // which wall time to request: WallAuto, WallUpper, WallMax
	// StartWithin is how long the job may wait for its first allocation before it is not run at all; 0: as long as it takes.
	StartWithin time.Duration `json:"start_within_ns,omitempty"`
}

// The values of Request.WallTime.
const (
	WallAuto  = ""      // the wall time with the smallest expected turnaround
	WallUpper = "upper" // the upper bound T_up of the run time, as in the paper (models.md, "Completion time")
	WallMax   = "max"   // the longest that the user and the partition allow
)

// BagSpec describes a bag of tasks. Its entries are stored in the run's task table, because there can be
// a million of them.
type BagSpec struct {
	// Command is the argument vector that is run for each entry, with placeholders.
	// With Shell it has one element, a command for the shell.
	Command []string `json:"command"`
	Shell   bool     `json:"shell,omitempty"`
	// Placeholder stands for the entry in the command, in the place of {} and those like it, if the user chose one. Names of files have these.
	Placeholder string `json:"placeholder,omitempty"`
	// ShellProgram is the shell that runs the command or, if the entries are the commands, the entries: a path, or a name that
	// is searched for in PATH. Empty: /bin/sh runs them, or no shell does.
	ShellProgram string `json:"shell_program,omitempty"`
	// ShellNamed says that the user named the shell. Another may replace one that berth chose, on a node that does not have it.
	ShellNamed bool `json:"shell_named,omitempty"`
	// Earlier are the commands that the bag had before a resume gave it another one.
	Earlier []earlierCommand `json:"earlier,omitempty"`

	Need Resources `json:"need"` // of one task, or of each rank of a gang; CPUs ≥ 1
	Gang
	// EachRank says that the command is started on every rank of a gang, and not only once on its first node.
	EachRank bool `json:"each_rank,omitempty"`
	Uses     Uses `json:"use,omitempty"` // of each task that says nothing else
	// MaxMem is how much memory a task may get after it ran out of Need.Mem; 0: no more. AutoMem says that the memory of tasks is chosen from
	// what earlier ones of the application used. Then Need.Mem is that of the first tasks, or 0 before the job is planned, and MaxMem 0 means what the
	// largest node has.
	MaxMem  int64 `json:"max_mem_bytes,omitempty"`
	AutoMem bool  `json:"auto_mem,omitempty"`
	NodeMem int64 `json:"node_mem_bytes,omitempty"` // of the largest node that a task could have, once the job is planned; 0: not known

	TimeLimit    time.Duration `json:"time_limit_ns"`               // of one attempt; 0: none
	MaxTimeLimit time.Duration `json:"max_time_limit_ns,omitempty"` // what a task may get after it ran out of that; 0: no more
	// NeedsFrom says which columns of entries have needs of their tasks; nil: none.
	NeedsFrom *NeedsFrom `json:"needs_from,omitempty"`
	// AddressSpace says that each process of a task gets Need.Mem as the limit of its address space (RLIMIT_AS).
	AddressSpace bool `json:"address_space,omitempty"`
	// Warm has modules of Python, separated by commas. A task that runs the first of them (python -m) is forked from a process that has loaded all.
	Warm string `json:"warm,omitempty"`
	// Signal is the number of a signal that a task gets SignalLead before its time is over, by its allocation's end or TimeLimit; 0: none.
	Signal     int           `json:"signal,omitempty"`
	SignalLead time.Duration `json:"signal_lead_ns,omitempty"`
	Retries    int           `json:"retries"`            // further attempts after a failed one
	MaxFails   int           `json:"max_fails"`          // the job stops when more tasks than this have failed; −1: never
	Throttle   int           `json:"throttle,omitempty"` // largest number of tasks at the same time; 0: no limit (--array …%N)
	// RequeueExit is the exit status by which a task says that it is not done and is to start again; 0: there is none.
	RequeueExit int `json:"requeue_exit,omitempty"`
	// DuplicatesOK says that two attempts of one task may run at the same time.
	DuplicatesOK bool `json:"duplicates_ok,omitempty"`
	Array        bool `json:"array,omitempty"` // entries are array indices, which are the ids of the tasks
	Open         bool `json:"open,omitempty"`  // tasks are added while it runs, until it is closed

	OutDir string `json:"out_dir,omitempty"` // folder below which the default files of Stdout and Stderr are; empty: the job's
	Stdout string `json:"stdout"`            // path template; {job} and {task} are replaced; "none" discards
	Stderr string `json:"stderr"`            // path template
	// Ungroup says that tasks write to the FIFOs LiveStdout and LiveStderr in the run's folder while a command reads them. After the command has ended tasks write
	// to files. Collect says that the output of all tasks goes to a few files in CollectFolder (package collect). Then Stdout and Stderr are the defaults or Discard.
	Ungroup bool   `json:"ungroup,omitempty"`
	Collect bool   `json:"collect,omitempty"`
	Joblog  string `json:"joblog,omitempty"` // absolute path; empty: none
	// Outputs has patterns of the files that a task creates below the job's folder (OutputPatterns). A task with patterns runs in its own folder.
	// {Discard} means that a task creates no files besides Stdout. Empty: its files are unknown.
	Outputs []string `json:"outputs,omitempty"`
	// Inputs has patterns of files below the job's folder that a task needs besides those that its command names (InputPatterns). They are used only
	// on hosts that do not share that folder, and with Local.
	Inputs []string `json:"inputs,omitempty"`
	// Local says that each task runs in a folder on its node's own disk, with copies of what it needs, also where the node sees the job's folder.
	Local bool     `json:"local,omitempty"`
	Env   []string `json:"env,omitempty"` // KEY=VALUE; the user's environment at submission
	// EnvSaid repeats the variables of Env that the job file sets. Hosts that do not see the user's files get these (Apart).
	EnvSaid []string `json:"env_said,omitempty"`

	// Progress is the source by which the progress of tasks is measured (ProgressNamed); "" or "auto": the best that works.
	Progress string `json:"progress,omitempty"`
	Trusted  bool   `json:"trusted,omitempty"` // no task starts on a suspected node
}

// earlierCommand is a command that a bag had before, and how many tasks were done when it got the next one.
type earlierCommand struct {
	Command string `json:"command"`
	Done    int    `json:"done"`
}

// MapReduceSpec describes a MapReduce job in Hadoop Streaming's terms.
type MapReduceSpec struct {
	Inputs      []string `json:"inputs"`       // files, folders and globs as the user gave them; absolute
	InputFormat string   `json:"input_format"` // "" or one of those that berth reads (compat/streaming)
	Output      string   `json:"output"`       // folder; absolute
	// PartMode has the permission bits of part files; 0: those that the mask of the worker leaves.
	PartMode uint32 `json:"part_mode,omitempty"`

	Mapper   Program  `json:"mapper"`
	Combiner *Program `json:"combiner,omitempty"`
	Reducer  *Program `json:"reducer,omitempty"` // nil: map-only, the mappers write the output and nothing is sorted

	Reduces     int   `json:"reduces"`                 // partitions; 0: map-only. −1: berth decides
	MapsHint    int   `json:"maps_hint,omitempty"`     // mapreduce.job.maps
	LinesPerMap int   `json:"lines_per_map,omitempty"` // NLineInputFormat
	OffsetKeys  bool  `json:"offset_keys,omitempty"`   // a line's byte offset and a TAB precede it for the mapper (stream.map.input.ignoreKey=false)
	IgnoreKeys  bool  `json:"ignore_keys,omitempty"`   // a mapper reads the values of a SequenceFile without their keys (stream.map.input.ignoreKey=true)
	MinSplit    int64 `json:"min_split,omitempty"`     // bytes
	MaxSplit    int64 `json:"max_split,omitempty"`     // bytes; 0: berth decides
	// OneFilePerSplit forbids splits over several files, because the mapper uses the name of its input file.
	OneFilePerSplit bool `json:"one_file_per_split,omitempty"`

	Files []ShipFile        `json:"files,omitempty"` // put into each task's folder
	Env   []string          `json:"env,omitempty"`   // KEY=VALUE; the user's environment and -cmdenv
	Conf  map[string]string `json:"conf,omitempty"`  // job keys, which tasks have in their environment with '_' for '.'
	// CmdEnv repeats the variables of -cmdenv, which win over the job keys (TaskEnv).
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
	TaskTimeout       time.Duration `json:"task_timeout_ns"` // an attempt that does not read, write or report for this time is killed; 0: never
	SlowStart         float64       `json:"slow_start"`      // fraction of the maps that must be done before reduces start
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
	Sum     string `json:"sum,omitempty"`     // hash of its content, for profiles; empty: no program names it, or it is a folder
}

// Entry is the input of one bag task: its columns, one for each list of values.
// The entries of a bag with one list have one column.
type Entry []string

// Split is the input of one map task: byte ranges of files. Length is exact for a plain file, whose
// reader moves the ends of the range to line ends. It is −1 for a whole compressed file.
type Split struct {
	Ranges []Range `msgpack:"r" json:"ranges"`
}

// Range is a part of a file, in bytes.
type Range struct {
	Path   string `msgpack:"p" json:"path"`
	Offset int64  `msgpack:"o,omitempty" json:"offset"`
	Length int64  `msgpack:"l" json:"length"`         // −1: to the end, compressed
	Size   int64  `msgpack:"z,omitempty" json:"size"` // of the file; used for predictions, and to detect that the file has changed
	// The following fields distinguish the file from one that replaces it. Zero values are unknown, as in journals of older versions.
	Modified int64  `msgpack:"m,omitempty" json:"modified_ns,omitempty"` // time of the last modification
	Inode    uint64 `msgpack:"i,omitempty" json:"inode,omitempty"`       // number of the file in its file system
	Tag      string `msgpack:"e,omitempty" json:"tag,omitempty"`         // entity tag of an object
}

// Work is the part of a job that the engine needs: how many tasks of which kind it has, what each
// needs and how often it may fail. It has no commands and no files.
type Work struct {
	ID      ID     `msgpack:"id"`
	Name    string `msgpack:"n"`
	Kind    Kind   `msgpack:"k"`
	Tasks   int    `msgpack:"t"` // bag tasks, or maps
	Reduces int    `msgpack:"r,omitempty"`
	Open    bool   `msgpack:"op,omitempty"` // of a bag: tasks are added to it until it is closed
	Shares  bool   `msgpack:"sh,omitempty"` // other jobs may write files of the same names (BagSpec.Shares)
	Log     uint64 `msgpack:"lg,omitempty"` // stands for the path of its job log; 0: it has none
	Terms
	// Further are the needs of a bag's tasks that are not those of the bag, a zero field as for the bag, and Which says which tasks have
	// which: 0 is the bag's, 1 the first of Further. Tasks behind those of Which have the bag's.
	Further   []Needs    `msgpack:"fn,omitempty"`
	Which     []NeedsRun `msgpack:"wn,omitempty"`
	SlowStart float64    `msgpack:"ss,omitempty"` // fraction of the maps that must be done before reduces start
	After     []ID       `msgpack:"af,omitempty"` // jobs that must be done before this one begins
	// Demands has the demands of phases from the application's profile. Missing ones are measured with
	// the first tasks.
	Demands []PhaseDemand `msgpack:"pd,omitempty"`
	// Curves has the progress of earlier attempts from the application's profile.
	Curves []Curve `msgpack:"cu,omitempty"`
	// Memory is what earlier tasks of the application used, for a bag whose tasks can get more or other memory than they start with.
	Memory []MemorySample `msgpack:"me,omitempty"`
	Alloc  AllocRequest   `msgpack:"al"`
	Followup
	// DataHosts lists the hosts that have data of bag tasks or maps, or will have; empty: no host is nearer to the data than others.
	DataHosts []DataHost `msgpack:"ho,omitempty"`
}

// DataHost is a host that has data of tasks.
type DataHost struct {
	Host  string  `msgpack:"h"` // its name, as its worker reports it (event.NodeJoined); "": each on which one of the tasks starts
	Tasks []int32 `msgpack:"t"` // the tasks whose data the host has, in ascending order
}

// AllocRequest is a request for an allocation, as the plan decided it.
type AllocRequest struct {
	On          string        `msgpack:"on" json:"on"` // the driver: `local`, `slurm` or `ssh`
	Nodes       int           `msgpack:"n" json:"nodes"`
	PerNode     Resources     `msgpack:"pn" json:"per_node"`                  // what each node has
	Time        time.Duration `msgpack:"t,omitempty" json:"time_ns"`          // wall time; 0: unlimited
	IdleTimeout time.Duration `msgpack:"it,omitempty" json:"idle_timeout_ns"` // time without work after which the allocation is released
	SortMemory  int64         `msgpack:"sm,omitempty" json:"sort_memory"`     // bytes each node may use for sorting
	Scratch     string        `msgpack:"sc,omitempty" json:"scratch"`         // folder for intermediate data; empty: the worker's default
	Remote      Remote        `msgpack:"rm,omitempty" json:"remote,omitzero"` // the hosts of `--on ssh`
	Rates       NodeRates     `msgpack:"ra,omitempty" json:"rates,omitzero"`  // disk and network rates of nodes as the user gave them

	// Only has the ids of the cores that tasks may use, on one machine where the job was submitted by a command that is bound to
	// some of its cores; nil: all of them.
	Only []int `msgpack:"oc,omitempty" json:"only,omitempty"` // ids of the cores that tasks may use; may be absent: all of the machine

	// Elastic allocations come from a batch system. Those of one Batch serve the same jobs whatever their
	// size and wall time, and each is requested for one job.
	Elastic bool  `msgpack:"el,omitempty" json:"elastic,omitempty"` // it comes from a batch system
	Batch   Batch `msgpack:"b,omitempty" json:"batch,omitzero"`     // options for the batch system besides size and time
	// Courteous allocations are given back when the job is over for which they were requested, even if another job of the user has none.
	Courteous bool `msgpack:"co,omitempty" json:"courteous,omitempty"` // it is given back when the job that requested it is over
	// Start is the predicted begin; 0: unknown.
	Start Time `msgpack:"st,omitempty" json:"start_ns,omitempty"` // when it is predicted to begin, since the Unix epoch
	// Latest is the last instant at which it may begin, because its free slot is too short for it later.
	// A request that has not begun by then is cancelled, because it may delay others. 0: no such time.
	Latest Time `msgpack:"lt,omitempty" json:"latest_ns,omitempty"` // latest useful start: later the free slot is too short
	// Avoid has the nodes on which workers of earlier allocations could not start. A batch system leaves them out if it can.
	Avoid []string `msgpack:"av,omitempty" json:"-"`
}

// Batch has the options of a batch system for an allocation, besides its size and wall time.
type Batch struct {
	Partition  string   `msgpack:"p,omitempty" json:"partition,omitempty"`
	Account    string   `msgpack:"a,omitempty" json:"account,omitempty"`
	QOS        string   `msgpack:"q,omitempty" json:"qos,omitempty"`
	Constraint string   `msgpack:"c,omitempty" json:"constraint,omitempty"` // features of the nodes
	Exclusive  bool     `msgpack:"x,omitempty" json:"exclusive,omitempty"`  // the allocation shares no node with other jobs
	Args       []string `msgpack:"g,omitempty" json:"args,omitempty"`       // arguments passed to sbatch unchanged
	Name       string   `msgpack:"n,omitempty" json:"name,omitempty"`       // name in the queue
	// Among is the list of partitions, separated by commas, in which the job may run. Partition is one of them,
	// and allocations in any of them serve the same jobs. Empty: Partition alone.
	Among string `msgpack:"am,omitempty" json:"among,omitempty"` // the partitions of which this is one, where the job may run in several
	// Cluster identifies one of the clusters that the driver reaches (cluster.Queue.ID). Empty, as in
	// journals of older versions: the cluster of the coordinator's environment.
	Cluster string `msgpack:"cl,omitempty" json:"cluster,omitempty"` // which of the clusters that the driver reaches
	// Licences are those of the batch system that are requested for the tasks of the allocation.
	Licences Uses `msgpack:"li,omitempty" json:"licences,omitempty"` // `NAME=N,…`, licences that are requested
}

// Batch returns the request's options for a batch system, for that partition.
func (r *Request) Batch(partition string) Batch {
	return Batch{Partition: partition, Account: r.Account, QOS: r.QOS, Constraint: r.Constraint, Exclusive: r.Exclusive, Args: r.BatchArgs}
}

// SetDue turns a deadline that counts from the submission, or the resume, into a time. Rented machines count from their request.
func (r *Request) SetDue(now Time) {
	if r.Deadline > 0 {
		r.Due, r.Deadline = now.Add(r.Deadline), 0
	}
	if r.Due != 0 && len(r.Remote.Rent.Machines) > 0 {
		r.Remote.Rent.Deadline = max(r.Due.Sub(now), 1)
	}
}

// Partitions returns the partitions whose allocations can serve the same jobs.
func (b Batch) Partitions() string { return cmp.Or(b.Among, b.Partition) }

// Key returns a text that is equal for two elastic requests that can serve the same jobs. It leaves out
// the name, and which of several partitions was chosen.
func (b Batch) Key() string {
	return fmt.Sprintf("%q", []string{b.Cluster, b.Partitions(), b.Account, b.QOS, b.Constraint, strconv.FormatBool(b.Exclusive), fmt.Sprintf("%q", b.Args)})
}

// Total returns the number of tasks of the job.
func (w *Work) Total() int { return w.Tasks + w.Reduces }

// TaskKind returns the kind of the task with that index.
func (w *Work) TaskKind(task int) TaskKind { return w.Kind.TaskKind(w.Tasks, task) }

// TaskKind returns the kind of the task with that index in a job of kind k. maps is its number of maps.
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
