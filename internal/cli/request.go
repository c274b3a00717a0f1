package cli

import (
	"slices"

	"github.com/spf13/pflag"

	"berth/internal/job"
	"berth/internal/job/parse"
)

// RequestOptions are the flags on where and how any job shall run (parse.Options).
//
// Flags that only a batch system understands are taken and kept in the spec. With
// --on local they are an error, as the user named the wrong place or the wrong flag;
// with --on auto the command that finds no batch system may tell what had no effect
// (job.Request.BatchOnly).
type RequestOptions struct {
	given []givenOption // in the order of the command line
}

type givenOption struct {
	option *parse.Option
	value  string
}

// Register adds the flags to a command's.
func (o *RequestOptions) Register(fs *pflag.FlagSet) {
	options := parse.Options()
	for i := range options {
		opt := &options[i]
		value := &optionValue{to: o, option: opt}
		flag := fs.VarPF(value, opt.Name, opt.Short, opt.Usage)
		if opt.Arg == "" {
			flag.NoOptDefVal = "true"
		}
	}
}

// Fill takes what was given into ask, over what is there.
func (o *RequestOptions) Fill(ask *parse.Ask) error {
	for _, g := range o.given {
		if err := g.option.Set(ask, "--"+g.option.Name, g.value); err != nil {
			return err
		}
	}
	return nil
}

// Apply puts what was given into a spec.
func (o *RequestOptions) Apply(s *job.Spec) error {
	var ask parse.Ask
	if err := o.Fill(&ask); err != nil {
		return err
	}
	return ask.Apply(s)
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

// Type returns what the value is called in help.
func (v *optionValue) Type() string {
	if v.option == nil || v.option.Arg == "" {
		return "bool"
	}
	return v.option.Arg
}

// textValue is a string flag whose value has a name of its own in help.
type textValue struct {
	value *string
	name  string
}

func (v textValue) Set(s string) error { *v.value = s; return nil }

func (v textValue) String() string {
	if v.value == nil {
		return ""
	}
	return *v.value
}

func (v textValue) Type() string { return v.name }
