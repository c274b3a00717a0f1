package job

import (
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
)

// The largest values that are accepted. They are far beyond any machine. A larger value is a mistake
// and could overflow a sum.
const (
	MaxNodes  = 1_000_000
	MaxCPUs   = 1 << 16
	MaxRanks  = 1_000_000
	MaxWeight = 1000

	MaxCourtesy  = 10 // times the wall time
	maxMem       = 1 << 50
	minSortMem   = 1 << 20 // bytes; a smaller buffer may be too small for a single record
	maxNameBytes = 256
)

// Validate checks what no reader of a single option or key has checked in a normalised spec. It returns all mistakes joined, each as an *Error whose Where is the
// field's flag or key.
func (s *Spec) Validate() error {
	var c checks
	c.require(path.IsAbs(s.Dir), "folder", "%q is not an absolute path", s.Dir)
	c.require(s.Name != "" && len(s.Name) <= maxNameBytes && !hasControl(s.Name), "job-name",
		"%q is empty, longer than %d bytes or has control characters", s.Name, maxNameBytes)
	c.require(len(s.Application) <= maxNameBytes && !hasControl(s.Application), "application",
		"%q is longer than %d bytes or has control characters", s.Application, maxNameBytes)
	c.request(&s.Request)
	if s.Bag != nil {
		c.bag(s.Bag)
		c.gang(s)
	}
	if s.MapReduce != nil {
		c.mapReduce(s.MapReduce)
	}
	return errors.Join(c...)
}

// checks collects the mistakes of a spec.
type checks []error

func (c *checks) require(ok bool, where, format string, args ...any) {
	if !ok {
		*c = append(*c, ConfigError(where, fmt.Sprintf(format, args...), ""))
	}
}

func hasControl(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f }) >= 0
}

func (c *checks) path(p, where string) {
	c.require(path.IsAbs(p), where, "%q is not an absolute path", p)
	c.require(!strings.ContainsRune(p, 0), where, "a path cannot have a NUL")
}

// place checks a path, or the name of objects.
func (c *checks) place(p, where string) {
	if !IsObject(p) {
		c.path(p, where)
		return
	}
	bucket, _ := CutObject(p)
	c.require(bucket != "" && !strings.ContainsAny(bucket, `*?[{`), where, "%q names no bucket", p)
	c.require(!strings.ContainsRune(p, 0), where, "a name cannot have a NUL")
}

func (c *checks) request(r *Request) {
	c.require(regexp.MustCompile(`^([a-z][a-z0-9-]*|script:.+)$`).MatchString(r.On), "on", "%q is not the name of a backend", r.On)
	c.require(len(r.Remote.Hosts) <= MaxNodes, "hosts", "%d hosts are more than %d", len(r.Remote.Hosts), MaxNodes)
	for i, h := range r.Remote.Hosts {
		twice := slices.ContainsFunc(r.Remote.Hosts[:i], func(other Host) bool { return other.Name == h.Name })
		c.require(!twice, "hosts", "host %s is named twice; name it once, with the number of cores of both", h.Name)
	}
	for i, m := range r.Remote.Rent.Machines {
		twice := slices.ContainsFunc(r.Remote.Rent.Machines[:i], func(other Rented) bool { return other.Name == m.Name })
		c.require(!twice, "machines", "type %s is named twice; name it once, with the sum of both numbers", m.Name)
	}
	c.require(r.SortMemory == 0 || r.SortMemory >= minSortMem && r.SortMemory <= maxMem, "sort-memory",
		"%s is not from %s to %s", FormatSize(r.SortMemory), FormatSize(minSortMem), FormatSize(maxMem))
	if r.Scratch != "" {
		c.path(r.Scratch, "scratch")
	}
	for _, name := range r.BatchOnly() {
		c.require(r.On != "local", name, "only a batch system has this option, and the job runs on this machine; leave it out or change --on")
	}
}

// gpuTypeChars are the characters that names of types of GPUs can have, as in Slurm's configuration.
const gpuTypeChars = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-."

func (c *checks) need(n Resources, kind string) {
	c.require(strings.Trim(n.GPUType, gpuTypeChars) == "", "gpus", "%q is not the name of a type of GPUs", n.GPUType)
	c.require(n.Mem >= 0 && n.Mem <= maxMem, "mem", "%s%s is not from 0 to %s", FormatSize(n.Mem), kind, FormatSize(maxMem))
}

func (c *checks) bag(b *BagSpec) {
	c.require(len(b.Command) > 0 && b.Command[0] != "", "command", "the command is empty")
	c.require(!b.ShellNamed || b.RunsShell(), "shell", "no shell runs a command of several words; write the whole command as one word, in quotes")
	for _, word := range b.Command {
		c.require(!strings.ContainsRune(word, 0), "command", "%q has a NUL, which no argument can have", word)
	}
	c.need(b.Need, " of a task")
	c.require(b.TimeLimit == 0 || b.SignalLead < b.TimeLimit, "signal", "it would be sent %s before the end, and the time limit of a task is %s",
		FormatDuration(b.SignalLead), FormatDuration(b.TimeLimit))
	c.require(b.MaxMem == 0 || b.MaxMem <= maxMem && (b.MaxMem >= b.Need.Mem || b.AutoMem), "mem", "%s is not from %s to %s",
		FormatSize(b.MaxMem), FormatSize(b.Need.Mem), FormatSize(maxMem))
	c.require(!b.AddressSpace || b.MaxMem == 0 && !b.AutoMem, "limit-address-space", "a program that asks for more memory than it may have fails by itself then, "+
		"so its task cannot start again with more; leave it out, or give --mem a single size")
	c.require(!b.AddressSpace || b.Need.Mem > 0 || b.AutoMem, "limit-address-space", "it limits to the memory of a task, which is not given; add --mem")
	c.require(strings.Trim(b.Warm, gpuTypeChars+",") == "", "warm", "%q is not a list of modules of Python with commas between them", b.Warm)
	c.template(b, b.Stdout, "stdout")
	c.template(b, b.Stderr, "stderr")
	c.require(b.Stdout == Discard || b.Stdout != b.Stderr, "stderr", "it is the same file as stdout; write 2>&1 in a shell command instead")
	for _, template := range []string{b.Stdout, b.Stderr} {
		c.require(!b.Collected(template) || strings.HasSuffix(template, "/"+DefaultStdout) || strings.HasSuffix(template, "/"+DefaultStderr), "stdout",
			"standard output and standard error must both be collected or neither, and %q is one file for each task; %q discards one of them", template, Discard)
	}
	c.outputs(b)
	if b.Joblog != "" {
		c.path(b.Joblog, "joblog")
	}
	c.env(b.Env)
}

// gang checks the ranks of tasks. Columns of entries, or tasks that are added, may have ranks of their own where the bag has none.
func (c *checks) gang(s *Spec) {
	b := s.Bag
	later := b.Open || b.NeedsFrom != nil && b.NeedsFrom.Ranks > 0
	const none = "tasks have no ranks; say with --ranks how many"
	c.require(b.RanksPerNode == 0 || b.Ranks > 0 || later, "ranks-per-node", none)
	c.require(!b.EachRank || b.Ranks > 0 || later, "each-rank", none)
	c.require(b.Ranks == 0 || b.RanksPerNode <= b.Ranks, "ranks-per-node", "%d on each node are more than the %s of a task", b.RanksPerNode, Count(b.Ranks, "rank"))
	c.require(!b.AutoMem || !b.Several(), "mem", "memory is not chosen for tasks of several ranks; write a size, or a range as in 4G..16G, for each rank")
	if why := s.Request.NoGangs(); why != "" {
		c.require(!b.Several() && (b.NeedsFrom == nil || b.NeedsFrom.Ranks == 0), "ranks", "%s", why)
	}
}

// NoGangs returns the reason why no task can have several ranks, and what to do, or "".
func (r *Request) NoGangs() string {
	if len(r.Remote.Rent.Machines) == 0 {
		return ""
	}
	return "a task on rented machines is one process; several ranks run on this machine, on hosts that ssh reaches (--hosts), and on batch systems"
}

// template checks the template of an output file. Two tasks must not write the same file.
func (c *checks) template(b *BagSpec, t, where string) {
	if t == Discard {
		return
	}
	c.path(t, where)
	c.require(b.EachRank || !strings.Contains(t, rankPlaceholder), where, "%s is known only where the command starts on every rank; add --each-rank", rankPlaceholder)
	c.require(!rankUnclear().MatchString(t), where, "%q may name one file for ranks of two tasks; write a character other than a digit beside {rank}, as in {task}.{rank}", t)
	whole := strings.NewReplacer("{job}", "", rankPlaceholder, "").Replace(t)
	rest := outputPlaceholder().ReplaceAllString(whole, "")
	c.require(rest != whole, where, "%q has no {task}, so all tasks would write the same file; write {task} where the number of the task belongs", t)
	c.require(!strings.ContainsAny(rest, "{}"), where, "%q has a placeholder other than {job}, {task} and those of the command", t)
}

func (c *checks) env(env []string) {
	for _, kv := range env {
		name, _, ok := strings.Cut(kv, "=")
		c.require(ok && name != "" && !strings.ContainsRune(kv, 0), "environment", "%q is not NAME=VALUE", kv)
	}
}

func (c *checks) mapReduce(m *MapReduceSpec) {
	c.require(len(m.Inputs) > 0, "input", "there is no input")
	for _, in := range m.Inputs {
		c.place(in, "input")
	}
	c.place(m.Output, "output")
	c.program(&m.Mapper, "mapper")
	if m.Combiner != nil {
		c.program(m.Combiner, "combiner")
	}
	if m.Reducer != nil {
		c.program(m.Reducer, "reducer")
	}
	c.shipped(m.Files)
	c.env(m.Env)
	c.env(m.CmdEnv)
	c.need(m.MapNeed, " of a map")
	c.need(m.ReduceNeed, " of a reduce")
}

func (c *checks) program(p *Program, where string) {
	if p.Native != "" {
		c.require(slices.Contains([]string{NativeIdentity, NativeAggregate, NativeSelection}, p.Native) && len(p.Args) == 0, where, "%q is not a native program", p.Native)
		c.require(where != "mapper" || p.Native != NativeAggregate, where, "%q cannot be a mapper", p.Native)
		c.require(where != "combiner" || p.Native != NativeSelection, where, "%q cannot be a combiner", p.Native)
		return
	}
	c.require(len(p.Args) > 0 && p.Args[0] != "", where, "the command is empty")
	for _, word := range p.Args {
		c.require(!strings.ContainsRune(word, 0), where, "%q has a NUL, which no argument can have", word)
	}
}

// shipped checks that files have distinct names that stay below the task's folder.
func (c *checks) shipped(files []ShipFile) {
	names := map[string]string{}
	for _, f := range files {
		c.path(f.Path, "files")
		clean := f.Name != "" && f.Name != "." && path.Clean(f.Name) == f.Name && !path.IsAbs(f.Name) &&
			f.Name != ".." && !strings.HasPrefix(f.Name, "../") && !hasControl(f.Name)
		c.require(clean, "files", "%q is not a valid name below a task's folder", f.Name)
		other, taken := names[f.Name]
		c.require(!taken || other == f.Path, "files", "%s and %s would both be called %q", other, f.Path, f.Name)
		names[f.Name] = f.Path
	}
}
