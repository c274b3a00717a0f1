package commands

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// smallLoad makes experiments short; their figures have no meaning.
var smallLoad = []string{"--mr-jobs", "6", "--min-replications", "5", "--max-replications", "5", "--adaptors", "naive,paper"}

// printed is the JSON output of berth-lab for an experiment, with the keys that scripts use.
type printed struct {
	Experiment string   `json:"experiment"`
	Workload   []string `json:"workload"`
	Cells      []struct {
		Load         string   `json:"load"`
		Value        float64  `json:"value"`
		MaxTime      float64  `json:"max_time_s"`
		Adaptor      string   `json:"adaptor"`
		Jobs         string   `json:"jobs"`
		Measure      string   `json:"measure"`
		Mean         float64  `json:"mean"`
		HalfWidth    *float64 `json:"half_width"`
		Replications int      `json:"replications"`
		Paper        *float64 `json:"paper"`
	} `json:"cells"`
}

// TestExperiments runs each experiment with all kinds of output at once.
func TestExperiments(t *testing.T) {
	w := newWorld(t)
	hpc := []string{"--hpc-jobs", "30"}
	for name, args := range map[string][]string{
		"table2":   append(hpc, "--max-time", "4h,0"),
		"fig3":     hpc,
		"fig4":     append(hpc, "--shapes", "4,10.23", "--mr-interarrivals", "14s,30s"),
		"variants": append(hpc, "--mr-interarrivals", "14s"),
	} {
		dir := t.TempDir()
		args = slices.Concat([]string{name, "--json", "--out", dir}, smallLoad, args)
		r := w.must(args...)
		var e printed
		if err := json.Unmarshal([]byte(r.stdout), &e); err != nil || e.Experiment != name || len(e.Cells) < 4 || r.stderr != "" {
			t.Fatalf("%s: %v, %d cells, says %q", name, err, len(e.Cells), r.stderr)
		}
		for _, c := range e.Cells {
			if c.Replications < 1 || c.Replications > 5 || c.Mean < 0 {
				t.Errorf("%s: %+v", name, c)
			}
		}
		checkOut(t, dir, name, r.stdout)
		if name == "fig3" { // package evaluate tests it with all
			if one := w.must(append(args, "--jobs", "1")...); one.stdout != r.stdout {
				t.Errorf("%s: one worker finds something else", name)
			}
		}
	}
}

// checkOut compares the files of a folder with the printed output.
func checkOut(t *testing.T, dir, name, output string) {
	t.Helper()
	read := func(ext string) []byte {
		b, err := os.ReadFile(filepath.Join(dir, name+ext))
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	if string(read(".json")) != output {
		t.Errorf("%s.json is not what was printed", name)
	}
	if lines, err := csv.NewReader(bytes.NewReader(read(".csv"))).ReadAll(); err != nil || len(lines) != strings.Count(output, `"load":`)+1 {
		t.Errorf("%s.csv: %d lines, %v", name, len(lines), err)
	}
	if !bytes.Contains(read(".txt"), []byte("naive")) {
		t.Errorf("%s.txt has no naive adaptor", name)
	}
	if name == "table2" {
		return
	}
	if _, err := png.Decode(bytes.NewReader(read(".png"))); err != nil {
		t.Errorf("%s.png: %v", name, err)
	}
	for d := xml.NewDecoder(bytes.NewReader(read(".svg"))); ; {
		if _, err := d.Token(); err == io.EOF {
			break
		} else if err != nil {
			t.Fatalf("%s.svg: %v", name, err)
		}
	}
}

// TestTable3 uses the HPC jobs of a log. As they need no seed, one run gives all results
// for HPC jobs alone.
func TestTable3(t *testing.T) {
	w := newWorld(t)
	log := filepath.Join(t.TempDir(), "log.swf")
	lines := "; MaxProcs: 128\n"
	for i, submit := range []string{"0", "60", "90000"} { // the last on the second day
		lines += strings.Join([]string{string(rune('1' + i)), submit, "0", "3600", "64", "-1", "-1", "64", "7200",
			"-1", "1", "1", "1", "1", "1", "1", "-1", "-1"}, " ") + "\n"
	}
	if err := os.WriteFile(log, []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
	r := w.must(slices.Concat([]string{"table3", log, "--json", "--day", "1"}, smallLoad)...)
	var e printed
	if err := json.Unmarshal([]byte(r.stdout), &e); err != nil {
		t.Fatal(err)
	}
	for _, c := range e.Cells {
		if c.Load == "HPC only" && c.Measure == "turnaround_s" && (c.Mean != 3600 || c.Replications != 1 || c.Paper == nil || *c.Paper != 16198) {
			t.Errorf("%+v", c)
		}
	}
	if text := w.must(slices.Concat([]string{"table3", log}, smallLoad)...); !strings.Contains(text.stdout, "HPC jobs: 1 of day 2 of log.swf\n") {
		t.Errorf("the day that comes nearest is not told: %s", text.stdout)
	}
	w.refused(3, "no jobs on day 7", "table3", log, "--day", "7")
	w.write("empty.swf", "; MaxProcs: 4\n")
	w.refused(3, "empty.swf: there is no job in it", "table3", "empty.swf")
	w.refused(3, "--nodes: 0 is not from 1", "table3", log, "--nodes", "0")
	w.refused(3, `"soon" is not a day`, "table3", log, "--day", "soon")
	w.refused(3, "there are no estimates", "table3", log, "--estimates", "none")
}

// TestExperimentRefusals checks that a refusal prints one line, has exit code 3, and writes no file.
func TestExperimentRefusals(t *testing.T) {
	w := newWorld(t)
	out := filepath.Join(t.TempDir(), "out.csv")
	for what, args := range map[string][]string{
		"--max-time: the queue accepts wall times of up to 1s, but": {"--max-time", "18h,1s"},
		`"long" is not a duration`:                                  {"--max-time", "18h,long"},
		`no adaptor "nave"`:                                         {"--adaptors", "nave"},
		"is listed twice":                                           {"--adaptors", "naive,naive"},
		"is not a fraction between 0 and 1":                         {"--precision", "5"},
		"--nodes: 0 is not from 1":                                  {"--plain", "--nodes", "0"},
		"--mr-jobs: -1 is not from 0":                               {"--mr-jobs", "-1"},
		"--mr-users: 0 is not from 1":                               {"--mr-users", "0"},
		"--hpc-jobs: -1 is not from 0":                              {"--hpc-jobs", "-1"},
		"--hpc-shape: -2 is no":                                     {"--hpc-shape", "-2"},
		"--jobs: -1 is not from 0":                                  {"--jobs", "-1"},
		"there is no policy":                                        {"--policy", "best"},
		"is not a kind of workload":                                 {"--hpc-types", "all"},
		"is less than --min-replications":                           {"--max-replications", "6", "--min-replications", "7"},
		"is not a time":                                             {"--mr-interarrival", "0s"},
	} {
		w.refused(3, what, append([]string{"table2", "--csv", out}, args...)...)
	}
	if _, err := os.Stat(out); err == nil {
		t.Error("a refused experiment left a file")
	}
	// The error comes before hours of simulation and not after them.
	for _, flag := range []string{"--csv", "--svg", "--png"} {
		w.refused(5, "nowhere/out: cannot write: no such file or directory", "fig4", flag, "nowhere/out")
	}
	w.write("file", "")
	w.refused(5, "file: cannot write: not a directory", "variants", "--out", "file")
	w.refused(1, "takes no argument", "fig4", "4")
	w.refused(3, "is not a positive number", "fig4", "--shapes", "4,-1")
}

// refused runs berth-lab and checks its exit code and that one line says what was wrong.
func (w *world) refused(code int, what string, args ...string) {
	w.t.Helper()
	r := w.run(args...)
	if r.code != code || !strings.Contains(r.stderr, what) || strings.Count(strings.TrimSpace(r.stderr), "\n") > 1 || r.stdout != "" {
		w.t.Errorf("%q: code %d, %q, printed %q", args, r.code, r.stderr, r.stdout)
	}
}
