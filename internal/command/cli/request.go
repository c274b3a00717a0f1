package cli

import (
	"errors"
	"os"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"berth/internal/core/job"
	"berth/internal/core/job/parse"
	"berth/internal/driver/registry"
)

// RequestOptions are the flags on where and how any job shall run (registry.Options), and for a bag
// those on its tasks (parse.BagOptions).
//
// Flags that only a batch system understands are taken and kept in the spec. With
// --on local they are an error, as the user named the wrong place or the wrong flag;
// with --on auto the command that finds no batch system may tell what had no effect
// (job.Request.BatchOnly).
type RequestOptions struct {
	options []*parse.Option
	given   []givenOption
}

type givenOption struct {
	option *parse.Option
	value  string
}

// Register adds the flags on any job to a command's.
func (o *RequestOptions) Register(fs *pflag.FlagSet) { o.add(fs, registry.Options()) }

func (o *RequestOptions) add(fs *pflag.FlagSet, options []parse.Option) {
	for i := range options {
		opt := &options[i]
		o.options = append(o.options, opt)
		flag := fs.VarPF(&optionValue{to: o, option: opt}, opt.Name, opt.Short, opt.Usage)
		if opt.Arg == "" {
			flag.NoOptDefVal = "true"
		}
	}
}

// Fill takes what was given into ask, over what is there. All that is wrong is told at once.
func (o *RequestOptions) Fill(ask *parse.Ask) error {
	var errs []error
	for _, opt := range o.options {
		for _, g := range o.given {
			if g.option == opt {
				errs = append(errs, take(opt, ask, "--"+opt.Name, g.value))
			}
		}
	}
	return errors.Join(errs...)
}

// withoutBatch reports whether the job is to run where there is no batch system.
func (o *RequestOptions) withoutBatch() bool {
	return o.has("hosts", "machines") || slices.ContainsFunc(o.given, func(g givenOption) bool {
		return g.option.Name == "on" && slices.Contains([]string{"local", "ssh", "ec2"}, g.value)
	})
}

// has reports whether one of the options was given.
func (o *RequestOptions) has(names ...string) bool {
	return slices.ContainsFunc(o.given, func(g givenOption) bool { return slices.Contains(names, g.option.Name) })
}

// take sets an option to a value, or to the text of the file that it names where the option knows files.
func take(o *parse.Option, ask *parse.Ask, where, value string) error {
	if st, err := os.Stat(value); !o.File || err != nil || !st.Mode().IsRegular() {
		return o.Set(ask, where, value)
	}
	text, err := os.ReadFile(value)
	if err != nil {
		return job.ConfigError(where, "the file cannot be read", "").Because(err)
	}
	return o.Set(ask, where+" "+value, strings.TrimSuffix(string(text), "\n")+"\n")
}

// optionValue is a pflag.Value that notes the option; its value is judged later.
type optionValue struct {
	to     *RequestOptions
	option *parse.Option
}

// Set notes a value.
func (v *optionValue) Set(s string) error {
	v.to.given = append(v.to.given, givenOption{v.option, s})
	return nil
}

// String returns the value that was given last.
func (v *optionValue) String() string {
	if v.to == nil {
		return "" // pflag asks a zero value for the default
	}
	for _, g := range slices.Backward(v.to.given) {
		if g.option == v.option {
			return g.value
		}
	}
	return ""
}

// Many reports whether the flag may be given several times.
func (v *optionValue) Many() bool { return v.option.Many }

// Type returns what the value is called in help.
func (v *optionValue) Type() string {
	if v.option == nil || v.option.Arg == "" {
		return "bool"
	}
	return v.option.Arg
}
