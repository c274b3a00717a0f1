package task

import (
	"path"

	"berth/internal/core/job"
)

// Apply returns the bag's spec with the task's own values in place of the bag's, and the task's entry. A command of the
// task's own becomes the entry of a bag whose entries are the commands, so nothing in it is taken for a placeholder.
func (s *Spec) Apply(bag *job.Spec) (*job.Spec, job.Entry) {
	spec, b := *bag, *bag.Bag
	spec.Bag = &b
	s.applyPlace(&spec)
	s.applyNeeds(&b)
	if s.Command == nil {
		return &spec, s.Entry
	}
	b.Array = false
	if !s.Shell {
		b.Command, b.Shell, b.ShellProgram, b.ShellNamed = []string{"{}"}, false, "", false
		return &spec, s.Command
	}
	b.Command, b.Shell = []string{job.PosixShell, "-c", "{}"}, false
	if b.ShellProgram == "" {
		b.ShellProgram = job.PosixShell
		b.ChooseShell()
	}
	return &spec, s.Command
}

// applyPlace sets the task's folder, environment and files.
func (s *Spec) applyPlace(spec *job.Spec) {
	b := spec.Bag
	own := s.Env
	if s.Dir != "" {
		spec.Dir = Below(spec.Dir, s.Dir)
		own = append([]string{"PWD=" + spec.Dir}, own...)
	}
	if own != nil {
		replaced := func(name string) bool {
			_, ok := job.LookupEnv(own, name)
			return ok
		}
		b.Env = job.ReplaceEnv(b.Env, replaced, own...)
		b.EnvSaid = job.ReplaceEnv(b.EnvSaid, replaced, s.Env...)
	}
	for _, file := range []struct {
		own string
		of  *string
	}{{s.Stdout, &b.Stdout}, {s.Stderr, &b.Stderr}} {
		switch file.own {
		case "":
		case job.Discard:
			*file.of = job.Discard
		default:
			*file.of, b.Collect, b.Ungroup = Below(spec.Dir, file.own), false, false
		}
	}
	if s.Outputs != nil {
		b.Outputs = s.Outputs
	}
}

func (s *Spec) applyNeeds(b *job.BagSpec) {
	n := s.In(b.Needs())
	b.Need, b.TimeLimit, b.Retries, b.Gang = n.Resources(), n.TimeLimit, n.Attempts-1, n.Gang
}

// Below returns a path that is relative to dir.
func Below(dir, p string) string {
	if path.IsAbs(p) {
		return path.Clean(p)
	}
	return path.Join(dir, p)
}
