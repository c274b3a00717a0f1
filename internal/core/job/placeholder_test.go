package job

import (
	"os/exec"
	"slices"
	"strings"
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
		b := &BagSpec{Array: tc.array}
		if err := b.SetCommand(tc.words, false); err != nil || !slices.Equal(b.Command, tc.want) || b.Shell != tc.shell {
			t.Errorf("the command of %q, %v is %q, %v, %v, want %q, %v", tc.words, tc.array, b.Command, b.Shell, err, tc.want, tc.shell)
		}
	}
}

// TestSeveralCommands: an entry is appended to one command only, of which it is an argument then.
func TestSeveralCommands(t *testing.T) {
	for _, words := range [][]string{
		{"wc -l"}, {"./fit --in"}, {"echo 'a; b'"}, {`echo "a & b" c\;d`}, {"sort 2>/dev/null"}, {"./fit >&2 2>&1 -x"}, {"A=1 B='x;y' ./fit"},
		{"./fit $(nproc; true) `id|wc`"}, {"cat <(ls; ls) -"}, {"echo ${A#x} a#b \\#"}, {"awk '{print $1; n++}'"}, {"cat <<<x"},
		{"awk", "x;y"}, {"sh", "-c", "a; b"}, {"ssh", "h", "ls -l"},
	} {
		b := &BagSpec{}
		if err := b.SetCommand(words, false); err != nil || !strings.HasSuffix(b.Command[len(b.Command)-1], "{}") {
			t.Errorf("%q is one command: %q, %v", words, b.Command, err)
		}
	}
	for _, words := range [][]string{
		{"echo x; sleep 1"}, {"a && b"}, {"a || b"}, {"a | b"}, {"a & b"}, {"a &"}, {"a;"}, {"a\nb"}, {"a\n"}, {"(a; b)"}, {"( a"}, {"{ a; b; }"},
		{"cat <<E\nx\nE"}, {"a # b"}, {"A=1 B=$x"}, {"> out"}, {"echo a >"}, {"echo 'a"}, {`echo "$(a"`}, {`a \`}, {"a &> b"}, {"a|&b"},
		{"for i in 1 2; do a; done"}, {"f() a"}, {"ssh", "h", "ls; sleep 1"}, {"ssh", "h", "cd x", "&&", "ls"},
	} {
		b := &BagSpec{}
		if err := b.SetCommand(words, false); err == nil || !strings.Contains(err.Error(), words[len(words)-1]+" {}") {
			t.Errorf("an entry is appended to %q: %q, %v", words, b.Command, err)
		}
		if err := b.SetCommand(words, true); err != nil || !strings.HasSuffix(b.Command[len(b.Command)-1], "{}") {
			t.Errorf("with --append %q is %q, %v", words, b.Command, err)
		}
	}
	b := &BagSpec{}
	if err := b.SetCommand([]string{"echo $BERTH_ENTRY; sleep 1"}, false); err != nil || b.Command[0] != "echo $BERTH_ENTRY; sleep 1" {
		t.Errorf("a command that reads its entry itself is %q, %v", b.Command, err)
	}
}

// TestTwoCommands: one command stays one with a further word behind it, and two joined are several, whatever they are made of.
func TestTwoCommands(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.SliceOfN(rapid.SampledFrom([]string{" ", ";", "&", "|", "a", "'", "\"", "\\", "`", "$(", ")", "(", "<", ">", "2", "#", "\n", "A=", "{", "}", "$"}), 1, 9)
		draw := func(label string) string { return "echo " + strings.Join(parts.Draw(t, label), "") }
		one, other := draw("one"), draw("other")
		if !isSimple(one) || !isSimple(other) {
			return
		}
		if !isSimple(one+" x") && !strings.HasSuffix(one, "\\") {
			t.Fatalf("%q is one command, but not with a further word", one)
		}
		if both := one + rapid.SampledFrom([]string{"; ", " && ", " | ", " & ", "\n"}).Draw(t, "join") + other; isSimple(both) {
			t.Fatalf("%q is taken for one command", both)
		}
	})
}

// TestPlaceholder: a placeholder that the user chose is the only one of the command, and no entry is appended.
func TestPlaceholder(t *testing.T) {
	entry := Entry{"x y", "b"}
	for _, tc := range []struct {
		words []string
		want  string
	}{
		{[]string{"grep", "-E", "[0-9]{1}x", "@"}, "grep -E '[0-9]{1}x' 'x y' b"},
		{[]string{"awk", "{}END", "in=@"}, "awk '{}END' 'in=x y b'"},
		{[]string{"awk '{}END{print 1}' @; true"}, "awk '{}END{print 1}' 'x y' b; true"},
		{[]string{"true; echo {1}"}, "true; echo {1}"}, {[]string{"true"}, "true"}, {[]string{"@"}, "/bin/sh -c 'x y' b"},
	} {
		b := &BagSpec{Placeholder: "@"}
		if err := b.SetCommand(tc.words, false); err != nil || b.CommandLine(entry, 0) != tc.want || b.MaxColumn() != 0 {
			t.Errorf("%q runs %s, %v, want %s", tc.words, b.CommandLine(entry, 0), err, tc.want)
		}
		if b.Shell {
			if argv := b.Argv(Entry{"xy"}, 0); strings.Contains(argv[2], "@") {
				t.Errorf("the shell of %q gets %q", tc.words, argv)
			}
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
	if got := (&BagSpec{Array: true}).OutputPath("/w/{job}/{task}.out", "bag-3", Entry{"40"}, 3, 0); got != "/w/bag-3/40.out" {
		t.Errorf("output path is %q", got)
	}
	if got := (&BagSpec{}).OutputPath(Discard, "bag-3", Entry{"40"}, 3, 0); got != Discard {
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
