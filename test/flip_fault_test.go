package test

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"berth/internal/core/job"
)

// TestFaultFlippedBytes kills all processes at a random moment of a job, changes one bit of a random file of the state or of the outputs
// that berth keeps itself, and goes on. Then the output is right, or there is an error that names what cannot be read: never a wrong
// output, a job that waits for ever, or an output that was finished and is gone. Another job is done all the same, unless what the
// coordinator itself needs is damaged, which an error says.
func TestFaultFlippedBytes(t *testing.T) {
	t.Parallel()
	all := newWorld(t)
	for _, seed := range all.seeded(t, faultRounds(t, 1)) {
		all.kills.Add(1)
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) { flipRound(newWorld(t), newRand(seed)) })
	}
}

func flipRound(w *world, rng *rand.Rand) {
	const tasks = 12
	kinds := []func(*world, int) flipped{flippedBag, flippedCollected, flippedMapReduce, flippedOpen}
	f := kinds[rng.IntN(len(kinds))](w, tasks)
	r := w.start(f.args...)
	id := w.submitted(r, 0)
	at := w.entries(rng.IntN(2*tasks + 4))
	w.until(id, at)
	w.killAll(r)
	kept := w.outputs()
	path, where := w.flipSomewhere(rng, id)
	w.t.Logf("berth %s, killed at %s; changed: %s", strings.Join(f.args, " "), at.name, where)
	res := w.inTime("wait", string(id))
	if strings.Contains(res.stderr, "go on with: berth resume") { // the damaged record was the journal's only one, or tasks that were added are missing
		res = w.inTime("resume", string(id))
	}
	if res.code == 0 {
		res = w.inTime("cat", string(id))
	}
	w.t.Logf("exit %d: %s", res.code, res.stderr)
	switch right := f.right(id); {
	case res.code == 0 && right != "":
		w.t.Errorf("the job is done, and its output is wrong: %s", right)
	case res.code != 0 && !w.tells(res, path, id):
		w.t.Errorf("the error does not say what is damaged")
	}
	for name, content := range kept {
		if got, err := os.ReadFile(name); err != nil || string(got) != content {
			w.t.Errorf("the finished output %s is %q, %v", name, got, err)
		}
	}
	if next := w.inTime("bag", "--stdout", "{task}", "--stderr", "none", "--", "echo", ":::", "next"); next.code == 0 && w.read("1") != "next\n" ||
		next.code != 0 && !w.tells(next, path, id) {
		w.t.Errorf("the next job: %v", next)
	}
}

// flipped is a job of TestFaultFlippedBytes. right returns what is wrong with its output, or nothing.
type flipped struct {
	args  []string
	right func(id job.ID) string
}

func flippedBag(w *world, tasks int) flipped {
	args := []string{"bag", "--workers", "2", "--array", fmt.Sprintf("1-%d", tasks), "--stdout", "out/{task}", "--stderr", "none", "--", "sh", "-c", printsSquare}
	return flipped{args, func(job.ID) string {
		for i := 1; i <= tasks; i++ {
			if got, err := os.ReadFile(filepath.Join(w.dir, fmt.Sprintf("out/%d", i))); err != nil || string(got) != fmt.Sprintln(i*i) {
				return fmt.Sprintf("task %d: %q, %v", i, got, err)
			}
		}
		return ""
	}}
}

func flippedCollected(w *world, tasks int) flipped {
	args := []string{"bag", "--workers", "2", "--array", fmt.Sprintf("1-%d", tasks), "--stdout", "collect", "--", "sh", "-c", printsSquare}
	return flipped{args, func(id job.ID) string {
		want := ""
		for i := 1; i <= tasks; i++ {
			want += fmt.Sprintln(i * i)
		}
		if got := w.inTime("cat", string(id)); got.code == 0 && got.stdout != want {
			return got.String()
		}
		return ""
	}}
}

func flippedMapReduce(w *world, _ int) flipped {
	input := words(rand.New(rand.NewPCG(7, 7)), 3000)
	w.write("in.txt", input)
	want := counted(input)
	args := []string{"mapreduce", "--workers", "2", "-input", "in.txt", "-output", "out", "-mapper", "tr -s ' ' '\\n'", "-reducer", "uniq -c",
		"-numReduceTasks", "2", "-D", "mapreduce.input.fileinputformat.split.maxsize=1500"}
	return flipped{args, func(job.ID) string {
		got := countedBy(w.output("out"))
		if !slices.Equal(got, want) {
			return fmt.Sprintf("%d words, want %d", len(got), len(want))
		}
		return ""
	}}
}

// counted returns lines with each word of a text and how often it is there, in order.
func counted(text string) (lines []string) {
	counts := map[string]int{}
	for _, word := range strings.Fields(text) {
		counts[word]++
	}
	for word, n := range counts {
		lines = append(lines, fmt.Sprintf("%d %s", n, word))
	}
	slices.Sort(lines)
	return lines
}

// countedBy returns the same of what reduces have printed.
func countedBy(output string) (lines []string) {
	for line := range strings.Lines(output) {
		lines = append(lines, strings.Join(strings.Fields(line), " "))
	}
	slices.Sort(lines)
	return lines
}

// flippedOpen is an open bag to which tasks were added by two calls.
func flippedOpen(w *world, tasks int) flipped {
	f := flippedBag(w, tasks)
	w.must("bag", "--open", "--workers", "2", "--stdout", "out/{task}", "--stderr", "none", "--", "sh", "-c", printsSquare)
	for range 2 {
		w.must(append([]string{"add", "bag-1", ":::"}, make([]string, tasks/2)...)...)
	}
	w.must("close", "bag-1")
	f.args = []string{"wait", "bag-1"}
	return f
}

// killAll kills all processes of the world, the command too.
func (w *world) killAll(r *running) {
	for pids := w.processes(); len(pids) > 0; pids = w.processes() {
		for _, pid := range pids {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
	<-r.ended
}

// outputs returns the contents of the user's files that tasks have finished.
func (w *world) outputs() map[string]string {
	all := map[string]string{}
	_ = filepath.WalkDir(filepath.Join(w.dir, "out"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || strings.HasPrefix(d.Name(), ".") || strings.Contains(path, "_temporary") {
			return nil
		}
		b, err := os.ReadFile(path)
		all[path] = string(b)
		return err
	})
	return all
}

// flipSomewhere changes a bit of a file that berth keeps. It returns the file, and the place in words.
func (w *world) flipSomewhere(rng *rand.Rand, id job.ID) (path, where string) {
	w.t.Helper()
	var files []string
	for _, dir := range []string{w.home().Dir, filepath.Join(w.dir, string(id))} {
		_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() {
				if st, err := d.Info(); err == nil && st.Size() > 0 {
					files = append(files, path)
				}
			}
			return nil
		})
	}
	path = files[rng.IntN(len(files))]
	if own := w.ofJob(files, id); len(own) > 0 && rng.IntN(3) > 0 { // of the other files there are more, and few are read
		path = own[rng.IntN(len(own))]
	}
	b, err := os.ReadFile(path)
	if err != nil {
		w.t.Fatal(err)
	}
	at, bit := rng.IntN(len(b)), rng.IntN(8)
	b[at] ^= 1 << bit
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		w.t.Fatal(err)
	}
	_, err = f.WriteAt(b[at:at+1], int64(at))
	if err := f.Close(); err != nil {
		w.t.Fatal(err)
	}
	if err != nil {
		w.t.Fatal(err)
	}
	return path, fmt.Sprintf("bit %d of byte %d of the %d of %s", bit, at, len(b), path)
}

// ofJob returns the files that belong to a job.
func (w *world) ofJob(files []string, id job.ID) (own []string) {
	for _, f := range files {
		if strings.Contains(f, "/"+string(id)+"/") {
			own = append(own, f)
		}
	}
	return own
}

// inTime runs a command to its end, which must come.
func (w *world) inTime(args ...string) result {
	w.t.Helper()
	return w.inTimeOf(w.start(args...))
}

// inTimeOf is inTime for a command that was started.
func (w *world) inTimeOf(r *running) result {
	w.t.Helper()
	w.await("the end of "+strings.Join(r.cmd.Args, " "), r.over)
	return w.finish(r)
}

// tells reports whether a command that failed has named the damaged file or its folder.
func (w *world) tells(res result, path string, id job.ID) bool {
	said := res.stdout + res.stderr
	return !strings.Contains(said, "goroutine ") && (strings.Contains(said, path) || strings.Contains(said, filepath.Dir(path)) ||
		strings.Contains(said, w.home().ServerLog()))
}
