package command

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"berth/internal/command/cli"
	"berth/internal/core/job/task"
)

// example is a command of a page or of a command's help.
type example struct {
	where string
	line  string   // with its … replaced
	args  []string // of berth, as the shell makes them
	stdin string
}

// notRun says why programs that pages show are not run.
var notRun = map[string]string{
	"make": "installs, or needs root or a cluster: test/install_test.go runs make install", "scp": "needs another machine",
	"laptop$": "needs another machine", "login$": "needs another machine", "export": "sets a variable", "eval": "sets variables",
	"python3": "needs mrjob: test/mrjob_test.go runs it", "fpath=(~/.local/share/zsh/site-functions": "is for zsh",
	"mv": "moves the state folder", "ln": "moves the state folder", "source": "sets completions", "HADOOP_HOME=~/hadoop": "needs mrjob: test/mrjob_test.go runs it", "rm": "removes the state folder", "cat": "prints what a command wrote",
	"sacct": "needs Slurm's accounting", "berth-lab": "belongs to the laboratory",
}

// onlyParsed says why only the flags and arguments of some of berth's commands are checked.
var onlyParsed = map[string]string{
	"sample": "needs hosts", "machines": "needs rented machines", "dashboard": "serves until it is stopped", "server": "starts or stops the coordinator",
	"status": "needs a coordinator", "explain": "needs a job", "report": "needs a job", "cat": "needs a job", "wait": "needs a job", "progress": "needs a job",
	"add": "needs an open bag: TestOpenBag of test runs it", "close": "needs an open bag", "watch": "needs a job", "set": "the job must run", "limit": "starts the coordinator", "cancel": "needs a job", "forget": "needs a job", "resume": "needs a job", "trace": "runs a program with counters", "hadoop-home": "writes a folder", "hq-home": "writes a folder: TestNextflow of test uses it",
	"hadoop": "runs a job: test/mrjob_test.go", "worker": "runs on nodes", "docs": "prints docs/cli.md", "completion": "test/install_test.go runs it",
}

// TestExamples runs the examples of all pages and of the help texts, so far as they can run on this machine alone: bags and MapReduce
// jobs are planned, or with hosts and rented machines only read.
func TestExamples(t *testing.T) {
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	var all []example
	files := make(map[string]string) // name: content, of TOML files
	for _, page := range append(pages, "../../README.md") {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for i, block := range blocks(string(text), "toml") {
			files[fmt.Sprintf("%s.%d.toml", filepath.Base(page), i)] = block
		}
		if filepath.Base(page) == "bags.md" {
			for _, block := range blocks(string(text), "json") { // tasks of an open bag
				if _, err := task.Parse(page, task.Lines([]byte(block))); err != nil {
					t.Error(err)
				}
			}
		}
		for _, block := range blocks(string(text), "sh") {
			all = append(all, examplesOf(filepath.Base(page), block)...)
		}
	}
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		if !c.Hidden {
			all = append(all, examplesOf(c.CommandPath()+" --help", c.Example)...)
		}
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(Root(Extra{}))

	t.Setenv("XDG_STATE_HOME", t.TempDir())
	t.Setenv("BERTH_ON", "local")
	t.Setenv("BERTH_GPUS", "2:a100") // that the examples can be planned
	t.Chdir(exampleFolder(t))
	for name, text := range files {
		tryFile(t, name, text)
	}
	if err := os.Rename("rented.md.0.toml", "types.toml"); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename("README.md.0.toml", "job.toml"); err != nil {
		t.Fatal(err)
	}
	ran := 0
	for _, e := range splitByShell(t, all) {
		if tryExample(t, e) {
			ran++
		}
	}
	if ran < 50 {
		t.Errorf("only %d of %d examples ran: are they still found?", ran, len(all))
	}
}

// blocks returns the blocks of a page that are in that language.
func blocks(page, language string) (all []string) {
	for _, m := range regexp.MustCompile("(?ms)^```"+language+"\n(.*?)^```$").FindAllStringSubmatch(page, -1) {
		all = append(all, m[1])
	}
	return all
}

// instead has what … stands for in a command where no earlier one of the same block says it.
var instead = map[string]string{"bag": "-- gzip -k {} ::: a", "mapreduce": "-input logs -output counts -mapper cat", "run": "job.toml"}

var withEllipsis = regexp.MustCompile(`^berth ((?:plan )?([a-z]+)) ([^#…]*)… *([^#]*)`)

// examplesOf returns the commands of a block. Flags behind … come first, as those of a bag end where its command begins.
func examplesOf(where, block string) (all []example) {
	earlier := make(map[string]string)
	block = strings.ReplaceAll(block, "\\\n", " ")
	for line := range strings.Lines(block) {
		line = strings.TrimSpace(line)
		if m := withEllipsis.FindStringSubmatch(line); m != nil {
			rest := earlier[m[2]]
			if rest == "" {
				rest = instead[m[2]]
			}
			line = "berth " + m[1] + " " + m[3] + m[4] + " " + rest
		} else if name, rest, _ := strings.Cut(strings.TrimPrefix(line, "berth "), " "); strings.HasPrefix(line, "berth ") && earlier[name] == "" {
			earlier[name], _, _ = strings.Cut(rest, " # ")
		}
		line = strings.TrimPrefix(line, "bin/")
		if line != "" && line[0] != '#' {
			all = append(all, example{where: where, line: line})
		}
	}
	return all
}

// exampleFolder returns a folder with the files that examples name.
func exampleFolder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"files.txt": "a\nb\n", "images.txt": "a.png\n", "a.png": "", "pairs.csv": "a,1\n", "fits.csv": "name,cores,mem\nsmall.dat,1,500M\nother.dat,,\n", "commands.txt": "gzip a\n", "tasks.jsonl": `{"command":"true"}`, "a.fasta": "", "a.scene": "",
		"photos/a.tif": "", "lib/x": "", "logs/a.gz": "", "books/a": "a b\n", "in/a": "a\n", "left.txt": "a\n", "hosts.txt": "h1\n", "words.txt": "a\n",
		"map.py": "#!/bin/sh\n", "reduce.py": "#!/bin/sh\n", "sum.sh": "#!/bin/sh\n", "sum": "#!/bin/sh\n", "map.sh": "#!/bin/sh\n", "reduce.sh": "#!/bin/sh\n",
		"log.txt": sacctLog(), "log.swf.gz": swfLog(),
	} {
		if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	root, err := filepath.Abs("../..")
	if err == nil {
		err = os.Symlink(filepath.Join(root, "examples"), filepath.Join(dir, "examples"))
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// sacctLog returns a log of forty jobs, one every minute.
func sacctLog() string {
	log := "JobID|User|Submit|Start|End|State|NNodes|TimelimitRaw|ElapsedRaw\n"
	for i := range 40 {
		at := time.Date(2025, 3, 1, 10, i, 0, 0, time.UTC).Format("2006-01-02T15:04:05")
		log += fmt.Sprintf("%d|u|%s|%s|%s|COMPLETED|4|60|600\n", i+1, at, at, at)
	}
	return log
}

// swfLog returns a log of six hundred jobs, one every two hours, on 64 nodes.
func swfLog() string {
	log := "; MaxNodes: 64\n; MaxProcs: 64\n"
	for i := range 600 {
		log += fmt.Sprintf("%d %d 0 600 4 -1 -1 4 3600 -1 1 %d 1 1 1 1 -1 -1\n", i+1, i*7200, i%9)
	}
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, _ = io.WriteString(w, log) // into memory
	_ = w.Close()
	return packed.String()
}

// tryFile writes a TOML file of a page and reads it as what it is.
func tryFile(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(text, "[[type]]") {
		execute(t, name, "", "front", "--tasks", "9", "--task-time", "9", "--catalogue", name)
	} else if _, err := cli.ParseFile(name, []byte(text)); err != nil {
		t.Errorf("%s: %v", name, err)
	}
}

// splitByShell has a shell split the command lines that are berth's into arguments.
func splitByShell(t *testing.T, all []example) (ours []example) {
	t.Helper()
	script := "berth() { printf '\\036%s' \"$at\"; printf '\\0%s' \"$([ ! -p /dev/stdin ] || cat)\" \"$@\"; }\n"
	seen := make(map[string]bool)
	for i, e := range all {
		program, _, _ := strings.Cut(e.line, " ")
		if notRun[program] == "" && !seen[e.line] {
			seen[e.line] = true
			script += fmt.Sprintf("at=%d\n%s\n", i, e.line)
		}
	}
	cmd := exec.Command("bash", "-c", script)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if stderr.Len() > 0 {
		t.Fatalf("%v: %s", err, &stderr)
	}
	for record := range strings.SplitSeq(strings.TrimPrefix(string(out), "\x1e"), "\x1e") {
		fields := strings.Split(record, "\x00")
		var i int
		if _, err := fmt.Sscan(fields[0], &i); err != nil {
			t.Fatal(err)
		}
		all[i].stdin, all[i].args = fields[1], fields[2:]
		ours = append(ours, all[i])
	}
	return ours
}

// tryExample runs an example, or checks its flags and arguments. It reports whether it ran.
func tryExample(t *testing.T, e example) bool {
	t.Helper()
	args := e.args
	first := ""
	if len(args) > 0 {
		first = args[0]
	}
	if first == "plan" && len(args) > 1 {
		args, first = args[1:], args[1]
	}
	where := e.where + ": " + e.line
	elsewhere := regexp.MustCompile(`--(hosts|machines|on slurm|on ec2|ranks) |-c 4 `).MatchString(e.line)
	switch {
	case onlyParsed[first] != "", slices.Contains(args, "--run"), slices.Contains(args, "examples/simulate/peak-hour.toml"): // such examples rent machines, or compute for 15 s
		parseOnly(t, where, e.args)
		return false
	case first == "mapreduce" && elsewhere, strings.Contains(e.line, "s3://"):
		return false // needs hosts, or an object store
	case first == "bag" && elsewhere:
		args = append([]string{"bag", "--dry-run"}, args[1:]...)
	case first == "bag" && !slices.Contains(args, "--dry-run"), first == "mapreduce", first == "run":
		args = append([]string{"plan"}, args...)
	}
	execute(t, where, e.stdin, args...)
	return true
}

func parseOnly(t *testing.T, where string, args []string) {
	t.Helper()
	c, rest, err := Root(Extra{}).Find(args)
	if err == nil && !c.DisableFlagParsing {
		c.InitDefaultHelpFlag()
		if err = c.ParseFlags(rest); err == nil {
			err = c.ValidateArgs(c.Flags().Args())
		}
	}
	if err != nil {
		t.Errorf("%s: %v", where, err)
	}
}

func execute(t *testing.T, where, stdin string, args ...string) {
	t.Helper()
	root := Root(Extra{})
	root.SetArgs(args)
	root.SetIn(strings.NewReader(stdin))
	root.SetOut(io.Discard)
	root.SetErr(io.Discard)
	if err := root.Execute(); err != nil {
		t.Errorf("%s\n\t%v: %v", where, args, err)
	}
}
