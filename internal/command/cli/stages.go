package cli

import (
	"cmp"
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
	of                    map[string]*stageTable // by name
}

// stageTable is what the table of a stage says.
type stageTable struct {
	command string
	env     []string
	ask     parse.Ask
}

// keys are the keys of [stages].
func (s *stages) keys() []fileKey {
	return []fileKey{
		{"input", text(&s.input)}, {"output", text(&s.output)}, {"folder", text(&s.folder)},
		{"parts", func(v value) error {
			s.parts = int(v.table.Count(v.key, 1, 1_000_000, 0))
			return nil
		}},
		{"keep", func(v value) error {
			s.keep = v.table.Flag(v.key, false)
			return nil
		}},
	}
}

// keys are the keys of the table of a stage: its script, what its tasks need, and what a bag may say of its tasks.
func (t *stageTable) keys() []fileKey {
	options := slices.DeleteFunc(append(parse.OptionsOf("bag"), registry.Options()...), func(o parse.Option) bool { return !o.Stage })
	return append([]fileKey{{"command", text(&t.command)}, {"env", pairsInto(&t.env)}}, optionKeys(options, &t.ask)...)
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
	f.JobName = cmp.Or(f.JobName, strings.TrimSuffix(filepath.Base(f.name), ".toml"))
	folder := cmp.Or(f.stages.folder, strings.ReplaceAll(f.JobName, "/", "-")+".parts")
	plan := &stage.Plan{Output: below(dir, f.stages.output), Folder: below(dir, folder), Parts: f.stages.parts, Keep: f.stages.keep, Scripts: map[string]string{}}
	if f.stages.input != "" {
		plan.Input = below(dir, f.stages.input)
	}
	for _, name := range stage.Names {
		if script := f.stages.of[name].command; script != "" {
			plan.Scripts[name] = script
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
	t := f.stages.of[name]
	if err := t.ask.Apply(s); err != nil {
		return nil, nil, err
	}
	s.Bag.Env = append(environment(o.Env), t.env...)
	entries := plan.Fill(s, name, dir)
	s.Bag.CollectMany(len(entries))
	s.Normalize()
	sources := &parse.BagSources{Entries: entries}
	return s, entries, errors.Join(s.Validate(), sources.CheckEntries(s.Bag, entries))
}
