package main

import (
	"bytes"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"berth/lab/page"
	"berth/test/support/program"
)

// few are the cases that each run of the tests makes: with programs that Debian always has.
var few = []string{"cat-1", "date-1", "false-1", "ls-1", "sort-2", "sha256sum-1", "tr-1", "wc-1", "split-1", "timeout-2", "xargs-2", "find-2",
	"gzip-1", "tar-1", "sed-1", "grep-1", "diff-1", "mawk-1", "dash-1", "bash-1", "perl-1", "python3-6"}

// TestFewPlanted runs a few programs with all functions planted and checks that their behaviour is
// unchanged.
func TestFewPlanted(t *testing.T) {
	cases, err := parseCases(casesText)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	berth, err := program.Build(dir)
	if err != nil {
		t.Fatal(err)
	}
	o := &options{Run: &page.Run{Repeat: 1}, berth: berth, workers: 2, bound: time.Minute}
	cases = slices.DeleteFunc(cases, func(c testCase) bool { return !slices.Contains(few, c.name) })
	tally, err := o.perform(t.Context(), dir, cases)
	if err != nil {
		t.Fatal(err)
	}
	if runtime.GOARCH != "amd64" || strings.Contains(tally.why, "ptrace is forbidden") {
		t.Skip("nothing can be planted on this machine: " + tally.why)
	}
	if tally.alone+tally.crashes+tally.differences+tally.unjudged > 0 || tally.cases < len(few)-3 {
		t.Errorf("of %d cases:\n%s", len(few), tally)
	}
}

// TestDifferences checks that every difference between runs is found.
func TestDifferences(t *testing.T) {
	c, err := parseCase("times: sh -c 'a b' < in.txt && ls 2>any > out")
	if err != nil {
		t.Fatal(err)
	}
	run := func(change func(*outcome)) *outcome {
		o := &outcome{commands: []ended{{stdout: []byte("took 5 s\n")}, {code: 1, stderr: []byte("x")}}, files: map[string]string{"a": "1"}}
		change(o)
		return o
	}
	want := run(func(*outcome) {})
	for _, tt := range []struct {
		name   string
		change func(*outcome)
		found  string
		crash  bool
	}{
		{"nothing", func(*outcome) {}, "", false},
		{"digits where times are told", func(o *outcome) { o.commands[0].stdout = []byte("took 12 s\n") }, "", false},
		{"standard error that is not compared", func(o *outcome) { o.commands[1].stderr = nil }, "", false},
		{"output", func(o *outcome) { o.commands[0].stdout = []byte("took s!\n") }, "standard output: byte 5", false},
		{"errors", func(o *outcome) { o.commands[0].stderr = []byte("oh") }, "standard error", false},
		{"code", func(o *outcome) { o.commands[1].code = 0 }, "ls ends with 0, not 1", false},
		{"signal", func(o *outcome) { o.commands[0].code = 139 }, "sh ends with 139", true},
		{"no end", func(o *outcome) { o.commands[0].hung = true }, "does not end", true},
		{"file", func(o *outcome) { o.files["a"] = "2" }, "file a", false},
		{"file gone", func(o *outcome) { delete(o.files, "a") }, "file a", false},
		{"new file", func(o *outcome) { o.files["b"] = "2" }, "file b is new", false},
	} {
		found := compare(&c, want, run(tt.change))
		if tt.found == "" && len(found) > 0 || tt.found != "" && (len(found) != 1 || !strings.Contains(found[0].what, tt.found) || found[0].crash != tt.crash) {
			t.Errorf("%s: %+v, want %q", tt.name, found, tt.found)
		}
	}
}

// TestCases checks that the table is parsed as intended, and that its inputs are always the same.
func TestCases(t *testing.T) {
	got, err := parseCases("# a remark\n[one two]\nx 'a b' c'd e'\nfor y: x < in '<' && y > out\nx\n")
	if err != nil || len(got) != 3 {
		t.Fatal(got, err)
	}
	if a := got[0].commands[0].args; !slices.Equal(a, []string{"x", "a b", "cd e"}) || got[0].name != "x-1" || got[2].name != "x-2" {
		t.Errorf("%+v", got)
	}
	y := got[1]
	if y.name != "y-1" || len(y.commands) != 2 || y.commands[0].in != "in" || !slices.Equal(y.commands[0].args, []string{"x", "<"}) || y.commands[1].out != "out" {
		t.Errorf("%+v", y)
	}
	for _, bad := range []string{"x 'a", "x <", "&& y", "for z:"} {
		if _, err := parseCases(bad); err == nil || !strings.Contains(err.Error(), "cases.txt:1: ") {
			t.Errorf("%q: %v", bad, err)
		}
	}
	one, err := inputs()
	if err != nil {
		t.Fatal(err)
	}
	two, _ := inputs()
	for name := range one {
		if string(one[name]) != string(two[name]) {
			t.Errorf("%s differs from run to run", name)
		}
	}
}

// TestInBags runs two cases in a bag and in a second bag with hits, of which nothing may differ, and damages a program.
func TestInBags(t *testing.T) {
	cases, err := parseCases(casesText)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	berth, err := program.Build(dir)
	if err != nil {
		t.Fatal(err)
	}
	o := &options{Run: &page.Run{Repeat: 1}, berth: berth, bound: time.Minute, first: "0.1"}
	cases = slices.DeleteFunc(cases, func(c testCase) bool { return c.name != "cat-1" && c.name != "false-1" })
	tally, err := o.inBags(t.Context(), dir, cases)
	if err != nil {
		t.Fatal(err)
	}
	if tally.runs != 2 || tally.crashes+tally.differences+tally.unjudged+tally.plain > 0 {
		t.Errorf("two cases:\n%s", tally)
	}
}

// TestMutateFile: damage depends on the seed alone, and is some.
func TestMutateFile(t *testing.T) {
	file := bytes.Repeat([]byte("berth"), 4000)
	for seed := range uint64(50) {
		one, two := mutateFile(rand.New(rand.NewPCG(seed, 1)), file), mutateFile(rand.New(rand.NewPCG(seed, 1)), file)
		if !bytes.Equal(one, two) {
			t.Errorf("seed %d damages in two ways", seed)
		}
	}
	if bytes.Equal(mutateFile(rand.New(rand.NewPCG(7, 0)), file), file) {
		t.Error("nothing was damaged")
	}
}
