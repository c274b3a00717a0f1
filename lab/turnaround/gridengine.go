package main

import (
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Jobs of other users have reservations (-R y), as all have on Slurm and PBS. The limit of nodes of the short queue is a quota.
var gridEngine = system{
	name: "gridengine", page: "gridengine", short: "short.q",
	set:     []string{"GE_NODES=" + strconv.Itoa(clusterNodes), "GE_SLOTS=" + strconv.Itoa(cpusPerNode), "GE_MEM=16G"},
	foreign: []string{"SGE_", "GE_"},
	limits: func(c *cluster) [][]string {
		set := func(queue string, limit time.Duration) []string {
			return []string{"qconf", "-mattr", "queue", "h_rt", clock(limit), queue}
		}
		quota := filepath.Join(filepath.Dir(c.dir), "quota")
		text := fmt.Sprintf("{\nname short\ndescription NONE\nenabled TRUE\nlimit users {*} queues short.q to slots=%d\n}\n", shortNodes*cpusPerNode)
		return [][]string{set("all.q", maxTime*time.Minute), set("short.q", shortTime*time.Minute),
			{"sh", "-c", `printf '%s' "$1" >"$0" && qconf -Arqs "$0"`, quota, text}}
	},
	vars: exported,
	submit: func(f fill) []string {
		return []string{"qsub", "-terse", "-N", fillName, "-o", "/dev/null", "-j", "y", "-q", "all.q", "-R", "y", "-l", "h_vmem=100M,h_rt=" + f.clock(),
			"-pe", "node" + strconv.Itoa(f.cpus), strconv.Itoa(f.nodes * f.cpus), "-b", "y", "/bin/sleep", f.sleep()}
	},
	drain: func(c *cluster, node int) []string {
		return []string{"qmod", "-d", fmt.Sprintf("*@%sn%d", c.bed("NAME"), node)}
	},
	list: func(ctx context.Context, c *cluster) ([]allocation, error) {
		out, err := c.output(ctx, "qstat", "-u", "*", "-r", "-xml")
		if err != nil {
			return nil, err
		}
		live, err := parseGridEngine(out)
		if err != nil {
			return nil, err
		}
		text, err := os.ReadFile(filepath.Join(c.dir, "default", "common", "accounting"))
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // it is made at the first end of a job
			return nil, err
		}
		ended, err := parseAccounting(string(text))
		return inOrder(append(live, ended...)), err
	},
}

// parseGridEngine reads the output of qstat -r -xml.
func parseGridEngine(out string) (all []allocation, err error) {
	type entry struct {
		ID    string `xml:"JB_job_number"`
		Name  string `xml:"full_job_name"`
		State string `xml:"state"`
		Slots int    `xml:"slots"`
	}
	var read struct {
		Running []entry `xml:"queue_info>job_list"`
		Pending []entry `xml:"job_info>job_list"`
	}
	if err := xml.Unmarshal([]byte(out), &read); err != nil {
		return nil, fmt.Errorf("qstat: %w", err)
	}
	for i, list := range [][]entry{read.Running, read.Pending} {
		for _, e := range list {
			all = append(all, allocation{ID: e.ID, Name: e.Name, CPUs: e.Slots, State: []string{"RUNNING", "PENDING"}[i]})
		}
	}
	return all, nil
}

// Fields of a line of the accounting, see accounting(5).
const (
	accountName, accountID         = 4, 5
	accountStart, accountEnd       = 9, 10
	accountFailed, accountExit     = 11, 12
	accountPE, accountSlots        = 33, 34
	accountCategory, accountTaskID = 39, 41
	accountFields                  = 42
)

var (
	timeWanted = regexp.MustCompile(`h_rt=(\d+)`)
	perNode    = regexp.MustCompile(`^node(\d+)$`) // parallel environments with so many slots on each node
)

// parseAccounting reads the accounting: the jobs that have ended.
func parseAccounting(text string) (all []allocation, err error) {
	for line := range strings.Lines(text) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), ":")
		if strings.HasPrefix(line, "#") || len(f) < accountFields || f[accountTaskID] != "NONE" { // a part of a job that ran on another node
			continue
		}
		a := allocation{ID: f[accountID], Name: f[accountName], CPUs: number(f[accountSlots], 0), Nodes: 1}
		if m := perNode.FindStringSubmatch(f[accountPE]); m != nil {
			a.Nodes = a.CPUs / max(number(m[1], 1), 1)
		}
		if m := timeWanted.FindStringSubmatch(f[accountCategory]); m != nil {
			a.Limit = clock(seconds(number(m[1], 0)))
		}
		for i, to := range []*float64{&a.Start, &a.End} {
			if *to, err = strconv.ParseFloat(f[accountStart+i], 64); err != nil {
				return nil, fmt.Errorf("accounting: time in %q: %w", line, err)
			}
		}
		a.State = accountState(number(f[accountFailed], 0), number(f[accountExit], 0))
		all = append(all, a)
	}
	return all, nil
}

// accountState returns the state of a job that has ended, from Grid Engine's code of a failure and the exit status of its script.
func accountState(failed, exit int) string {
	switch {
	case failed == 37:
		return "TIMEOUT"
	case failed == 100 || failed == 0 && exit > 128: // killed
		return "CANCELLED"
	case failed == 0 && exit == 0:
		return "COMPLETED"
	}
	return fmt.Sprintf("FAILED with code %d and status %d", failed, exit)
}
