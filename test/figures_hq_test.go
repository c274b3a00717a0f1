package test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// BenchmarkBagHyperQueue times xargs, berth and HyperQueue in turn with 10,000 tasks of /bin/true. HQ names the
// program hq (scripts/hq.sh). The servers of both are up before. It reports the seconds and
// the processor time of each, and the median ratios over xargs.
func BenchmarkBagHyperQueue(b *testing.B) {
	hq := os.Getenv("HQ")
	if hq == "" {
		b.Skip("HQ does not name the program hq of HyperQueue; scripts/hq.sh finds it")
	}
	b.Run("none", func(b *testing.B) { trio(b, hq, "--stdout", "none", "--stderr", "none") })
	b.Run("kept", func(b *testing.B) { trio(b, hq) })
}

// trio times the three in turn, berth and HyperQueue with these flags, which both understand.
func trio(b *testing.B, hq string, flags ...string) {
	w := newWorld(b)
	bag := func(array string, more ...string) []string {
		return append(append(append(more, "--array", array), flags...), "--", "/bin/true")
	}
	others := hyperQueue(b, w, hq)
	if out, err := others.command(bag("1-4", "submit", "--wait")...).CombinedOutput(); err != nil {
		b.Fatalf("hq submit: %v\n%s", err, out)
	}
	array := fmt.Sprintf("1-%d", bagTasks)
	xargs, berth := contender{name: "xargs"}, contender{name: "berth"}
	for b.Loop() {
		c := exec.Command("sh", "-c", fmt.Sprintf("seq %d | xargs -P2 -n1 /bin/true", bagTasks))
		xargs.run(b, c)
		w.must(bag("1-4", "bag")...) // the coordinator ends when it has had nothing to do for a while
		berth.pids = append(w.berths(coordinatorRole), w.workers()...)
		berth.run(b, w.command(bag(array, "bag")...))
		others.run(b, others.command(bag(array, "submit", "--wait")...))
	}
	b.ReportMetric(0, "ns/op") // the sum of all three has no meaning
	for _, c := range []*contender{&xargs, &berth, &others.contender} {
		b.ReportMetric(median(c.cpu)/bagTasks*1e6, "cpu-µs/task/"+c.name)
		if c != &xargs {
			reportMedian(b, pairs(c.cpu, xargs.cpu), "cpu-ratio/"+c.name)
			reportMedian(b, pairs(c.seconds, xargs.seconds), "ratio/"+c.name)
		}
		b.ReportMetric(median(c.seconds), "s/"+c.name)
	}
	reportMedian(b, pairs(berth.seconds, others.seconds), "over-hq")
}

// pairs returns the ratios of values of the same turns.
func pairs(ours, theirs []float64) []float64 {
	ratios := make([]float64, len(ours))
	for i := range ours {
		ratios[i] = ours[i] / theirs[i]
	}
	return ratios
}

// contender is one of the compared programs: the duration of each run, and the processor time of its
// command, its servers and all their children.
type contender struct {
	name         string
	pids         []int // of servers and workers
	seconds, cpu []float64
}

func (c *contender) run(b *testing.B, cmd *exec.Cmd) {
	b.Helper()
	before := cpuOf(b, c.pids)
	begun := time.Now()
	if out, err := cmd.CombinedOutput(); err != nil {
		b.Fatalf("%q: %v\n%s", cmd.Args, err, out)
	}
	c.seconds = append(c.seconds, time.Since(begun).Seconds())
	c.cpu = append(c.cpu, cpuOf(b, c.pids)-before+(cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime()).Seconds())
}

// cpuOf returns the processor time of processes and of their children that have ended, seconds (proc_pid_stat(5)).
func cpuOf(b *testing.B, pids []int) (sum float64) {
	b.Helper()
	for _, pid := range pids {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			b.Fatal(err)
		}
		fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+2:]))
		for _, ticks := range fields[11:15] { // utime, stime, cutime, cstime
			n, err := strconv.Atoi(ticks)
			if err != nil {
				b.Fatal(err)
			}
			sum += float64(n) / 100 // USER_HZ
		}
	}
	return sum
}

// hyperQueue starts a server of HyperQueue and a worker with two cores, until the benchmark ends.
func hyperQueue(b *testing.B, w *world, hq string) *hqServer {
	b.Helper()
	h := &hqServer{contender: contender{name: "hq"}, hq: hq, w: w}
	start := func(args ...string) *exec.Cmd {
		c := h.command(args...)
		if err := c.Start(); err != nil {
			b.Fatal(err)
		}
		h.pids = append(h.pids, c.Process.Pid)
		return c
	}
	server := start("server", "start")
	w.await("HyperQueue's server", func() bool { return h.command("server", "info").Run() == nil })
	worker := start("worker", "start", "--cpus", "2")
	b.Cleanup(func() {
		_ = h.command("server", "stop").Run() // the worker ends with it
		_, _ = worker.Wait(), server.Wait()
	})
	return h
}

// hqServer is a server of HyperQueue with its worker.
type hqServer struct {
	contender
	hq string
	w  *world
}

func (h *hqServer) command(args ...string) *exec.Cmd {
	c := exec.Command(h.hq, args...)
	c.Dir, c.Env = h.w.dir, append(os.Environ(), "HQ_SERVER_DIR="+filepath.Join(h.w.root, "hq"))
	return c
}
