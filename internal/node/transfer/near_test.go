package transfer

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/node/process"
)

// nearRig is a job's folder that the node sees, and the cache on the node's own disk.
type nearRig struct {
	*rig
	bag   job.BagSpec
	entry job.Entry
	disk  uint64 // Near.Disk
}

func newNear(t *testing.T, entry string, command ...string) *nearRig {
	r := &nearRig{rig: &rig{t: t, dir: t.TempDir()}, bag: job.BagSpec{Command: command}, entry: job.Entry{entry}}
	r.reopen(filepath.Join(t.TempDir(), "cache"))
	return r
}

// reopen opens the cache as a further worker does.
func (r *nearRig) reopen(dir string) {
	r.t.Helper()
	var err error
	r.cache, err = OpenCache(dir, "n1")
	r.ok(err)
}

// fill fills the folder of a task, and returns it with the number of bytes that were copied from the job's folder.
func (r *nearRig) fill() (dir string, copied int64, err error) {
	r.t.Helper()
	near := &Near{Spec: &job.Spec{ID: bagID, Dir: r.dir, Bag: &r.bag}, Entry: r.entry, Disk: r.disk}
	n, err := near.Needs(r.t.Context(), attempt(0, 1))
	if err != nil {
		return "", 0, err
	}
	dir = r.t.TempDir()
	copied, err = r.cache.Populate(r.t.Context(), near, bagID, n, dir)
	return dir, copied, err
}

// expect checks what a task finds under a name, and how many bytes were copied for it.
func (r *nearRig) expect(when, name, text string, copied int64) {
	r.t.Helper()
	dir, n, err := r.fill()
	r.ok(err)
	if got, err := os.ReadFile(filepath.Join(dir, name)); string(got) != text || n != copied || err != nil {
		r.t.Errorf("%s: %s has %q, %v, for %d bytes that were copied; want %q for %d", when, name, got, err, n, text, copied)
	}
}

// TestNearOnce: a file is copied once for all tasks and workers of a node, and again when it has changed, when a task has written to the copy, and
// when the disk has damaged it.
func TestNearOnce(t *testing.T) {
	r := newNear(t, "1", "cat", "ref")
	r.write("ref", "text")
	r.expect("the first task", "ref", "text", 4)
	r.expect("another task", "ref", "text", 0)
	r.reopen(r.cache.dir)
	r.expect("another worker", "ref", "text", 0)
	r.write("ref", "changed")
	r.expect("a changed file", "ref", "changed", 7)
	r.expect("a changed file again", "ref", "changed", 0)

	dir, _, err := r.fill()
	r.ok(err)
	r.ok(os.Chmod(filepath.Join(dir, "ref"), 0o600))
	r.ok(os.WriteFile(filepath.Join(dir, "ref"), []byte("CHANGED"), 0o600))
	r.expect("after a task wrote to it", "ref", "changed", 7)

	dir, _, err = r.fill()
	r.ok(err)
	r.ok(os.Chmod(filepath.Join(dir, "ref"), 0o600))
	r.ok(os.WriteFile(filepath.Join(dir, "ref"), []byte("changeD"), 0o600))
	st, err := os.Stat(filepath.Join(r.dir, "ref"))
	r.ok(err)
	r.ok(os.Chtimes(filepath.Join(dir, "ref"), unchanged, st.ModTime().Truncate(time.Second)))
	r.reopen(r.cache.dir)
	r.expect("after the disk damaged it", "ref", "changed", 7)
}

// TestNearTogether: tasks that begin at the same time copy a file once.
func TestNearTogether(t *testing.T) {
	r := newNear(t, "1", "cat", "ref")
	text := strings.Repeat("text", 1<<18)
	r.write("ref", text)
	var all sync.WaitGroup
	copied := make([]int64, 8)
	for i := range copied {
		all.Go(func() {
			_, n, err := r.fill()
			if copied[i] = n; err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	sum := int64(0)
	for _, n := range copied {
		sum += n
	}
	if sum != int64(len(text)) {
		t.Errorf("%d bytes were copied of a file of %d", sum, len(text))
	}
}

// TestNearNames: a node that sees the job's folder needs no copy of what has an absolute path, and follows links to whatever they lead to.
func TestNearNames(t *testing.T) {
	r := newNear(t, "away/ref", "cat", "{}")
	other := t.TempDir()
	r.ok(os.WriteFile(filepath.Join(other, "ref"), []byte("far away"), 0o600))
	r.ok(os.Symlink(other, filepath.Join(r.dir, "away")))
	r.expect("a link", "away/ref", "far away", 8)

	r.entry[0] = filepath.Join(r.dir, "away/ref")
	if _, n, err := r.fill(); n > 0 || err != nil {
		t.Errorf("%d bytes were copied of an absolute path: %v", n, err)
	}

	for _, c := range []struct{ entry, input, says string }{
		{"", "none*", "nothing in " + r.dir + " matches --inputs none*"},
		{"../outside", "", "outside of the job's folder " + r.dir + ", and only what is below it is copied to the node's own disk"},
	} {
		r.ok(os.WriteFile(filepath.Join(r.dir, "..", "outside"), nil, 0o600))
		r.entry[0], r.bag.Inputs = c.entry, nil
		if c.input != "" {
			r.bag.Inputs = []string{c.input}
		}
		if _, _, err := r.fill(); err == nil || !strings.Contains(err.Error(), c.says) || process.FailureOf(err).Outcome != event.Failed {
			t.Errorf("%v: %v", c, err)
		}
	}
}

// TestNearThere: a file that is on the node's own disk already is not copied to it, unless the task may change it.
func TestNearThere(t *testing.T) {
	r := newNear(t, "{}", "cat", "ref")
	path := r.write("ref", "text")
	f, err := os.Open(path)
	r.ok(err)
	defer f.Close()
	v, err := versionOf(f)
	r.ok(err)
	r.disk = v.dev
	r.expect("a file on that disk", "ref", "text", 0)
	dir, _, err := r.fill()
	r.ok(err)
	if to, err := os.Readlink(filepath.Join(dir, "ref")); to != path || err != nil {
		t.Errorf("it leads to %q, %v", to, err)
	}
	r.entry[0] = "ref"
	r.expect("a file of the task's own", "ref", "text", 4)
}

// TestNearChanges: a file that changes between its listing and the end of its copy is given to no task.
func TestNearChanges(t *testing.T) {
	r := newNear(t, "1", "cat", "ref")
	r.write("ref", "text")
	near := &Near{Spec: &job.Spec{ID: bagID, Dir: r.dir, Bag: &r.bag}, Entry: r.entry}
	n, err := near.Needs(t.Context(), attempt(0, 1))
	r.ok(err)
	r.write("ref", "longer text")
	if _, err := r.cache.Populate(t.Context(), near, bagID, n, t.TempDir()); err == nil || process.FailureOf(err).Outcome != event.Lost || !strings.Contains(err.Error(), "ref was changed") {
		t.Errorf("it was given to a task: %v", err)
	}
	r.expect("the next attempt", "ref", "longer text", 11)
}

// TestNearStale: the size of a file is that of the version that is copied, although a network file system may tell an older one of a path.
func TestNearStale(t *testing.T) {
	r := newNear(t, "1", "cat", "ref")
	stale, err := os.Stat(r.write("ref", "text"))
	r.ok(err)
	r.write("ref", "longer text")
	near := &Near{Spec: &job.Spec{Dir: r.dir}, places: make(map[string]place)}
	c := &collector{digest: near.version}
	if i, err := c.file("ref", stale); i.Size != 11 || err != nil {
		t.Errorf("%d bytes are to be copied, %v", i.Size, err)
	}
}

// TestNearTimes: a task finds its files with their times, in whole seconds.
func TestNearTimes(t *testing.T) {
	r := newNear(t, "own", "cat", "{}", "ref")
	for _, name := range []string{"own", "ref"} {
		st, err := os.Stat(r.write(name, "text"))
		r.ok(err)
		dir, _, err := r.fill()
		r.ok(err)
		if is, err := os.Stat(filepath.Join(dir, name)); err != nil || !is.ModTime().Equal(st.ModTime().Truncate(time.Second)) {
			t.Errorf("%s has another time: %v, %v", name, is, err)
		}
	}
}

// TestLostPart: a part that was removed while it was filled does not give its name to the part that another worker fetches.
func TestLostPart(t *testing.T) {
	r := newNear(t, "1", "cat", "ref")
	i := &Item{Sum: strings.Repeat("0", 64)}
	part, err := r.cache.openPart(t.Context(), i.Sum)
	r.ok(err)
	defer part.Close()
	r.ok(os.Remove(part.Name()))
	r.ok(os.WriteFile(part.Name(), []byte("not comple"), 0o600))
	if err := r.cache.keep(i, part); err == nil {
		t.Error("the part of another worker is taken for a complete content")
	}
}

// TestNearSums: the sum of a content is removed with it.
func TestNearSums(t *testing.T) {
	r := newNear(t, "1", "cat", "ref")
	r.write("ref", "text")
	dir, _, err := r.fill()
	r.ok(err)
	r.ok(os.RemoveAll(dir))
	r.ok(os.RemoveAll(r.cache.contents()))
	r.reopen(r.cache.dir)
	r.write("ref", "other text")
	r.expect("a new version", "ref", "other text", 10)
	if sums, err := os.ReadDir(r.cache.sums()); len(sums) != 1 || err != nil {
		t.Errorf("there are %d sums, %v", len(sums), err)
	}
}
