package slurm

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"berth/internal/driver/batch"
	"berth/internal/job"
)

// shapeArgs returns sbatch's options that say what is asked for, the user's own first: of an
// option that is given twice sbatch takes the last. memory says that the cluster
// gives memory to jobs; where it does not, asking for some only excludes nodes.
func shapeArgs(req job.AllocRequest, memory bool) []string {
	b := req.Batch
	args := append([]string{"--job-name=berth"}, b.Args...)
	args = append(args, "--nodes="+strconv.Itoa(req.Nodes), "--ntasks-per-node=1", "--cpus-per-task="+strconv.Itoa(max(req.PerNode.CPUs, 1)))
	if req.PerNode.Mem > 0 && memory {
		args = append(args, "--mem="+strconv.FormatInt(ceil(req.PerNode.Mem, 1<<20), 10)+"M")
	}
	if req.Time > 0 {
		args = append(args, "--time="+strconv.FormatInt(ceil(int64(req.Time), int64(time.Minute)), 10))
	}
	for _, o := range []struct{ name, value string }{
		{"--job-name=", b.Name}, {"--partition=", b.Partition}, {"--account=", b.Account}, {"--qos=", b.QOS}, {"--constraint=", b.Constraint},
	} {
		if o.value != "" {
			args = append(args, o.name+o.value)
		}
	}
	if b.Exclusive {
		args = append(args, "--exclusive")
	}
	return args
}

// ceil returns n in units, rounded up.
func ceil(n, unit int64) int64 { return (n + unit - 1) / unit }

// ownArgs returns sbatch's options that say how a job of ours runs: once, to the end even if
// some of its nodes fail, and with what it prints in the allocation's folder.
func ownArgs(s batch.Submission) []string {
	return []string{"--parsable", "--no-requeue", "--no-kill", "--export=ALL", "--open-mode=append",
		"--chdir=" + s.Dir, "--output=" + pattern(s.Output)}
}

// waitArgs returns sbatch's options that say what a job waits for.
func waitArgs(w batch.Wait) (args []string) {
	if w.Delay > 0 {
		args = append(args, "--begin="+begin(w))
	}
	if len(w.After) > 0 {
		args = append(args, "--dependency="+afterAny(w))
	}
	return args
}

// begin returns the time before which a job is not to begin.
func begin(w batch.Wait) string {
	if w.Delay <= 0 {
		return "now"
	}
	return "now+" + strconv.Itoa(int(w.Delay.Seconds()))
}

// afterAny returns the dependency on the end of jobs, empty for none.
func afterAny(w batch.Wait) string {
	if len(w.After) == 0 {
		return ""
	}
	return "afterany:" + strings.Join(w.After, ":")
}

// whereArgs returns those of a user's own options that say where to run and whose job it is.
func whereArgs(args []string) []string {
	return slices.DeleteFunc(slices.Clone(args), func(arg string) bool {
		name, _, _ := strings.Cut(arg, "=")
		return !slices.Contains([]string{"--reservation", "--wckey"}, name)
	})
}

// pattern quotes a path for sbatch, which replaces "%j" and the like in names of files.
func pattern(path string) string { return strings.ReplaceAll(path, "%", "%%") }
