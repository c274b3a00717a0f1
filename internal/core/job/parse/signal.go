package parse

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"berth/internal/core/job"
)

// signals are the signals that a program can handle and that mean nothing else to berth, with their numbers on Linux.
var signals = []struct {
	name   string
	number int
}{{"HUP", 1}, {"INT", 2}, {"QUIT", 3}, {"USR1", 10}, {"USR2", 12}, {"ALRM", 14}, {"TERM", 15}, {"CONT", 18}, {"URG", 23}, {"XCPU", 24}, {"WINCH", 28}}

// defaultLead is how long before the end of its time a task gets a signal without a time, as with Slurm's --signal.
const defaultLead = time.Minute

// setSignal parses NAME@TIME, as in USR1@2m: a signal, and how long before the end of its time a task gets it. As with sbatch, a
// number without a unit is seconds.
func setSignal(a *Ask, where, value string) (err error) {
	name, text, timed := strings.Cut(strings.TrimSpace(value), "@")
	number, err := signalNumber(where, name)
	if err != nil {
		return err
	}
	lead := defaultLead
	if timed {
		if lead, err = signalLead(where, text); err != nil {
			return err
		}
	}
	a.ofBag(func(b *job.BagSpec) { b.Signal, b.SignalLead = number, lead })
	return nil
}

// signalNumber returns the number of the signal with that name, with or without SIG, or with that number.
func signalNumber(where, name string) (int, error) {
	var names []string
	for _, s := range signals {
		if s.name == strings.TrimPrefix(strings.ToUpper(name), "SIG") || strconv.Itoa(s.number) == name {
			return s.number, nil
		}
		names = append(names, s.name)
	}
	return 0, job.ArgumentError(where, fmt.Sprintf("%q is not a signal that a task can handle", name),
		"write NAME@TIME, as in USR1@120s, with one of "+strings.Join(names, ", "))
}

func signalLead(where, text string) (time.Duration, error) {
	if seconds, err := strconv.ParseUint(text, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second, nil
	}
	return Duration(where, text)
}
