package cli

import (
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"berth/internal/command/stage"
	"berth/internal/core/job"
	"berth/internal/core/job/parse"
	"berth/internal/driver/registry"
)

// stages is what a job file of kind stages says.
type stages struct {
	input, output, folder string
	parts                 int
	keep                  bool
	of                    map[string]*stageTable // by name; those that the file has
}

// stageTable is what the table of a stage says.
type stageTable struct {
	command string
	env     []string
	ask     parse.Ask
}

// stagesKeys are the keys of [stages].
func stagesKeys() []fileKey {
	return []fileKey{
		{"input", text(func(f *File) *string { return &f.stages.input })},
		{"output", text(func(f *File) *string { return &f.stages.output })},
		{"folder", text(func(f *File) *string { return &f.stages.folder })},
		{"parts", func(f *File, v value) error {
			f.stages.parts = int(v.table.Count(v.key, 1, 1_000_000, 0))
			return nil
		}},
		{"keep", func(f *File, v value) error {
			f.stages.keep = v.table.Flag(v.key, false)
			return nil
		}},
	}
}

// stageKeys are the keys of the table of a stage: its script, what its tasks need, and what a bag may say of its tasks.
func stageKeys(name string) []fileKey {
	in := func(f *File) *stageTable {
		if f.stages.of[name] == nil {
			f.stages.of[name] = &stageTable{}
		}
		return f.stages.of[name]
	}
	keys := []fileKey{
		{"command", text(func(f *File) *string { return &in(f).command })},
		{"env", func(f *File, v value) error {
			return v.pairs("", func(name, s string) { in(f).env = append(in(f).env, name+"="+s) })
		}},
	}
	options := slices.DeleteFunc(append(parse.OptionsOf("bag"), registry.Options()...), func(o parse.Option) bool { return !o.Stage })
	return append(keys, optionKeys(options, func(f *File) *parse.Ask { return &in(f).ask })...)
}

// stages makes the bags of a file of kind stages, each after the one before.
func (o *FileOptions) stages(f *File, dir string) (*Job, error) {
	plan, err := f.stagePlan(dir)
	if err != nil {
		return nil, err
	}
	j := &Job{Stages: plan}
	for i, name := range stage.Names {
		s, entries, err := o.stage(f, plan, name, dir)
		if err != nil {
			return nil, fmt.Errorf("[%s]: %w", name, err)
		}
		if i < len(stage.Names)-1 {
			s.Request.Notify = "" // the last one ends in any case
		}
		if i == 0 {
			j.Spec, j.Entries = s, entries
			continue
		}
		j.Then = append(j.Then, &Job{Spec: s, Entries: entries})
	}
	return j, nil
}

func (f *File) stagePlan(dir string) (*stage.Plan, error) {
	name := f.JobName
	if name == "" {
		name = strings.TrimSuffix(filepath.Base(f.name), ".toml")
	}
	f.JobName = name
	folder := f.stages.folder
	if folder == "" {
		folder = strings.ReplaceAll(name, "/", "-") + ".parts"
	}
	plan := &stage.Plan{Output: below(dir, f.stages.output), Folder: below(dir, folder), Parts: f.stages.parts, Keep: f.stages.keep, Scripts: map[string]string{}}
	if f.stages.input != "" {
		plan.Input = below(dir, f.stages.input)
	}
	for _, name := range stage.Names {
		if t := f.stages.of[name]; t != nil && t.command != "" {
			plan.Scripts[name] = t.command
		}
	}
	return plan, plan.Check(runtime.NumCPU())
}

// stage makes the bag of one stage.
func (o *FileOptions) stage(f *File, plan *stage.Plan, name, dir string) (*job.Spec, []job.Entry, error) {
	s := job.New(job.Bag, dir)
	if err := f.Ask.Apply(s); err != nil {
		return nil, nil, err
	}
	s.Name = f.JobName + ": " + name
	env := environment(o.Env)
	if t := f.stages.of[name]; t != nil {
		if err := t.ask.Apply(s); err != nil {
			return nil, nil, err
		}
		env = append(env, t.env...)
	}
	s.Bag.Env = env
	entries := plan.Fill(s, name, dir)
	s.Bag.CollectMany(len(entries))
	s.Normalize()
	sources := &parse.BagSources{Entries: entries}
	return s, entries, errors.Join(s.Validate(), sources.CheckEntries(s.Bag, entries))
}
