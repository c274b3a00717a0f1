package job

import (
	"strings"
	"testing"
)

// TestShell: the shell that a user named runs commands, else the user's own if its quotes are known, else /bin/sh.
func TestShell(t *testing.T) {
	for _, tt := range []struct {
		named, own string
		words      string // separated by commas
		want       string // the first three words of a task
	}{
		{"", "/usr/bin/zsh", "a | b", "/usr/bin/zsh -c a | b x"},
		{"", "/bin/bash", "{}", "/bin/bash -c x"},
		{"", "/usr/bin/fish", "a | b", "/bin/sh -c a | b x"},
		{"", "", "{}", "/bin/sh -c x"},
		{"dash", "/bin/bash", "a | b", "dash -c a | b x"},
		{"/bin/sh", "/bin/bash", "{}", "/bin/sh -c x"},
		{"bash", "", "module", "bash -c module x"}, // it may be a function of the user's
		{"", "/bin/bash", "gzip,-k", "gzip -k x"},
		{"", "/bin/bash", "/bin/sh,-c,{}", "/bin/sh -c x"},
	} {
		b := &BagSpec{ShellProgram: tt.named, Env: []string{"SHELL=" + tt.own}}
		if err := b.SetCommand(strings.Split(tt.words, ","), true); err != nil {
			t.Fatal(err)
		}
		b.ChooseShell()
		if got := strings.Join(b.Argv(Entry{"x"}, 0), " "); got != tt.want {
			t.Errorf("%+v: %s", tt, got)
		}
	}
}

// TestShellWord: words that only a shell interprets are found, but not arguments of programs that look like them.
func TestShellWord(t *testing.T) {
	for command, want := range map[string]string{
		"sort {} | uniq -c": "|", "make && ./run": "&&", "./fit {} > out": ">", "./fit 2>&1": "2>&1", "cat | $PAGER": "|",
		"cut -d | -f 1 {}": "", "find . -exec ls {} ;": "", "tr | ,": "", "a b": "", "| a": "", "sort >": "",
	} {
		if got := ShellWord(strings.Fields(command)); got != want {
			t.Errorf("%q: %q, want %q", command, got, want)
		}
	}
}
