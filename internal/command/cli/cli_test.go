package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/cockroachdb/datadriven"
	"github.com/spf13/pflag"

	"berth/internal/core/job"
	"berth/internal/core/job/parse"
)

// userDir makes a user's folder with a few files.
func userDir(t testing.TB) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"lines.txt": "a\nb c\n\nd", "crlf.txt": "a\r\nb\r\n", "nul.txt": "a\nb\x00c\x00", "empty.txt": "", "blank.txt": "\n \n",
		"map.sh": "#!/bin/sh\ncat\n",
		"sub/bag.toml": `kind = "bag"
dir = "."
[request]
workers = 2
mem = "1G"
[bag]
command = "wc -l < {} > {.}.n"
each_line = "here.txt"
`,
		"sub/here.txt": "x.txt\n",
		"mr.toml":      "kind = \"mapreduce\"\n[mapreduce]\ninput = \"lines.txt\"\noutput = \"out\"\nmapper = \"sh map.sh\"\n",
		"bad.toml":     "kind = \"bag\"\n[bag]\ncomand = \"x\"\n",
		"retries.toml": "kind = \"bag\"\n[bag]\ncommand = \"x\"\nretries = -1\n",
	} {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func parseBag(dir string, args []string, stdin io.Reader) (*job.Spec, []job.Entry, error) {
	return parseBagWith(&BagOptions{Env: []string{"HOME=/home/u", "broken"}}, dir, args, stdin)
}

func parseBagWith(o *BagOptions, dir string, args []string, stdin io.Reader) (*job.Spec, []job.Entry, error) {
	fs := pflag.NewFlagSet("bag", pflag.ContinueOnError)
	o.Register(fs)
	if err := fs.Parse(args); err != nil {
		return nil, nil, err
	}
	return o.Spec(dir, fs.Args(), stdin)
}

// TestBags tells what is made of command lines of berth bag, and every error's text.
// The input is parted at blanks, with '…' for words that have some; a line that
// begins with < is standard input.
// Rewrite with: go test ./internal/command/cli -run TestBags -rewrite
func TestBags(t *testing.T) {
	dir := userDir(t)
	datadriven.RunTest(t, "testdata/bag.txt", func(t *testing.T, d *datadriven.TestData) string {
		var args []string
		var stdin io.Reader
		for _, line := range strings.Split(d.Input, "\n") {
			if text, ok := strings.CutPrefix(line, "<"); ok {
				stdin = strings.NewReader(strings.ReplaceAll(text, `\n`, "\n"))
				continue
			}
			args = append(args, words(line)...)
		}
		s, entries, err := parseBag(dir, args, stdin)
		return strings.ReplaceAll(bagText(s, entries, err), dir, "/dir")
	})
}

// words parts a line at blanks outside of single quotes.
func words(line string) []string {
	var found []string
	for i, part := range strings.Split(line, "'") {
		if i%2 == 1 {
			found = append(found, part)
		} else {
			found = append(found, strings.Fields(part)...)
		}
	}
	return found
}

func bagText(s *job.Spec, entries []job.Entry, err error) string {
	if err != nil {
		return fmt.Sprintf("error %d: %v\n", job.CodeOf(err), err)
	}
	var b strings.Builder
	bag := s.Bag
	fmt.Fprintf(&b, "%s: need %d cores %s, limit %s, retries %d, max fails %d, throttle %d\n", s.Name, bag.Need.CPUs, job.FormatSize(bag.Need.Mem),
		job.FormatDuration(bag.TimeLimit), bag.Retries, bag.MaxFails, bag.Throttle)
	if bag.Several() {
		fmt.Fprintf(&b, "%s; each starts the command: %v\n", bag.Needs().Words(), bag.EachRank)
	}
	fmt.Fprintf(&b, "out %s, err %s, joblog %q, env %q\n", bag.Stdout, bag.Stderr, bag.Joblog, bag.Env)
	request, err := json.Marshal(s.Request)
	fmt.Fprintf(&b, "request %s, %v\n", request, err)
	for i, e := range entries {
		fmt.Fprintf(&b, "%s: %q\n", bag.TaskID(e, i), bag.Argv(e, i))
	}
	return b.String()
}

func TestHelpNamesValues(t *testing.T) {
	fs := pflag.NewFlagSet("bag", pflag.ContinueOnError)
	new(BagOptions).Register(fs)
	help := fs.FlagUsages()
	for _, want := range []string{"-N, --nodes MIN[-MAX]", "--mem SIZE", "--each-line FILE", "-0, --null ", "--exclusive ", "-a, --array INDICES", "--sbatch-arg ARG"} {
		if !strings.Contains(help, want) {
			t.Errorf("help lacks %q:\n%s", want, help)
		}
	}
}

func runFile(dir, file string, flags ...string) (*Job, error) {
	fs := pflag.NewFlagSet("run", pflag.ContinueOnError)
	o := &FileOptions{Env: []string{"PATH=/bin:/usr/bin"}}
	o.Register(fs)
	if err := fs.Parse(flags); err != nil {
		return nil, err
	}
	return o.Job(file, dir, nil)
}

func TestBagFile(t *testing.T) {
	dir := userDir(t)
	j, err := runFile(dir, "sub/bag.toml", "--workers=3", "--on=local")
	if err != nil {
		t.Fatal(err)
	}
	s := j.Spec
	if s.Dir != filepath.Join(dir, "sub") || s.Request.Workers != 3 || s.Request.On != "local" || s.Bag.Need.Mem != 1<<30 || len(j.Entries) != 1 {
		t.Errorf("job is %+v with %q", s, j.Entries)
	}
	if got := s.Bag.Argv(j.Entries[0], 0); !slices.Equal(got, []string{"/bin/sh", "-c", "wc -l < x.txt > x.n"}) {
		t.Errorf("the task runs %q", got)
	}
}

func TestMapReduceFile(t *testing.T) {
	dir := userDir(t)
	j, err := runFile(dir, filepath.Join(dir, "mr.toml"))
	if err != nil {
		t.Fatal(err)
	}
	m := j.Spec.MapReduce
	if m.Inputs[0] != filepath.Join(dir, "lines.txt") || len(m.Files) != 1 || len(j.Notes) != 1 || !slices.Contains(m.Env, "PATH=/bin:/usr/bin") {
		t.Errorf("job is %+v, notes %q", m, j.Notes)
	}
}

func TestFileErrors(t *testing.T) {
	dir := userDir(t)
	for _, tc := range []struct {
		file, want string
		flags      []string
	}{
		{"nosuch.toml", "nosuch.toml: cannot read the job file: no such file or directory; check the path", nil},
		{"bad.toml", `bad.toml:3: unknown key "comand"; did you mean "command"?`, nil},
		{"retries.toml", `retries.toml:4: "-1" is not a number in the allowed range; write a whole number from 0 to 32767`, nil},
		{"sub/bag.toml", `--mem: "much" is not a size`, []string{"--mem", "much"}},
	} {
		_, err := runFile(dir, tc.file, tc.flags...)
		if err == nil || !strings.HasPrefix(err.Error(), tc.want) || job.CodeOf(err) != job.CodeConfig {
			t.Errorf("%s %q: error is %v (%d), want %s", tc.file, tc.flags, err, job.CodeOf(err), tc.want)
		}
	}
}

func TestBrokenStdin(t *testing.T) {
	_, _, err := parseBag(t.TempDir(), []string{"echo"}, iotest.ErrReader(errors.New("torn")))
	if job.CodeOf(err) != job.CodeIO {
		t.Errorf("error is %v", err)
	}
}

// TestMillionLines: many entries are kept without a copy of each.
func TestMillionLines(t *testing.T) {
	const n = 1_000_000
	text := strings.Repeat("0123456789abcdef\n", n)
	_, entries, err := parseBag(t.TempDir(), []string{"echo"}, strings.NewReader(text))
	if err != nil || len(entries) != n || entries[n-1][0] != "0123456789abcdef" {
		t.Fatalf("%d entries, %v", len(entries), err)
	}
	allocations := testing.AllocsPerRun(1, func() { parse.OneColumn(parse.SplitLines(text, false)) })
	if allocations > 10 {
		t.Errorf("%v allocations for entries of one text", allocations)
	}
}

func BenchmarkMillionLines(b *testing.B) {
	text := strings.Repeat("0123456789abcdef\n", 1_000_000)
	dir := b.TempDir()
	for b.Loop() {
		if _, _, err := parseBag(dir, []string{"echo"}, strings.NewReader(text)); err != nil {
			b.Fatal(err)
		}
	}
}

func FuzzBag(f *testing.F) {
	f.Add("echo\n{}\n:::\na\nb\n:::+\n1\n2", "")
	f.Add("--each-line\n-\n--\nsort {} | uniq", "x y\n\r\nz")
	f.Add("-a1-10%3\n--retries=2\n-N2-4\n--mem\n1G\nx {2}", "")
	f.Add("-I\nx\x9c\n--\necho\nx\x9c\n:::\na", "")
	dir := userDir(f)
	f.Fuzz(func(t *testing.T, line, stdin string) {
		if strings.Contains(line, "9999") || strings.Contains(line, "::::") || strings.Contains(line, "each-line") && strings.Contains(line, "/") {
			return // large arrays are slow, and no files but the user's are read
		}
		s, entries, err := parseBag(dir, strings.Split(line, "\n"), strings.NewReader(stdin))
		if err != nil {
			return
		}
		if err := s.Validate(); err != nil {
			t.Fatalf("the job is not sound: %v", err)
		}
		for i, e := range entries[:min(len(entries), 10)] {
			if len(s.Bag.Argv(e, i)) == 0 {
				t.Fatalf("entry %q has no command in %q", e, s.Bag.Command)
			}
		}
	})
}
