package test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// odd are unusual names of files.
var odd = []string{"a b", "-dash", "it's", `q"uo$te` + "`", "*star", "new\nline", "ünï", "\xff\xfe", "{}", "{.}", "\\", "#x"}

// TestOddNames runs tasks on files with unusual names, in a folder with an unusual name,
// with a command and an environment that are not text. All bytes arrive unchanged.
func TestOddNames(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.dir = filepath.Join(w.dir, "da\xff ta")
	for _, name := range odd {
		w.write("files/"+name, "in "+name)
	}
	var list strings.Builder
	for _, name := range odd {
		list.WriteString("files/" + name + "\x00")
	}
	bag := func(stdin string, args ...string) {
		t.Helper()
		cmd := w.command(append([]string{"bag", "--null"}, args...)...)
		cmd.Stdin, cmd.Env = strings.NewReader(stdin), append(cmd.Env, "ODD=\xfe")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%q: %v\n%s", args, err, out)
		}
	}
	bag(list.String(), "--stdout", "out/{task}", "--", "cat", "--", "{}")
	bag(list.String(), "--stdout", "shell/{task}", "--", "cat -- {} && printf '\xfd%s' \"$ODD\" && pwd")
	for i, name := range odd {
		task := strconv.Itoa(i + 1)
		if got, want := w.read("out/"+task), "in "+name; got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
		if got, want := w.read("shell/"+task), "in "+name+"\xfd\xfe"+w.dir+"\n"; got != want {
			t.Errorf("%q in the shell: %q, want %q", name, got, want)
		}
	}

	w.must("mapreduce", "-input", "files", "-output", "o\xfd", "-mapper", "sed s/^/\xfc/", "-reducer", "cat")
	if got := w.output("o\xfd"); strings.Count(got, "\xfcin ") != len(odd) {
		t.Errorf("map and reduce of odd names: %q", got)
	}
	if _, err := os.Stat(filepath.Join(w.dir, "o\xfd", "_SUCCESS")); err != nil {
		t.Error(err)
	}
}

// TestOutputIsNotMixed checks that a bag of a new state folder does not write into the output that a bag
// with the same id has left in the working folder.
func TestOutputIsNotMixed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("bag-1/1.stdout", "precious\n")
	w.write("bag-2", "a file of that name\n")
	w.must("bag", "--", "echo", ":::", "new")
	if got := w.read("bag-1/1.stdout"); got != "precious\n" {
		t.Errorf("it was overwritten: %q", got)
	}
	if got := w.read("bag-3/1.stdout"); got != "new\n" {
		t.Errorf("output %q", got)
	}
}
