package cli

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"berth/internal/command/stage"
	"berth/internal/compat/streaming"
	"berth/internal/core/job"
	"berth/internal/core/job/parse"
	"berth/internal/core/tomlfile"
)

// File is a parsed job file. Its spec is not normalised, has no Dir, and for a
// MapReduce job no more than Kind, Name and Request: what [mapreduce] says is kept as
// the settings that the flags of the same names would make, for package streaming.
type File struct {
	Dir      string // "dir": relative to the folder of the file; empty: the current folder
	JobName  string
	Kind     job.Kind
	Ask      parse.Ask           // [request], and of [bag] what flags can say, too
	Settings []streaming.Setting // [mapreduce]

	name     string // of the file
	inStages bool   // it is of kind stages: several bags, one after the other
	stages   stages
	hasBag   bool     // [bag] is a table
	tasks    *Lines   // [[task]]; nil: there are none, or they are wrong
	command  []string // [bag]: before placeholders are added
	env      []string // [bag]
}

// ParseFile parses a job file (TOML). Unknown keys, values of a wrong type and
// values that cannot be taken are errors that name the line; all are told at once,
// joined. name is what errors call the file. See testdata/bag.toml and
// testdata/mapreduce.toml for every key.
func ParseFile(name string, data []byte) (*File, error) {
	doc, err := tomlfile.Parse(name, data)
	if err != nil {
		return nil, err
	}
	f, r := newFile(name), tomlfile.NewReader(doc, fileHomes)
	f.read(r.Root())
	if err := errors.Join(r.Err(), f.check(doc, r.Unknown())); err != nil {
		return nil, err
	}
	return f, nil
}

// fileHomes returns all tables of job files with their keys.
func fileHomes() []tomlfile.Home {
	return tomlfile.Homes("[request]\n[bag]\n[mapreduce]\n[stages]\n[split]\n[operation]\n[merge]\n", newFile("").read)
}

func newFile(name string) *File {
	f := &File{name: name, stages: stages{of: map[string]*stageTable{}}}
	for _, stage := range stage.Names {
		f.stages.of[stage] = &stageTable{}
	}
	return f
}

// value is a value in a job file.
type value struct {
	table *tomlfile.Table
	key   string
	where string
	is    any
}

// fileKey is a key that a table of a job file may have.
type fileKey struct {
	name string
	take func(value) error
}

func (f *File) read(root *tomlfile.Table) { f.table(root, f.topKeys()) }

// table takes the keys of a table in the order of their lines.
func (f *File) table(t *tomlfile.Table, keys []fileKey) {
	take := map[string]func(value) error{}
	for _, k := range keys {
		t.Expect(k.name)
		take[k.name] = k.take
	}
	for _, key := range t.Keys() {
		if take[key] == nil {
			continue
		}
		v, _ := t.Get(key)
		if err := take[key](value{t, key, t.Where(key), v}); err != nil {
			t.Add(err)
		}
	}
	t.Done()
}

// kindTables are the tables that only one kind of job has.
var kindTables = map[string][]string{"bag": {"bag", "task"}, "mapreduce": {"mapreduce"}, "stages": append([]string{"stages"}, stage.Names[:]...)}

// check looks for what no single key can tell. What a key says that was refused is not missed, nor
// what an unknown key may have been meant to be.
func (f *File) check(doc *tomlfile.Document, unknown bool) error {
	missing := func(what, do string) error {
		if unknown {
			return nil
		}
		return job.ConfigError(doc.Name(), what+" is missing", do)
	}
	kind, tasks := string(f.Kind), doc.Has("task")
	if f.inStages {
		kind = "stages"
	}
	switch {
	case kind == "" && doc.Has("kind"):
		return nil
	case kind == "":
		return missing("kind", `write kind = "bag", kind = "mapreduce" or kind = "stages"`)
	}
	for _, other := range slices.Sorted(maps.Keys(kindTables)) {
		if i := slices.IndexFunc(kindTables[other], doc.Has); other != kind && i >= 0 {
			table := kindTables[other][i]
			return job.ConfigError(doc.Where(table), fmt.Sprintf("a job of kind %s has no [%s]", kind, table), fmt.Sprintf("write kind = %q", other))
		}
	}
	switch {
	case !doc.Has(kind) && !tasks:
		return missing("["+kind+"]", "a job of kind "+kind+" needs it")
	case f.inStages && f.stages.output == "" && !doc.Has("stages.output"):
		return missing("stages.output", "name what the merge makes")
	case f.inStages || f.Kind == job.MapReduce || !f.hasBag && !tasks:
		return nil
	}
	err := f.Ask.Sources.Check()
	switch array := f.Ask.Sources.Array != nil; {
	case len(f.command) == 0 && (tasks || doc.Has("bag.command")):
	case array && (len(f.command) == 0 || len(f.command) == 1 && f.command[0] == "{}"):
		err = errors.Join(err, missing("bag.command", "array indices are no commands themselves"))
	case len(f.command) == 0:
		err = errors.Join(err, missing("bag.command", `where the entries are commands themselves, write command = "{}"`))
	}
	return err
}

// BagJob returns the spec of a file of kind bag, for a user who stands in dir. It has
// neither entries nor the user's environment yet and is not normalised.
func (f *File) BagJob(dir string) (*job.Spec, error) {
	s := job.New(job.Bag, dir)
	s.Name, s.Bag.Env = f.JobName, f.env
	if err := f.Ask.Apply(s); err != nil {
		return nil, err
	}
	command, sources, b := f.command, &f.Ask.Sources, s.Bag
	if len(command) == 0 && (b.Open || f.tasks != nil) { // tasks may have commands of their own
		command = []string{"{}"}
	}
	b.Array = sources.Array != nil
	if err := checkCommand(command, b.Array); err != nil {
		return nil, err
	}
	if b.Array && b.Throttle == 0 {
		b.Throttle = sources.Array.Throttle
	}
	return s, b.SetCommand(command, sources.Append)
}
