package test

import (
	"bytes"
	"cmp"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/server/control"
	"berth/internal/server/journal"
	"berth/internal/sys/statedir"
	berth "berth/test/support/program"
)

var (
	program string // the path of the berth under test
	shared  string // a folder for what several tests use, removed at the end
)

func TestMain(m *testing.M) {
	if os.Getenv(intruderEnv) != "" {
		intruder()
		return
	}
	os.Exit(run(m))
}

// atOnce is the number of tests that run at the same time, on any number of cores, as many of them only wait.
const atOnce = 8

func run(m *testing.M) int {
	flag.Parse()
	if f := flag.Lookup("test.parallel"); f.Value.String() == f.DefValue && runtime.GOMAXPROCS(0) < atOnce {
		if err := f.Value.Set(strconv.Itoa(atOnce)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	dir, err := os.MkdirTemp("", "berth-test-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if err := os.Chmod(dir, 0o755); err != nil { // the second user of TestIsolation runs the program, too
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	shared = dir
	if program, err = berth.Build(dir, raceFlag); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// noBatch is the variable of a world without a batch system.
const noBatch = "SLURM_CONF=/dev/null"

// world is a user's machine: a state folder, a scratch folder and a folder to work in.
type world struct {
	t       testing.TB
	root    string
	dir     string       // the user's working folder
	program string       // that it runs; empty: berth
	user    int          // the user of its processes; 0: the user who runs the test
	kills   atomic.Int32 // of processes, by fault tests
	batch   []string     // variables that lead to a batch system; nil: the world has none, even if this machine does
	system  system       // the batch system, of tests that run on each

	victims []string                            // further victims of faultRound
	strike  func(victim string, rng *rand.Rand) // harms one of them

	last atomic.Pointer[running] // the last command that was started
}

func newWorld(t testing.TB) *world {
	t.Helper()
	root, err := os.MkdirTemp("", "berth-world-")
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, root: root, dir: filepath.Join(root, "work")}
	for _, d := range []string{w.dir, filepath.Join(root, "tmp"), filepath.Join(root, "state")} {
		if err := os.Mkdir(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(w.destroy)
	return w
}

func (w *world) home() statedir.Home {
	return statedir.Home{Dir: filepath.Join(w.root, "state", "berth")}
}

func (w *world) env() []string {
	batch, on := w.batch, "auto"
	if batch == nil {
		batch = []string{noBatch}
	}
	if slices.Contains(batch, noBatch) { // on a machine with Slurm's commands, berth must be told not to use them
		on = "local"
	}
	// Tasks run in the shell of SHELL, which the tests of shells name themselves; others must not depend on the developer's.
	return append(append(os.Environ(), batch...), "SHELL=/bin/sh", "BERTH_ON="+on, "XDG_STATE_HOME="+filepath.Join(w.root, "state"), "TMPDIR="+filepath.Join(w.root, "tmp"),
		"NO_COLOR=1", "GORACE=halt_on_error=1 atexit_sleep_ms=0")
}

// destroy kills the world's processes and removes it. If the test failed, it shows the logs.
func (w *world) destroy() {
	if w.t.Failed() {
		w.showLogs()
	}
	w.checkRaces()
	for tries := 0; w.end() > 0 && tries < killTries; tries++ {
		time.Sleep(10 * time.Millisecond)
	}
	if r := w.last.Load(); w.t.Failed() && r != nil {
		<-r.ended // it was killed, or its end was awaited before
		w.t.Logf("the last command, %v: %v\n%s%s", r.cmd.Args, r.cmd.ProcessState, &r.stdout, &r.stderr)
	}
	if err := os.RemoveAll(w.root); err != nil {
		w.t.Logf("remove the world, in which %d processes run: %v", w.end(), err)
	}
}

// killTries is how often destroy looks for processes.
const killTries = 500

// end kills all processes of the world, and returns how many there were. They may just have started others, and are there until the
// kernel has ended what they are doing, such as making a file. Workers of some batch systems have not the variables of the world.
func (w *world) end() int {
	pids := append(w.processes(), w.batchWorkers()...)
	for _, pid := range pids {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	return len(pids)
}

func (w *world) logs() []string {
	logs, _ := filepath.Glob(filepath.Join(w.home().Server(), "*", "*", "*.log"))
	return append(logs, w.home().ServerLog())
}

func (w *world) showLogs() {
	for _, l := range w.logs() {
		b, err := os.ReadFile(l)
		if err == nil {
			w.t.Logf("%s:\n%s", l, b[max(0, len(b)-8000):])
		}
	}
}

func (w *world) checkRaces() {
	for _, l := range w.logs() {
		if b, err := os.ReadFile(l); err == nil && bytes.Contains(b, []byte("DATA RACE")) {
			w.t.Errorf("a data race:\n%s", b)
		}
	}
}

// processes returns the ids of all processes with this world's state folder in their environment.
func (w *world) processes() []int {
	mark := []byte("XDG_STATE_HOME=" + filepath.Join(w.root, "state"))
	var pids []int
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, d := range dirs {
		env, err := os.ReadFile(filepath.Join(d, "environ"))
		if err != nil || !bytes.Contains(env, mark) {
			continue
		}
		var pid int
		if _, err := fmt.Sscanf(filepath.Base(d), "%d", &pid); err == nil && pid != os.Getpid() {
			pids = append(pids, pid)
		}
	}
	return pids
}

// coordinatorRole is the beginning of a coordinator's command line.
const coordinatorRole = "server\x00run"

// berths returns the world's berth processes of a role.
func (w *world) berths(role string) []int {
	var pids []int
	for _, pid := range w.processes() {
		if w.isBerth(pid, role) {
			pids = append(pids, pid)
		}
	}
	return pids
}

func (w *world) isBerth(pid int, role string) bool {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	return err == nil && bytes.HasPrefix(b, []byte(cmp.Or(w.program, program)+"\x00"+role))
}

// workers returns the workers' process ids from the driver's files. Command lines
// would be ambiguous: a task's process has its worker's until it runs its own program.
func (w *world) workers() []int {
	files, _ := filepath.Glob(filepath.Join(w.home().Server(), "allocs", "*", "*.pid"))
	away, _ := filepath.Glob(filepath.Join(w.home().Server(), "ssh", "*", "*.pid"))
	files = append(files, away...)
	var pids []int
	for _, f := range files {
		var pid int
		if b, err := os.ReadFile(f); err == nil {
			if _, err := fmt.Sscanf(string(b), "%d", &pid); err == nil && w.isBerth(pid, "worker\x00") {
				pids = append(pids, pid)
			}
		}
	}
	return pids
}

// result is the result of a command.
type result struct {
	code           int
	stdout, stderr string
}

func (r result) String() string {
	return fmt.Sprintf("exit %d\nstdout:\n%s\nstderr:\n%s", r.code, r.stdout, r.stderr)
}

func (w *world) command(args ...string) *exec.Cmd {
	cmd := exec.Command(cmp.Or(w.program, program), args...)
	cmd.Dir, cmd.Env = w.dir, w.env()
	if w.user != 0 {
		cmd.SysProcAttr = credential(w.user)
	}
	return cmd
}

// berth runs the program to its end.
func (w *world) berth(args ...string) result { return w.finish(w.start(args...)) }

// must runs the program and fails the test unless it exits with 0.
func (w *world) must(args ...string) result {
	w.t.Helper()
	r := w.berth(args...)
	if r.code != 0 {
		w.t.Fatalf("berth %s: %v", strings.Join(args, " "), r)
	}
	return r
}

// running is a program that has been started.
type running struct {
	cmd            *exec.Cmd
	stdout, stderr bytes.Buffer
	ended          chan struct{} // closed at its end
	err            error         // of Wait, then
}

// over reports whether the program has ended.
func (r *running) over() bool {
	select {
	case <-r.ended:
		return true
	default:
		return false
	}
}

func (w *world) start(args ...string) *running {
	w.t.Helper()
	r := &running{cmd: w.command(args...), ended: make(chan struct{})}
	r.cmd.Stdout, r.cmd.Stderr = &r.stdout, &r.stderr
	r.cmd.WaitDelay = 10 * time.Second // processes that it started may have its output open
	if err := r.cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	go func() {
		defer close(r.ended)
		r.err = r.cmd.Wait()
	}()
	w.last.Store(r)
	return r
}

func (w *world) finish(r *running) result {
	w.t.Helper()
	<-r.ended
	var exit *exec.ExitError
	if r.err != nil && !errors.As(r.err, &exit) && !errors.Is(r.err, exec.ErrWaitDelay) {
		w.t.Fatal(r.err)
	}
	if code := r.cmd.ProcessState.ExitCode(); code >= 0 { // it was not killed while it printed
		checkJSON(w.t, r.cmd.Args[1:], r.stdout.String())
	}
	return result{r.cmd.ProcessState.ExitCode(), r.stdout.String(), r.stderr.String()}
}

// submitted waits until a program has submitted one more job than there were before, and returns it.
func (w *world) submitted(r *running, before int) job.ID {
	w.t.Helper()
	w.await("the job to be there", func() bool { return len(w.jobs()) > before || r.over() })
	if len(w.jobs()) == before {
		w.t.Fatalf("the command ended before there was a job: %v", w.finish(r))
	}
	return w.jobs()[before]
}

// patience is how long a test waits for an event, even on a busy machine.
const patience = 5 * time.Minute

// await waits until cond returns true. It fails the test after patience. The longer it waits, and the longer cond
// takes, the longer it pauses, up to a second, so that tests that wait leave the processors to those that compute.
func (w *world) await(what string, cond func() bool) {
	w.t.Helper()
	for begin := time.Now(); ; {
		checked := time.Now()
		if cond() {
			return
		}
		waited := time.Since(begin)
		if waited > patience {
			w.t.Fatalf("waited in vain for %s", what)
		}
		time.Sleep(max(time.Millisecond, min(waited/20, 50*time.Millisecond), min(10*time.Since(checked), time.Second)))
	}
}

// write writes a file in the user's folder and returns its path.
func (w *world) write(name, content string) string {
	w.t.Helper()
	path := filepath.Join(w.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o755); err != nil {
		w.t.Fatal(err)
	}
	return path
}

func (w *world) read(name string) string {
	w.t.Helper()
	b, err := os.ReadFile(filepath.Join(w.dir, name))
	if err != nil {
		w.t.Fatal(err)
	}
	return string(b)
}

// output returns the contents of the part files of an output folder, in their order.
func (w *world) output(name string) string {
	w.t.Helper()
	parts, err := filepath.Glob(filepath.Join(w.dir, name, "part-*"))
	if err != nil {
		w.t.Fatal(err)
	}
	var all strings.Builder
	for _, p := range parts {
		b, err := os.ReadFile(p)
		if err != nil {
			w.t.Fatal(err)
		}
		all.Write(b)
	}
	return all.String()
}

// records returns the entries of a job's journal.
func (w *world) records(id job.ID) []event.Entry {
	w.t.Helper()
	all, err := replay(w.home().Run(id).Journal())
	if err != nil {
		w.t.Fatal(err)
	}
	return all
}

// tryRecords returns the present entries of a job's journal, which may not exist yet.
func (w *world) tryRecords(id job.ID) []event.Entry {
	all, _ := replay(w.home().Run(id).Journal())
	return all
}

// serverRecords returns the entries about nodes and allocations.
func (w *world) serverRecords() []event.Entry {
	all, err := replay(w.home().Journal())
	if err != nil {
		w.t.Fatal(err)
	}
	return all
}

func replay(path string) ([]event.Entry, error) {
	var all []event.Entry
	_, err := journal.Replay(path, func(e event.Entry) error {
		all = append(all, e)
		return nil
	})
	return all, err
}

func newRand(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, seed)) }

func (w *world) client() *control.Client { return control.NewClient(w.home()) }

// jobs returns the ids of all jobs.
func (w *world) jobs() []job.ID {
	runs, err := w.home().List()
	if err != nil {
		w.t.Fatal(err)
	}
	var ids []job.ID
	for _, r := range runs {
		ids = append(ids, r.ID)
	}
	return ids
}
