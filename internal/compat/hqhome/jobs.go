package hqhome

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"berth/internal/core/job"
)

// states returns the states of all jobs. In a bag that is over, tasks that are not are cancelled, those that are not mentioned, too. While
// some are not over it keeps a coordinator going, as whoever asks may be all that waits for them, and does nothing else.
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
	if slices.ContainsFunc(states, func(s State) bool { return !s.over() }) {
		return states, c.Ensure()
	}
	return states, nil
}

// all returns all jobs with their states.
func (c *Command) all() (entries []Entry, states []State, err error) {
	if err = c.locked(func(l *Ledger) error { entries = l.Entries; return nil }); err == nil {
		states, err = c.states(entries)
	}
	return entries, states, err
}

// listed is a job in the JSON of HyperQueue.
type listed struct {
	ID     int            `json:"id"`
	Name   string         `json:"name"`
	Tasks  int            `json:"task_count"`
	Open   bool           `json:"is_open"`
	Stats  map[string]int `json:"task_stats"`
	Reason *string        `json:"cancel_reason"`
}

func (c *Command) list(args []string) error {
	var all bool
	var only []string
	if _, err := c.words("hq job list", args, func(f *pflag.FlagSet) {
		f.BoolVar(&all, "all", false, "")
		f.Bool("verbose", false, "")
		f.StringSliceVar(&only, "filter", []string{"waiting", "running"}, "")
	}); err != nil {
		return err
	}
	entries, states, err := c.all()
	if err != nil {
		return err
	}
	var people, quiet strings.Builder
	value := []listed{}
	for i, e := range entries {
		e.tell(states[i])
		state := strings.ToLower(string(states[i]))
		if !all && !slices.Contains(only, state) {
			continue
		}
		fmt.Fprintf(&people, "%6d  %-9s  %s  %s\n", e.ID, states[i], e.Bag, e.Name)
		fmt.Fprintln(&quiet, e.ID, states[i])
		stats := map[string]int{"waiting": 0, "running": 0, "finished": 0, "failed": 0, "canceled": 0, "aborted": 0}
		stats[state] = 1
		value = append(value, listed{ID: e.ID, Name: e.Name, Tasks: 1, Stats: stats})
	}
	return c.print(people.String(), quiet.String(), value)
}

// chosen reads numbers of jobs as hq does: 1,3-5 or 2-10:2, all or last. Of numbers that are no jobs it tells in the error, with those that are.
func chosen(words []string, jobs int) (map[int]bool, error) {
	ids := make(map[int]bool)
	var errs error
	for _, word := range strings.Split(strings.Join(words, ","), ",") {
		from, to, step := 1, jobs, 1
		switch word {
		case "all":
		case "last":
			from = max(jobs, 1)
		default:
			first, by, stepped := strings.Cut(word, ":")
			first, last, ranged := strings.Cut(first, "-")
			var err, err2, err3 error
			if from, err = strconv.Atoi(first); ranged {
				to, err2 = strconv.Atoi(last)
			} else {
				to = from
			}
			if stepped {
				step, err3 = strconv.Atoi(by)
			}
			if errors.Join(err, err2, err3) != nil || from < 1 || from > jobs || step < 1 {
				errs = errors.Join(errs, job.ArgumentError(word, "there is no such job", "hq job list --all"))
				continue
			}
		}
		for id := from; id <= min(to, jobs); id += step {
			ids[id] = true
		}
	}
	return ids, errs
}

// cancel cancels jobs. Those that are over stay as they are.
func (c *Command) cancel(args []string) error {
	words, err := c.words("hq job cancel", args, func(f *pflag.FlagSet) { f.String("reason", "", "") })
	if err != nil {
		return err
	}
	return c.locked(func(l *Ledger) error {
		states, err := c.states(l.Entries)
		if err != nil {
			return err
		}
		ids, err := chosen(words, len(l.Entries))
		tasks := make(map[job.ID][]string)
		for i, e := range l.Entries {
			if ids[e.ID] && !states[i].over() {
				tasks[e.Bag] = append(tasks[e.Bag], strconv.Itoa(e.Task+1))
			}
		}
		for _, e := range l.Entries {
			if named := tasks[e.Bag]; named != nil {
				err = errors.Join(err, c.Cancel(e.Bag, named))
				delete(tasks, e.Bag)
			}
		}
		return err
	})
}

// wait returns once jobs are over, with an error if not all of them are finished.
func (c *Command) wait(args []string) error {
	words, err := c.words("hq job wait", args, func(f *pflag.FlagSet) { f.Bool("without-close", false, "") })
	for err == nil {
		var entries []Entry
		var states []State
		if entries, states, err = c.all(); err != nil {
			break
		}
		var ids map[int]bool
		if ids, err = chosen(words, len(entries)); err != nil {
			break
		}
		is := func(what func(State) bool) func(Entry) bool {
			return func(e Entry) bool { return ids[e.ID] && what(states[e.ID-1]) }
		}
		if slices.ContainsFunc(entries, is(func(s State) bool { return !s.over() })) {
			err = c.Pause()
			continue
		}
		if i := slices.IndexFunc(entries, is(func(s State) bool { return s != Finished })); i >= 0 {
			err = job.UserError(strconv.Itoa(entries[i].ID), "the job is "+string(states[i])+"; there may be others", "hq job list --all")
		}
		break
	}
	return err
}
