package cli

import (
	"path/filepath"
	"slices"

	"github.com/spf13/pflag"

	"berth/internal/job"
	"berth/internal/job/parse"
)

// ResumeOptions are the flags with which a job that is over goes on under other terms: those of any
// request, and for a bag how its tasks may fail.
type ResumeOptions struct {
	Request RequestOptions
	bag     BagOptions
}

// notChanged are the request's flags that a resume does not have: where finished map outputs are, and
// by what name the job's history goes.
var notChanged = []string{"on", "job-name"}

// bagLimits are the names of those flags of a bag that a resume has, too.
var bagLimits = []string{"retries", "max-fails", "throttle", "time-limit"}

// Register adds the flags to a set.
func (o *ResumeOptions) Register(fs *pflag.FlagSet) {
	all := pflag.NewFlagSet("", pflag.ContinueOnError)
	o.Request.Register(all)
	all.VisitAll(func(f *pflag.Flag) {
		if !slices.Contains(notChanged, f.Name) {
			fs.AddFlag(f)
		}
	})
	bag := pflag.NewFlagSet("", pflag.ContinueOnError)
	o.bag.registerLimits(bag)
	bag.VisitAll(func(f *pflag.Flag) {
		f.Usage = "bag: " + f.Usage
		fs.AddFlag(f)
	})
	o.bag.flags = fs
}

// Given reports whether any of the flags was given.
func (o *ResumeOptions) Given() bool { return len(o.Request.given) > 0 || len(o.changed()) > 0 }

func (o *ResumeOptions) changed() []string {
	return slices.DeleteFunc(slices.Clone(bagLimits), func(name string) bool { return !o.bag.flags.Changed(name) })
}

// Change puts what the flags say into the spec of a job that is over, and checks it. Relative paths
// are below dir.
func (o *ResumeOptions) Change(s *job.Spec, dir string) error {
	if names := o.changed(); len(names) > 0 && s.Bag == nil {
		return job.ArgumentError("--"+names[0], "only the tasks of a bag have it, and this is a MapReduce job", "leave it out")
	}
	if s.Bag != nil {
		if err := o.bag.limits(s.Bag); err != nil {
			return err
		}
	}
	ask := parse.Amend(s)
	if err := o.Request.Fill(ask); err != nil {
		return err
	}
	if err := ask.Apply(s); err != nil {
		return err
	}
	if r := &s.Request; r.Scratch != "" && !filepath.IsAbs(r.Scratch) {
		r.Scratch = filepath.Join(dir, r.Scratch)
	}
	s.Normalize()
	return s.Validate()
}
