package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"berth/internal/core/job"
	"berth/internal/core/job/parse"
)

// BagOptions are the flags of a bag of tasks.
type BagOptions struct {
	Request RequestOptions
	Env     []string // what tasks inherit; nil: the environment of this process
	Lines   *Lines   // the tasks; nil: they are entries
	Notes   []string // what Spec has to say to the user
}

// Register adds the flags to a command's. Flags end where the bag's command begins.
func (o *BagOptions) Register(fs *pflag.FlagSet) {
	fs.SetInterspersed(false)
	o.Request.add(fs, parse.OptionsOf("entry", "bag"))
	o.Request.Register(fs)
}

// Spec makes the bag of the parsed flags and of args: the command, and ::: lists
// behind it. dir is the user's folder, absolute. stdin is standard input, nil where
// it is a terminal; without another source of entries it is read for them.
//
// Entries are lines as they are: blank ones count, as with GNU parallel, unless
// --no-run-if-empty leaves them out. With it the entries may be none: there is
// nothing to run, and that is well.
func (o *BagOptions) Spec(dir string, args []string, stdin io.Reader) (*job.Spec, []job.Entry, error) {
	var ask parse.Ask
	command, lists, err := parse.SplitLists(args)
	if err != nil {
		return nil, nil, err
	}
	given := len(lists) > 0 || o.Lines != nil || o.Request.has("array", "each-line", "open")
	if err := o.script(&ask, dir, command, given); err != nil {
		return nil, nil, err
	}
	if err := o.Request.Fill(&ask); err != nil {
		return nil, nil, err
	}
	sources := &ask.Sources
	if err := setLists(sources, lists); err != nil {
		return nil, nil, err
	}
	f := File{Ask: ask, command: command, tasks: o.Lines}
	s, err := f.BagJob(dir)
	if err != nil {
		return nil, nil, err
	}
	s, entries, err := finishBag(s, sources, o.Lines, o.Env, stdin)
	if n := len(entries); err == nil && n > 0 && o.Lines == nil && !s.Bag.Open && s.Bag.NeedsFrom == nil && s.Request.MinNodes > n*max(1, s.Bag.Ranks) {
		o.Notes = append(o.Notes, fmt.Sprintf("%d nodes are asked for, but the bag has %s, and a task is on one node unless it has several ranks (--ranks)", s.Request.MinNodes, job.Count(n, "task")))
	}
	return s, entries, err
}

// checkCommand refuses a bag without a command. GNU parallel runs the entries as commands then; here
// that must be asked for by the command {}, as who forgets the command has a list of files and not of commands.
func checkCommand(command []string, array bool) error {
	switch {
	case array && (len(command) == 0 || len(command) == 1 && command[0] == "{}"):
		return job.ArgumentError("", "there is no command, and array indices are none themselves", "write it behind --")
	case len(command) == 0:
		return job.ArgumentError("", "there is no command to run for each entry", "write it behind --; where the entries are commands themselves, write {} there")
	}
	return nil
}

// finishBag reads the entries and checks the whole. lines, if not nil, are its tasks in the place of entries.
func finishBag(s *job.Spec, sources *parse.BagSources, lines *Lines, env []string, stdin io.Reader) (*job.Spec, []job.Entry, error) {
	if lines != nil {
		if err := lines.finish(s, sources); err != nil {
			return nil, nil, err
		}
	}
	s.Bag.EnvSaid = s.Bag.Env
	s.Bag.Env = append(environment(env), s.Bag.Env...)
	s.Bag.ChooseShell()
	entries, err := bagEntries(s.Bag, sources, s.Dir, stdin)
	s.Bag.CollectMany(len(entries))
	s.Normalize()
	if err := errors.Join(s.Validate(), checkProgram(s), err); err != nil { // all at once
		return nil, nil, err
	}
	return s, entries, sources.CheckEntries(s.Bag, entries)
}

// bagEntries reads the entries of a bag. An open one begins with none if no source is named.
func bagEntries(b *job.BagSpec, sources *parse.BagSources, dir string, stdin io.Reader) ([]job.Entry, error) {
	if b.Open && sources.None() {
		return nil, nil
	}
	entries, err := readEntries(sources, dir, stdin)
	if err != nil {
		return nil, err
	}
	return sources.TakeNeeds(b, sources.Split(sources.Prune(entries)))
}

// setLists adds the lists of the command line to the sources, of which there may be but one.
func setLists(s *parse.BagSources, lists []parse.List) error {
	if s.Lists = lists; len(lists) > 0 && s.Where == "" {
		s.Where = "lists"
	}
	return s.Check()
}

// AddOptions are the flags on the entries that are added to an open bag.
type AddOptions struct{ entries RequestOptions }

// Register adds the flags to a command's.
func (o *AddOptions) Register(fs *pflag.FlagSet) { o.entries.add(fs, parse.OptionsOf("entry")) }

// Entries returns the entries for a bag that the flags and the lists in args describe, and what their tasks need, if any needs something
// of its own.
func (o *AddOptions) Entries(spec *job.Spec, args []string, stdin io.Reader) ([]job.Entry, []job.Needs, error) {
	var ask parse.Ask
	if err := o.entries.Fill(&ask); err != nil {
		return nil, nil, err
	}
	words, lists, err := parse.SplitLists(args)
	if err != nil {
		return nil, nil, err
	}
	if len(words) > 0 {
		return nil, nil, job.ArgumentError(words[0], "it is neither a flag nor a list of entries", "write entries behind :::, or name a file with --each-line")
	}
	sources := &ask.Sources
	if err := setLists(sources, lists); err != nil {
		return nil, nil, err
	}
	dir, err := os.Getwd()
	if err != nil {
		return nil, nil, err
	}
	b := *spec.Bag
	b.Open = false // without other entries they come from standard input
	entries, err := bagEntries(&b, sources, dir, stdin)
	if err != nil {
		return nil, nil, err
	}
	var needs []job.Needs
	for i := 0; b.NeedsFrom != nil && i < len(entries); i++ {
		own, _ := parse.OwnNeeds(&b, entries[i]) // they have just been read
		needs = append(needs, own)
	}
	return entries, needs, sources.CheckEntries(spec.Bag, entries)
}

// Warnings says what the user of a bag should mend.
func Warnings(s *job.Spec) (warnings []string) {
	b := s.Bag
	if w := job.ShellWord(b.Command); w != "" && !b.RunsShell() {
		warnings = append(warnings, fmt.Sprintf("%q goes to the program as an argument, as no shell runs a command of several words; "+
			"write the whole command as one word, in quotes, where one is meant", w))
	}
	if b.Several() && (b.DuplicatesOK || slices.Contains([]job.Stragglers{job.StragglersDuplicate, job.StragglersAbort}, s.Request.Stragglers)) {
		warnings = append(warnings, "a task of several ranks is never duplicated, nor started elsewhere because it is slow: --duplicates-ok and --stragglers have no effect")
	}
	return warnings
}

// environment drops what is no NAME=VALUE, which no program can inherit.
func environment(env []string) []string {
	if env == nil {
		env = os.Environ()
	}
	return slices.DeleteFunc(slices.Clone(env), func(kv string) bool { return strings.IndexByte(kv, '=') <= 0 })
}
