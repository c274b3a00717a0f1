package main

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// system is a batch system of which each run has a private cluster, started by a script of the repository.
type system struct {
	name    string // as in --on, and in the name of the script
	page    string // name of the table in the page of results
	short   string // the one of the situation with short limits
	set     []string
	foreign []string // beginnings of variables that would lead its commands elsewhere
	limits  func(c *cluster) [][]string
	vars    func(c *cluster) ([]string, error)
	submit  func(f fill) []string
	drain   func(c *cluster, node int) []string
	list    func(ctx context.Context, c *cluster) ([]allocation, error)
}

// systems are the batch systems that -system names.
var systems = map[string]*system{"slurm": &slurm, "pbs": &pbs, "gridengine": &gridEngine}

// systemOf returns the batch system with this name.
func systemOf(name string) (*system, error) {
	if s := systems[name]; s != nil {
		return s, nil
	}
	return nil, fmt.Errorf("-system: %q is none of %s", name, strings.Join(slices.Sorted(maps.Keys(systems)), ", "))
}

// exported returns the variables that a line "export NAME=VALUE NAME=VALUE" of the cluster's file "env" sets.
func exported(c *cluster) ([]string, error) {
	text, err := os.ReadFile(filepath.Join(c.dir, "env"))
	if err != nil {
		return nil, err
	}
	return append(variables(string(text), os.Getenv), "BERTH_LISTEN="+c.address()), nil
}

func variables(text string, get func(string) string) (all []string) {
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		for _, w := range words[min(1, len(words)):] {
			all = append(all, os.Expand(w, get))
		}
	}
	return all
}

// address is this machine's address that the nodes reach: that of the bridge, where they have networks of their own.
func (c *cluster) address() string {
	if net := c.bed("NET"); net != "" {
		return net + ".1"
	}
	return "127.0.0.1"
}

// bed returns a value of the file in which the script keeps what it chose, or "".
func (c *cluster) bed(name string) string {
	text, err := os.ReadFile(filepath.Join(c.dir, "bed"))
	for line := range strings.Lines(string(text)) {
		if v, found := strings.CutPrefix(strings.TrimSpace(line), name+"="); found && err == nil {
			return v
		}
	}
	return ""
}

// number is the number with which a job's id begins. Ids are given in their order.
func (a allocation) number() int {
	digits, _, _ := strings.Cut(a.ID, ".")
	return number(digits, 0)
}

// inOrder sorts jobs by their ids.
func inOrder(all []allocation) []allocation {
	slices.SortFunc(all, func(x, y allocation) int { return x.number() - y.number() })
	return all
}
