package cli

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"berth/internal/core/job"
)

func parseTestdata(t *testing.T, name string) *File {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	f, err := ParseFile(name, data)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestJobFilePage: the page on job files shows the files with every key, as they are.
func TestJobFilePage(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "jobfile.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"bag.toml", "mapreduce.toml", "stages.toml"} {
		file, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(page), "```toml\n"+string(file)+"```\n") {
			t.Errorf("docs/jobfile.md has not all of testdata/%s", name)
		}
	}
}

// TestEveryKeyIsShown: those files have every key.
func TestEveryKeyIsShown(t *testing.T) {
	all := ""
	for _, name := range []string{"bag.toml", "mapreduce.toml", "stages.toml"} {
		file, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		all += "\n" + string(file)
	}
	for _, home := range fileHomes() {
		for _, k := range home.Keys {
			if !strings.Contains(all, "\n"+k+" = ") && !strings.Contains(all, "\n# "+k+" = ") &&
				!strings.Contains(all, "\n["+k+"]") && !strings.Contains(all, "."+k+"]") && !strings.Contains(all, "\n# [["+k+"]]") {
				t.Errorf("no file shows %s", k)
			}
		}
	}
}

func TestBagJobFile(t *testing.T) {
	f := parseTestdata(t, "bag.toml")
	s, err := f.BagJob("/home/u")
	if err != nil {
		t.Fatal(err)
	}
	want := &job.Spec{
		Name: "align", Application: "bwa", Kind: job.Bag, Dir: "/home/u", After: []job.ID{"bag-3", "4"},
		Request: job.Request{
			On: "auto", Workers: 2, MinNodes: 1, MaxNodes: 3, MaxTime: 12 * time.Hour, IdleTimeout: 90 * time.Second,
			SortMemory: 512 << 20, Weight: 2.5, Priority: 5, Speculation: 0.1, NodePower: []job.NodePower{{Nodes: "gpu*", Power: job.Power{Idle: 150, Max: 700}}, {Power: job.Power{Idle: 80, Max: 250}}}, EnergyWeight: 0.001, Courtesy: 2, Scratch: "scratch", Rates: job.NodeRates{Disk: []job.NodeRate{{Nodes: "gpu*", Bytes: 2 << 30}, {Bytes: 500 << 20}}, Net: []job.NodeRate{{Bytes: 1 << 30}}}, Partition: "short", Account: "bio", QOS: "normal",
			Constraint: "avx2", Exclusive: true, BatchArgs: []string{"--mail-type=END", "--reservation=course"}, ArgsFlag: "sbatch-arg",
			WallTime: job.WallUpper, MaxAllocs: 2, NoScout: true, PreemptibleOK: true, StartWithin: 30 * time.Minute, Notify: "mail -s berth $USER",
		},
		Bag: &job.BagSpec{
			Command: []string{"align", "--threads", "2", "{}", "-o", "{/.}.bam"},
			Need:    job.Resources{CPUs: 2, Mem: 3 << 29, GPUs: 1, GPUType: "a100"}, Uses: "db=2,matlab=1", TimeLimit: 90 * time.Minute, Signal: 10, SignalLead: 2 * time.Minute, RequeueExit: 85, Retries: 2, MaxFails: 10, Throttle: 8, DuplicatesOK: true, Progress: "auto",
			OutDir: "runs", Stdout: "out/{task}.txt", Stderr: "none", Joblog: "joblog.tsv", Inputs: []string{"ref/*.fa"}, Local: true, Outputs: []string{"{/.}.bam"}, Env: []string{"LC_ALL=C", "OMP_NUM_THREADS=2"},
		},
	}
	if !reflect.DeepEqual(s, want) {
		t.Errorf("spec is\n%+v\n%+v\nwant\n%+v\n%+v", s, s.Bag, want, want.Bag)
	}
	if f.Ask.Sources.EachLine != "reads.txt" || !f.Ask.Sources.SkipEmpty {
		t.Errorf("sources are %+v", f.Ask.Sources)
	}
	s.Normalize()
	if err := s.Validate(); err != nil {
		t.Errorf("the normalised spec is refused: %v", err)
	}
}

func TestMapReduceSettings(t *testing.T) {
	f := parseTestdata(t, "mapreduce.toml")
	var got []string
	for _, s := range f.Settings {
		got = append(got, s.Where+" "+s.Name+" "+s.Value)
	}
	for _, want := range []string{
		"mapreduce.toml:13 input books/*.txt", "mapreduce.toml:13 input more", "mapreduce.toml:14 output counts",
		"mapreduce.toml:18 numReduceTasks 2", "mapreduce.toml:24 lazyOutput ", "mapreduce.toml:27 cmdenv LC_ALL=C",
		"mapreduce.toml:30 D mapreduce.task.timeout=60000", "mapreduce.toml:31 D stream.num.map.output.key.fields=1",
	} {
		if !strings.Contains(strings.Join(got, "\n")+"\n", want+"\n") {
			t.Errorf("setting %q is not among\n%s", want, strings.Join(got, "\n"))
		}
	}
	if f.Kind != job.MapReduce || f.JobName != "wordcount" {
		t.Errorf("file is of kind %q, named %q", f.Kind, f.JobName)
	}
}

// TestJobFileTexts tells what is made of job files, and every error's text.
// Rewrite with: go test ./internal/command/cli -run TestJobFileTexts -rewrite
func TestJobFileTexts(t *testing.T) {
	datadriven.RunTest(t, "testdata/jobfile.txt", func(t *testing.T, d *datadriven.TestData) string {
		f, err := ParseFile("job.toml", []byte(d.Input))
		if err != nil {
			return err.Error() + "\n"
		}
		var b strings.Builder
		b.WriteString("kind " + string(f.Kind) + "\n")
		if f.Kind == job.Bag {
			s, err := f.BagJob("/d")
			if err != nil {
				t.Fatal(err)
			}
			b.WriteString("command " + quoteWords(s.Bag.Command) + "\n")
		}
		for _, e := range f.Ask.Sources.Entries {
			b.WriteString("entry " + quoteWords(e) + "\n")
		}
		for _, s := range f.Settings {
			b.WriteString(s.Where + " " + s.Name + " " + s.Value + "\n")
		}
		return b.String()
	})
}

// quoteWords writes words as a shell takes them.
func quoteWords(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = job.Quote(w)
	}
	return strings.Join(quoted, " ")
}

func FuzzParseFile(f *testing.F) {
	for _, name := range []string{"bag.toml", "mapreduce.toml", "stages.toml"} {
		data, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte("kind=\"bag\"\n[bag]\ncommand=\"x\"\nentries=[[1,2.5],[true,\"\"]]\nenv={a.b=1}\n"))
	f.Add([]byte("a = {b = {c = 1}}\n[[d]]\n[d.e]\n\"f.g\" = 1979-05-27\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := ParseFile("job.toml", data)
		if err != nil {
			var e *job.Error
			if !errors.As(err, &e) || e.Class != job.User || !strings.HasPrefix(e.Where, "job.toml") {
				t.Fatalf("error %#v does not tell where", err)
			}
			return
		}
		if file.Kind == job.Bag {
			s, err := file.BagJob("/d")
			if err == nil && len(s.Bag.Command) == 0 {
				t.Fatal("a bag without command")
			}
		}
	})
}
