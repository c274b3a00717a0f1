package slurm

import (
	"slices"
	"strconv"
	"strings"

	"berth/internal/core/job"
	"berth/internal/driver"
	"berth/internal/driver/batch"
)

// shapeArgs returns the sbatch options that describe the request. The user's own options come first, as
// sbatch uses the last of an option's values. The job's full name is in the comment where the name in the queue is another one.
func shapeArgs(req job.AllocRequest, mem memory) []string {
	b := req.Batch
	name := batch.JobName(b.Name)
	args := []string{"--job-name=" + name}
	if b.Name != "" && b.Name != name {
		args = append(args, "--comment="+b.Name)
	}
	args = append(args, b.Args...)
	args = append(args, "--nodes="+strconv.Itoa(req.Nodes), "--ntasks-per-node=1", "--cpus-per-task="+strconv.Itoa(max(req.PerNode.CPUs, 1)))
	args = append(args, mem.args(req)...)
	if n := req.PerNode.GPUs; n > 0 {
		args = append(args, "--gpus-per-node="+strings.TrimPrefix(req.PerNode.GPUType+":"+strconv.Itoa(n), ":"))
	}
	if req.Time > 0 {
		args = append(args, "--time="+batch.Units(int64(req.Time), int64(grain)))
	}
	for _, o := range []struct{ name, value string }{
		{"--partition=", b.Partition}, {"--account=", b.Account}, {"--qos=", b.QOS}, {"--constraint=", b.Constraint},
	} {
		if o.value != "" {
			args = append(args, o.name+o.value)
		}
	}
	if b.Exclusive {
		args = append(args, "--exclusive")
	}
	if b.Licences != "" {
		args = append(args, "--licenses="+strings.ReplaceAll(string(b.Licences), "=", ":"))
	}
	return args
}

// avoidArgs returns the sbatch option that leaves out the nodes which the request avoids, none if the user has chosen nodes.
func avoidArgs(req job.AllocRequest) []string {
	if len(req.Avoid) == 0 || slices.ContainsFunc(req.Batch.Args, ofNodes) {
		return nil
	}
	return []string{"--exclude=" + strings.Join(req.Avoid, ",")}
}

// ofNodes says that an argument of sbatch chooses nodes.
var ofNodes = driver.Says(`^(-[xwF]|--(exclude|nodelist|nodefile)(=|$))`)

// form is how a site wants requests to be described.
type form struct {
	mem      memory
	tasks    bool // with --ntasks
	anywhere bool // without --partition
}

// args returns the sbatch options that describe a request in this form.
func (f form) args(req job.AllocRequest) []string {
	if f.anywhere {
		req.Batch.Partition = ""
	}
	args := shapeArgs(req, f.mem)
	if f.tasks {
		args = append(args, "--ntasks="+strconv.Itoa(req.Nodes))
	}
	return args
}

// memory is the option with which the memory of jobs is requested.
type memory int

const (
	memPerNode memory = iota // --mem
	memPerCPU                // --mem-per-cpu, for sites that refuse --mem
	memNone                  // none: the cluster allocates no memory, and a request for it would only exclude nodes; or the site refuses both
)

// args returns the option for a request's memory. An option of the user's for memory replaces it, as sbatch takes one of them.
func (m memory) args(req job.AllocRequest) []string {
	mem, cpus := req.PerNode.Mem, int64(max(req.PerNode.CPUs, 1))
	switch {
	case mem <= 0 || m == memNone || slices.ContainsFunc(req.Batch.Args, ofMemory):
		return nil
	case m == memPerCPU:
		return []string{"--mem-per-cpu=" + batch.Units(mem, cpus<<20) + "M"}
	}
	return []string{"--mem=" + batch.Units(mem, 1<<20) + "M"}
}

// ofMemory reports whether an argument of sbatch requests memory.
var ofMemory = driver.Says(`^--mem($|[^-]|-$|-[^b])`)

// ownArgs returns the sbatch options that say how berth's jobs run: once, to the end even if
// some nodes fail, and with their output in the allocation's folder. sbatch replaces patterns such as "%j" in the names of files.
func ownArgs(s batch.Submission) []string {
	return append(strings.Fields("--parsable --no-requeue --no-kill --export=ALL --open-mode=append"), "--chdir="+s.Dir, "--output="+strings.ReplaceAll(s.Output, "%", "%%"))
}

// waitArgs returns the sbatch options that say what a job waits for.
func waitArgs(w batch.Wait) (args []string) {
	if w.Delay > 0 {
		args = append(args, "--begin="+begin(w))
	}
	if len(w.After) > 0 {
		args = append(args, "--dependency="+afterAny(w))
	}
	return args
}

// begin returns the earliest start of a job.
func begin(w batch.Wait) string {
	if w.Delay <= 0 {
		return "now"
	}
	return "now+" + strconv.Itoa(int(w.Delay.Seconds()))
}

// afterAny returns the dependency on the end of jobs, or "" if there are none.
func afterAny(w batch.Wait) string {
	if len(w.After) == 0 {
		return ""
	}
	return "afterany:" + strings.Join(w.After, ":")
}
