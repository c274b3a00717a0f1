package hqhome

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

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
}

// Bags does what is done with bags.
type Bags interface {
	Open(flags []string) (job.ID, error)                            // submits an open bag
	Add(bag job.ID, line map[string]any) (task int, err error)      // adds a task
	Closed(err error) bool                                          // reports whether a task was refused as its bag takes no more
	States(bag job.ID) (states map[int]State, over bool, err error) // of the tasks of a bag, and whether the bag is over
	Cancel(bag job.ID, tasks []string) error                        // cancels tasks by their numbers from 1
	CloseBag(bag job.ID) error
}

// Run runs a command line without its first word "hq".
func (c *Command) Run(args []string) error {
	quiet := false
	for len(args) > 0 && strings.HasPrefix(args[0], "--") && args[0] != "--version" {
		if args[0] == "--output-mode" && len(args) > 1 {
			args[1] = "--output-mode=" + args[1]
			args = args[1:]
		}
		quiet = quiet || args[0] == "--output-mode=quiet"
		args = args[1:]
	}
	switch words := append(slices.Clone(args), "", ""); {
	case words[0] == "submit":
		return c.submit(args[1:], quiet)
	case words[0] == "job" && words[1] == "submit":
		return c.submit(args[2:], quiet)
	case words[0] == "job" && words[1] == "list":
		return c.list(slices.Contains(args, "--all"), quiet)
	case words[0] == "job" && words[1] == "cancel" && words[2] != "":
		return c.locked(func(l *Ledger) error { return c.cancel(l, args[2:]) })
	case words[0] == "server" && words[1] == "stop":
		return c.locked(c.stop)
	case slices.Contains([]string{"server start", "worker start", "alloc add"}, words[0]+" "+words[1]):
		_, err := fmt.Fprintf(c.Out, "berth stands in for HyperQueue: hq %s %s is not needed\n", words[0], words[1])
		return err
	case words[0] == "--version":
		_, err := fmt.Fprintf(c.Out, "HyperQueue %s\nberth %s stands in for it\n", Version, c.Berth)
		return err
	}
	return job.ArgumentError("", fmt.Sprintf("there is no command %q of hq here", strings.Join(args, " ")),
		"it has submit, job list, job cancel and server stop; berth's own commands do the rest: berth status, report, cat, progress")
}

// submit adds a job to the open bag for jobs like it, and prints its number.
func (c *Command) submit(args []string, quiet bool) error {
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	s, err := ParseSubmit(args, dir)
	if err != nil {
		return err
	}
	line, err := s.Line()
	if err != nil {
		return err
	}
	return c.locked(func(l *Ledger) error {
		e := Entry{Key: bagKey(os.Environ()), Name: s.Name}
		if err := c.add(l, &e, line); err != nil {
			return err
		}
		id, err := l.Add(e)
		switch {
		case err != nil:
		case quiet:
			_, err = fmt.Fprintln(c.Out, id)
		default:
			_, err = fmt.Fprintf(c.Out, "Job submitted successfully, job ID: %d (task %d of %s)\n", id, e.Task+1, e.Bag)
		}
		return err
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

// add adds the task to the last bag with the key, or to a new one.
func (c *Command) add(l *Ledger, e *Entry, line map[string]any) (err error) {
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
	if e.Bag, err = c.Open(append([]string{"-J", "hq"}, split(c.Flags)...)); err == nil {
		e.Task, err = c.Add(e.Bag, line)
	}
	return err
}

// bagKey tells which jobs can be tasks of one bag: those with the same environment.
func bagKey(env []string) string {
	env = job.ReplaceEnv(env, func(name string) bool { return slices.Contains([]string{"PWD", "OLDPWD", "SHLVL", "_"}, name) })
	slices.Sort(env)
	return fmt.Sprintf("%x", sha256.Sum256(fmt.Appendf(nil, "%q", env)))[:16]
}

// states returns the states of all jobs. In a bag that is over, tasks that are not are cancelled, those that are not mentioned, too.
func (c *Command) states(entries []Entry) ([]State, error) {
	type bag struct {
		tasks map[int]State
		over  bool
	}
	bags := make(map[job.ID]bag)
	states := make([]State, len(entries))
	for i, e := range entries {
		b, asked := bags[e.Bag]
		if !asked {
			tasks, over, err := c.States(e.Bag)
			if err != nil {
				return nil, err
			}
			b = bag{tasks, over || tasks == nil}
			bags[e.Bag] = b
		}
		if states[i] = cmp.Or(b.tasks[e.Task], Waiting); b.over && !states[i].over() {
			states[i] = Canceled
		}
	}
	return states, nil
}

func (c *Command) list(all, quiet bool) error {
	var entries []Entry
	if err := c.locked(func(l *Ledger) error { entries = l.Entries; return nil }); err != nil {
		return err
	}
	states, err := c.states(entries)
	for i, e := range entries {
		switch {
		case err != nil || !all && states[i].over():
		case quiet:
			_, err = fmt.Fprintln(c.Out, e.ID, states[i])
		default:
			_, err = fmt.Fprintf(c.Out, "%6d  %-9s  %s  %s\n", e.ID, states[i], e.Bag, e.Name)
		}
	}
	return err
}

// cancel cancels jobs. Those that are over stay as they are.
func (c *Command) cancel(l *Ledger, args []string) error {
	states, err := c.states(l.Entries)
	if err != nil {
		return err
	}
	tasks := make(map[job.ID][]string)
	for _, id := range strings.Split(strings.Join(args, ","), ",") {
		e := l.find(id)
		if e == nil && id != "all" {
			return job.ArgumentError(id, "there is no such job", "hq job list --all")
		}
		for i := range l.Entries {
			if one := &l.Entries[i]; (id == "all" || one == e) && !states[i].over() {
				tasks[one.Bag] = append(tasks[one.Bag], strconv.Itoa(one.Task+1))
			}
		}
	}
	for _, e := range l.Entries {
		if named := tasks[e.Bag]; named != nil {
			err = errors.Join(err, c.Cancel(e.Bag, named))
			delete(tasks, e.Bag)
		}
	}
	return err
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
