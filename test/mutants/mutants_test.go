package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const source = `package tidy

import "errors"

const most = 3

// Tidy has a comment < here.
func (s *Shelf) Tidy(n int) (bool, error) {
	if n < most && // of them
		n != 0 {
		s.count++
	}
	for i := 0; i < n; i++ {
		s.put(i, 1,
			2)
	}
	if n > 7 {
		return false, errors.New("more than" + string(rune(8)))
	}
	return true, nil
}

func (s *Shelf) String() string {
	if s.count == 0 {
		return "empty"
	}
	return "full"
}
`

// writeTree makes a tree of one package with this file.
func writeTree(t *testing.T, folder, name, text string) *tree {
	t.Helper()
	dir := filepath.Join(t.TempDir(), folder)
	if err := os.MkdirAll(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	p := &pkg{Dir: dir, ImportPath: "berth/" + folder, GoFiles: []string{name}}
	return &tree{dir: dir, pkgs: []*pkg{p}, sites: map[*pkg][]site{}}
}

// TestSites finds each place where a kind of change applies, and none in headers of loops, errors and String methods.
func TestSites(t *testing.T) {
	tr := writeTree(t, "internal/tidy", "tidy.go", source)
	sites, err := tr.sitesOf(tr.pkgs[0])
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range sites {
		got = append(got, s.String())
	}
	want := []string{
		"tidy declaration: 3 → 4: in `most=3`",
		"tidy Shelf.Tidy: body dropped: in `if n<most&&n!=0`",
		"tidy Shelf.Tidy: < → <=: in `if n<most&&n!=0`",
		"tidy Shelf.Tidy: != → ==: in `if n<most&&n!=0` (statement 1, place 2)",
		"tidy Shelf.Tidy: 0 → 1: in `if n<most&&n!=0`",
		"tidy Shelf.Tidy: dropped: in `s.count++`",
		"tidy Shelf.Tidy: 0 → 1: in `i:=0`",
		"tidy Shelf.Tidy: < → <=: in `for i:=0;i<n;i++`",
		"tidy Shelf.Tidy: dropped: in `s.put(i,1,2)`",
		"tidy Shelf.Tidy: 1 → 2: in `s.put(i,1,2)`",
		"tidy Shelf.Tidy: 2 → 3: in `s.put(i,1,2)` (statement 1, place 2)",
		"tidy Shelf.Tidy: body dropped: in `if n>7`",
		"tidy Shelf.Tidy: > → >=: in `if n>7`",
		"tidy Shelf.Tidy: 7 → 8: in `if n>7`",
		"tidy Shelf.Tidy: false → true: in `return false,errors.New(\"more than\"+string(rune(8)))`",
		"tidy Shelf.Tidy: true → false: in `return true,nil`",
	}
	if !slices.Equal(got, want) {
		t.Errorf("sites:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestFind finds a mutant again after the package moved, the file got another name and lines were wrapped; in another package
// if the function moved; and not at all if the statement is another one now.
func TestFind(t *testing.T) {
	old := writeTree(t, "internal/tidy", "tidy.go", source)
	sites, err := old.sitesOf(old.pkgs[0])
	if err != nil {
		t.Fatal(err)
	}
	wrapped := strings.Replace(source, "n < most && // of them\n\t\tn != 0", "n < most && n != 0", 1)
	wrapped = strings.Replace(wrapped, "(i, 1,\n\t\t\t2)", "(\n\t\ti, 1, 2,\n\t)", 1)
	for _, folder := range []string{"internal/core/tidy", "internal/shelves"} {
		now := writeTree(t, folder, "shelf.go", "// Package tidy is wrapped.\n"+wrapped)
		for _, s := range sites {
			if found, err := now.find(s.Mutant); err != nil || found == nil {
				t.Errorf("%s: %s: found %v, %v", folder, s.Mutant, found, err)
			}
		}
	}
	changed := writeTree(t, "internal/tidy", "tidy.go", strings.Replace(source, "n > 7", "n > 9", 1))
	i := slices.IndexFunc(sites, func(s site) bool { return s.Change == "7 → 8" })
	if found, err := changed.find(sites[i].Mutant); err != nil || found != nil {
		t.Errorf("a statement that has changed: found %v, %v", found, err)
	}
}

// TestOverlay changes exactly the described bytes of the file, and leaves the file itself as it is.
func TestOverlay(t *testing.T) {
	tr := writeTree(t, "internal/tidy", "tidy.go", source)
	sites, err := tr.sitesOf(tr.pkgs[0])
	if err != nil {
		t.Fatal(err)
	}
	r := &runner{tree: tr, scratch: t.TempDir()}
	for _, c := range []struct{ change, was, is string }{
		{"> → >=", "n > 7", "n >= 7"},
		{"7 → 8", "n > 7", "n > 8"},
		{"true → false", "return true,", "return false,"},
	} {
		i := slices.IndexFunc(sites, func(s site) bool { return s.Change == c.change })
		if _, err := r.overlay(&sites[i]); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(filepath.Join(r.scratch, "changed.go"))
		if err != nil {
			t.Fatal(err)
		}
		if want := strings.Replace(source, c.was, c.is, 1); string(got) != want {
			t.Errorf("%s: %s", c.change, got)
		}
	}
	if now, err := os.ReadFile(sites[0].file); err != nil || string(now) != source {
		t.Errorf("the source itself: %s, %v", now, err)
	}
}

// TestLottery draws the same sites for the same seed, packages in turn, and no site twice.
func TestLottery(t *testing.T) {
	tr := writeTree(t, "internal/tidy", "tidy.go", source)
	draw := func(seed uint64) []string {
		l, err := tr.newLottery([]string{"tidy"}, seed)
		if err != nil {
			t.Fatal(err)
		}
		var drawn []string
		for s := l.draw(); s != nil; s = l.draw() {
			drawn = append(drawn, s.String())
		}
		return drawn
	}
	first := draw(1)
	if again := draw(1); !slices.Equal(first, again) {
		t.Errorf("seed 1 once more: %q, not %q", again, first)
	}
	if other := draw(2); slices.Equal(first, other) {
		t.Error("seed 2 draws in the same order as seed 1")
	}
	slices.Sort(first)
	if twice := len(first) - len(slices.Compact(slices.Clone(first))); twice > 0 || len(first) != 16 {
		t.Errorf("%d sites drawn, %d of them twice, not each of 16 once", len(first), twice)
	}
}

// TestReport prints a table with all outcomes, and the mutants whose outcome differs from that of a former run.
func TestReport(t *testing.T) {
	m := func(p string) Mutant {
		return Mutant{Package: p, Function: "f", Line: "x=1", Kind: Number, Change: "1 → 2"}
	}
	before := &Report{Seed: 1, Commit: "one", Packages: []string{"a", "b"}, Results: []Result{
		{Mutant: m("a"), Outcome: Killed, By: "a: TestF"}, {Mutant: m("b"), Outcome: Survived},
	}}
	after := &Report{Seed: 1, Commit: "two", Packages: before.Packages, Results: []Result{
		{Mutant: m("a"), Outcome: Survived, Where: "a.go:3"}, {Mutant: m("b"), Outcome: Survived},
	}}
	var out bytes.Buffer
	printTable(&out, before)
	printDifference(&out, before, after)
	for _, want := range []string{
		"| a | 1 | 1 | 0 | 0 | 0 | 0 | 0 |", "| all | 2 | 1 | 1 | 0 | 0 | 0 | 0 |", "survived:\n- b f: 1 → 2: in `x=1`",
		"killed → survived: a f: 1 → 2: in `x=1` a.go:3\n  before: a: TestF; now: no test", "1 of 2 outcomes are the same or",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in:\n%s", want, out.String())
		}
	}
}

// TestFailures takes the names of failed tests, without those of their parts, from the output of go test.
func TestFailures(t *testing.T) {
	out := "--- FAIL: TestA (0.00s)\n    --- FAIL: TestA/part (0.00s)\n--- FAIL: TestB (1.00s)\nFAIL\n"
	if got := failures(out); !slices.Equal(got, []string{"TestA", "TestB"}) {
		t.Errorf("failures: %q", got)
	}
	if got := ending("=== RUN\npanic: test timed out after 1m0s\nmore"); got != "panic: test timed out after 1m0s" {
		t.Errorf("ending: %q", got)
	}
}
