package statedir

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"pgregory.net/rapid"

	"berth/internal/core/job"
)

func open(t *testing.T) Home {
	t.Helper()
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	h, err := Open()
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func TestLocate(t *testing.T) {
	for _, tt := range []struct{ state, home, want string }{
		{"/state", "/home/u", "/state/berth"},
		{"", "/home/u", "/home/u/.local/state/berth"},
		{"not/absolute", "/home/u", "/home/u/.local/state/berth"}, // as the XDG base directory specification has it
		{"", "", ""},
	} {
		t.Setenv("XDG_STATE_HOME", tt.state)
		t.Setenv("HOME", tt.home)
		h, err := Locate()
		if h.Dir != tt.want || (err == nil) != (tt.want != "") {
			t.Errorf("%+v: %q, %v", tt, h.Dir, err)
		}
	}
}

// TestPrivate: folders are made for the user alone, one that stands open is closed,
// and one of somebody else is refused.
func TestPrivate(t *testing.T) {
	state := t.TempDir()
	t.Setenv("XDG_STATE_HOME", state)
	if err := os.Mkdir(filepath.Join(state, "berth"), 0o755); err != nil {
		t.Fatal(err)
	}
	h, err := Open()
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range []string{h.Dir, h.Runs(), h.Server()} {
		st, err := os.Stat(d)
		if err != nil || st.Mode().Perm() != 0o700 {
			t.Errorf("%s: %v, %v", d, st.Mode(), err)
		}
	}
	if os.Getuid() != 0 {
		t.Skip("only root can give a folder to somebody else")
	}
	for _, d := range []string{h.Server(), h.Dir} {
		if err := os.Chown(d, 65534, -1); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(); err == nil || job.ClassOf(err) != job.User || !strings.Contains(err.Error(), d+": the state folder belongs to user 65534") {
			t.Errorf("%s of somebody else: %v", d, err)
		}
		if err := os.Chown(d, 0, -1); err != nil {
			t.Fatal(err)
		}
	}
}

func TestPathThatIsNoText(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", filepath.Join(t.TempDir(), "\xff"))
	if _, err := Open(); err == nil || !strings.Contains(err.Error(), "UTF-8") {
		t.Errorf("error %v", err)
	}
}

func TestNoFolder(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("XDG_STATE_HOME", file)
	if _, err := Open(); job.CodeOf(err) != job.CodeIO || !strings.Contains(err.Error(), "XDG_STATE_HOME") {
		t.Errorf("a file for a folder: %v", err)
	}
}

// TestNumbers: runs made at once have numbers of their own, in one sequence for all
// kinds; ids that are taken are passed over.
func TestNumbers(t *testing.T) {
	h := open(t)
	const n = 50
	var all sync.WaitGroup
	errs := make([]error, n)
	for i := range n {
		all.Go(func() {
			kind := job.Bag
			if i%2 == 1 {
				kind = job.MapReduce
			}
			_, errs[i] = h.NewRun(kind, nil)
		})
	}
	all.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	for _, stray := range []string{"bag-0", "bag-007", "bag-x", "mr-", "bag-99999999999", "other"} {
		if err := os.Mkdir(filepath.Join(h.Runs(), stray), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	runs, err := h.List()
	if err != nil || len(runs) != n {
		t.Fatalf("%d runs, %v", len(runs), err)
	}
	for i, r := range runs {
		if RunNumber(r.ID) != i+1 || r.Dir != filepath.Join(h.Runs(), string(r.ID)) {
			t.Errorf("run %d is %+v", i+1, r)
		}
	}
	r, err := h.NewRun(job.Bag, func(id job.ID) bool { return id != "bag-54" })
	if err != nil || r.ID != "bag-54" || KindOf(r.ID) != job.Bag || KindOf("mr-2") != job.MapReduce {
		t.Errorf("run %+v, %v", r, err)
	}
}

// TestTogether: files are written at the same time. An error of one is returned once all are written or not, as the caller then removes
// them; of several errors it is the first by their order.
func TestTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		early, late, last := errors.New("early"), errors.New("late"), make(chan struct{})
		returned := make(chan error, 1)
		go func() {
			returned <- Together(func() error { <-last; return late }, func() error { return early }, func() error { return nil })
		}()
		synctest.Wait()
		if len(returned) > 0 {
			t.Error("it did not wait for the last write")
		}
		close(last)
		if err := <-returned; err != late {
			t.Errorf("error %v", err)
		}
	})
	if err := Together(func() error { return nil }, func() error { return nil }); err != nil {
		t.Errorf("without an error: %v", err)
	}
}

// TestRunNumber: only ids of jobs have a number, as a name that comes from a node becomes part of a path.
func TestRunNumber(t *testing.T) {
	for id, want := range map[job.ID]int{"bag-1": 1, "mr-4000000000": 4000000000, "bag-0": 0, "bag-07": 0, "bag-": 0, "bag": 0, "": 0, "run-1": 0,
		"bag-+1": 0, "bag-1_0": 0, "bag-1/..": 0, "bag-1-2": 0, "../bag-1": 0, "bag-99999999999": 0} {
		if got := RunNumber(id); got != want {
			t.Errorf("the number of %q is %d", id, got)
		}
	}
}

// TestRemovedNumbers: the number of a run that was removed is not given again, and what was
// hidden is no run any more, also where its removal was cut short.
func TestRemovedNumbers(t *testing.T) {
	h := open(t)
	var ids []job.ID
	for range 3 {
		r, err := h.NewRun(job.Bag, nil)
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, r.ID)
	}
	for _, id := range []job.ID{ids[2], ids[0], ids[1]} {
		if err := errors.Join(h.Reserve(id), h.Hide(id)); err != nil {
			t.Fatal(err)
		}
	}
	if runs, err := h.List(); err != nil || len(runs) != 0 {
		t.Errorf("runs %v, %v", runs, err)
	}
	if r, err := h.NewRun(job.MapReduce, nil); err != nil || r.ID != "mr-4" {
		t.Errorf("the next run is %v, %v", r.ID, err)
	}
	if err := h.RemoveHidden(); err != nil {
		t.Fatal(err)
	}
	if left, _ := filepath.Glob(filepath.Join(h.Runs(), hidden+"*")); len(left) != 0 {
		t.Errorf("left %v", left)
	}
	if err := h.Hide(ids[0]); err == nil {
		t.Error("a run that is not there was hidden")
	}
}

// TestNumbersOnce: whatever is made and removed, at once or later, no number is given twice.
func TestNumbersOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		dir, err := os.MkdirTemp("", "numbers")
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = os.RemoveAll(dir) }()
		h := Home{Dir: dir}
		if err := os.Mkdir(h.Runs(), 0o700); err != nil {
			t.Fatal(err)
		}
		given, there := map[int]bool{}, []job.ID{}
		for _, remove := range rapid.SliceOfN(rapid.IntRange(-1, 2), 1, 12).Draw(t, "-1: a run is made; else one of these is removed") {
			if remove < 0 || remove >= len(there) {
				r, err := h.NewRun(job.Bag, nil)
				if n := RunNumber(r.ID); err != nil || given[n] {
					t.Fatalf("%s was given before (%v)", r.ID, err)
				}
				given[RunNumber(r.ID)], there = true, append(there, r.ID)
				continue
			}
			id := there[remove]
			there = slices.Delete(there, remove, remove+1)
			if err := errors.Join(h.Remove(id), h.Remove(id)); err != nil { // by its command, and by the one that cancels it
				t.Fatal(err)
			}
			if _, err := os.Lstat(h.Run(id).Dir); err == nil {
				t.Fatalf("%s is there", id)
			}
		}
	})
}

// TestLockHeld: who waits for the lock of numbers is told who holds it; without waiting nobody is told anything.
func TestLockHeld(t *testing.T) {
	h := open(t)
	if err := h.AwaitNumbers(0, func(why string) { t.Errorf("told %s", why) }); err != nil {
		t.Fatal(err)
	}
	f, err := TryLock(h.runsLock())
	if err != nil {
		t.Fatal(err)
	}
	if err := h.AwaitNumbers(0, func(why string) {
		if !strings.Contains(why, h.runsLock()+", which ") {
			t.Errorf("told %s", why)
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}); err != nil {
		t.Error(err)
	}
	locks := "1: POSIX  ADVISORY  WRITE 7 00:2a:42 0 EOF\n2: FLOCK  ADVISORY  WRITE 8 00:2a:142 0 EOF\n" +
		"3: FLOCK  ADVISORY  WRITE 9 00:2a:42 0 EOF\n3: -> FLOCK  ADVISORY  WRITE 10 00:2a:42 0 EOF\n"
	if pid, none := holderIn(locks, 42), holderIn(locks, 43); pid != "9" || none != "" {
		t.Errorf("the lock is held by %q, and one that nobody holds by %q", pid, none)
	}
}

// TestLocks: a lock that is held is seen, and goes with its file.
func TestLocks(t *testing.T) {
	h := open(t)
	f, err := TryLock(h.Lock())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := TryLock(h.Lock()); !errors.Is(err, ErrLocked) {
		t.Errorf("a second lock: %v", err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	f, err = TryLock(h.Lock())
	if err != nil {
		t.Fatalf("a lock that was let go: %v", err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := TryLock(filepath.Join(h.Dir, "none", "lock")); err == nil || errors.Is(err, ErrLocked) {
		t.Errorf("a lock in no folder: %v", err)
	}
}

// TestSaveLoad: spec and tasks come back as they were, bytes that are no text included.
func TestSaveLoad(t *testing.T) {
	h := open(t)
	bag, mr := job.New(job.Bag, "/d"), job.New(job.MapReduce, "/d")
	bag.Name, bag.Bag.Command = "b\xff\"", []string{"echo", "{}"}
	tests := []struct {
		spec  *job.Spec
		tasks Tasks
	}{
		{bag, Tasks{Entries: EntriesOf(job.Entry{"a"}, job.Entry{"\xff\n"}, job.Entry{"two", "columns"}, job.Entry{""})}},
		{mr, Tasks{Splits: []job.Split{{Ranges: []job.Range{{Path: "/in/\xfe", Offset: 1, Length: 1 << 40}}}, {Ranges: []job.Range{{Path: "/in/b"}}}}}},
	}
	for _, tt := range tests {
		r, err := h.NewRun(tt.spec.Kind, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Save(tt.spec, tt.tasks); err != nil {
			t.Fatal(err)
		}
		spec, tasks, err := r.Load()
		if err != nil || !reflect.DeepEqual(tasks, tt.tasks) || spec.Kind != tt.spec.Kind || spec.Dir != tt.spec.Dir {
			t.Errorf("loaded %+v, %+v, %v", spec, tasks, err)
		}
		for _, f := range []string{"job.json", "tasks"} {
			st, err := os.Stat(filepath.Join(r.Dir, f))
			if err != nil || st.Mode().Perm() != 0o600 {
				t.Errorf("%s: %v, %v", f, st.Mode(), err)
			}
		}
	}
}

// TestDamagedTasks: no flipped bit and no cut makes other tasks of a task table, and a table of an earlier version,
// which has no checksum, is read.
func TestDamagedTasks(t *testing.T) {
	h := open(t)
	for kind, tasks := range map[job.Kind]Tasks{
		job.Bag:       {Entries: EntriesOf(job.Entry{"a"}, job.Entry{"b", "c"})},
		job.MapReduce: {Splits: []job.Split{{Ranges: []job.Range{{Path: "/in/a", Offset: 1, Length: 2}}}, {}}},
	} {
		r, err := h.NewRun(kind, nil)
		if err == nil {
			err = r.Save(job.New(kind, "/d"), tasks)
		}
		if err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(r.tasks())
		if err != nil {
			t.Fatal(err)
		}
		for bit := range 8 * len(b) {
			b[bit/8] ^= 1 << (bit % 8)
			if got, err := readTasks(b, kind); err == nil {
				t.Errorf("%s: with bit %d flipped %+v is read", kind, bit, got)
			}
			b[bit/8] ^= 1 << (bit % 8)
		}
		for n := range b {
			if got, err := readTasks(b[:n:n], kind); err == nil {
				t.Errorf("%s: of the first %d bytes %+v is read", kind, n, got)
			}
		}
		if got, err := readTasks(b[tasksHeaderSize:], kind); !reflect.DeepEqual(got, tasks) || err != nil {
			t.Errorf("%s: of an earlier version %+v is read (%v)", kind, got, err)
		}
	}
}

// TestDamage: what is missing or cannot be read is named.
func TestDamage(t *testing.T) {
	h := open(t)
	spoil := map[string]func(path string) error{
		"missing": os.Remove,
		"cut off": func(path string) error { return os.Truncate(path, 5) },
	}
	for how, do := range spoil {
		for _, file := range []string{"job.json", "tasks"} {
			r, err := h.NewRun(job.Bag, nil)
			if err == nil {
				err = r.Save(job.New(job.Bag, "/d"), Tasks{Entries: EntriesOf(job.Entry{"a long entry"})})
			}
			path := filepath.Join(r.Dir, file)
			if err == nil {
				err = do(path)
			}
			if err != nil {
				t.Fatal(err)
			}
			_, _, err = r.Load()
			if err == nil || how != "missing" && !strings.Contains(err.Error(), path) || job.CodeOf(err) == job.CodeFailed {
				t.Errorf("%s is %s: %v", file, how, err)
			}
		}
	}
	if _, err := h.Run("bag-999").Spec(); err == nil || job.CodeOf(err) != job.CodeArguments {
		t.Errorf("a run that is not there: %v", err)
	}
}
