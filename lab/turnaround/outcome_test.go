package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestParseJob(t *testing.T) {
	got, err := parseJob("12|berth|RUNNING|3|6|15:00|1792000000|1792000900")
	want := allocation{ID: "12", Name: "berth", State: "RUNNING", Nodes: 3, CPUs: 6, Limit: "15:00", Start: 1792000000, End: 1792000900}
	if err != nil || got != want {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err := parseJob("7|fill|PENDING|8|16|1:00|N/A|N/A"); err != nil || got.begun() || !got.live() {
		t.Errorf("%+v, %v", got, err)
	}
	for _, bad := range []string{"", "1|a|b|c|2|x|1|2", "1|a|b|2|c|x|1|2", "1|a|b|2|2|x|soon|2"} {
		if got, err := parseJob(bad); err == nil {
			t.Errorf("%q is read as %+v", bad, got)
		}
	}
}

func TestParse(t *testing.T) {
	for _, tt := range []struct {
		printed string
		wall    float64
		fails   string
	}{
		{`{"state":"done","tasks_done":4,"tasks_total":4,"elapsed_s":100.5,"wasted_s":2,"attempts":{"started":5}}`, 101, ""},
		{`{"state":"failed","tasks_done":3,"tasks_total":4,"elapsed_s":100,"reason":"no disk"}`, 101, "no disk"},
		{`{"state":"done","tasks_done":3,"tasks_total":4,"elapsed_s":100}`, 101, "3 of 4"},
		{`{"state":"done","elapsed_s":100}`, 99, "took 99"},
		{`{"state":"done","elapsed_s":100}`, 111, "took 111"},
		{`oops`, 1, "oops"},
	} {
		o := outcome{Wall: tt.wall}
		err := o.parse([]byte(tt.printed))
		if (err != nil) != (tt.fails != "") || err != nil && !strings.Contains(err.Error(), tt.fails) {
			t.Errorf("%s: %v", tt.printed, err)
		}
		if tt.fails == "" && (o.Turnaround != 100.5 || o.Attempts != 5 || o.Wasted != 2) {
			t.Errorf("%+v", o)
		}
	}
}

func TestAccount(t *testing.T) {
	o := outcome{Turnaround: 70}
	own := []allocation{
		{ID: "2", State: "COMPLETED", Nodes: 2, CPUs: 4, Limit: "1:00", Start: 1010, End: 1060},
		{ID: "3", State: "CANCELLED", Nodes: 4, CPUs: 4, Limit: "3:00", Start: 1030, End: 1070},
		{ID: "4", State: "CANCELLED", Nodes: 8, CPUs: 16, Limit: "3:00"},
		{ID: "5", State: "PENDING", Nodes: 8, CPUs: 16, Limit: "3:00", Start: 1500, End: 1600},
	}
	o.account([]allocation{{ID: "1", Name: fillName, Start: 990}}, own, 1000)
	if o.Wait != 10 || o.Run != 60 || o.Used != 100+80 {
		t.Errorf("wait %v, run %v, used %v", o.Wait, o.Run, o.Used)
	}
	if got := o.shapes(); got != "2n × 1:00 + 4n × 3:00" {
		t.Errorf("shapes %s", got)
	}
	if err := o.disturbed(); err != nil {
		t.Error(err)
	}
	if err := (&outcome{Allocs: []allocation{{State: "TIMEOUT"}, {State: "FAILED"}}}).disturbed(); err == nil {
		t.Error("a failed allocation is as good as any")
	}
	if len(o.Fills) != 1 || o.Fills[0].Start != -10 || o.Fills[0].End != 0 {
		t.Errorf("others %+v", o.Fills)
	}
	o.account(nil, nil, 1000)
	if o.Wait != 0 || o.Used != 0 || len(o.Allocs) != 0 {
		t.Errorf("with no allocation: %+v", o)
	}
}

// TestCheck checks that an output without a task, or with a task twice, is detected.
func TestCheck(t *testing.T) {
	bag, mr := &workload{draw: even(3, 1, 1)}, &workload{draw: even(3, 1, 1), reduces: 2, reduceTo: 1}
	for _, tt := range []struct {
		w     *workload
		files map[string]string
		fine  bool
	}{
		{bag, map[string]string{"1": "1\n", "2": "1\n", "3": "1\n"}, true},
		{bag, map[string]string{"1": "1\n", "2": "1\n", "3": ""}, false},
		{bag, map[string]string{"1": "1\n", "2": "1\n1\n", "3": "1\n"}, false},
		{mr, map[string]string{"part-00000": "2\n", "part-00001": "1\n", "_SUCCESS": ""}, true},
		{mr, map[string]string{"part-00000": "2\n", "part-00001": "2\n"}, false},
		{mr, map[string]string{"part-00000": "two\n"}, false},
		{mr, nil, false},
	} {
		dir := t.TempDir()
		if err := os.Mkdir(filepath.Join(dir, "out"), 0o755); err != nil {
			t.Fatal(err)
		}
		for name, text := range tt.files {
			if err := os.WriteFile(filepath.Join(dir, "out", name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if err := tt.w.check(dir); (err == nil) != tt.fine {
			t.Errorf("%v: %v", tt.files, err)
		}
	}
}

func TestWrite(t *testing.T) {
	dir := t.TempDir()
	args, err := (&workload{draw: even(2, 3, 3)}).write(dir, "/p", 1, []string{"--on", "slurm"})
	want := []string{"--json", "bag", "--on", "slurm", "--each-line", "input", "--stdout", "out/{task}", "--", "sleep {} && echo {}"}
	if err != nil || !slices.Equal(args, want) {
		t.Errorf("%q, %v", args, err)
	}
	args, err = (&workload{draw: even(2, 3, 3), reduces: 2, reduceTo: 7.5}).write(dir, "/p", 1, nil)
	if err != nil || !slices.Contains(args, "sh /p/map.sh") || !slices.Contains(args, "sh /p/reduce.sh 7.5") {
		t.Errorf("%q, %v", args, err)
	}
	if text, err := os.ReadFile(filepath.Join(dir, "input")); err != nil || string(text) != "0000 003.0\n0001 003.0\n" {
		t.Errorf("input %q, %v", text, err)
	}
}
