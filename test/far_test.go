package test

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/test/support/fleet"
)

// newFar returns a world with machines that see none of the user's files.
func newFar(t *testing.T, machines ...fleet.Machine) (*world, *fleet.Fleet) {
	t.Helper()
	w := newWorld(t)
	f := fleet.ForTest(t, fleet.Options{Apart: true, Program: program}, machines...)
	w.batch = []string{noBatch, "BERTH_SSH=" + f.Command, "HOME=" + w.root} // a home folder that no machine has
	return w, f
}

// TestFarBag checks that a bag on two hosts without the user's files leaves its outputs on the user's machine.
func TestFarBag(t *testing.T) {
	t.Parallel()
	w, f := newFar(t, fleet.Names(fleet.Machine{}, "m1", "m2")...)
	w.ok(os.RemoveAll(f.Host("m1").Programs())) // it is copied there
	w.write("tool", "#!/bin/sh\n. lib/rules.sh\nmkdir -p out/$2\nrule <$1 >out/$2/$2.txt\ncat extra/$2*; hostname >/dev/null\n")
	if err := os.Chmod(filepath.Join(w.dir, "tool"), 0o755); err != nil {
		t.Fatal(err)
	}
	w.write("lib/rules.sh", "rule() { tr a-z A-Z; }\n")
	for _, n := range []string{"a", "b", "c", "d", "e", "f"} {
		w.write("in/"+n, strings.Repeat("text of "+n+"\n", 50000))
		w.write("extra/"+n+".note", "a note on "+n+"\n")
	}
	args := []string{"bag", "--idle-timeout", "1s", "--inputs", "lib", "--inputs", "extra/{/}*", "--outputs", "out/{/}", "--stdout", "printed/{task}"}
	command := []string{"--", "./tool", "{}", "{/}", ":::", "in/a", "in/b", "in/c", "in/d", "in/e", "in/f"}
	w.must(append(append(args, "--on", "local"), command...)...)
	here := w.tree("out", "printed")
	for _, name := range []string{"out", "printed"} {
		if err := os.RemoveAll(filepath.Join(w.dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	w.must(append(append(args, "--hosts", "1/m1,1/m2"), command...)...)
	if there := w.tree("out", "printed"); here != there || strings.Count(here, "\n") < 12 {
		t.Errorf("locally:\n%s\non the hosts:\n%s", here, there)
	}
	if parts := w.hidden(); len(parts) > 0 {
		t.Errorf("left: %v", parts)
	}
	sendsOnce(w)
	deserted(w, f.Host("m1"), f.Host("m2"))
}

// sendsOnce checks that tasks start where the file is that they read: each of two files is sent to one of two hosts, and one of them to the
// other host when only tasks that read it are left.
func sendsOnce(w *world) {
	w.t.Helper()
	const size = 1 << 20
	rng := rand.New(rand.NewPCG(7, 7))
	w.write("read/a", random(rng, size))
	w.write("read/b", random(rng, size))
	args := []string{"bag", "--idle-timeout", "1s", "--hosts", "1/m1,1/m2", "--stragglers", "tell", "--stdout", "sums/{task}", "--", "sha256sum", "{}", ":::"}
	for _, n := range "abbabaababba" {
		args = append(args, "read/"+string(n))
	}
	w.must(args...)
	sent, lost, ids := int64(0), false, w.jobs()
	for _, e := range w.records(ids[len(ids)-1]) {
		switch r := e.Record.(type) {
		case event.JobSubmitted:
			if got := fmt.Sprint(r.Work.DataHosts); got != "[{ [0 3 5 6 8 11]} { [1 2 4 7 9 10]}]" {
				w.t.Errorf("the tasks that read the same file are %s", got)
			}
		case event.AttemptEnded:
			lost = lost || r.Outcome != event.Done // and its file, maybe in part
			for _, s := range r.Stats {
				if s.Phase == job.PhaseFetch {
					sent += s.NetBytes
				}
			}
		}
	}
	if copies := sent / size; !lost && (copies < 2 || copies > 3) {
		w.t.Errorf("two files were sent %d times", copies)
	}
}

// tree returns the names and contents of all files below the user's folders.
func (w *world) tree(dirs ...string) string {
	w.t.Helper()
	var b strings.Builder
	for _, d := range dirs {
		err := filepath.WalkDir(filepath.Join(w.dir, d), func(path string, e os.DirEntry, err error) error {
			if err != nil || e.IsDir() {
				return err
			}
			text, err := os.ReadFile(path)
			b.WriteString(strings.TrimPrefix(path, w.dir) + " " + fmt.Sprintf("%x", sha256.Sum256(text)) + "\n")
			return err
		})
		if err != nil {
			w.t.Fatal(err)
		}
	}
	return b.String()
}

// hidden returns the files that attempts left in the user's folder without a commit.
func (w *world) hidden() []string {
	w.t.Helper()
	var left []string
	err := filepath.WalkDir(w.dir, func(path string, e os.DirEntry, err error) error {
		if err == nil && strings.HasPrefix(e.Name(), ".") && strings.HasSuffix(e.Name(), ".part") {
			left = append(left, path)
		}
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return left
}

// TestFarPlan checks that one line says before and during a job that files travel.
func TestFarPlan(t *testing.T) {
	t.Parallel()
	w, _ := newFar(t, fleet.Machine{Name: "m1"})
	const says = "files travel through ssh: host m1 does not see"
	if r := w.must("plan", "bag", "--hosts", "m1", "--array", "1-2", "--", "true"); !strings.Contains(r.stdout+r.stderr, says) {
		t.Errorf("the plan does not say so: %v", r)
	}
	whole := w.write("in", "")
	if r := w.berth("bag", "--hosts", "m1", "--", "cat", ":::", whole); r.code == 0 || !strings.Contains(r.stderr, "write in") || len(w.jobs()) > 0 {
		t.Errorf("a name that the host does not have: %v", r)
	}
	w.must("bag", "--detach", "--hosts", "m1", "--array", "1-2", "--", "sleep", "600")
	if r := w.must("report", string(w.jobs()[0])); !strings.Contains(r.stdout, says) {
		t.Errorf("the report does not say so: %v", r)
	}
	w.must("cancel", string(w.jobs()[0]))
}

// TestFarUnsaid checks that a task that leaves files without --outputs ends the job with their names.
func TestFarUnsaid(t *testing.T) {
	t.Parallel()
	w, _ := newFar(t, fleet.Machine{Name: "m1"})
	r := w.berth("bag", "--hosts", "m1", "--array", "1-9", "--", "sh", "-c", "echo result >result.txt")
	if r.code == 0 || !strings.Contains(r.stdout+r.stderr, "left result.txt") || !strings.Contains(r.stdout+r.stderr, "--outputs") {
		t.Errorf("%v", r)
	}
	w.must("bag", "--hosts", "m1", "--outputs", "none", "--array", "1-9", "--", "sh", "-c", "echo result >result.txt")
}

// TestFarEnvironment checks that tasks of bags and of MapReduce jobs have the environment of their host, with its own HOME, and of the user's only the
// language and what the job or --pass-env names.
func TestFarEnvironment(t *testing.T) {
	t.Parallel()
	w, _ := newFar(t, fleet.Machine{Name: "m1"})
	w.batch = append(w.batch, "SECRET=token", "LC_ALL=C", "MODEL=big")
	w.write("env.sh", "#!/bin/sh\nenv; echo HOME of the host is ~root; tr '\\0' '\\n' </proc/$PPID/environ\n")
	w.write("in", "a line\n")
	on := []string{"--hosts", "m1", "--pass-env", "MODEL"}
	w.must(slices.Concat([]string{"bag"}, on, []string{"--stdout", "bag{task}", "--", "sh", "{}", ":::", "env.sh"})...)
	w.must(slices.Concat([]string{"mapreduce"}, on, []string{"-input", "in", "-output", "out", "-mapper", "sh env.sh", "-file", "env.sh", "-numReduceTasks", "0"})...)
	for _, name := range []string{"bag1", "out/part-00000"} {
		env := w.read(name)
		_, home, _ := strings.Cut(env, "HOME of the host is ")
		home, _, _ = strings.Cut(home, "\n")
		for _, want := range []string{"HOME=" + strings.TrimSpace(home), "LC_ALL=C", "MODEL=big"} {
			if !strings.Contains(env, want+"\n") && !strings.Contains(env, want+"\t\n") {
				t.Errorf("%s: a task has no %s:\n%s", name, want, env)
			}
		}
		for _, not := range []string{"SECRET=", "HOME=" + w.root, "TMPDIR=" + w.root} { // XDG_STATE_HOME included
			if strings.Contains(env, not) {
				t.Errorf("%s: a task has %s of the user's:\n%s", name, not, env)
			}
		}
	}
}

// TestFarFullDisk checks that a host without space for a task's files returns the task, says where, and runs tasks that fit.
func TestFarFullDisk(t *testing.T) {
	t.Parallel()
	berth, err := os.Stat(program)
	if err != nil {
		t.Fatal(err)
	}
	w, f := newFar(t, fleet.Machine{Name: "m1"}, fleet.Machine{Name: "m2", Disk: berth.Size() + 24<<20})
	text := random(rand.New(rand.NewPCG(1, 1)), 8<<20)
	for i := range 6 {
		w.write(fmt.Sprintf("in/%d", i), text)
	}
	w.write("big", random(rand.New(rand.NewPCG(2, 2)), 32<<20))
	r := w.start("bag", "--idle-timeout", "1s", "--hosts", "1/m1,1/m2", "--inputs", "big", "--stdout", "sum/{task}", "--", "sh", "-c",
		"while [ ! -e ~/go ]; do sleep 0.2; done; cat big {} | sha256sum; hostname", ":::", "in/0", "in/1", "in/2", "in/3", "in/4", "in/5")
	w.await("the machine without room to say so", func() bool { return len(w.jobs()) > 0 && noRoom(w.tryRecords(w.jobs()[0])) })
	w.letGo(f.Host("m1"))
	if res := w.finish(r); res.code != 0 {
		t.Fatal(res)
	}
	want := fmt.Sprintf("%x  -\nm1\n", sha256.Sum256([]byte(w.read("big")+text)))
	for i := range 6 {
		if got := w.read(fmt.Sprintf("sum/%d", i+1)); got != want {
			t.Errorf("task %d printed %q, want %q", i+1, got, want)
		}
	}
	deserted(w, f.Host("m1"), f.Host("m2"))
}

// noRoom reports whether a host returned an attempt with a message about the folder without space.
func noRoom(records []event.Entry) bool {
	return slices.ContainsFunc(records, func(e event.Entry) bool {
		r, is := e.Record.(event.AttemptEnded)
		return is && r.Outcome == event.Lost && strings.Contains(r.Reason, "host m2") && strings.Contains(r.Reason, "/files") && strings.Contains(r.Reason, "no space left")
	})
}

// random returns a text of n bytes that cannot be compressed.
func random(rng *rand.Rand, n int) string {
	b := make([]byte, 0, n+8)
	for len(b) < n {
		b = binary.LittleEndian.AppendUint64(b, rng.Uint64())
	}
	return string(b[:n])
}

// TestFaultFar is TestFaultBag for a bag whose files travel over slow links. It also kills ssh and the workers on the hosts.
func TestFaultFar(t *testing.T) {
	t.Parallel()
	w, f := newFar(t, fleet.Names(fleet.Machine{Rate: 4 << 20}, "m1", "m2")...)
	w.victims = []string{"ssh", "worker there", "machine", "network"}
	w.strike = func(victim string, _ *rand.Rand) {
		switch h := f.Host("m2"); victim {
		case "ssh":
			for _, pid := range w.processes() {
				if exe, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid)); err == nil && filepath.Base(exe) == "ssh" {
					_ = syscall.Kill(pid, syscall.SIGKILL)
				}
			}
		case "worker there":
			for _, pid := range h.Processes() {
				if exe, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid)); err == nil && strings.HasPrefix(filepath.Base(exe), "berth-") {
					_ = syscall.Kill(pid, syscall.SIGKILL)
				}
			}
		case "machine":
			h.Down()
			w.ok(h.Up())
		default:
			w.ok(h.Cut())
			w.ok(h.Mend())
		}
	}
	farBagRound(t, w, 4)
}

// farBagRound is faultRound for a bag on the machines m1 and m2 whose files travel. At any moment each output file is either complete or
// absent, and at the end it is from the attempt that was done.
func farBagRound(t *testing.T, w *world, enough int) {
	t.Helper()
	rng := rand.New(rand.NewPCG(5, 5))
	const tasks = 12
	args := []string{"bag", "--hosts", "1/m1,1/m2", "--inputs", "lib", "--stderr", "none"}
	var entries, want []string
	w.write("lib/rot", "exec tr '\\0-\\377' '\\200-\\377\\0-\\177'\n")
	for i := range tasks {
		text := random(rng, 100_000+rng.IntN(900_000))
		entries, want = append(entries, fmt.Sprintf("in/%d", i)), append(want, rot(text))
		w.write(entries[i], text)
	}
	check := func(id job.ID, ended bool) {
		n := strings.TrimPrefix(string(id), "bag-")
		var by map[int]int
		if ended {
			by = doneBy(w.records(id))
		}
		for i, text := range want {
			out, err := os.ReadFile(filepath.Join(w.dir, "out"+n, strconv.Itoa(i)))
			if (ended || err == nil) && string(out) != text {
				t.Errorf("task %d has %d bytes of output, %v; want %d", i, len(out), err, len(text))
			}
			out, err = os.ReadFile(filepath.Join(w.dir, "printed"+n, strconv.Itoa(i)))
			line, of := string(out), entries[i]+" "
			if ended && line != of+fmt.Sprintln(by[i]) || err == nil && !(strings.HasPrefix(line, of) && strings.HasSuffix(line, "\n")) {
				t.Errorf("task %d printed %q, %v; attempt %d was done", i, line, err, by[i])
			}
		}
	}
	faultRound(t, w, enough, func(w *world, rng *rand.Rand) moment {
		m := w.entries(rng.IntN(3 * tasks))
		reached := m.reached
		m.reached = func(id job.ID) bool {
			check(id, false)
			return reached(id)
		}
		return m
	}, func(round int) []string {
		n := fmt.Sprint(len(w.jobs()) + 1)
		return slices.Concat(args, []string{"--outputs", "out" + n + "/{/}", "--stdout", "printed" + n + "/{/}", "--", "sh", "-c",
			"sh lib/rot <{} >out" + n + "/{/}; echo {} $BERTH_ATTEMPT", ":::"}, entries)
	}, func(round int, id job.ID) { check(id, true) })
	if parts := w.hidden(); len(parts) > 0 {
		t.Errorf("left: %v", parts)
	}
}

// doneBy returns the numbers of the attempts that did the tasks of a job, by task.
func doneBy(records []event.Entry) map[int]int {
	by := map[int]int{}
	for _, e := range records {
		if r, is := e.Record.(event.AttemptEnded); is && r.Outcome == event.Done {
			by[r.Attempt.Task] = r.Attempt.N
		}
	}
	return by
}

// rot returns the output of lib/rot for a text.
func rot(text string) string {
	b := []byte(text)
	for i := range b {
		b[i] += 128
	}
	return string(b)
}

// TestFarOutputOfRunningTask: what a task prints on a host without the user's files can be read while it runs, and stays
// when its job is cancelled.
func TestFarOutputOfRunningTask(t *testing.T) {
	t.Parallel()
	w, _ := newFar(t, fleet.Names(fleet.Machine{}, "m1")...)
	w.must("bag", "--detach", "--idle-timeout", "1s", "--hosts", "1/m1", "--", "echo begin {}; sleep 1000", ":::", "a")
	w.await("the task to print", func() bool { return w.berth("cat", "bag-1").stdout == "begin a\n" })
	w.must("cancel", "bag-1")
	if got := w.read("bag-1/1.stdout"); got != "begin a\n" {
		t.Errorf("after the cancel there is %q", got)
	}
}
