package local

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"berth/internal/core/job"
	"berth/internal/driver"
	"berth/internal/sys/disk"
	"berth/internal/sys/private"
	"berth/internal/sys/probe"
	"berth/internal/wire"
)

// alloc is an allocation that has started: its share of the machine and its workers.
type alloc struct {
	id    job.AllocID
	req   job.AllocRequest
	dir   string // its folder: with config, process id and log of each rank
	procs []*proc
	limit *time.Timer // ends the allocation after its wall time; nil: it has none
	met   bool        // on other machines: a worker was up at least once
}

// proc is the worker of one rank. The driver's lock guards all fields.
type proc struct {
	node     job.NodeID
	rank     int
	pid      int
	started  job.Time
	failures int          // consecutive failures, each soon after the start
	why      string       // on another machine: the reason of the last failure, "" after a success
	released bool         // it is not started again
	vacant   bool         // it waits for a machine (Assign)
	next     *wire.Remote // its next machine, while the worker on the last one still ends
}

// Suffixes of the names of a rank's files.
const (
	configEnd = ".json" // wire.WorkerConfig
	pidEnd    = ".pid"  // process id and start time of the worker
	bundleEnd = ".pem"  // keys
	logEnd    = ".log"  // the worker's log
)

// ranks returns the largest number of workers of an allocation: one on rented machines may get more than it starts with.
func ranks(req job.AllocRequest) int { return max(req.Nodes, req.Remote.Rent.Most()) }

func (a *alloc) file(rank int, end string) string {
	return filepath.Join(a.dir, strconv.Itoa(rank)+end)
}

// writeConfigs writes the files that the allocation's workers need.
func (d *Driver) writeConfigs(a *alloc) error {
	if err := os.MkdirAll(a.dir, 0o700); err != nil {
		return job.IOError(job.Fatal, a.dir, "cannot create the allocation's folder", err)
	}
	scratch, token, err := d.scratch(a)
	if errors.As(err, new(*private.Untrusted)) { // reported now, as every worker would fail with it
		return job.IOError(job.User, scratch, "the scratch folder cannot be trusted", err).Advice("remove it if it is yours, or name another folder with --scratch")
	}
	if err != nil && a.away() {
		return job.IOError(job.User, scratch, "cannot create the scratch folder for all hosts", err).Advice("name another folder with --scratch")
	}
	for rank := range ranks(a.req) {
		c := wire.WorkerConfig{Bundle: a.file(rank, bundleEnd), Node: a.id.Node(rank), Capacity: a.req.PerNode,
			CPUs: d.opts.Machine.share(a.req, rank), GPUs: d.opts.Machine.GPUs.Part(rank, a.req.PerNode.GPUs), Scratch: scratch, Local: a.req.Scratch, SortMemory: a.req.SortMemory,
			Rates: a.req.Rates, Nodes: driver.NodesIn(d.opts.State), Trace: driver.TraceIn(d.opts.Shared), Disk: scratch, Sharers: a.req.Nodes}
		if a.away() {
			a.sendAway(&c, rank, token)
		}
		if err := d.opts.Equip(c, a.file(rank, configEnd)); err != nil {
			return err
		}
	}
	return nil
}

// share returns the cores to which the worker of a rank is bound; nil: to none. It has cores of its own if all ranks
// together want no more than there are, and nothing limits how many of them they use at once. Else others may use the same
// ones, so the kernel chooses among all that the request allows.
func (m Machine) share(req job.AllocRequest, rank int) []int {
	n, all := req.PerNode.CPUs, m.CPUs
	if req.Only != nil {
		all = req.Only
	}
	if own := n*req.Nodes <= len(all) && m.Cores == len(m.CPUs); own && (req.Only == nil || n*req.Nodes == len(all)) {
		return all[rank*n : (rank+1)*n]
	}
	return req.Only
}

// start starts the worker of a rank in a session of its own.
func (d *Driver) start(a *alloc, rank int) (*exec.Cmd, error) {
	if _, err := os.Stat(a.file(rank, bundleEnd)); errors.Is(err, fs.ErrNotExist) && !a.away() {
		if err := d.writeConfigs(a); err != nil { // something has removed the keys, without which no worker can work
			return nil, err
		}
	}
	log, err := os.OpenFile(a.file(rank, logEnd), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, job.IOError(job.Fatal, a.file(rank, logEnd), "cannot open the worker's log", err)
	}
	defer log.Close()
	exe := d.opts.Exe
	if _, err := os.Stat(exe); errors.Is(err, fs.ErrNotExist) {
		exe = "/proc/self/exe" // the file was removed, but this process still has it
	}
	cmd := exec.Command(exe, "worker", "--config", a.file(rank, configEnd))
	cmd.Dir = "/"
	cmd.Stderr, cmd.Stdout = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return nil, job.FatalError(d.opts.Exe, "cannot start a worker", err)
	}
	p, _ := probe.Find(cmd.Process.Pid) // it may have ended
	line := fmt.Sprintf("%d %d\n", cmd.Process.Pid, p.Start)
	if err := os.WriteFile(a.file(rank, pidEnd), []byte(line), 0o600); err != nil {
		_ = cmd.Process.Kill() // no later coordinator could find it
		_ = cmd.Wait()
		return nil, job.IOError(job.Fatal, a.file(rank, pidEnd), "cannot write the worker's process id", err)
	}
	return cmd, nil
}

// find returns the process id and a descriptor of the worker that a file names, if the worker lives.
func find(file string) (pid, pidfd int, alive bool) {
	var born int64
	fd := -1
	b, err := os.ReadFile(file)
	if err == nil {
		_, err = fmt.Sscanf(string(b), "%d %d", &pid, &born)
	}
	if err == nil {
		fd, err = unix.PidfdOpen(pid, 0)
	}
	if err != nil {
		return 0, -1, false
	}
	if p, alive := probe.Find(pid); !alive || p.Start != born { // another process has this id now
		_ = unix.Close(fd)
		return 0, -1, false
	}
	return pid, fd, true
}

// awaitExit blocks until the process behind the descriptor has ended, and closes it.
func awaitExit(pidfd int) {
	_, _ = probe.AwaitExit(pidfd, -time.Second)
	_ = unix.Close(pidfd)
}

// remove deletes the allocation's folder, with its keys.
func (a *alloc) remove() error {
	if err := a.removeShared(); err != nil {
		return err
	}
	return disk.RemoveTree(a.dir)
}
