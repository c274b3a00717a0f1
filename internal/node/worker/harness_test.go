package worker

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/node/gang"
	"berth/internal/node/process"
	"berth/internal/wire"
)

// patience bounds how long a test waits for a message; it is no measure of anything.
const patience = 3 * time.Minute

// hasty is the grace of tests in which it passes. Others have one that does not, however
// busy the machine is.
const hasty = 200 * time.Millisecond

// asWorker is the variable that makes the test binary a worker process: the path of its config.
const asWorker = "WORKER_TEST_CONFIG"

// asSweep is the variable that makes the test binary sweep the folder of its last argument.
const asSweep = "WORKER_TEST_SWEEP"

func TestMain(m *testing.M) {
	if gang.IsAgent(os.Args[0]) {
		os.Exit(gang.Main(os.Args[1:], os.Getenv(gang.KeyVariable)))
	}
	if os.Getenv(asSweep) != "" {
		if err := Sweep(os.Args[len(os.Args)-1], process.BatchVariables{}, slog.Default()); err != nil {
			os.Exit(1)
		}
		os.Exit(0)
	}
	if path := os.Getenv(asWorker); path != "" {
		os.Exit(workerProcess(path))
	}
	if path := os.Getenv(asHolder); path != "" {
		os.Exit(holdLock(path))
	}
	os.Exit(m.Run())
}

// workerProcess is what the test binary does as a worker.
func workerProcess(path string) int {
	b, err := os.ReadFile(path)
	var cfg Config
	if err == nil {
		err = json.Unmarshal(b, &cfg)
	}
	if err == nil {
		cfg.Log = slog.New(slog.NewTextHandler(os.Stderr, nil))
		err = Run(context.Background(), cfg)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// coord is a coordinator that does what a test says.
type coord struct {
	t   testing.TB
	dir string
	ca  *wire.CA
	ln  *wire.Listener

	joined chan *peer
	lease  time.Duration
	ahead  time.Duration // of the worker's clock
	silent atomic.Bool   // heartbeats are not answered
}

// peer is a worker's session with the coordinator.
type peer struct {
	c     *coord
	conn  *wire.Conn
	hello *wire.Hello
	got   chan wire.Message
	beats chan []wire.Progress // what a heartbeat says, if a test waits for it
}

func newCoord(t testing.TB) *coord {
	t.Helper()
	c := &coord{t: t, dir: t.TempDir(), joined: make(chan *peer, 16), lease: time.Minute}
	var err error
	if c.ca, err = wire.GenerateCA(filepath.Join(c.dir, "ca")); err != nil {
		t.Fatal(err)
	}
	c.listen()
	return c
}

// listen begins to take workers. A coordinator that listens anew writes new bundles.
func (c *coord) listen() {
	c.t.Helper()
	id, err := c.ca.IssueCoordinator()
	if err != nil {
		c.t.Fatal(err)
	}
	c.ln, err = wire.Listen("127.0.0.1:0", id, func(a net.Addr, err error) { c.t.Logf("refused %v: %v", a, err) })
	if err != nil {
		c.t.Fatal(err)
	}
	ln := c.ln
	c.t.Cleanup(func() { _ = ln.Close() })
	go func() {
		for {
			conn, hello, err := ln.Accept()
			if err != nil {
				return
			}
			p := &peer{c: c, conn: conn, hello: hello, got: make(chan wire.Message, 1024), beats: make(chan []wire.Progress)}
			go p.listen()
			c.joined <- p
		}
	}()
}

// listen passes on what the worker says, heartbeats and phases aside.
func (p *peer) listen() {
	defer close(p.got)
	for {
		m, err := p.conn.Recv()
		if err != nil {
			return
		}
		switch m := m.(type) {
		case *wire.Heartbeat:
			select {
			case p.beats <- m.Progress:
			default:
			}
			if !p.c.silent.Load() {
				_ = p.conn.Send(&wire.HeartbeatAck{})
			}
		case wire.PhaseEntered:
		default:
			p.got <- m
		}
	}
}

// config writes a worker's bundle and returns its config.
func (c *coord) config(node job.NodeID) Config {
	c.t.Helper()
	cfg := Config{WorkerConfig: wire.WorkerConfig{Bundle: filepath.Join(c.dir, fmt.Sprintf("%x.pem", string(node))), Node: node,
		Capacity: job.Resources{CPUs: 2, Mem: 1 << 30}, Scratch: filepath.Join(c.dir, "scratch"), Trace: filepath.Join(c.dir, "trace"),
		SortMemory: 64 << 20}, Variables: process.BatchVariables{Systems: []process.SystemVariables{{Job: "SLURM_JOB_ID", Index: "SLURM_ARRAY_TASK_ID"}}}, Grace: patience, Log: slog.New(slog.NewTextHandler(logTo{c.t}, nil))}
	c.bundle(cfg)
	return cfg
}

func (c *coord) bundle(cfg Config) {
	c.t.Helper()
	id, err := c.ca.IssueWorker(cfg.Node)
	if err == nil {
		err = wire.WriteBundle(cfg.Bundle, []string{c.ln.Addr().String()}, id)
	}
	if err != nil {
		c.t.Fatal(err)
	}
}

// logTo writes a worker's log to the test's.
type logTo struct{ t testing.TB }

func (l logTo) Write(p []byte) (int, error) {
	l.t.Logf("worker: %s", p)
	return len(p), nil
}

// worker runs a worker in this process and returns its session once it is welcome.
// end ends it and returns what Run returned.
func (c *coord) worker(cfg Config) (p *peer, end func() error) {
	c.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	result := make(chan error, 1)
	go func() { result <- Run(ctx, cfg) }()
	end = sync.OnceValue(func() error {
		cancel()
		return <-result
	})
	c.t.Cleanup(func() { _ = end() })
	return c.welcome(), end
}

// startWorker runs a worker in this process, for a coordinator of its own.
func startWorker(t testing.TB) (*coord, *peer) {
	t.Helper()
	c := newCoord(t)
	p, _ := c.worker(c.config("a1/0"))
	return c, p
}

// process runs a worker as a process of its own.
func (c *coord) process(cfg Config) (p *peer, cmd *exec.Cmd) {
	c.t.Helper()
	cfg.Log = nil
	b, err := json.Marshal(cfg)
	if err != nil {
		c.t.Fatal(err)
	}
	path := filepath.Join(c.dir, "config.json")
	if err := os.WriteFile(path, b, 0o600); err != nil {
		c.t.Fatal(err)
	}
	cmd = exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), asWorker+"="+path)
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() {
		_ = cmd.Process.Kill() // it may have ended
		_ = cmd.Wait()
	})
	return c.welcome(), cmd
}

// welcome waits for a worker and takes it in.
func (c *coord) welcome() *peer {
	c.t.Helper()
	p := c.greeted()
	p.welcome()
	return p
}

// greeted waits until a worker has said hello.
func (c *coord) greeted() *peer {
	c.t.Helper()
	select {
	case p := <-c.joined:
		return p
	case <-time.After(patience):
		c.t.Fatal("no worker came")
		return nil
	}
}

// welcome takes in a worker that has said hello.
func (p *peer) welcome() {
	p.c.t.Helper()
	p.say(&wire.Welcome{Heartbeat: 10 * time.Millisecond, Lease: p.c.lease, Now: job.Time(time.Now().Add(p.c.ahead).UnixNano())})
}

func (p *peer) say(m ...wire.Message) {
	p.c.t.Helper()
	if err := p.conn.Send(m...); err != nil {
		p.c.t.Fatal(err)
	}
}

// job tells the worker of a job.
func (p *peer) job(spec *job.Spec, maps, reduces int) {
	p.c.t.Helper()
	b, err := json.Marshal(spec)
	if err != nil {
		p.c.t.Fatal(err)
	}
	p.say(&wire.Job{Spec: b, RunDir: filepath.Join(p.c.dir, "run"), Maps: maps, Reduces: reduces})
}

// expect waits for the worker's next message, which has to be of type M.
func expect[M wire.Message](p *peer) M {
	p.c.t.Helper()
	select {
	case m, ok := <-p.got:
		if !ok {
			p.c.t.Fatalf("the worker hung up instead of saying %T", *new(M))
		}
		got, is := m.(M)
		if !is {
			p.c.t.Fatalf("the worker said %T %+v instead of %T", m, m, *new(M))
		}
		return got
	case <-time.After(patience):
		p.c.t.Fatalf("the worker did not say %T", *new(M))
	}
	panic("unreachable")
}

// progress waits until the worker tells of an attempt's progress what f wants to hear.
func (p *peer) progress(at job.Attempt, f func(wire.Progress) bool) wire.Progress {
	p.c.t.Helper()
	timeout := time.After(patience)
	var last []wire.Progress
	for {
		select {
		case last = <-p.beats:
			for _, said := range last {
				if said.Attempt == at && f(said) {
					return said
				}
			}
		case <-timeout:
			p.c.t.Fatalf("the worker last said of the progress of its attempts %+v", last)
		}
	}
}

// ended waits for the end of an attempt and acknowledges it.
func (p *peer) ended(want event.Outcome) wire.Ended {
	p.c.t.Helper()
	m := expect[wire.Ended](p)
	p.say(&wire.EndedAck{Attempt: m.Attempt})
	if m.Outcome != want {
		p.c.t.Fatalf("%v ended %v (%s), want %v; stderr: %s", m.Attempt, m.Outcome, m.Reason, want, m.Stderr)
	}
	return m
}

// gone waits until the worker has hung up.
func (p *peer) gone() {
	p.c.t.Helper()
	for {
		select {
		case _, ok := <-p.got:
			if !ok {
				return
			}
		case <-time.After(patience):
			p.c.t.Fatal("the worker did not hang up")
		}
	}
}
