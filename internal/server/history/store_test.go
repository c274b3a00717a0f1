package history

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strconv"
	"testing"
	"time"

	"berth/internal/core/job"
	"berth/internal/core/predict"
)

// childVar, when set, makes the test binary a process that saves runs and ends:
// "PATH" in it, the number of the process and of runs as arguments.
const childVar = "BERTH_STORE_TEST_CHILD"

func TestMain(m *testing.M) {
	if path := os.Getenv(childVar); path != "" {
		if err := child(path, os.Args[1], os.Args[2]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

func child(path, name, runs string) error {
	n, err := strconv.Atoi(runs)
	if err != nil {
		return err
	}
	for i := range n {
		// On a busy machine the others may take longer than is waited for: then it is tried again.
		for err = ErrLocked; errors.Is(err, ErrLocked); {
			err = saveOne(path, aRun(job.ID(fmt.Sprintf("%s-%d", name, i)), i))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func saveOne(path string, r Run) error {
	s, err := Open(context.Background(), path)
	if err != nil {
		return err
	}
	return errors.Join(saveRun(context.Background(), s, r, measured(1)), s.Close())
}

func aRun(id job.ID, minute int) Run {
	start := job.Time(0).Add(time.Duration(minute) * time.Minute)
	return Run{
		ID: id, Name: "sim", Kind: job.Bag, App: "sim-1", NodeType: "cpu/2", State: "done", Started: start, Ended: start.Add(30 * time.Second),
		Tasks: 2, Reduces: 0, InputBytes: 0, Nodes: 1, CPUs: 2, Source: "none", Actual: 30,
	}
}

func ptr(x float64) *float64 { return &x }

// measured returns what a bag of tasks of those seconds left.
func measured(seconds ...float64) predict.Measures {
	var c predict.Collector
	for _, s := range seconds {
		end := job.Time(s * float64(time.Second))
		c.Add(job.BagTask, []job.PhaseStat{
			{Phase: job.PhaseFetch, Start: 0, End: 0},
			{Phase: job.PhaseCompute, Start: 0, End: end, BytesIn: 10, BytesOut: 20, RecordsIn: 1, RecordsOut: 2, CPU: time.Second, PeakMemory: 1 << 20},
		})
	}
	return c.Measures()
}

func mustOpen(t testing.TB, path string) *Store {
	t.Helper()
	s, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func saveRun(ctx context.Context, s *Store, r Run, m predict.Measures) error {
	commit, err := s.Save(ctx, Measured{r, m})
	if err != nil {
		return err
	}
	return commit()
}

func save(t testing.TB, s *Store, r Run, m predict.Measures) {
	t.Helper()
	if err := saveRun(t.Context(), s, r, m); err != nil {
		t.Fatal(err)
	}
}

func dbPath(t testing.TB) string { return filepath.Join(t.TempDir(), "a b?#%", "berth.db") }

func newPath(t testing.TB) string {
	t.Helper()
	path := dbPath(t)
	if err := os.Mkdir(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestRunsComeBack(t *testing.T) {
	path := newPath(t)
	s := mustOpen(t, path)
	a, b := aRun("bag-1", 1), aRun("bag-2", 2)
	b.Predicted = &predict.Interval{Low: 1, Up: 2.5}
	b.Source = "profile of 1 run"
	b.Median, b.WaitPredicted, b.Wait = ptr(1.5), ptr(0.), ptr(3.25)
	b.TurnaroundPredicted, b.Turnaround = ptr(2.), ptr(33.25)
	b.WaitLow, b.WaitHigh = ptr(0.), ptr(4.5)
	b.AskedNodes, b.AskedTime, b.Allocs, b.Plans = 6, 120, 3, 2
	save(t, s, a, nil)
	save(t, s, b, measured(1))

	for _, s := range []*Store{s, mustOpen(t, path)} {
		runs, err := s.Runs(t.Context(), 0)
		if err != nil {
			t.Fatal(err)
		}
		if want := []Run{b, a}; !reflect.DeepEqual(runs, want) {
			t.Errorf("got %+v, want %+v", runs, want)
		}
		if runs, err = s.Runs(t.Context(), 1); err != nil || len(runs) != 1 || runs[0].ID != "bag-2" {
			t.Errorf("the latest: %+v, %v", runs, err)
		}
		if r, ok, err := s.Run(t.Context(), "bag-1"); err != nil || !ok || !reflect.DeepEqual(r, a) {
			t.Errorf("bag-1: %+v, %v, %v", r, ok, err)
		}
		if _, ok, err := s.Run(t.Context(), "bag-3"); err != nil || ok {
			t.Errorf("bag-3: %v, %v", ok, err)
		}
	}
}

// TestProfileIsWhatWasMeasured: what comes back is exactly the merge of what was saved.
func TestProfileIsWhatWasMeasured(t *testing.T) {
	s := mustOpen(t, newPath(t))
	if p, err := s.Profile(t.Context(), "sim-1", "cpu/2"); p != nil || err != nil {
		t.Fatalf("before any run: %+v, %v", p, err)
	}
	one, two := aRun("bag-1", 1), aRun("bag-2", 2)
	one.State, two.Tasks, two.InputBytes = "failed", 3, 500
	save(t, s, one, measured(1, 2))
	save(t, s, two, measured(3, 4, 0.001))
	save(t, s, aRun("bag-3", 3), nil) // nothing measured: not a run of the profile
	elsewhere := aRun("bag-4", 4)
	elsewhere.NodeType = "cpu/4"
	save(t, s, elsewhere, measured(100))

	got, err := s.Profile(t.Context(), "sim-1", "cpu/2")
	if err != nil {
		t.Fatal(err)
	}
	want := &predict.Profile{App: "sim-1", NodeType: "cpu/2"}
	want.AddRun(predict.Size{Kind: job.Bag, Tasks: 2}, one.Ended, measured(1, 2))
	want.AddRun(predict.Size{Kind: job.Bag, Tasks: 3, InputBytes: 500}, two.Ended, measured(3, 4, 0.001))
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if m := got.Measures.Get(predict.BagTask); m.Time.Count != 5 || m.Time.Max != 4 || m.BytesOut != 100 {
		t.Errorf("tasks: %+v", m)
	}
}

// TestSaveReplaces: a job that is resumed ends twice, and counts once.
func TestSaveReplaces(t *testing.T) {
	s := mustOpen(t, newPath(t))
	r := aRun("bag-1", 1)
	r.State = "failed"
	save(t, s, r, measured(1, 2))
	r.State = "done"
	save(t, s, r, measured(5))
	runs, err := s.Runs(t.Context(), 0)
	if err != nil || len(runs) != 1 || runs[0].State != "done" {
		t.Errorf("got %+v, %v", runs, err)
	}
	p, err := s.Profile(t.Context(), "sim-1", "cpu/2")
	if err != nil || p.Runs != 1 || p.Measures.Get(predict.BagTask).Time.Sum != 5 {
		t.Errorf("got %+v, %v", p, err)
	}
}

// TestOnlyTheLatestAreKept: measurements of the latest Keep runs of an application
// stay, and all runs do.
func TestOnlyTheLatestAreKept(t *testing.T) {
	s := mustOpen(t, newPath(t))
	other := aRun("other", 0)
	other.App = "other-1"
	save(t, s, other, measured(1))
	for i := range Keep + 5 {
		save(t, s, aRun(job.ID(fmt.Sprintf("bag-%d", i)), i), measured(float64(i+1)))
	}
	save(t, s, aRun("unmeasured", 1000), nil) // pushes none out
	p, err := s.Profile(t.Context(), "sim-1", "cpu/2")
	if err != nil || p.Runs != Keep {
		t.Fatalf("got %+v, %v", p, err)
	}
	if m := p.Measures.Get(predict.BagTask); m.Time.Min != 6 || m.Time.Max != Keep+5 {
		t.Errorf("from %g to %g s", m.Time.Min, m.Time.Max)
	}
	if runs, err := s.Runs(t.Context(), 0); err != nil || len(runs) != Keep+7 {
		t.Errorf("%d runs, %v", len(runs), err)
	}
	if p, err := s.Profile(t.Context(), "other-1", "cpu/2"); err != nil || p == nil {
		t.Errorf("the other application: %+v, %v", p, err)
	}
}

func TestOnlyTheUserMayRead(t *testing.T) {
	path := newPath(t)
	if err := os.WriteFile(path, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	s := mustOpen(t, path)
	save(t, s, aRun("bag-1", 1), measured(1))
	files, err := filepath.Glob(filepath.Join(filepath.Dir(path), "berth.db*"))
	if err != nil {
		t.Fatal(err)
	}
	beside, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(beside) < 2 { // the database and its log
		t.Fatalf("%v, %v, %v", beside, files, err)
	}
	for _, f := range beside {
		if info, err := f.Info(); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: mode %v, %v", f.Name(), info.Mode(), err)
		}
	}
}

func TestNilStore(t *testing.T) {
	var s *Store
	if err := saveRun(t.Context(), s, aRun("bag-1", 1), measured(1)); err != nil {
		t.Error(err)
	}
	if p, err := s.Profile(t.Context(), "a", "b"); p != nil || err != nil {
		t.Error(p, err)
	}
	if runs, err := s.Runs(t.Context(), 1); runs != nil || err != nil {
		t.Error(runs, err)
	}
	if _, ok, err := s.Run(t.Context(), "bag-1"); ok || err != nil {
		t.Error(ok, err)
	}
	if p, err := s.Profile(t.Context(), "a", ""); p != nil || err != nil {
		t.Error(p, err)
	}
	if a, err := s.Accuracy(t.Context(), ""); a.Score != (Score{}) || a.Applications == nil || err != nil {
		t.Error(a, err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// TestProcessesShareIt: processes that make the database at the same time and write
// to it lose nothing.
func TestProcessesShareIt(t *testing.T) {
	path := newPath(t)
	const processes, runs = 4, 5
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	failed := make(chan error, processes)
	for i := range processes {
		cmd := exec.CommandContext(t.Context(), self, fmt.Sprintf("p%d", i), strconv.Itoa(runs))
		cmd.Env = append(os.Environ(), childVar+"="+path)
		go func() {
			out, err := cmd.CombinedOutput()
			if err != nil {
				err = fmt.Errorf("%w: %s", err, out)
			}
			failed <- err
		}()
	}
	for range processes {
		if err := <-failed; err != nil {
			t.Error(err)
		}
	}
	s := mustOpen(t, path)
	if got, err := s.Runs(t.Context(), 0); err != nil || len(got) != processes*runs {
		t.Errorf("%d runs, %v; want %d", len(got), err, processes*runs)
	}
}

// TestMigratesFromNothing: a database of version 0 that holds other things gets the
// tables and keeps them.
func TestMigratesFromNothing(t *testing.T) {
	path := newPath(t)
	raw(t, path, `CREATE TABLE note (text TEXT); INSERT INTO note VALUES ('kept')`)
	s := mustOpen(t, path)
	save(t, s, aRun("bag-1", 1), measured(1))
	var v int
	var note string
	if err := s.db.QueryRow(`SELECT user_version, text FROM pragma_user_version, note`).Scan(&v, &note); err != nil {
		t.Fatal(err)
	}
	if v != latest || note != "kept" {
		t.Errorf("version %d, note %q", v, note)
	}
	mustOpen(t, path) // a second time there is nothing to do
}

// TestMigratesVersion1: what an earlier berth has stored is still there and can be judged.
func TestMigratesVersion1(t *testing.T) {
	path := newPath(t)
	first, err := fs.ReadFile(schemas, "schema/1.sql")
	if err != nil {
		t.Fatal(err)
	}
	raw(t, path, string(first)+`PRAGMA user_version = 1;
		INSERT INTO runs VALUES ('bag-1', 'sim', 'bag', 'sim-1', 'cpu/2', 'done', 60000000000, 90000000000, 2, 0, 0, 1, 2, 10, 20, 'none', 30)`)
	s := mustOpen(t, path)
	want := aRun("bag-1", 1)
	want.Predicted, want.AppByPath = &predict.Interval{Low: 10, Up: 20}, want.App
	if r, ok, err := s.Run(t.Context(), "bag-1"); err != nil || !ok || !reflect.DeepEqual(r, want) {
		t.Errorf("got %+v, %v, %v; want %+v", r, ok, err, want)
	}
	a, err := s.Accuracy(t.Context(), "")
	if err != nil || a.Run.Runs != 1 || a.Run.Worst != 15 || a.Start.Runs != 0 {
		t.Errorf("got %+v, %v", a, err)
	}
}

// TestMigratesVersion2: a profile that was stored before phases' use of resources was kept is still
// read. What was not measured then is a gap in it.
func TestMigratesVersion2(t *testing.T) {
	path := newPath(t)
	for _, version := range []string{"1", "2"} {
		script, err := fs.ReadFile(schemas, "schema/"+version+".sql")
		if err != nil {
			t.Fatal(err)
		}
		raw(t, path, string(script)+"PRAGMA user_version = "+version)
	}
	raw(t, path, `
		INSERT INTO runs (id, name, kind, app, node_type, state, started_ns, ended_ns, tasks, reduces, input_bytes, nodes, cpus, source, actual_s)
			VALUES ('bag-1', 'sim', 'bag', 'sim-1', 'cpu/2', 'done', 60000000000, 90000000000, 2, 0, 0, 1, 2, 'none', 30);
		INSERT INTO measures VALUES ('bag-1', 'phase:compute', 1, 0, 0, 0, 0, 0, 0, 0, 0, 0.5, 0, 0, 0, 0, x'01010000')`)
	p, err := mustOpen(t, path).Profile(t.Context(), "sim-1", "cpu/2")
	if err != nil || p.Measures.Get("phase:compute").CPU != 0.5 || p.Measures.Demands() != nil {
		t.Errorf("got %+v, %v", p, err)
	}
}

// TestCurves: how attempts came on is stored with the run, a few of them, and is in the profile of the next; a run of a berth that stored none,
// of version 3, has none.
func TestCurves(t *testing.T) {
	path := newPath(t)
	for _, version := range []string{"1", "2", "3"} {
		script, err := fs.ReadFile(schemas, "schema/"+version+".sql")
		if err != nil {
			t.Fatal(err)
		}
		raw(t, path, string(script)+"PRAGMA user_version = "+version)
	}
	raw(t, path, `
		INSERT INTO runs (id, name, kind, app, node_type, state, started_ns, ended_ns, tasks, reduces, input_bytes, nodes, cpus, source, actual_s)
			VALUES ('bag-1', 'sim', 'bag', 'sim-1', 'cpu/2', 'done', 60000000000, 90000000000, 2, 0, 0, 1, 2, 'none', 30);
		INSERT INTO measures VALUES ('bag-1', 'task:bag', 1, 0, 0, 0, 0, 0, 0, 0, 0, 0.5, 0, 0, 0, 0, x'01010000', NULL)`)
	s := mustOpen(t, path)
	if p, err := s.Profile(t.Context(), "sim-1", "cpu/2"); err != nil || p.Runs != 1 || p.Measures.Curves() != nil {
		t.Errorf("got %+v, %v", p, err)
	}
	run := func(minute, curves int) {
		var c predict.Collector
		c.Add(job.BagTask, []job.PhaseStat{{Phase: job.PhaseCompute, End: job.Time(time.Second)}})
		for i := range curves {
			c.AddCurve(job.Curve{Kind: job.BagTask, Source: job.ProgressHits, Marks: []float64{0, 0, 0, 1, 2, 0.5, 2.25, float64(minute*100 + i), 1}})
		}
		save(t, s, aRun(job.ID(fmt.Sprint("bag-", minute)), minute), c.Measures())
	}
	run(2, 16)
	run(3, 2)
	run(4, 0)
	p, err := s.Profile(t.Context(), "sim-1", "cpu/2")
	if err != nil {
		t.Fatal(err)
	}
	var ends []float64
	for _, c := range p.Measures.Curves() {
		if c.Kind != job.BagTask || c.Source != job.ProgressHits || len(c.Marks) != 9 || c.Marks[6] != 2.25 {
			t.Errorf("got %+v", c)
		}
		ends = append(ends, c.Marks[7])
	}
	if want := []float64{200, 202, 204, 206, 210, 212, 214, 300}; !reflect.DeepEqual(ends, want) { // 200, 202, … 214 are stored
		t.Errorf("curves that end at %v, want %v", ends, want)
	}
	raw(t, path, `UPDATE measures SET curves = CAST('[{"source":"tea"}]' AS BLOB) WHERE run = 'bag-3'`)
	if _, err := s.Profile(t.Context(), "sim-1", "cpu/2"); !errors.Is(err, ErrCorrupt) {
		t.Errorf("a source that does not exist: %v", err)
	}
}

// TestMigrationIsWhole: one that fails leaves the version as it was.
func TestMigrationIsWhole(t *testing.T) {
	path := newPath(t)
	raw(t, path, `CREATE TABLE measures (in_the_way TEXT)`)
	if s, err := Open(t.Context(), path); s != nil || !errors.Is(err, ErrUnusable) {
		t.Fatalf("got %v, %v", s, err)
	}
	raw(t, path, `DROP TABLE measures`)
	save(t, mustOpen(t, path), aRun("bag-1", 1), measured(1))
}

// raw runs SQL on the file without this package.
func raw(t *testing.T, path, script string) {
	t.Helper()
	db, err := sql.Open("sqlite", dsn(path))
	if err != nil {
		t.Fatal(err)
	}
	_, err = db.Exec(script)
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
}

func BenchmarkOpenAndReadProfile(b *testing.B) {
	path := newPath(b)
	s := mustOpen(b, path)
	var seconds []float64
	for i := range 10_000 {
		seconds = append(seconds, 0.001*float64(i+1))
	}
	for i := range Keep {
		save(b, s, aRun(job.ID(fmt.Sprintf("bag-%d", i)), i), measured(seconds...))
	}
	for b.Loop() {
		s, err := Open(b.Context(), path)
		if err != nil {
			b.Fatal(err)
		}
		if p, err := s.Profile(b.Context(), "sim-1", "cpu/2"); err != nil || p.Runs != Keep {
			b.Fatal(p, err)
		}
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
	}
}
