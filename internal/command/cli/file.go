package cli

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/pflag"

	"berth/internal/command/stage"
	"berth/internal/compat/streaming"
	"berth/internal/core/job"
)

// FileOptions are the flags of a command that runs a job file: those on where and how
// the job shall run, which go before what the file says.
type FileOptions struct {
	Request RequestOptions
	Env     []string // what tasks inherit; nil: the environment of this process
	Kind    job.Kind // of the file that was read last; empty: not known, as it cannot be read
}

// Job is what a job file comes to.
type Job struct {
	Spec     *job.Spec   // normalised and checked
	Entries  []job.Entry // of a bag
	Lines    *Lines      // the tasks of a bag without entries; else nil
	Warnings []string    // what a user should mend
	Notes    []string    // what berth did of its own accord

	Stages *stage.Plan // of a job in stages, of which this is the first; else nil
	Then   []*Job      // the other stages, each of which comes after the one before
}

// Register adds the flags to a command's.
func (o *FileOptions) Register(fs *pflag.FlagSet) { o.Request.Register(fs) }

// Job makes a job of a job file. dir is the user's folder, absolute: paths in the file
// are relative to it, unless the file's own "dir" names another, which is relative to
// the folder of the file. stdin is as in BagOptions.Spec.
func (o *FileOptions) Job(file, dir string, stdin io.Reader) (*Job, error) {
	path := below(dir, file)
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fileError(file, err)
	}
	f, err := ParseFile(file, data)
	if err != nil {
		return nil, err
	}
	o.Kind = f.Kind
	if f.Dir != "" {
		dir = below(filepath.Dir(path), f.Dir)
	}
	if err := o.Request.Fill(&f.Ask); err != nil {
		return nil, err
	}
	if f.inStages {
		return o.stages(f, dir)
	}
	if f.Kind == job.Bag {
		return o.bag(f, dir, stdin)
	}
	r, err := streaming.FromSettings(f.JobName, f.Settings, f.Ask, dir, environment(o.Env))
	if err != nil {
		return nil, err
	}
	return &Job{Spec: r.Spec, Warnings: r.Warnings, Notes: r.Notes}, nil
}

func (o *FileOptions) bag(f *File, dir string, stdin io.Reader) (*Job, error) {
	s, err := f.BagJob(dir)
	if err != nil {
		return nil, err
	}
	spec, entries, err := finishBag(s, &f.Ask.Sources, f.tasks, o.Env, stdin)
	if err != nil {
		return nil, err
	}
	return &Job{Spec: spec, Entries: entries, Lines: f.tasks, Warnings: Warnings(spec)}, nil
}

func fileError(file string, err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		err = path.Err // the path is told already
	}
	return job.ConfigError(file, "cannot read the job file", "check the path").Because(err)
}
