package main

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"syscall"
)

// crashes are the signals that end a damaged program.
var crashes = []int{128 + int(syscall.SIGSEGV), 128 + int(syscall.SIGILL), 128 + int(syscall.SIGBUS), 128 + int(syscall.SIGTRAP),
	128 + int(syscall.SIGABRT), 128 + int(syscall.SIGFPE), 128 + int(syscall.SIGSYS)}

// difference is one difference in another run of a case.
type difference struct {
	what  string
	crash bool // it ended by a signal, or did not end, and should not have
}

// compare returns the differences in another run of the case.
func compare(c *testCase, want, got *outcome) (all []difference) {
	for i := range want.commands {
		w, g, name := &want.commands[i], &got.commands[i], c.commands[i].args[0]
		switch {
		case g.hung && !w.hung:
			all = append(all, difference{name + " does not end", true})
		case g.code != w.code:
			all = append(all, difference{fmt.Sprintf("%s ends with %d, not %d: %s", name, g.code, w.code, tail(g.stderr)), slices.Contains(crashes, g.code)})
		}
		if !same(c, w.stdout, g.stdout) {
			all = append(all, difference{what: name + ", standard output: " + first(w.stdout, g.stdout)})
		}
		if !c.commands[i].anyError && !same(c, w.stderr, g.stderr) {
			all = append(all, difference{what: name + ", standard error: " + first(w.stderr, g.stderr)})
		}
	}
	for _, path := range slices.Sorted(maps.Keys(want.files)) {
		if want.files[path] != got.files[path] {
			all = append(all, difference{what: fmt.Sprintf("file %s: %q, not %q", path, got.files[path], want.files[path])})
		}
	}
	for _, path := range slices.Sorted(maps.Keys(got.files)) {
		if _, ok := want.files[path]; !ok {
			all = append(all, difference{what: "file " + path + " is new"})
		}
	}
	return all
}

func same(c *testCase, a, b []byte) bool {
	return bytes.Equal(a, b) || c.times && bytes.Equal(blank(a), blank(b))
}

// blank removes digits, and blanks, whose number depends on the number of digits.
func blank(b []byte) []byte {
	return bytes.Map(func(r rune) rune {
		if r >= '0' && r <= '9' || r == ' ' {
			return -1
		}
		return r
	}, b)
}

// first describes where two outputs begin to differ, with some bytes of each.
func first(want, got []byte) string {
	n := 0
	for n < min(len(want), len(got)) && want[n] == got[n] {
		n++
	}
	around := func(b []byte) []byte { return b[max(0, n-20):min(len(b), n+40)] }
	return fmt.Sprintf("byte %d: %q, not %q", n, around(got), around(want))
}

func tail(b []byte) string { return fmt.Sprintf("%q", b[max(0, len(b)-120):]) }

// show prints how each command of a case ended.
func (c *testCase) show(o *outcome) {
	for i, e := range o.commands {
		fmt.Printf("%s: %s: exit code %d, %d bytes on standard output; standard error ends with %s\n",
			c.name, c.commands[i].args[0], e.code, len(e.stdout), tail(e.stderr))
	}
}
