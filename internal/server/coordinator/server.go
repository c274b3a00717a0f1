package coordinator

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"berth/internal/core/engine"
	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/core/sched"
	"berth/internal/core/step"
	"berth/internal/driver"
	"berth/internal/server/control"
	"berth/internal/server/history"
	"berth/internal/server/journal"
	"berth/internal/server/leader"
	"berth/internal/server/queuelog"
	"berth/internal/server/report"
	"berth/internal/sys/disk"
	"berth/internal/sys/statedir"
	"berth/internal/wire"

	"golang.org/x/sync/singleflight"
)

// closeAPIPatience is how long the coordinator waits at its end until commands know that it ends.
const closeAPIPatience = 2 * time.Second

// idleCheck is the time between two checks whether anything needs the coordinator.
const idleCheck = time.Second

var errStopped = errors.New("the coordinator is ending")

// Options configures a coordinator.
type Options struct {
	Home  statedir.Home
	Exe   string        // path of the berth program, for workers
	Idle  time.Duration // the coordinator ends after this time without jobs, workers and commands; 0: never
	Log   *slog.Logger
	Ready func() // called when the coordinator listens
	// Listen is the address on which the coordinator listens for workers, in the form of BERTH_LISTEN; empty: see listenForWorkers.
	Listen string
	// Said has the choices of flags about how jobs share allocations. They are kept until the user
	// stops the coordinator. Env is what the environment says (leader.Seat.Resolve).
	Said, Env leader.Choice
	Policies  leader.Policies // from which users may choose beside those of berth

	// StandIn says that the coordinator runs inside a batch job, because none is left on the login node.
	// Inside is the id of that job, or empty if it is not known.
	StandIn bool
	Inside  string
	// StandInAfter is how long workers wait for a coordinator before one of them starts a stand-in,
	// with the variables StandInEnv in its environment.
	StandInAfter time.Duration
	StandInEnv   []string
	// AssessEvery is the time between two assessments of running attempts, 0 for the default; workers report progress at least as often.
	AssessEvery time.Duration
}

// Server is one user's coordinator.
type Server struct {
	home    statedir.Home
	opts    Options
	choice  leader.Choice
	log     *slog.Logger
	own     *leader.Ownership
	started time.Time
	clock   clock
	stop    context.CancelFunc

	posted      chan func()
	stopped     chan struct{} // closed when the loop has ended
	failure     error         // why the loop ended, valid once stopped is closed; nil: it was asked to end
	syncing     atomic.Bool
	pruning     atomic.Bool
	looking     atomic.Bool // at the queues of batch systems
	orphans     atomic.Bool // are looked for
	watchers    atomic.Int64
	refusals    refusals
	beside      sync.WaitGroup  // plans, the archiving of jobs that are over, and other work beside the loop
	judging     sync.Mutex      // held while the file of refusals is read and written
	planCtx     context.Context // context of plans that are being made
	endPlanning context.CancelFunc

	backends *backends
	ca       *wire.CA       // issues the keys of workers
	id       *wire.Identity // the coordinator's own key

	listening sync.Mutex
	nodeAddrs []string // where workers on nodes dial; nil: no port is open
	port      string   // the address of that port

	submits  singleflight.Group // one call for a job at a time
	journals *journal.Set
	outputs  *outputs
	nodes    *report.Nodes
	queues   *queuelog.Log
	store    func() *history.Store                                      // opens the history at its first call; nil: that failed
	room     func(dir string, bytes int) error                          // disk.Room, which tests replace
	record   func(at job.Time, records ...event.Record) (uint64, error) // appends to journals; tests replace it
	full     atomic.Bool                                                // the disk has no room for the records of the last round

	// These fields belong to the loop. Others may read jobs while they hold jobsMu.
	engine    *engine.Engine
	ahead     time.Duration // last known difference: wall clock minus coordinator's clock
	round     round
	unwritten []round // whose records are not in the journals yet, for lack of room
	sessions  map[job.NodeID]*session
	spread    spread
	unflushed map[*session]struct{}
	shapes    map[job.AllocID]job.AllocRequest
	renting   map[job.AllocID]*renting
	foreign   map[job.AllocID]bool // live allocations that a stand-in must not touch
	unguarded bool                 // the need of a wake-up job must be checked again
	idleSince time.Time
	gcPercent int // see limitGarbage; 0: it was not set yet

	jobsMu sync.RWMutex
	jobs   map[job.ID]*live
	filed  map[job.ID]time.Time // see file
}

// Run runs a coordinator until ctx ends, a command stops it, or it has been idle for Options.Idle.
// It returns leader.ErrTaken if the user has a coordinator already.
func Run(ctx context.Context, opts Options) error {
	own, err := leader.Of(opts.Home).Take(time.Now(), opts.StandIn)
	if err != nil {
		return err
	}
	defer own.Release()
	p, err := leader.Of(opts.Home).Resolve(opts.Policies, opts.Said, opts.Env, opts.Log)
	if err != nil {
		return err
	}
	if err := opts.begin(p); err != nil {
		return err
	}
	working, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	s := newServer(opts, p, cancel)
	s.own = own
	defer context.AfterFunc(ctx, func() {
		s.linger()
		cancel()
	})()
	return s.run(working)
}

// run restores the state of the previous coordinator and runs until the end.
func (s *Server) run(ctx context.Context) (err error) {
	s.store = sync.OnceValue(func() *history.Store {
		store, err := history.Open(ctx, s.home.Database())
		if err != nil {
			s.log.Warn("the history of runs cannot be opened, so this coordinator keeps none", "err", err)
		}
		return store
	})
	go s.store() // beside the start, which does not need it
	defer func() { _ = s.store().Close() }()
	if err := s.recover(); err != nil {
		return err
	}
	defer s.journals.Close()
	return s.serveAll(ctx)
}

func newServer(opts Options, p leader.Choice, stop context.CancelFunc) *Server {
	scheduler, rule := opts.Policies.Of(p)
	planCtx, endPlanning := context.WithCancel(context.Background())
	journals := journal.NewSet(opts.Home.JournalOf)
	return &Server{
		planCtx: planCtx, endPlanning: endPlanning,
		home: opts.Home, opts: opts, choice: p, log: opts.Log, started: time.Now(), clock: newClock(), stop: stop,
		posted: make(chan func(), 4096), stopped: make(chan struct{}),
		backends: newBackends(), journals: journals, record: journals.Append, outputs: newOutputs(), nodes: report.NewNodes(), queues: queuelog.New(opts.Home, opts.Log),
		engine:   engine.New(engine.Config{NodeTimeout: nodeTimeout, Order: sched.Order(p.Order), Scheduler: scheduler, Yield: !p.Kept(), Rule: rule, AssessEvery: opts.AssessEvery, Behind: behind, Ahead: ahead}),
		sessions: make(map[job.NodeID]*session), unflushed: make(map[*session]struct{}), spread: newSpread(),
		shapes: make(map[job.AllocID]job.AllocRequest), renting: make(map[job.AllocID]*renting), foreign: make(map[job.AllocID]bool),
		jobs: make(map[job.ID]*live), filed: make(map[job.ID]time.Time), idleSince: time.Now(), room: disk.Room, store: func() *history.Store { return nil },
	}
}

// serveAll listens for workers and commands, adopts the allocations of an earlier coordinator, and
// runs the loop.
func (s *Server) serveAll(ctx context.Context) error {
	if err := s.keys(); err != nil {
		return err
	}
	if err := s.listenForWorkers(); err != nil {
		return err
	}
	if err := s.addBackends(); err != nil {
		return err
	}
	commands, err := control.Listen(s.home.Socket())
	if err != nil {
		return err
	}
	api := &http.Server{Handler: s.handler(), ReadHeaderTimeout: 10 * time.Second}
	defer closeAPI(api)
	defer s.removeSockets()
	go func() { _ = api.Serve(commands) }()
	go s.watchOwnership(ctx)
	s.adopt()
	if s.opts.Ready != nil {
		s.opts.Ready()
	}
	s.log.Info("coordinator listens", "pid", os.Getpid(), "workers", s.address())
	err = s.loop(ctx)
	return errors.Join(err, s.shutDown(), s.outputs.sync(s.journals.SyncDirty))
}

// shutDownPatience is how long a coordinator that ends waits for plans, and for the archiving of jobs
// that are over. Both may touch folders that do not answer. The next coordinator repeats them.
const shutDownPatience = 5 * time.Second

// shutDown waits for the work beside the loop and closes the drivers. All waits are bounded.
func (s *Server) shutDown() error {
	s.endPlanning()
	if !within(shutDownPatience, s.beside.Wait) {
		s.log.Warn("a file system or a batch system does not answer; the next coordinator repeats what was under way there")
	}
	s.queues.Close()
	return s.backends.close(callPatience, closePatience)
}

// removeSockets removes the sockets, unless they belong to another coordinator by now.
func (s *Server) removeSockets() {
	if s.own.Confirm() == nil {
		_ = os.Remove(s.home.Socket())
		_ = os.Remove(s.home.WorkerSocket())
	}
}

// closeAPI closes the control interface after the commands that watch jobs have got the reason.
func closeAPI(api *http.Server) {
	ctx, cancel := context.WithTimeout(context.Background(), closeAPIPatience)
	defer cancel()
	if api.Shutdown(ctx) != nil {
		_ = api.Close()
	}
}

// keys sets the keys for workers. They are those of the previous coordinator if workers may have
// them, and new ones otherwise.
func (s *Server) keys() (err error) {
	dir := filepath.Join(s.home.Server(), "keys")
	if len(s.engine.Allocs()) > 0 || len(s.foreign) > 0 {
		if s.ca, err = wire.LoadCA(dir); err != nil {
			s.log.Warn("the keys of the previous coordinator cannot be used; its workers are started again", "err", err)
		}
	}
	if s.ca == nil {
		if err := os.RemoveAll(dir); err != nil {
			return fmt.Errorf("remove old keys: %w", err)
		}
		if s.ca, err = wire.GenerateCA(dir); err != nil {
			return err
		}
	}
	s.id, err = s.ca.IssueCoordinator()
	return err
}

// adopt has the drivers adopt the allocations that were live when the previous coordinator ended,
// and finishes what it left unfinished.
func (s *Server) adopt() {
	s.post(func() {
		for _, a := range s.engine.Allocs() {
			s.shapes[a.ID] = a.Request
			s.backends.call(a.Request.On, func(ctx context.Context, d driver.Driver) {
				if err := d.Adopt(ctx, a.ID, a.Request); err != nil {
					s.input(step.AllocDown{Alloc: a.ID, Reason: err.Error()})
				}
			})
		}
		s.collect(s.engine.Recover(s.round.at))
		s.completeSets()
		s.round.after = append(s.round.after, s.prune)
		s.unguarded = true
	})
}

// lookup returns a job, or nil if it is not in memory.
func (s *Server) lookup(id job.ID) *live {
	s.jobsMu.RLock()
	defer s.jobsMu.RUnlock()
	return s.jobs[id]
}

// addJob and removeJob add a job to memory and remove it. Both run in the loop.
func (s *Server) addJob(l *live) {
	s.jobsMu.Lock()
	defer s.jobsMu.Unlock()
	s.jobs[l.run.ID] = l
	s.limitGarbage()
}

func (s *Server) removeJob(id job.ID) {
	s.jobsMu.Lock()
	defer s.jobsMu.Unlock()
	delete(s.jobs, id)
	s.limitGarbage()
}

// maxGarbage is about how many bytes of unused memory there may be before they are collected, in a coordinator whose memory is mostly the
// entries and states of tasks, taskBytes each. These hold no pointers, so it costs little to collect more often than by default, which is
// when memory has doubled.
const (
	maxGarbage = 32 << 20
	taskBytes  = 40
)

// limitGarbage sets how often unused memory is collected, by the number of tasks in memory. It runs in the loop.
func (s *Server) limitGarbage() {
	tasks := 1
	for _, l := range s.jobs {
		tasks += l.Tasks.Entries.Len() + l.added
	}
	percent := min(max(100*maxGarbage/(tasks*taskBytes), 8), 100)
	if percent != s.gcPercent { // to set it stops all goroutines
		s.gcPercent = percent
		debug.SetGCPercent(percent)
	}
}

// inOrder returns the jobs, oldest first.
func (s *Server) inOrder() []*live {
	return slices.SortedFunc(maps.Values(s.jobs), func(a, b *live) int {
		return cmp.Compare(statedir.RunNumber(a.run.ID), statedir.RunNumber(b.run.ID))
	})
}

// idle reports whether nothing has needed the coordinator for Options.Idle.
func (s *Server) idle() bool {
	if s.opts.Idle <= 0 || s.full.Load() || s.watchers.Load() > 0 || s.engine.Unfinished() > 0 || len(s.engine.Allocs()) > 0 || s.engine.Kept() > 0 && !s.opts.StandIn {
		s.idleSince = time.Now()
		return false
	}
	return time.Since(s.idleSince) > s.opts.Idle
}
