package job

import (
	"cmp"
	"path"
	"slices"
	"strings"
	"time"
)

// Defaults of a spec. Those of MapReduce are Hadoop's: mapreduce.task.timeout,
// mapreduce.{map,reduce}.maxattempts, mapreduce.job.reduce.slowstart.completedmaps.
const (
	DefaultIdleTimeout = time.Minute
	defaultTaskTimeout = 10 * time.Minute
	DefaultAttempts    = 4
	defaultSlowStart   = 0.05
	defaultSeparator   = "\t"
	DefaultStdout      = "{job}/{task}.stdout"
	DefaultStderr      = "{job}/{task}.stderr"
	// Discard is the template that discards an output.
	Discard = "none"
	// collectWord is the template that turns on the collection of output (BagSpec.Collect).
	collectWord = "collect"
	// LiveStdout and LiveStderr are the FIFOs in a run's folder from which a command reads the output of running tasks (BagSpec.Ungroup).
	LiveStdout = "stdout.live"
	LiveStderr = "stderr.live"
	// ManyTasks is the number of tasks above which a bag's output is collected by default.
	ManyTasks = 2000
)

// New returns a spec of that kind for a user whose current folder is dir. It sets every default that
// differs from the zero value.
func New(kind Kind, dir string) *Spec {
	s := &Spec{Kind: kind, Dir: dir, Request: Request{On: "auto", IdleTimeout: DefaultIdleTimeout}}
	if kind == Bag {
		s.Bag = &BagSpec{MaxFails: -1}
		return s
	}
	s.MapReduce = &MapReduceSpec{
		Mapper: Program{Native: NativeIdentity}, Reducer: &Program{Native: NativeIdentity}, Reduces: -1,
		TaskTimeout: defaultTaskTimeout, SlowStart: defaultSlowStart, NonZeroExitIsFail: true,
	}
	return s
}

// The programs that run inside the worker (Program.Native).
const (
	NativeIdentity  = "identity"
	NativeAggregate = "aggregate"
	NativeSelection = "fields" // FieldSelectionMapReduce
)

// Normalize fills in the defaults of empty fields, and resolves relative paths against Dir. A second call
// changes nothing.
func (s *Spec) Normalize() {
	if s.Request.On == "" {
		s.Request.On = "auto"
	}
	s.absolute(&s.Request.Scratch)
	if s.Bag != nil {
		s.normalizeBag(s.Bag)
	}
	if s.MapReduce != nil {
		s.normalizeMapReduce(s.MapReduce)
	}
}

// absolute resolves a path against Dir; an empty one stays empty.
func (s *Spec) absolute(p *string) {
	if *p != "" && !path.IsAbs(*p) {
		*p = path.Join(s.Dir, *p)
	}
}

// place resolves a path against Dir, and writes the name of an object in S3 in its usual form.
func (s *Spec) place(p *string) {
	var is bool
	if *p, is = Object(*p); !is {
		s.absolute(p)
	}
}

func (s *Spec) normalizeBag(b *BagSpec) {
	b.Need.CPUs = max(b.Need.CPUs, 1)
	for _, template := range []*string{&b.Stdout, &b.Stderr} {
		if *template == collectWord {
			*template, b.Collect = "", true
		}
	}
	usual := func(template string) string {
		if b.EachRank && !b.Collect {
			template = strings.Replace(template, "{task}", "{task}."+rankPlaceholder, 1)
		}
		return path.Join(b.OutDir, template)
	}
	setDefault(&b.Stdout, usual(DefaultStdout))
	setDefault(&b.Stderr, usual(DefaultStderr))
	for _, template := range []*string{&b.Stdout, &b.Stderr} {
		if *template != Discard {
			s.absolute(template)
		}
	}
	s.absolute(&b.Joblog)
	if s.Name == "" && len(b.Command) > 0 {
		s.Name = commandName(b)
	}
	setDefault(&s.Name, string(Bag))
}

func (s *Spec) normalizeMapReduce(m *MapReduceSpec) {
	for i := range m.Inputs {
		s.place(&m.Inputs[i])
	}
	for i := range m.Files {
		s.absolute(&m.Files[i].Path)
	}
	s.place(&m.Output)
	m.MapNeed.CPUs = max(m.MapNeed.CPUs, 1)
	m.ReduceNeed.CPUs = max(m.ReduceNeed.CPUs, 1)
	setDefault(&m.MapOutputSeparator, defaultSeparator)
	setDefault(&m.ReduceOutputSeparator, defaultSeparator)
	setDefault(&m.KeyFieldSeparator, defaultSeparator)
	setDefault(&m.Partitioner, "hash")
	setDefault(&m.Comparator, "bytes")
	setDefault(&m.MapOutputKeyFields, 1)
	setDefault(&m.MapAttempts, DefaultAttempts)
	setDefault(&m.ReduceAttempts, DefaultAttempts)
	if m.Reduces == 0 {
		m.Reducer, m.Combiner = nil, nil
	}
	if m.Reducer == nil {
		m.Reduces = 0
	}
	setDefault(&s.Name, mapReduceName(m))
}

func setDefault[T comparable](field *T, value T) { *field = cmp.Or(*field, value) }

// commandName names a job after the script or program that it runs.
func commandName(b *BagSpec) string {
	if b.RunsEntries() {
		return "commands"
	}
	words := b.Command
	if b.Shell {
		words = shellScriptWords(words[0])
	} else if len(words) > 2 && words[1] == "-c" && strings.HasSuffix(words[0], "sh") {
		words = shellScriptWords(words[2])
	}
	if script := Script(words); len(script) > 0 && !isPlaceholder(script[0]) {
		words = script
	}
	switch {
	case len(words) == 0:
		return ""
	case isPlaceholder(words[0]):
		return "commands"
	}
	return strings.Trim(path.Base(words[0]), `"'<>$`+"`")
}

// mapReduceName names a job after its programs, "map.awk+reduce.awk".
func mapReduceName(m *MapReduceSpec) string {
	name := programName(&m.Mapper, m.Files)
	if m.Reducer == nil {
		return name
	}
	return name + "+" + programName(m.Reducer, m.Files)
}

// programName returns the name of the script among files that a program runs, else the name of the program.
func programName(p *Program, files []ShipFile) string {
	if p.Native != "" {
		return p.Native
	}
	for _, word := range p.Args {
		name := path.Clean(word)
		if slices.ContainsFunc(files, func(f ShipFile) bool { return f.Name == name || strings.HasPrefix(name, f.Name+"/") }) {
			return path.Base(word)
		}
	}
	if len(p.Args) == 0 {
		return "none"
	}
	return path.Base(Script(p.Args)[0])
}
