package worker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"net"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/hits/plant"
	"berth/internal/mapreduce/shuffle"
	"berth/internal/node/files"
	"berth/internal/node/process"
	"berth/internal/sys/disk"
	"berth/internal/sys/gpus"
	"berth/internal/sys/probe"
	"berth/internal/wire"
)

// warmLoads is how long a task waits for a process that loads its modules.
const warmLoads = 20 * time.Second

// worker is the state of the process.
type worker struct {
	cfg     Config
	log     *slog.Logger
	scratch *scratch
	disk    *ownDisk
	link    *link
	lanes   *process.Lanes
	cores   *process.Cores
	gpus    *gpus.Pool
	supply  *supply
	dirs    *files.TaskDirs
	monitor *monitor
	shuffle *shuffle.Node
	site    files.Site                // for the files of bag tasks
	null    uintptr                   // /dev/null, open for reading
	energy  *probe.Energy             // nil: this machine has no readable counters of energy
	ends    atomic.Pointer[time.Time] // the end of its allocation; nil: none is known
	ahead   atomic.Int64              // nanoseconds; see follow
	away    atomic.Bool               // the coordinator is on another machine
	looking atomic.Bool               // checkScratch has not ended
	giveUp  context.CancelCauseFunc   // ends the worker, which cannot work any more; the cause is a *job.Error
	standIn *standIn
	rates   *rates
	plant   *plant.Planter
	warm    process.Warm
	missing job.ResourceSet // resources that cannot be measured on this machine

	mu       sync.Mutex
	works    map[job.ID]*work
	attempts map[job.Attempt]*attempt
	awaited  map[job.Attempt]chan struct{} // closed when a share of a gang comes that its first node has asked for
	over     map[job.Attempt]bool          // shares of gangs that have ended, until the coordinator has the end of the attempt and says so
	parts    map[string]*part              // of gangs with processes here, by their secrets
	agents   net.Listener                  // for launch agents; nil: there was no gang yet
	stopping *process.Failure              // the reason why nothing is started any more, or nil
	attend   sync.WaitGroup                // running attempts

	uncounted sync.Map // reasons why functions are not counted, which have been logged
}

// Run runs a worker. It returns nil when the worker must end: the coordinator asks for it, SIGTERM or SIGINT
// arrives, ctx ends, or its key bundle is removed. Its tasks are then killed, their ends are reported to the
// coordinator, and its scratch folder is removed, except for what belongs to others (scratch). Run returns an
// error if the worker cannot start, if it cannot work any more, or if no coordinator answers for cfg.MaxOrphan.
// Then everything is kept for a worker that replaces it.
func Run(ctx context.Context, cfg Config) error {
	ctx, stop := signal.NotifyContext(ctx, unix.SIGTERM, unix.SIGINT)
	defer stop()
	w, err := newWorker(cfg)
	if err != nil {
		return err
	}
	ctx, w.giveUp = context.WithCancelCause(ctx)
	defer w.giveUp(nil)
	defer w.scratch.close()
	defer newGuard(w.cfg, w.scratch.dir).dismiss()
	inner, cancel := context.WithCancel(context.Background())
	defer cancel()
	go w.monitor.run(inner)
	reason, err := w.work(ctx)
	w.log.Info("worker ends", "reason", reason)
	w.stop(reason)
	w.standIn.outlive(ctx)
	w.shuffle.Close()
	if w.agents != nil {
		_ = w.agents.Close() // only connections are accepted
	}
	if err == nil {
		if rerr := w.scratch.remove(); rerr != nil {
			w.log.Warn("scratch folder stays", "dir", w.scratch.dir, "err", rerr)
		}
	}
	w.disk.close(err == nil)
	return err
}

// work serves until the worker must end. If ctx ends, it disconnects only when the coordinator knows the ends of
// all attempts.
func (w *worker) work(ctx context.Context) (reason string, err error) {
	serving, hangUp := context.WithCancel(context.Background())
	defer hangUp()
	served, retired := make(chan struct{}), make(chan struct{})
	untold := context.AfterFunc(ctx, func() {
		defer close(retired)
		reason := "it has been asked to end"
		if unable := inability(ctx); unable != nil {
			reason = process.OneLine(unable.Error())
		}
		w.retire(reason, served)
		hangUp()
	})
	reason, err = w.serve(serving)
	close(served)
	if !untold() {
		<-retired
		err = cmp.Or(inability(ctx), err)
	}
	return reason, err
}

// inability returns why a worker whose context has ended cannot work any more, or nil.
func inability(ctx context.Context) error {
	var e *job.Error
	if errors.As(context.Cause(ctx), &e) {
		return e
	}
	return nil
}

// checkScratch calls keepScratch beside the caller, unless an earlier call still waits for a file system that hangs.
func (w *worker) checkScratch() {
	if w.looking.CompareAndSwap(false, true) {
		go func() {
			defer w.looking.Store(false)
			w.keepScratch()
		}()
	}
}

// keepScratch makes the scratch folder again if it was removed. A worker that cannot do that ends, and is replaced.
func (w *worker) keepScratch() {
	if err := w.scratch.renew(); err != nil && !process.IsScarce(err) { // the next heartbeat tries again
		w.giveUp(err)
	}
}

// ackPatience is how long a worker that ends waits until the coordinator has acknowledged the ends of its
// attempts, even if the coordinator does not answer at that time. The time between SIGTERM and SIGKILL of a
// batch system is longer than this and Config.Grace together (Slurm: KillWait, 30 s).
const ackPatience = 3 * time.Second

// retire ends all attempts and waits until the coordinator has acknowledged their ends.
func (w *worker) retire(reason string, served <-chan struct{}) {
	w.log.Info("the worker ends its attempts", "reason", reason)
	w.link.retire(reason)
	w.stop(reason)
	w.link.awaitAcks(ackPatience, served)
}

func newWorker(cfg Config) (*worker, error) {
	cfg, err := cfg.normalize()
	if err != nil {
		return nil, err
	}
	if len(cfg.CPUs) > 0 {
		if err := process.Bind(cfg.CPUs); err != nil {
			cfg.Log.Warn("worker cannot be bound to its cores", "cpus", cfg.CPUs, "err", err)
			cfg.CPUs = nil
		}
	}
	if len(cfg.CPUs) > cfg.Capacity.CPUs { // others use them too, so no task has cores of its own
		cfg.CPUs = nil
	}
	w := &worker{cfg: cfg, log: cfg.Log, link: newLink(time.Now), cores: process.NewCores(cfg.CPUs, process.Siblings), gpus: gpus.NewPool(cfg.GPUs), plant: &plant.Planter{Dir: cfg.Trace}, warm: process.Warm{Log: cfg.Log, Loads: warmLoads}, supply: newSupply(cfg),
		works: make(map[job.ID]*work), attempts: make(map[job.Attempt]*attempt),
		awaited: make(map[job.Attempt]chan struct{}), over: make(map[job.Attempt]bool), parts: make(map[string]*part)}
	w.monitor = &monitor{w: w, wake: make(chan struct{}, 1)}
	w.rates = newRates(&w.cfg)
	if err := probe.Blocks(); err != nil {
		w.missing = w.missing.With(job.Disk)
		cfg.Log.Warn("what tasks read from disks and write to them is not measured on this machine", "err", err)
	}
	w.standIn = newStandIn(cfg)
	if w.energy, err = probe.OpenEnergy(); err != nil {
		w.log.Info("energy is not measured", "err", err)
	}
	limits(cfg)
	if err := process.Adopt(cfg.Variables); err != nil {
		cfg.Log.Warn("processes that tasks leave may not be found", "err", err)
	}
	if w.lanes, err = process.NewLanes(); err != nil {
		return nil, fmt.Errorf("read the cores this worker may use: %w", err)
	}
	null, err := unix.Open(os.DevNull, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", os.DevNull, err)
	}
	w.null = uintptr(null)
	if w.scratch, err = openScratch(cfg); err != nil {
		return nil, err
	}
	w.disk = newOwnDisk(cfg)
	w.dirs = &files.TaskDirs{Root: w.scratch.tasks()}
	w.site = files.Site{Captures: &files.Captures{Root: w.scratch.tasks()}, Parts: w.scratch.parts(), Durable: files.NewDurable()}
	if w.shuffle, err = shuffle.NewNode(cfg.Node, w.scratch.outputs(), cfg.Log); err != nil {
		return nil, err
	}
	w.shuffle.Gangs = w.gangHandler()
	if cfg.Tunnel != nil {
		w.shuffle.Tunnel = cfg.Tunnel
	}
	return w, nil
}

// minHeap is the smallest size of the Go heap in bytes. With less, the garbage collector would run all the time.
const minHeap = 32 << 20

// limits keeps the Go runtime within the worker's share of memory and cores. Sort buffers are outside of the heap
// (mapreduce), so the heap gets a part of what they leave, and the program itself the rest. As many goroutines
// run as there are cores, beside the lanes, which are in the kernel most of the time.
func limits(cfg Config) {
	debug.SetMemoryLimit(max(cfg.SortMemory/5, minHeap))
	runtime.GOMAXPROCS(cfg.Capacity.CPUs + 2)
}

// running returns the attempts that run here.
func (w *worker) running() []*attempt {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Collect(maps.Values(w.attempts))
}

// attempt returns an attempt that runs here, or nil.
func (w *worker) attempt(at job.Attempt) *attempt {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.attempts[at]
}

// start starts an attempt. It ignores an attempt that runs already, whose message was sent twice.
func (w *worker) start(m *wire.Start, epoch uint64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.attempts[m.Attempt] != nil {
		return
	}
	wk := w.works[m.Attempt.Job]
	if err := w.refuse(wk, m); err != nil {
		w.link.keep(process.Ended(m.Attempt, err), nil)
		w.link.told(m.Attempt)
		return
	}
	a := w.newGangAttempt(m, wk, epoch)
	w.attempts[m.Attempt] = a
	w.attend.Add(1)
	switch {
	case wk.spec.Bag == nil:
		go w.live(a, w.newStreamTask(a))
	case !w.lineUp(a):
		w.runLine(a)
	}
	poke(w.monitor.wake)
}

// refuse returns why an attempt cannot be started.
func (w *worker) refuse(wk *work, m *wire.Start) error {
	switch {
	case w.stopping != nil:
		return w.stopping
	case wk == nil:
		return process.Broken("berth's own fault: the worker does not know the job %s", m.Attempt.Job)
	case wk.kind(m.Attempt.Task) == job.MapTask && m.Split == nil:
		return process.Broken("berth's own fault: the map %s has no split", m.Attempt)
	default:
		return nil
	}
}

// kill ends an attempt. If the attempt does not run here, its end is reported again, or that it is unknown. epoch is
// the number of the connection over which the order came.
func (w *worker) kill(m wire.Kill, epoch uint64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	a := w.attempts[m.Attempt]
	w.release(m.Attempt)
	f := &process.Failure{Outcome: event.Killed, Reason: m.Reason}
	switch {
	case a != nil:
		if m.Keep {
			a.commit.Store(epoch)
			a.keeps.Store(true)
		}
		w.end(a, f)
	case !w.link.told(m.Attempt):
		w.link.tell(wire.Ended{AttemptEnded: process.Ended(m.Attempt, f)})
	}
}

// forget removes everything of a job.
func (w *worker) forget(id job.ID) {
	w.mu.Lock()
	busy := false
	for at, a := range w.attempts {
		if at.Job == id {
			busy = true
			w.end(a, &process.Failure{Outcome: event.Killed, Reason: "the job is over"})
		}
	}
	maps.DeleteFunc(w.over, func(at job.Attempt, _ bool) bool { return at.Job == id })
	wk := w.works[id]
	delete(w.works, id)
	w.mu.Unlock()
	w.link.forget(id)
	if wk != nil && wk.collected != nil {
		if err := wk.collected.Close(); err != nil {
			w.log.Warn("the file of collected output was not closed well", "job", id, "err", err)
		}
	}
	if err := w.shuffle.Store.Drop(id); err != nil {
		w.log.Warn("map outputs stay", "job", id, "err", err)
	}
	if !busy {
		w.removeScratch(id)
	}
	if wk != nil {
		w.log.Info("job forgotten", "job", id)
	}
}

// removeScratch removes the files of a job. While attempts of the job run, the last of them does this at its end.
func (w *worker) removeScratch(id job.ID) {
	if err := errors.Join(disk.RemoveTree(w.scratch.job(id)), w.disk.remove(id)); err != nil {
		w.log.Warn("scratch folder of a job stays", "job", id, "err", err)
	}
}

// stop kills all attempts and waits for their ends. The reason of its first call is the one that is reported.
func (w *worker) stop(reason string) {
	w.mu.Lock()
	if w.stopping == nil {
		w.stopping = &process.Failure{Outcome: event.Lost, Cut: true, Reason: "its worker ended: " + reason}
	}
	for _, a := range w.attempts {
		w.end(a, w.stopping)
	}
	w.mu.Unlock()
	w.attend.Wait()
	if err := w.scratch.cookie.KillAll(w.cfg.Variables, "", w.log); err != nil { // processes that have left their group
		w.log.Warn("processes of tasks may be left", "err", err)
	}
}

// bundlePatience is how long a worker waits for a missing key bundle to come back.
const bundlePatience = 30 * time.Second

var errOrphan = errors.New("no coordinator")

// bundleGone reports whether the worker's keys have been removed, as happens when its allocation is over.
func (w *worker) bundleGone() bool {
	_, err := os.Stat(w.cfg.Bundle)
	return errors.Is(err, fs.ErrNotExist)
}

// serve serves the coordinator until the worker must end, and returns nil. It returns an error if no coordinator
// answers for too long.
func (w *worker) serve(ctx context.Context) (reason string, err error) {
	wait := &backoff{rand: w.cfg.Rand, wait: firstWait}
	heard := time.Now()
	for {
		began := time.Now()
		w.keepScratch()
		welcome, err := w.session(ctx, heard.Add(w.cfg.MaxOrphan))
		var end *shutdown
		switch {
		case errors.As(err, &end):
			return end.reason, nil
		case ctx.Err() != nil:
			return "it has been asked to end", nil
		}
		if welcome {
			heard = time.Now()
			wait.wait = firstWait
			w.standIn.answered()
			w.log.Warn("connection to the coordinator lost", "err", err, "after", time.Since(began))
		} else {
			w.log.Debug("coordinator not reached", "err", err)
		}
		alone := time.Since(heard)
		w.standIn.startAfter(alone)
		if alone >= min(w.cfg.MaxOrphan, bundlePatience) && w.bundleGone() {
			return "its key bundle has been removed, so its allocation is over", nil
		}
		if alone >= w.cfg.MaxOrphan {
			return "no coordinator", job.TransientError(string(w.cfg.Node), fmt.Sprintf("no coordinator answered for %s", job.FormatDuration(w.cfg.MaxOrphan)), errors.Join(errOrphan, err))
		}
		select {
		case <-time.After(wait.next()):
		case <-ctx.Done():
		}
	}
}
