package pbs

import (
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"berth/internal/core/job"
	"berth/internal/driver/batch"
)

// mark is the variable of a job with the name of its script, by which a job with a lost id is found.
const mark = "BERTH_SCRIPT"

// shapeArgs returns the qsub options that describe the request. The user's own options come first, as the last value of an option counts.
func shapeArgs(req job.AllocRequest) ([]string, error) {
	chunk, err := chunkOf(req)
	if err != nil {
		return nil, err
	}
	b := req.Batch
	place := "scatter"
	if b.Exclusive {
		place += ":excl"
	}
	args := append([]string{"-N", batch.JobName(b.Name)}, b.Args...)
	args = append(args, "-l", "select="+strconv.Itoa(req.Nodes)+":"+chunk, "-l", "place="+place)
	if req.Time > 0 {
		args = append(args, "-l", "walltime="+batch.Units(int64(req.Time), int64(grain)))
	}
	if b.Partition != "" && reservation(b.Args) == "" {
		args = append(args, "-q", b.Partition)
	}
	if b.Account != "" {
		args = append(args, "-A", b.Account)
	}
	return args, nil
}

// chunkOf returns what the request wants of each node, as a chunk of a select. One line of the job's list of nodes stands for each chunk.
func chunkOf(req job.AllocRequest) (string, error) {
	each := req.PerNode
	items := []string{"ncpus=" + strconv.Itoa(max(each.CPUs, 1)), "mpiprocs=1"}
	if each.Mem > 0 {
		items = append(items, "mem="+batch.Units(each.Mem, 1<<20)+"mb")
	}
	if each.GPUs > 0 {
		items = append(items, "ngpus="+strconv.Itoa(each.GPUs))
		if each.GPUType != "" {
			items = append(items, gpuType+"="+each.GPUType)
		}
	}
	if c := req.Batch.Constraint; strings.ContainsAny(c, "|()[]*:+ ") {
		return "", job.ConfigError("--constraint", "a select of PBS knows no alternatives: "+strconv.Quote(c), "give names and values of resources that a node must have, as in bigmem&arch=linux")
	}
	for name := range strings.FieldsFuncSeq(req.Batch.Constraint, func(r rune) bool { return r == '&' || r == ',' }) {
		if !strings.Contains(name, "=") {
			name += "=True"
		}
		items = append(items, name)
	}
	return strings.Join(items, ":"), nil
}

// grain is the unit of wall times.
const grain = time.Second

// ownArgs returns the qsub options that say how berth's jobs run: in a POSIX shell, once, and with the mark. The job's script writes
// its output itself, as PBS would replace the file at the end. With -f no process stays in the background that would keep the
// submission's file open.
func ownArgs(s batch.Submission) []string {
	return append(strings.Fields("-f -S /bin/sh -r n -j oe -o /dev/null -v"), mark+"="+filepath.Base(s.Script))
}

// waitArgs returns the qsub and qalter options that say what a job waits for. A dependency that was met cannot be taken away, and need not.
func waitArgs(w batch.Wait, now time.Time) (args []string) {
	if w.Delay > 0 {
		args = append(args, "-a", w.Begin(now))
	}
	if len(w.After) > 0 {
		args = append(args, "-W", "depend=afterany:"+strings.Join(w.After, ":"))
	}
	return args
}

// reservation returns the queue of a reservation that the user's options name, as in "-qR17", or "".
func reservation(args []string) string {
	for _, arg := range args {
		if name, ok := strings.CutPrefix(arg, queueWords.Reservation); ok && name != "" {
			return name
		}
	}
	return ""
}
