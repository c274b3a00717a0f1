package scenario

import (
	"bytes"
	"context"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"berth/internal/core/job"
	"berth/internal/core/sched"
	"berth/internal/simulate/batch"
	"berth/internal/simulate/replicate"
	"berth/internal/simulate/sim"
	"berth/internal/simulate/workload"
)

// TestScenarios runs testdata/cases: "parse" prints the errors of a scenario, "run" its table.
func TestScenarios(t *testing.T) {
	datadriven.Walk(t, "testdata/cases", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			doc, err := ParseDocument("s.toml", "testdata", []byte(d.Input))
			if err != nil {
				return err.Error() + "\n"
			}
			s, err := doc.Scenario(nil)
			if err != nil {
				if job.ClassOf(err) != job.User {
					t.Errorf("class %v of %v", job.ClassOf(err), err)
				}
				return err.Error() + "\n"
			}
			if d.Cmd == "parse" {
				return "ok\n"
			}
			r, err := s.Run(context.Background(), 2, func(Progress) {})
			if err != nil {
				return err.Error() + "\n"
			}
			var b bytes.Buffer
			write := r.Text
			switch {
			case d.HasArg("jobs"):
				write = r.JobsCSV
			case d.HasArg("ways"):
				write = r.WaysCSV
			}
			if err := write(&b); err != nil {
				t.Fatal(err)
			}
			return b.String()
		})
	})
}

func open(t *testing.T, text string) *Scenario {
	t.Helper()
	doc, err := ParseDocument("s.toml", "testdata", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	s, err := doc.Scenario(nil)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestEveryKey checks that all.toml, which has every key, becomes the simulation that it describes.
func TestEveryKey(t *testing.T) {
	s, err := openFile("testdata/all.toml")
	if err != nil {
		t.Fatal(err)
	}
	if s.Seed != 7 || s.Replications != 3 || s.Policy != batch.EASY {
		t.Errorf("seed %d, %d replications, %s", s.Seed, s.Replications, s.Policy)
	}
	if want := (sim.Cluster{Nodes: 4, Cores: 2, MaxTime: 18 * time.Hour, StartUp: time.Second, Speeds: []float64{0.5, 0.5, 2, 1}}); !reflect.DeepEqual(s.Cluster, want) {
		t.Errorf("cluster %+v", s.Cluster)
	}
	if want := (sim.Faults{NodeMTBF: 24 * time.Hour, Repair: time.Hour, SlowMTBF: 12 * time.Hour, SlowFor: 10 * time.Minute, SlowBy: 3, TaskFails: 0.01}); s.Faults != want {
		t.Errorf("faults %+v", s.Faults)
	}
	wantWays := []Way{
		{"first", sim.Adaptor{Way: sim.Naive}},
		{"paper", sim.Adaptor{Way: sim.Paper}},
		{"ours", sim.Adaptor{Way: sim.Berth, Shared: true, Order: sched.Shortest, Unknown: true, Request: job.Request{MaxAllocs: 2, NoScout: true, WallTime: job.WallUpper}}},
		{"one", sim.Adaptor{Way: sim.Berth, Order: sched.FIFO, Request: job.Request{MaxAllocs: 1}}},
	}
	for i := range wantWays {
		if wantWays[i].Adaptor.Order == "" {
			wantWays[i].Adaptor.Order = sched.FIFO
		}
	}
	if !reflect.DeepEqual(s.Ways, wantWays) {
		t.Errorf("ways %+v", s.Ways)
	}
	w := draw(s, 0)
	first := w.Rigid[0]
	if want := (workload.Rigid{ID: 1, User: 3, Nodes: 2, Run: time.Hour, Request: 2 * time.Hour}); first != want {
		t.Errorf("first job of others %+v", first)
	}
	apps := map[string]int{}
	for i, e := range w.Elastic {
		apps[e.App]++
		if e.App == "sort" {
			if len(e.Maps) != 5 || len(e.Reduces) != 2 || len(e.Shuffle) != 2 || len(e.FirstShuffle) != 2 || e.User != 2 || e.Reduces[0] != 2*time.Minute {
				t.Errorf("job %d: %+v", i, e)
			}
		}
	}
	if want := map[string]int{"sort": 3, "facebook": 2, "swim": 2}; !reflect.DeepEqual(apps, want) {
		t.Errorf("jobs %v, want %v", apps, want)
	}
	if len(w.Rigid) != 2+4+2+3 {
		t.Errorf("%d jobs of others", len(w.Rigid))
	}
}

// draw returns a simulation of a replication with all jobs.
func draw(s *Scenario, replication int) sim.Config { return s.config(replication, &Way{}) }

// TestDraw checks that the same seed draws the same jobs, that replications and sources have
// separate random numbers, and that the jobs of one source do not change what another draws.
func TestDraw(t *testing.T) {
	const lublin = "[cluster]\nnodes = 64\n[[rigid]]\nlublin = {jobs = 20, peak_hour = true}\nestimates = \"model\"\n"
	const facebook = "[[elastic]]\nfacebook = {for = \"10m\"}\n"
	s := open(t, lublin+facebook+facebook)
	w := draw(s, 0)
	if again := draw(open(t, lublin+facebook+facebook), 0); !reflect.DeepEqual(w, again) {
		t.Error("the same seed draws other jobs")
	}
	if other := draw(s, 1); other.Rigid[0] == w.Rigid[0] || other.Elastic[0].Submit == w.Elastic[0].Submit {
		t.Error("replications are alike")
	}
	if fewer := draw(open(t, lublin+facebook), 0); !reflect.DeepEqual(fewer.Rigid, w.Rigid) || len(fewer.Elastic) >= len(w.Elastic) {
		t.Error("jobs of others depend on one's own")
	}
	for i, e := range w.Elastic[1:] {
		if e.Submit == w.Elastic[i].Submit || e.ID != w.Elastic[i].ID+1 {
			t.Error("two sources draw the same, or numbers are not in order")
		}
	}
	same := 0
	for _, j := range w.Rigid {
		if j.Request == j.Run {
			same++
		}
		if j.Request < j.Run {
			t.Errorf("%+v", j)
		}
	}
	if same == len(w.Rigid) {
		t.Error("no estimate was drawn")
	}
}

// TestWorkers checks that the output is the same for any number of workers.
func TestWorkers(t *testing.T) {
	s := open(t, "replications = 3\n[cluster]\nnodes = 8\n[[elastic]]\nfacebook = {jobs = 4, bin = 3}\n[[rigid]]\nlublin = {jobs = 5, peak_hour = true}\n")
	var texts []string
	for _, workers := range []int{1, 4} {
		r, err := s.Run(context.Background(), workers, func(Progress) {})
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		_ = r.Text(&b)
		_ = r.WaysCSV(&b)
		_ = r.JobsCSV(&b)
		texts = append(texts, b.String())
	}
	if texts[0] != texts[1] {
		t.Errorf("one worker:\n%s\nfour:\n%s", texts[0], texts[1])
	}
}

// TestFlags checks that flags override the file, and that errors name the flags.
func TestFlags(t *testing.T) {
	doc, err := ParseDocument("s.toml", "testdata", []byte("[cluster]\nnodes = 4\n"))
	if err != nil {
		t.Fatal(err)
	}
	doc.Set("cluster.nodes", int64(9), "--nodes")
	doc.Set("seed", int64(3), "--seed")
	doc.Append("elastic", map[string]any{"maps": int64(3), "map_time": "1m"}, map[string]string{"": "--maps", "map_time": "--map-time"})
	s, err := doc.Scenario(nil)
	if err != nil || s.Cluster.Nodes != 9 || s.Seed != 3 || len(draw(s, 0).Elastic[0].Maps) != 3 {
		t.Errorf("%v: %+v", err, s)
	}
	doc.Append("elastic", map[string]any{"maps": int64(3), "map_time": "x"}, map[string]string{"": "--maps", "map_time": "--map-time"})
	doc.Append("rigid", map[string]any{"swf": "none.swf"}, map[string]string{"": "--from-swf"})
	if _, err := doc.Scenario(nil); err == nil || !strings.HasPrefix(err.Error(), "--map-time: ") {
		t.Errorf("got %v", err)
	}
	doc = NewDocument()
	doc.Append("rigid", map[string]any{"sacct": "-"}, map[string]string{"": "--from-sacct"})
	doc.Append("elastic", map[string]any{"maps": int64(3), "map_time": "1m"}, map[string]string{"": "--maps"})
	text := "JobID|User|Submit|Start|End|State|NNodes|TimelimitRaw|ElapsedRaw\n1|ann|100|110|170|COMPLETED|2|5|60\n"
	if _, err := doc.Scenario(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), "number of nodes") {
		t.Errorf("got %v", err)
	}
	doc.Set("cluster.nodes", int64(4), "--nodes")
	if s, err = doc.Scenario(strings.NewReader(text)); err != nil || draw(s, 0).Rigid[0].Nodes != 2 {
		t.Errorf("%v: %+v", err, s)
	}
}

func TestOpenErrors(t *testing.T) {
	if _, err := openFile(filepath.Join(t.TempDir(), "none.toml")); job.CodeOf(err) != job.CodeNoInput {
		t.Errorf("got %v", err)
	}
	path := filepath.Join(t.TempDir(), "s.toml")
	if err := os.WriteFile(path, []byte("seed = \n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := openFile(path); err == nil || !strings.HasPrefix(err.Error(), path+":1: ") || job.CodeOf(err) != job.CodeConfig {
		t.Errorf("got %v", err)
	}
}

// FuzzParse checks that any text gives either a correctable error or simulations whose jobs are
// ordered and fit the cluster.
func FuzzParse(f *testing.F) {
	all, err := os.ReadFile("testdata/all.toml")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(all))
	f.Add("[cluster]\nnodes = 4\n[[rigid]]\njobs = [{nodes = 5, run = \"1h\"}]\n")
	f.Add("rigid = [{lublin = {jobs = 3}}, 4]\n[[elastic]]\nmaps = 2\nmap_time = {mean = \"1s\"}\n")
	f.Add("a.b.c = [[1], {x = 1}]\n[[a]]\n[a.b]\n")
	f.Fuzz(func(t *testing.T, text string) {
		doc, err := ParseDocument("s.toml", "testdata", []byte(text))
		if err == nil {
			var s *Scenario
			if s, err = doc.parse(); err == nil {
				simulable(t, s)
			}
		}
		if err != nil && job.ClassOf(err) != job.User {
			t.Fatalf("class %v: %v", job.ClassOf(err), err)
		}
	})
}

func simulable(t *testing.T, s *Scenario) {
	tasks := 0
	for i := range s.rigid {
		if l := s.rigid[i].lublin; l != nil && (l.jobs > 100 || l.length > time.Hour) {
			return
		}
	}
	for i := range s.elastic {
		if f := s.elastic[i].facebook; f != nil && (f.jobs > 10 || f.length > time.Minute || f.params.Every < time.Second) {
			return
		}
		if o := s.elastic[i].own; o != nil {
			tasks += (o.maps + o.reduces) * o.repeat
		}
	}
	if tasks > 10_000 || s.check() != nil {
		return
	}
	w := draw(s, 0)
	last := job.Time(0)
	for _, j := range w.Rigid {
		if j.Submit < last || j.Nodes < 1 || j.Nodes > s.Cluster.Nodes || j.Run < 0 || j.Request < 1 {
			t.Fatalf("%+v", j)
		}
		last = j.Submit
	}
	last = 0
	for _, e := range w.Elastic {
		if e.Submit < last || len(e.Maps) == 0 {
			t.Fatalf("%+v", e)
		}
		last = e.Submit
	}
}

// TestMeans compares with values computed by hand.
func TestMeans(t *testing.T) {
	nan := math.NaN()
	tests := []struct {
		values     []float64
		mean, half float64 // NaN: not known
	}{
		{nil, nan, nan},
		{[]float64{nan, nan}, nan, nan},
		{[]float64{3, nan}, 3, nan},
		{[]float64{1, 3}, 2, 12.706205},             // t(0.975, 1) = 12.7062, standard error 1
		{[]float64{1, 2, 3, 4, nan}, 2.5, 2.054260}, // t(0.975, 3) = 3.182446, standard error 0.645497
	}
	same := func(got *float64, want float64) bool {
		return got == nil && math.IsNaN(want) || got != nil && math.Abs(*got-want) < 2e-6
	}
	for _, tt := range tests {
		if m := rounded(replicate.Mean(tt.values)); !same(m.Mean, tt.mean) || !same(m.HalfWidth, tt.half) {
			t.Errorf("%v: %+v", tt.values, m)
		}
	}
	if u := under([]float64{1, 2, 3}, []float64{4, 8, 12}); !same(u.Mean, 0.75) || !same(u.HalfWidth, 0) {
		t.Errorf("a quarter each time: %v %v", *u.Mean, *u.HalfWidth)
	}
	if u := under([]float64{1, 3}, []float64{2, 2}); !same(u.Mean, 0) || !same(u.HalfWidth, 6.353102) {
		t.Errorf("half and one and a half: %v %v", *u.Mean, *u.HalfWidth)
	}
	if under([]float64{1}, []float64{nan}) != nil {
		t.Error("under nothing")
	}
}

// TestDocs checks that docs/simulate.md describes every key and column.
func TestDocs(t *testing.T) {
	page, err := os.ReadFile("../../../docs/simulate.md")
	if err != nil {
		t.Fatal(err)
	}
	words := slices.Concat(jobsHead, []string{"mean", "sd"})
	for _, h := range homes() {
		words = append(words, h.Keys...)
	}
	for _, word := range words {
		if !regexp.MustCompile("[`{, []" + word + "[]`, =]").Match(page) {
			t.Errorf("docs/simulate.md does not tell of %q", word)
		}
	}
	typ := reflect.TypeOf(Row{})
	for i := range typ.NumField() {
		key, _, _ := strings.Cut(typ.Field(i).Tag.Get("json"), ",")
		if !bytes.Contains(page, []byte("`"+key+"`")) {
			t.Errorf("docs/simulate.md does not tell of the key %q", key)
		}
	}
}

// openFile reads a scenario and the logs that it names.
func openFile(path string) (*Scenario, error) {
	d, err := OpenDocument(path)
	if err != nil {
		return nil, err
	}
	return d.Scenario(nil)
}
