package arch

import (
	"bytes"
	"go/scanner"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// mostTokens is how many tokens of Go each folder of the product may have: comments, tests and generated files do not count, and
// neither longer lines nor moves within a folder change the figure. A change that needs more raises the number, and says in its
// row what for. A change that needs less lowers it.
var mostTokens = map[string]struct {
	tokens int
	reason string // of the last time that it was raised
}{
	"command":   {52850, "status asks for what lists have, and which runs are over"},
	"compat":    {26564, "what Nextflow 25 and later need of hq: forms of its output, filters, wait, and when the end of a job is told"},
	"core":      {233667, "the texts of array indices take a third of the memory"},
	"driver":    {83706, "the owner of rented machines is chosen once"},
	"hits":      {25370, ""},
	"mapreduce": {54382, "workers of a gang reach each other over the server of map outputs"},
	"node":      {85631, "collected output is found by 16 bytes for each task"},
	"server":    {92910, "which runs are over is told by the coordinator; tasks and attempts come one at a time, in little memory"},
	"show":      {40372, "output is printed while the journal is read"},
	"simulate":  {42536, "partitions with queues of their own; reading a log takes memory once"},
	"sys":       {22567, "added tasks are packed as they are on disk, and commands that read them know only where each is"},
	"wire":      {9759, "the rest of a message that is received has a reader of its own"},
}

// TestWeight: the product grows only where someone says what for.
func TestWeight(t *testing.T) {
	const product = root + "/internal"
	found := map[string]int{}
	err := filepath.WalkDir(product, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && d.Name() == "testdata":
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if bytes.Contains(text[:min(len(text), 300)], []byte("Code generated")) {
			return nil
		}
		below, err := filepath.Rel(product, path)
		if err != nil {
			return err
		}
		folder, _, _ := strings.Cut(filepath.ToSlash(below), "/")
		found[folder] += tokens(text)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for folder, n := range found {
		if most := mostTokens[folder].tokens; n > most {
			t.Errorf("internal/%s has %d tokens; it may have %d. Make it smaller, or raise the number in mostTokens and say what for", folder, n, most)
		}
	}
	for folder := range mostTokens {
		if found[folder] == 0 {
			t.Errorf("mostTokens has a row for internal/%s, which is not there", folder)
		}
	}
}

// tokens counts the tokens of a file, without comments and the semicolons that ends of lines stand for.
func tokens(text []byte) (n int) {
	var s scanner.Scanner
	s.Init(token.NewFileSet().AddFile("", -1, len(text)), text, nil, 0)
	for {
		switch _, kind, literal := s.Scan(); {
		case kind == token.EOF:
			return n
		case kind != token.SEMICOLON || literal != "\n":
			n++
		}
	}
}
