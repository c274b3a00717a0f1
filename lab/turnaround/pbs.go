package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"time"
)

var pbs = system{
	name: "pbs", page: "pbs", short: "short",
	set:     []string{"PBS_NODES=" + strconv.Itoa(clusterNodes), "PBS_CPUS=" + strconv.Itoa(cpusPerNode), "PBS_MEM=16gb"},
	foreign: []string{"PBS_CONF_FILE="},
	limits: func(*cluster) [][]string {
		set := func(what string) []string { return []string{"qmgr", "-c", "set queue " + what} }
		return [][]string{set("workq resources_max.walltime = " + clock(maxTime*time.Minute)),
			set("short resources_max.walltime = " + clock(shortTime*time.Minute)), set("short resources_max.nodect = " + strconv.Itoa(shortNodes))}
	},
	vars: exported,
	submit: func(f fill) []string {
		return []string{"qsub", "-N", fillName, "-o", "/dev/null", "-j", "oe", "-q", "workq", "-l", fmt.Sprintf("select=%d:ncpus=%d", f.nodes, f.cpus),
			"-l", "place=scatter", "-l", "walltime=" + f.clock(), "--", "/bin/sleep", f.sleep()}
	},
	drain: func(c *cluster, node int) []string {
		return []string{"pbsnodes", "-o", fmt.Sprintf("b%dn%d", (number(c.bed("BASE"), 0)-pbsFirst)/100+1, node)}
	},
	list: func(ctx context.Context, c *cluster) ([]allocation, error) {
		out, err := c.output(ctx, "qstat", "-x", "-f", "-F", "json")
		if err != nil {
			return nil, err
		}
		return parsePBS(out)
	},
}

// pbsFirst is the first port of the first private PBS; each has a hundred, and nodes are named by its number.
const pbsFirst = 17200

// pbsTimeout is the exit status of a job that PBS has ended at its wall time.
const pbsTimeout = -29

// pbsJob is a job in the output of qstat.
type pbsJob struct {
	Name    string `json:"Job_Name"`
	State   string `json:"job_state"`
	Started string `json:"stime"`
	Ended   string `json:"obittime"`
	Changed string `json:"mtime"`
	Exit    int    `json:"Exit_status"` // above 256: killed by a signal; negative: PBS could not run it
	Wants   struct {
		CPUs  int    `json:"ncpus"`
		Nodes int    `json:"nodect"`
		Time  string `json:"walltime"`
	} `json:"Resource_List"`
}

// parsePBS reads the output of qstat -x -f -F json.
func parsePBS(out string) (all []allocation, err error) {
	var read struct{ Jobs map[string]pbsJob }
	if err := json.Unmarshal([]byte(out), &read); err != nil {
		return nil, fmt.Errorf("qstat: %w", err)
	}
	for id, j := range read.Jobs {
		a := allocation{ID: id, Name: j.Name, Nodes: j.Wants.Nodes, CPUs: j.Wants.CPUs, Limit: j.Wants.Time, Start: pbsTime(j.Started)}
		switch {
		case j.State == "R" || j.State == "E":
			a.State = "RUNNING"
		case j.State != "F":
			a.State = "PENDING"
		case j.Exit == 0:
			a.State = "COMPLETED"
		case j.Exit == pbsTimeout:
			a.State = "TIMEOUT"
		case j.Exit > 128:
			a.State = "CANCELLED"
		default:
			a.State = fmt.Sprintf("FAILED with status %d", j.Exit)
		}
		if j.State == "F" {
			a.End = pbsTime(cmp.Or(j.Ended, j.Changed))
		}
		all = append(all, a)
	}
	return inOrder(all), nil
}

func pbsTime(text string) float64 {
	t, err := time.Parse(time.ANSIC, text)
	if err != nil {
		return 0
	}
	return float64(t.Unix())
}
