package coordinator

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"sort"
	"sync"
	"sync/atomic"
	"time"

	"berth/internal/control"
	"berth/internal/driver"
	"berth/internal/engine"
	"berth/internal/home"
	"berth/internal/job"
	"berth/internal/journal"
	"berth/internal/report"
	"berth/internal/sched"
	"berth/internal/seat"
	"berth/internal/step"
	"berth/internal/store"
	"berth/internal/wire"
)

// farewell is how long commands may take to hear that the coordinator ends.
const farewell = 2 * time.Second

// idleCheck is how often the loop looks whether anything needs the coordinator.
const idleCheck = time.Second

var errStopped = errors.New("the coordinator is ending")

// Options is what a coordinator is made with.
type Options struct {
	Home  home.Home
	Exe   string        // path of the berth program, for workers
	Idle  time.Duration // it ends after so long without jobs, workers and commands
	Log   *slog.Logger
	Ready func() // called when it listens
	// Listen is where it listens for workers, as wire.ParsePlace reads it; empty: see listenForWorkers.
	Listen string
	// Said is what flags say of how jobs share allocations, and is remembered until the user
	// stops the coordinator; Env is what the environment says (seat.Settle).
	Said, Env seat.Choice

	// StandIn says that it runs inside a Slurm job, as nobody is left on the login node; Inside
	// is that job's id, empty where it is not known.
	StandIn bool
	Inside  string
	// StandInAfter is how long workers wait for a coordinator before one of them starts a
	// stand-in, with these variables in its environment.
	StandInAfter time.Duration
	StandInEnv   []string
	// AssessEvery is the time between two assessments of running attempts, 0 for the default; workers report progress at least as often.
	AssessEvery time.Duration
}

// Server is one user's coordinator.
type Server struct {
	home    home.Home
	opts    Options
	choice  seat.Choice
	log     *slog.Logger
	own     *seat.Ownership
	started time.Time
	clock   clock
	address string // listened on
	reach   reach
	stop    context.CancelFunc

	posted      chan func()
	stopped     chan struct{} // closed when the loop has ended
	failure     error         // what ended the loop, once stopped is closed; nil: it was told to end
	syncing     atomic.Bool
	pruning     atomic.Bool
	watchers    atomic.Int64
	refusals    refusals
	archiving   sync.WaitGroup
	planning    sync.WaitGroup
	planCtx     context.Context // of plans under way
	endPlanning context.CancelFunc

	places   *places
	ca       *wire.CA       // lets workers in
	id       *wire.Identity // its own
	entering sync.Mutex     // held while a place is added
	journals *journal.Set
	outputs  *outputs
	nodes    *report.Nodes
	store    *store.Store // nil: history cannot be kept

	// The loop's own; jobs is read by others under jobsMu, too.
	engine    *engine.Engine
	ahead     time.Duration // by which the wall clock is ahead of the coordinator's, as far as is known
	round     round
	sessions  map[job.NodeID]*session
	spread    spread
	unflushed map[*session]struct{}
	awaits    map[job.Attempt]*session // who waits for an acknowledgement
	shapes    map[job.AllocID]job.AllocRequest
	renting   map[job.AllocID]*renting
	foreign   map[job.AllocID]bool // live allocations that a stand-in leaves to another coordinator
	unguarded bool                 // whether a wake-up job is wanted is to be looked at anew
	idleSince time.Time

	jobsMu sync.RWMutex
	jobs   map[job.ID]*live
}

// Run runs a coordinator until it is told to stop or has been idle for long.
// It returns seat.ErrTaken where the user has one already.
func Run(ctx context.Context, opts Options) error {
	own, err := seat.Of(opts.Home).Take(time.Now(), opts.StandIn)
	if err != nil {
		return err
	}
	defer own.Release()
	p, err := seat.Of(opts.Home).Settle(opts.Said, opts.Env, opts.Log)
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

// run takes up what the coordinator before left, and works until it is to end.
func (s *Server) run(ctx context.Context) (err error) {
	if s.store, err = store.Open(ctx, s.home.Database()); err != nil {
		s.log.Warn("history is not kept", "err", err)
	}
	defer func() { _ = s.store.Close() }()
	if err := s.recover(); err != nil {
		return err
	}
	defer func() { _ = s.journals.Close() }()
	return s.serveAll(ctx)
}

func newServer(opts Options, p seat.Choice, stop context.CancelFunc) *Server {
	planCtx, endPlanning := context.WithCancel(context.Background())
	return &Server{
		planCtx: planCtx, endPlanning: endPlanning,
		home: opts.Home, opts: opts, choice: p, log: opts.Log, started: time.Now(), clock: newClock(), stop: stop,
		posted: make(chan func(), 4096), stopped: make(chan struct{}),
		places: newPlaces(), journals: journal.NewSet(opts.Home.JournalOf), outputs: newOutputs(), nodes: report.NewNodes(),
		engine:   engine.New(engine.Config{NodeTimeout: nodeTimeout, Order: sched.Order(p.Order), Scheduler: sched.Scheduler(p.Scheduler), Yield: !p.Kept(), Rule: p.Rule(), AssessEvery: opts.AssessEvery}),
		sessions: make(map[job.NodeID]*session), unflushed: make(map[*session]struct{}), spread: newSpread(),
		awaits: make(map[job.Attempt]*session), shapes: make(map[job.AllocID]job.AllocRequest), renting: make(map[job.AllocID]*renting), foreign: make(map[job.AllocID]bool),
		jobs: make(map[job.ID]*live), idleSince: time.Now(),
	}
}

// serveAll listens for workers and commands, takes up what an earlier
// coordinator left, and runs the loop.
func (s *Server) serveAll(ctx context.Context) error {
	if err := s.keys(); err != nil {
		return err
	}
	workers, err := s.listenForWorkers(s.opts.reachesAny())
	if err != nil {
		return err
	}
	defer func() { _ = workers.Close() }()
	if err := s.addPlaces(); err != nil {
		return err
	}
	commands, err := control.Listen(s.home.Socket())
	if err != nil {
		return err
	}
	api := &http.Server{Handler: s.handler(), ReadHeaderTimeout: 10 * time.Second}
	defer shutDown(api)
	defer s.removeSocket()
	go func() { _ = api.Serve(commands) }()
	go s.accept(workers)
	go s.watchPlace(ctx)
	s.adopt()
	if s.opts.Ready != nil {
		s.opts.Ready()
	}
	s.log.Info("coordinator listens", "pid", os.Getpid(), "workers", s.address)
	err = s.loop(ctx)
	return errors.Join(err, s.wind(), s.outputs.sync(s.journals.SyncDirty))
}

// windUp is how long a coordinator that ends waits for plans and for what is written of jobs
// that are over. That may touch folders that do not answer; the next coordinator does it again.
const windUp = 5 * time.Second

// wind waits for what was begun beside the loop, and has the drivers close, but not for ever.
func (s *Server) wind() error {
	s.endPlanning()
	wound := within(windUp, func() {
		s.planning.Wait()
		s.archiving.Wait()
	})
	if !wound {
		s.log.Warn("a file system or a batch system does not answer; what was to be done there is left to the next coordinator")
	}
	return s.places.close(callPatience, closePatience)
}

// removeSocket removes the control socket, unless it is that of another coordinator by now.
func (s *Server) removeSocket() {
	if s.own.Confirm() == nil {
		_ = os.Remove(s.home.Socket())
	}
}

// shutDown ends the control interface once those who watch have been told why.
func shutDown(api *http.Server) {
	ctx, cancel := context.WithTimeout(context.Background(), farewell)
	defer cancel()
	if api.Shutdown(ctx) != nil {
		_ = api.Close()
	}
}

// keys sets the keys for workers: those of the coordinator before, while
// there are workers that have them, else new ones.
func (s *Server) keys() (err error) {
	dir := filepath.Join(s.home.Server(), "keys")
	if len(s.engine.Allocs()) > 0 || len(s.foreign) > 0 {
		if s.ca, err = wire.LoadCA(dir); err != nil {
			s.log.Warn("the keys of the coordinator before cannot be used; its workers are started again", "err", err)
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

// adopt takes up the allocations that were live when the coordinator before
// ended, and does what it left undone.
func (s *Server) adopt() {
	s.post(func() {
		for _, a := range s.engine.Allocs() {
			s.shapes[a.ID] = a.Request
			s.places.call(a.Request.On, func(ctx context.Context, d driver.Driver) {
				if err := d.Adopt(ctx, a.ID, a.Request); err != nil {
					s.input(step.AllocDown{Alloc: a.ID, Reason: err.Error()})
				}
			})
		}
		s.take(s.engine.Recover(s.round.at))
		s.round.after = append(s.round.after, s.prune)
		s.unguarded = true
	})
}

// lookup returns the job, nil if the coordinator does not have it.
func (s *Server) lookup(id job.ID) *live {
	s.jobsMu.RLock()
	defer s.jobsMu.RUnlock()
	return s.jobs[id]
}

// keep puts a job into the coordinator's hands, drop takes it out. Both run in the loop.
func (s *Server) keep(l *live) {
	s.jobsMu.Lock()
	defer s.jobsMu.Unlock()
	s.jobs[l.Spec.ID] = l
}

func (s *Server) drop(id job.ID) {
	s.jobsMu.Lock()
	defer s.jobsMu.Unlock()
	delete(s.jobs, id)
}

// inOrder returns the jobs, oldest first.
func (s *Server) inOrder() []*live {
	ls := make([]*live, 0, len(s.jobs))
	for _, l := range s.jobs {
		ls = append(ls, l)
	}
	sort.Slice(ls, func(i, j int) bool { return home.RunNumber(ls[i].Spec.ID) < home.RunNumber(ls[j].Spec.ID) })
	return ls
}

// idle reports whether nothing has needed the coordinator for long.
func (s *Server) idle() bool {
	if s.opts.Idle <= 0 || s.watchers.Load() > 0 || s.engine.Unfinished() > 0 || len(s.engine.Allocs()) > 0 || s.engine.Kept() > 0 && !s.opts.StandIn {
		s.idleSince = time.Now()
		return false
	}
	return time.Since(s.idleSince) > s.opts.Idle
}
