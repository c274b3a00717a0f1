package parse

import (
	"fmt"
	"strings"

	"berth/internal/core/job"
)

// Change puts settings NAME=VALUE, named as the flags or as the keys of a job file, into the spec of a job that runs. options are those that
// jobs can have.
func Change(s *job.Spec, options []Option, settings []string) error {
	var a Ask
	for _, setting := range settings {
		key, value, ok := strings.Cut(setting, "=")
		if !ok {
			return job.ArgumentError(setting, "it has no value", "write "+setting+"=VALUE")
		}
		o, err := liveOption(options, strings.ReplaceAll(strings.TrimLeft(key, "-"), "_", "-"))
		if err != nil {
			return err
		}
		if o.Table == "bag" && s.Bag == nil {
			return job.ArgumentError(key, "only the tasks of a bag have it, and this is a MapReduce job", "")
		}
		if err := o.Set(&a, key, value); err != nil {
			return err
		}
	}
	auto := s.Bag != nil && s.Bag.AutoMem
	if err := a.Apply(s); err != nil {
		return err
	}
	if s.Bag != nil && s.Bag.AutoMem && !auto {
		return job.ArgumentError("mem", "the memory of tasks is chosen when a job is planned, and this one runs", "name a size, or cancel the job and resume it with --mem auto")
	}
	return nil
}

// liveOption returns the option of that name, which must be one that can change while a job runs.
func liveOption(options []Option, name string) (*Option, error) {
	var names []string
	for i := range options {
		switch o := &options[i]; {
		case o.Live && o.Name == name:
			return o, nil
		case o.Live:
			names = append(names, strings.ReplaceAll(o.Name, "-", "_"))
		case o.Name == name && o.Fixed:
			return nil, job.ArgumentError(name, "it cannot be changed once a job was submitted", "submit another job with --"+name)
		case o.Name == name:
			return nil, job.ArgumentError(name, "it cannot be changed while a job runs", "cancel the job, then: berth resume JOB --"+name)
		}
	}
	do := "write one of " + strings.Join(names, ", ")
	if near := Nearest(strings.ReplaceAll(name, "-", "_"), names); near != "" {
		do = "did you mean " + near + "?"
	}
	return nil, job.ArgumentError("", fmt.Sprintf("a job has no option %q", name), do)
}
