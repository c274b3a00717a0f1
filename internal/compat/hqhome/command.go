package hqhome

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"berth/internal/core/job"
)

// State is what hq calls the state of a job.
type State string

// The states of jobs.
const (
	Waiting  State = "WAITING"
	Running  State = "RUNNING"
	Finished State = "FINISHED"
	Failed   State = "FAILED"
	Canceled State = "CANCELED"
)

// over reports whether a job in this state does not change any more.
func (s State) over() bool { return s == Finished || s == Failed || s == Canceled }

// Command implements the command hq.
type Command struct {
	Out   io.Writer
	Dir   string // of the folder that Write has made
	Flags string // of the bags, as a shell would have them
	Berth string // the version of berth
	Bags
	mode string // of the output: cli, quiet or json; "" is cli
}

// Bags does what is done with bags.
type Bags interface {
	Open(flags []string) (job.ID, error)                            // submits an open bag
	Add(bag job.ID, line map[string]any) (task int, err error)      // adds a task
	Closed(err error) bool                                          // reports whether a task was refused as its bag takes no more
	States(bag job.ID) (states map[int]State, over bool, err error) // of the tasks of a bag, and whether the bag is over
	Cancel(bag job.ID, tasks []string) error                        // cancels tasks by their numbers from 1
	CloseBag(bag job.ID) error
	Ensure() error // starts the coordinator unless it runs
	Pause() error  // waits until states may have changed
}

// Quiet reports whether a program reads the output. Nextflow reads standard error with it, so there must be nothing else in either.
func (c *Command) Quiet() bool { return c.mode == "quiet" || c.mode == "json" }

// options returns an empty set of options for a command of hq, apart from those that each command has.
func (c *Command) options(name string) *pflag.FlagSet {
	f := pflag.NewFlagSet(name, pflag.ContinueOnError)
	f.SetInterspersed(false)
	f.Usage = func() {}
	f.Func("output-mode", "", func(mode string) error {
		if c.mode = mode; mode != "cli" && !c.Quiet() {
			return errors.New("it is cli, quiet or json")
		}
		return nil
	})
	f.String("server-dir", "", "") // the ledger is in c.Dir
	f.String("colors", "", "")
	f.Bool("debug", false, "")
	return f
}

// words takes options off a command line, those of its command among them, and returns what is left.
func (c *Command) words(command string, args []string, own func(f *pflag.FlagSet)) ([]string, error) {
	f := c.options(command)
	f.SetInterspersed(true)
	own(f)
	if err := f.Parse(args); err != nil {
		return nil, job.ArgumentError(command, err.Error(), "leave it out")
	}
	return f.Args(), nil
}

// print writes an answer for people, or what a program reads of it.
func (c *Command) print(people, quiet string, value any) (err error) {
	switch c.mode {
	case "json":
		e := json.NewEncoder(c.Out)
		e.SetIndent("", "  ")
		return e.Encode(value)
	case "quiet":
		people = quiet
	}
	_, err = io.WriteString(c.Out, people)
	return err
}

// Run runs a command line without its first word "hq".
func (c *Command) Run(args []string) error {
	f := c.options("hq")
	told := f.Bool("version", false, "")
	err := f.Parse(args)
	if mode := os.Getenv("HQ_OUTPUT_MODE"); mode != "" && err == nil && !f.Changed("output-mode") {
		err = f.Set("output-mode", mode)
	}
	if err != nil {
		return job.ArgumentError("hq", err.Error(), "")
	}
	args = f.Args()
	switch words := append(slices.Clone(args), "", ""); {
	case *told:
		_, err := fmt.Fprintf(c.Out, "HyperQueue %s\nberth %s stands in for it\n", Version, c.Berth)
		return err
	case words[0] == "submit":
		return c.submit(args[1:])
	case words[0] == "job" && words[1] == "submit":
		return c.submit(args[2:])
	case words[0] == "job" && words[1] == "list":
		return c.list(args[2:])
	case words[0] == "job" && words[1] == "cancel" && words[2] != "":
		return c.cancel(args[2:])
	case words[0] == "job" && words[1] == "wait" && words[2] != "":
		return c.wait(args[2:])
	case words[0] == "server" && words[1] == "stop":
		return c.locked(c.stop)
	case slices.Contains([]string{"server start", "server info", "server wait", "worker start", "worker wait", "worker stop", "alloc add"}, words[0]+" "+words[1]):
		return c.print(fmt.Sprintf("berth stands in for HyperQueue: hq %s %s is not needed\n", words[0], words[1]), "", struct{}{})
	}
	return job.ArgumentError("", fmt.Sprintf("there is no command %q of hq here", strings.Join(args, " ")),
		"it has submit, job list, job wait, job cancel and server stop; berth's own commands do the rest: berth status, report, cat, progress")
}

// submit adds a job to the open bag for jobs like it, and prints its number.
func (c *Command) submit(args []string) error {
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	s, err := c.parse(args, dir)
	if err != nil {
		return err
	}
	line, err := s.Line()
	if err != nil {
		return err
	}
	return c.locked(func(l *Ledger) error {
		e := Entry{Key: bagKey(os.Environ(), s.Flags), Name: s.Name, Told: s.Told}
		if err := c.add(l, &e, line, s.Flags); err != nil {
			return err
		}
		id, err := l.Add(e)
		if err != nil {
			return err
		}
		return c.print(fmt.Sprintf("Job submitted successfully, job ID: %d (task %d of %s)\n", id, e.Task+1, e.Bag), fmt.Sprintln(id), map[string]int{"id": id})
	})
}

// locked does something with the list of jobs, while no other process has it.
func (c *Command) locked(do func(*Ledger) error) error {
	l, err := OpenLedger(c.Dir)
	if err != nil {
		return err
	}
	defer l.Close()
	return do(l)
}

// add adds the task to the last bag with the key, or to a new one with these flags behind those of all bags.
func (c *Command) add(l *Ledger, e *Entry, line map[string]any, flags string) (err error) {
	for _, before := range slices.Backward(l.Entries) {
		if before.Key != e.Key {
			continue
		}
		e.Bag = before.Bag
		if e.Task, err = c.Add(e.Bag, line); err == nil || !c.Closed(err) {
			return err
		}
		break
	}
	if e.Bag, err = c.Open(append([]string{"-J", "hq"}, split(c.Flags+" "+flags)...)); err != nil {
		return err
	}
	if e.Task, err = c.Add(e.Bag, line); err != nil {
		err = errors.Join(err, c.CloseBag(e.Bag)) // no job tells of it, so nothing would close it
	}
	return err
}

// bagKey tells which jobs can be tasks of one bag: those with the same environment and the same flags of their own.
func bagKey(env []string, flags string) string {
	env = job.ReplaceEnv(env, func(name string) bool { return slices.Contains([]string{"PWD", "OLDPWD", "SHLVL", "_"}, name) })
	slices.Sort(env)
	if flags != "" {
		env = append(env, flags)
	}
	return fmt.Sprintf("%x", sha256.Sum256(fmt.Appendf(nil, "%q", env)))[:16]
}

// stop closes the bags, which end when their tasks have.
func (c *Command) stop(l *Ledger) (err error) {
	closed := make(map[job.ID]bool)
	for _, e := range l.Entries {
		if closed[e.Bag] {
			continue
		}
		closed[e.Bag] = true
		if _, over, err2 := c.States(e.Bag); err2 == nil && !over {
			err = errors.Join(err, c.CloseBag(e.Bag))
		}
	}
	return err
}
