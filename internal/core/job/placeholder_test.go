package job

import (
	"os/exec"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestArgv(t *testing.T) {
	path := Entry{"/data/in.d/a.tar.gz"}
	pair := Entry{"x y", "b.txt"}
	for _, tc := range []struct {
		name    string
		command []string
		entry   Entry
		want    []string
	}{
		{"entry", []string{"echo", "{}"}, path, []string{"echo", "/data/in.d/a.tar.gz"}},
		{"parts", []string{"{.}", "{/}", "{//}", "{/.}", "{#}"}, path, []string{"/data/in.d/a.tar", "a.tar.gz", "/data/in.d", "a.tar", "8"}},
		{"within a word", []string{"o={/.}.bam"}, path, []string{"o=a.tar.bam"}},
		{"two columns, alone", []string{"echo", "{}"}, pair, []string{"echo", "x y", "b.txt"}},
		{"two columns, in a word", []string{"<{}>"}, pair, []string{"<x y b.txt>"}},
		{"columns by number", []string{"{2}", "{2.}", "{1}", "{-1}", "{-2}"}, pair, []string{"b.txt", "b", "x y", "b.txt", "x y"}},
		{"no placeholder", []string{"{0}", "{x}", "{", "{ }", "{}{"}, Entry{"v"}, []string{"{0}", "{x}", "{", "{ }", "v{"}},
		{"value like a placeholder", []string{"a{}b"}, Entry{"{}"}, []string{"a{}b"}},
		{"empty", []string{"echo", "{}"}, Entry{""}, []string{"echo", ""}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			b := &BagSpec{Command: tc.command}
			if got := b.Argv(tc.entry, 7); !slices.Equal(got, tc.want) {
				t.Errorf("Argv = %q, want %q", got, tc.want)
			}
		})
	}
}

func TestPathParts(t *testing.T) {
	// value: {.} {/} {//} {/.}, as GNU parallel gives them
	for value, want := range map[string][4]string{
		"a.b":      {"a", "a.b", ".", "a"},
		"a":        {"a", "a", ".", "a"},
		"d.e/a":    {"d.e/a", "a", "d.e", "a"},
		".bashrc":  {"", ".bashrc", ".", ""},
		"a.":       {"a.", "a.", ".", "a."},
		"/a":       {"/a", "a", "/", "a"},
		"/a/b/":    {"/a/b/", "", "/a", ""},
		"a//b.c.d": {"a//b.c", "b.c.d", "a", "b.c"},
		"":         {"", "", ".", ""},
		"/":        {"/", "", "/", ""},
	} {
		b := &BagSpec{Command: []string{"{.}", "{/}", "{//}", "{/.}"}}
		if got := b.Argv(Entry{value}, 0); !slices.Equal(got, want[:]) {
			t.Errorf("parts of %q are %q, want %q", value, got, want)
		}
	}
}

func TestBagCommand(t *testing.T) {
	for _, tc := range []struct {
		words []string
		array bool
		want  []string
		shell bool
	}{
		{[]string{"gzip"}, false, []string{"gzip", "{}"}, false},
		{[]string{"gzip", "-9"}, false, []string{"gzip", "-9", "{}"}, false},
		{[]string{"cp", "{}", "{.}.bak"}, false, []string{"cp", "{}", "{.}.bak"}, false},
		{[]string{"sort {} | uniq > {}.u"}, false, []string{"sort {} | uniq > {}.u"}, true},
		{[]string{"wc -l"}, false, []string{"wc -l {}"}, true},
		{[]string{"a b", "c"}, false, []string{"a b", "c", "{}"}, false},
		{[]string{"./sim"}, true, []string{"./sim"}, false},
		{[]string{"./sim $SLURM_ARRAY_TASK_ID"}, true, []string{"./sim $SLURM_ARRAY_TASK_ID"}, true},
		{[]string{"{}"}, false, []string{"/bin/sh", "-c", "{}"}, false},
	} {
		got, shell := BagCommand(tc.words, tc.array)
		if !slices.Equal(got, tc.want) || shell != tc.shell {
			t.Errorf("BagCommand(%q, %v) = %q, %v, want %q, %v", tc.words, tc.array, got, shell, tc.want, tc.shell)
		}
	}
}

func TestTaskIDAndOutputs(t *testing.T) {
	array, plain := &BagSpec{Array: true}, &BagSpec{}
	if got := array.TaskID(Entry{"40"}, 2); got != "40" {
		t.Errorf("id of an array's task is %q, want its index", got)
	}
	if got := plain.TaskID(Entry{"40"}, 2); got != "3" {
		t.Errorf("id of a task is %q, want its number from 1", got)
	}
	if got := (&BagSpec{Array: true}).OutputPath("/w/{job}/{task}.out", "bag-3", Entry{"40"}, 3); got != "/w/bag-3/40.out" {
		t.Errorf("output path is %q", got)
	}
	if got := (&BagSpec{}).OutputPath(Discard, "bag-3", Entry{"40"}, 3); got != Discard {
		t.Errorf("discarded output is %q", got)
	}
}

func TestCommandLine(t *testing.T) {
	direct := &BagSpec{Command: []string{"echo", "{}", "it's"}}
	if got := direct.CommandLine(Entry{"a b"}, 0); got != `echo 'a b' 'it'\''s'` {
		t.Errorf("command line is %s", got)
	}
	shell := &BagSpec{Command: []string{"echo {} > {#}.out"}, Shell: true}
	if got := shell.CommandLine(Entry{"a b"}, 0); got != `echo 'a b' > 1.out` {
		t.Errorf("command line is %s", got)
	}
}

// shellOutput runs a task of a shell bag.
func shellOutput(t interface{ Fatalf(string, ...any) }, command string, entry Entry) string {
	return outputOf(t, &BagSpec{Command: []string{command}, Shell: true}, entry)
}

func outputOf(t interface{ Fatalf(string, ...any) }, b *BagSpec, entry Entry) string {
	argv := b.Argv(entry, 0)
	out, err := exec.Command(argv[0], argv[1:]...).CombinedOutput()
	if err != nil {
		t.Fatalf("%q: %v: %s", argv, err, out)
	}
	return string(out)
}

// places are commands that print their entry and nothing else, with the entry in
// every sort of place that a shell has.
var places = []string{
	`printf %s {}`,
	`printf %s "{}"`,
	`printf %s '{}'`,
	`printf %s "$(printf %s {})"`,
	`printf %s "$(printf %s "{}")"`,
	"printf %s \"`printf %s {}`\"",
	`(printf %s {})`,
	`x="it's $(echo 'a)"b') (" ; printf %s "{}"`,
	`x='say "' ; printf %s {}`,
	`x=\'\" ; printf %s {}`,
	`{ printf %s {}; }`,
	`x= ; printf %s "${x:-{}}"`,
	`x=${HOME}; printf %s {}`,
}

func TestShellValuesStayWords(t *testing.T) {
	for _, place := range places {
		for _, value := range []string{"plain", "a b", "  two  ", "$HOME", "`id`", "$(id)", `q"q`, "q'q", `back\slash`, "*", "a;b|c&d", "-n", "#", "~", "(x)"} {
			if got := shellOutput(t, place, Entry{value}); got != value {
				t.Errorf("%s with %q prints %q", place, value, got)
			}
		}
	}
	if got := shellOutput(t, `echo $(({1}+1)) {2}`, Entry{"41", "a  b"}); got != "42 a  b\n" {
		t.Errorf("arithmetic prints %q", got)
	}
}

// TestValuesStayWordsInBash does the same with what only bash has.
func TestValuesStayWordsInBash(t *testing.T) {
	for _, place := range []string{`x=$'it\'s'; [[ -n {} ]] && printf %s {}`, `printf %s $'{}'`, `cat <(printf %s "{}")`, `x=$'{}\' '; printf %s {}`} {
		for _, value := range []string{"plain", "=ls", "a b", "$(id)", "q'q", `b\'s`} {
			b := &BagSpec{Command: []string{place}, Shell: true, ShellProgram: "bash"}
			if got := outputOf(t, b, Entry{value}); got != value {
				t.Errorf("%s with %q prints %q", place, value, got)
			}
		}
	}
}

func TestShellValuesStayWordsProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		value := rapid.StringOf(rapid.RuneFrom([]rune("ab \t\n'\"\\$`(){}*?[];&|<>!#~=-.é"))).Draw(t, "value")
		place := places[rapid.IntRange(0, 2).Draw(t, "place")]
		if got := shellOutput(t, place, Entry{value}); got != value {
			t.Fatalf("%s with %q prints %q", place, value, got)
		}
	})
}

// FuzzArgv: what the shell runs does not depend on a value that is not plain, only
// its parameters do.
func FuzzArgv(f *testing.F) {
	f.Add("echo {} {2} {#}", "a b")
	f.Add("{-1/}{//}", "x/y")
	f.Add("`\"${x:-{}}`", "'")
	f.Fuzz(func(t *testing.T, command, value string) {
		b := &BagSpec{Command: []string{command}, Shell: true}
		argv := b.Argv(Entry{value, value}, 0)
		if len(argv) < 3 {
			t.Fatalf("argument vector is %q", argv)
		}
		for _, m := range placeholder().FindAllStringSubmatch(command, -1) {
			if m[3] != "" {
				return // a part of a value may be plain
			}
		}
		if other := b.Argv(Entry{"x y", "x y"}, 0); !isPlain(value) && argv[2] != other[2] {
			t.Fatalf("the script %q depends on the value: %q", argv[2], other[2])
		}
	})
}
