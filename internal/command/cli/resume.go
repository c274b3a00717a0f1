package cli

import (
	"errors"
	"slices"

	"github.com/spf13/pflag"

	"berth/internal/core/job"
	"berth/internal/core/job/parse"
	"berth/internal/driver/registry"
)

// ResumeOptions are the flags with which a job that is over goes on under other terms: those of any
// request, and for a bag how its tasks may fail.
type ResumeOptions struct{ Request RequestOptions }

// Register adds the flags.
func (o *ResumeOptions) Register(fs *pflag.FlagSet) {
	options := slices.DeleteFunc(append(parse.OptionsOf("bag", "resume"), registry.Options()...), func(opt parse.Option) bool { return opt.Fixed })
	for i := range options {
		if opt := &options[i]; ofBag(opt) {
			opt.Usage = "bag: " + opt.Usage
		}
	}
	o.Request.add(fs, options)
}

func ofBag(o *parse.Option) bool { return o.Table == "bag" || o.Table == "resume" }

// Given reports whether any of the flags was given.
func (o *ResumeOptions) Given() bool { return len(o.Request.given) > 0 }

// Change puts what the flags say into the spec of a job that is over, and checks it. Relative paths
// are below dir.
func (o *ResumeOptions) Change(s *job.Spec, dir string) error {
	for _, g := range o.Request.given {
		if ofBag(g.option) && s.Bag == nil {
			return job.ArgumentError("--"+g.option.Name, "only the tasks of a bag have it, and this is a MapReduce job", "leave it out")
		}
	}
	if o.Request.has("command") && s.Stage != nil {
		return job.ArgumentError("--command", "each stage of a job in stages has a command of its own", "leave it out; a changed job file can be submitted as a new job")
	}
	var ask parse.Ask
	if err := o.Request.Fill(&ask); err != nil {
		return err
	}
	if err := ask.Apply(s); err != nil {
		return err
	}
	if r := &s.Request; r.Scratch != "" {
		r.Scratch = below(dir, r.Scratch)
	}
	s.Normalize()
	err := s.Validate()
	if o.Request.has("command") {
		err = errors.Join(err, checkProgram(s))
	}
	return err
}
