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

// TestControlCharactersAreShown gives control characters to everything that users can name or print, and runs the commands that show it: a terminal gets none of them, and
// no line break, as they are.
func TestControlCharactersAreShown(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const evil = "a\x1b[2J\x07\x7f\u009b31m\rforged\nline"
	w.write("t.jsonl", `{"name":"\u001b[2Jt\u009b\u0007","command":["sh","-c","printf 'e\\033[2Jrr\\233\\r\\n' >&2; exit 3"]}`+"\n")
	w.write("in"+evil, "b\na\n")
	w.write("mapper", "#!/bin/sh\nprintf 'reporter:status:\\033[2J\\nreporter:counter:g\\033[2J,c\\033[2J,1\\n\\033[2J\\n' >&2; exit 3\n")
	shown := map[string]string{}
	show := func(args ...string) {
		r := w.berth(args...)
		shown[strings.Join(args, " ")] = r.stdout + r.stderr
	}
	show("bag", "--tasks", "t.jsonl")
	show("bag", "--retries", "0", "--stdout", "out\x1b[2J{task}", "--", "sh", "-c", "exit 3", "x", ":::", evil)
	show("mapreduce", "-D", "mapreduce.job.name=n", "-input", "in"+evil, "-output", "out"+evil, "-mapper", "./mapper", "-file", "mapper", "-D", "mapreduce.map.maxattempts=2")
	show("mapreduce", "--hadoop-messages", "-input", "in"+evil, "-output", "out"+evil, "-mapper", `sh -c "printf 'reporter:counter:g\033[2J,c\033[2J,1\n' >&2; exit 3"`, "-D", "x\x1b[2J=y")
	show("bag", "--stages\x1b[2J", "x")
	show("report", evil)
	show("status\x1b[2J")
	for _, id := range w.jobs() {
		for _, args := range [][]string{{"watch"}, {"report"}, {"report", "--tasks"}, {"status"}, {"explain"}, {"progress"}, {"wait"}, {"cancel"}, {"resume"}} {
			show(append(args, string(id))...)
		}
	}
	show("status")
	show("server", "status")
	show("plan", "mapreduce", "-input", "in"+evil, "-output", "new"+evil, "-mapper", "cat")
	show("plan", "bag", "--", "echo", ":::", evil)
	show("sample", evil)
	if n := len(w.jobs()); n != 4 {
		t.Errorf("%d jobs ran: %q", n, shown)
	}
	for command, text := range shown {
		for _, c := range text {
			if c != '\n' && c != '\t' && (c < ' ' || c >= 0x7f && c < 0xa0) {
				t.Errorf("%q in what it shows: %q: %q", c, command, text)
				break
			}
		}
		for line := range strings.Lines(text) {
			if strings.HasPrefix(line, "forged") || strings.HasPrefix(line, "line") {
				t.Errorf("a name makes a line of its own: %q: %q", command, line)
			}
		}
	}
}
