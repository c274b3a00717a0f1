package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"berth/internal/core/job"
)

// TestCheckProgram: a script that the command cannot run is refused, with what helps; what this machine does not have is not judged.
func TestCheckProgram(t *testing.T) {
	dir := t.TempDir()
	for name, mode := range map[string]os.FileMode{"fit.py": 0o644, "map.pl": 0o644, "run.sh": 0o755, "odd": 0o644} {
		text := map[string]string{"map.pl": "#!/usr/bin/env perl\n", "odd": "#!/bin/dash\n"}[name]
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	for command, says := range map[string]string{
		"./run.sh": "", "/elsewhere/fit.py": "", "none.py": "", "sort": "", "{}": "", "./{}.py": "",
		"./fit.py":   "./fit.py is not executable; run chmod +x ./fit.py, or name what runs it, as in python3 ./fit.py",
		"map.pl":     "map.pl is in this folder, but not in PATH; run chmod +x map.pl and write ./map.pl, or name what runs it, as in perl map.pl",
		"run.sh":     "run.sh is in this folder, but not in PATH; write ./run.sh",
		dir + "/odd": "or name what runs it, as in dash " + dir + "/odd",
	} {
		err := checkProgram(&job.Spec{Dir: dir, Bag: &job.BagSpec{Command: []string{command, "{}"}}})
		if (err == nil) != (says == "") || err != nil && !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want %q", command, err, says)
		}
	}
}

// TestCheckPresent: a program that is nowhere on the machine on which a bag runs is refused before anything runs; what may still come,
// or is found by another PATH, is not judged.
func TestCheckPresent(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "fit.py"), nil, 0o755); err != nil {
		t.Fatal(err)
	}
	check := func(s job.Spec, command string) error {
		bag := job.BagSpec{}
		if s.Bag != nil {
			bag = *s.Bag
		}
		bag.Command, s.Dir, s.Bag = []string{command, "{}"}, dir, &bag
		return CheckPresent(&s)
	}
	for command, says := range map[string]string{
		"./fit.py": "", dir + "/fit.py": "", "sh": "", "{}": "", "./{}.py": "",
		"./none.py":       "there is no file ./none.py; check its name and the current folder",
		dir + "/none.py":  "there is no file " + dir + "/none.py",
		"no-such-program": "there is no program no-such-program in PATH; check its name, or install it",
	} {
		if err := check(job.Spec{}, command); (err == nil) != (says == "") || err != nil && !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want %q", command, err, says)
		}
	}
	for _, s := range []job.Spec{{After: []job.ID{"bag-1"}}, {Bag: &job.BagSpec{Open: true}}, {Bag: &job.BagSpec{Shell: true}}, {Bag: &job.BagSpec{EnvSaid: []string{"PATH=/x"}}}} {
		if err := check(s, "./none.py"); err != nil {
			t.Errorf("%+v: %v", s.Bag, err)
		}
	}
}
