package worker

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"

	"berth/internal/core/job"
	"berth/internal/core/step"
	"berth/internal/node/collect"
	"berth/internal/node/gang"
	"berth/internal/node/process"
)

// computeGang runs the command of a task of several ranks, on the first node or on every rank, and ends the gang with it.
func (t *bagTask) computeGang(path string, argv, env []string, cores []int) error {
	p := t.a.part
	if p.self != 0 {
		return process.Broken("berth's own fault: node %s is not the first one of the gang of %s", t.w.cfg.Node, t.a.id)
	}
	p.cwd, p.dir = t.a.cwd, t.dir
	defer p.close()
	if err := p.open(env, cores); err != nil {
		return err
	}
	if err := p.gather(); err != nil {
		for _, h := range p.holds {
			h.hangUp() // which ends the share
		}
		return err
	}
	if err := p.folder.NameNodes(p.batchNodes()); err != nil {
		return process.ScratchFailure(p.folder.Dir, err)
	}
	var err error
	if t.a.spec.Bag.EachRank {
		err = t.runRanks(argv)
	} else {
		own := process.Merge(p.env, p.batchEnv(rank{}))
		err = t.runCommand(path, argv, append(own, p.folder.Launchers(own, p.w.cfg.Variables.MPI())...))
	}
	if failed := p.disband(); failed != nil { // the command need not have noticed
		t.again = nil
		return failed
	}
	return err
}

// batchNodes returns the nodes of the gang by the names that the batch system has for them.
func (p *part) batchNodes() []gang.Node {
	nodes := slices.Clone(p.nodes)
	for i := range nodes {
		name := p.w.cfg.Variables.NodeName()
		if i > 0 {
			name = p.holds[i-1].name
		}
		if nodes[i].Name = name; name == "" {
			nodes[i].Name = p.a.start.Gang[i].Host
		}
	}
	return nodes
}

// rank is one of the ranks of a gang.
type rank struct{ all, local, node int }

// ranks returns the ranks of the gang, node by node.
func (p *part) ranks() (list []rank) {
	for node, n := range p.nodes {
		for local := range n.Ranks {
			list = append(list, rank{len(list), local, node})
		}
	}
	return list
}

// batchEnv returns the variables by which the batch system describes the gang to one of its ranks.
func (p *part) batchEnv(r rank) []string {
	hosts, on := make([]string, len(p.nodes)), make([]string, len(p.nodes))
	for i, n := range p.batchNodes() {
		hosts[i], on[i] = n.Name, strconv.Itoa(n.Ranks)
	}
	cpus := make([]string, len(p.nodes))
	for i, n := range p.nodes {
		cpus[i] = strconv.Itoa(n.Ranks * p.a.spec.Bag.Need.CPUs)
	}
	known := map[string]string{"HOSTS": strings.Join(hosts, ","), "RANKS_ON": strings.Join(on, ","), "CPUS_ON": strings.Join(cpus, ","), "CPUS_HERE": cpus[r.node]}
	if r.node == p.self { // the file is only here
		known["HOSTFILE"] = p.folder.BatchHosts()
	}
	if mem := p.a.spec.Bag.Need.Mem; mem > 0 {
		known["MEM_ON"] = strconv.FormatInt(max(1, mem>>20)*int64(slices.MaxFunc(p.nodes, func(a, b gang.Node) int { return a.Ranks - b.Ranks }).Ranks), 10)
	}
	for name, n := range map[string]int{"RANKS": len(p.ranks()), "NODES": len(p.nodes), "RANK": r.all, "LOCAL_RANK": r.local, "NODE_INDEX": r.node} {
		known[name] = strconv.Itoa(n)
	}
	return p.w.cfg.Variables.OfGang(known)
}

// rankEnv returns the variables of the program of a rank, beside those of all processes of the gang on its node. Frameworks that start
// programs by the ranks find each other by them; a place where to meet that the user names stays.
func (p *part) rankEnv(r rank, meet []string) []string {
	own := []string{fmt.Sprintf("BERTH_RANK=%d", r.all), fmt.Sprintf("BERTH_LOCAL_RANK=%d", r.local), fmt.Sprintf("RANK=%d", r.all),
		fmt.Sprintf("LOCAL_RANK=%d", r.local), fmt.Sprintf("WORLD_SIZE=%d", len(p.ranks()))}
	return slices.Concat(p.batchEnv(r), own, meet)
}

// meetingPoint returns the variables with an address of the first node and a port that is free there now.
func (p *part) meetingPoint() []string {
	first := p.a.start.Gang[0]
	host, _, err := net.SplitHostPort(first.Addr)
	switch {
	case !slices.ContainsFunc(p.a.start.Gang, func(s step.Share) bool { return s.Host != first.Host }):
		host = "127.0.0.1"
	case err != nil || net.ParseIP(host) == nil: // it is reached by a tunnel
		host = first.Host
	}
	all := []string{"MASTER_ADDR=" + host}
	if l, err := net.Listen("tcp", ":0"); err == nil {
		_, port, _ := net.SplitHostPort(l.Addr().String())
		_ = l.Close()
		all = append(all, "MASTER_PORT="+port)
	}
	return slices.DeleteFunc(all, func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		_, set := job.LookupEnv(p.env, name)
		return set
	})
}

// runRanks runs the command on every rank. The first one that fails ends the others.
func (t *bagTask) runRanks(argv []string) error {
	p := t.a.part
	meet := p.meetingPoint()
	ctx, stop := context.WithCancel(t.a.ctx)
	defer stop()
	var failing sync.Once
	var failed *process.Failure
	var all sync.WaitGroup
	for _, r := range p.ranks() {
		all.Go(func() {
			if f := t.runRank(ctx, r, argv, p.rankEnv(r, meet)); f != nil {
				failing.Do(func() { failed, t.failing = f, r.all })
				stop()
			}
		})
	}
	all.Wait()
	if again := t.a.spec.Bag.RequeueExit; failed != nil && (again == 0 || failed.Exit != again) {
		failed.Reason = fmt.Sprintf("rank %d: %s", t.failing, failed.Reason)
	}
	return t.judge(failed)
}

// runRank runs the command on a rank, and returns its failure.
func (t *bagTask) runRank(ctx context.Context, r rank, argv, env []string) *process.Failure {
	p := t.a.part
	host := p.a.start.Gang[r.node].Host
	conn, err := p.connect(ctx, r.node)
	if err != nil {
		return process.Lost("node %s of the task does not answer: %v", host, err)
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	out, errs := t.bag.OfRank(r.all, collect.Stdout), t.bag.OfRank(r.all, collect.Stderr)
	result, err := gang.Run(conn, gang.Request{Command: argv, Dir: p.cwd, Env: env}, nil, out, errs)
	switch {
	case errors.As(err, new(*process.Failure)): // of the files
		return process.FailureOf(err)
	case err != nil:
		return process.Lost("the connection to node %s of the task was lost: %v", host, err)
	}
	return result.Failure
}
