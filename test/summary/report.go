package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
)

// event is a line of go test -json; "go doc test2json" describes it.
type event struct {
	Action, Package, Test, Output string
	Elapsed                       float64 // seconds
}

// test is a test of a package, or with an empty name what the package itself prints.
type test struct{ pkg, name string }

// slowest is how many seconds a test takes at least that is listed among those which take long.
const slowest = 10

// report prints the results of packages when they are known.
type report struct {
	to      io.Writer
	tests   []test            // those with output, in the order of their first line
	outputs map[test][]string // lines, until a test has passed or was skipped
	skipped strings.Builder
	slow    strings.Builder // tests of slowest seconds and more, with their seconds
}

func (r *report) read(events io.Reader) error {
	lines := bufio.NewReader(events)
	for {
		line, err := lines.ReadBytes('\n')
		var e event
		switch {
		case len(line) > 0 && json.Unmarshal(line, &e) != nil:
			_, _ = r.to.Write(line) // not an event: the go command itself says something
		case len(line) > 0:
			r.add(e)
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (r *report) add(e event) {
	at := test{e.Package, e.Test}
	switch e.Action {
	case "build-output":
		fmt.Fprint(r.to, e.Output)
	case "output":
		if len(r.outputs[at]) == 0 {
			r.tests = append(r.tests, at)
		}
		r.outputs[at] = append(r.outputs[at], e.Output)
	case "skip", "pass", "fail":
		if e.Test == "" {
			r.end(at, e.Action == "fail")
			return
		}
		if e.Elapsed >= slowest && !strings.Contains(e.Test, "/") {
			fmt.Fprintf(&r.slow, "%7.1f %s %s\n", e.Elapsed, e.Package, e.Test)
		}
		if e.Action == "skip" {
			fmt.Fprintf(&r.skipped, "%s %s: %s\n", e.Package, e.Test, reason(r.outputs[at]))
		}
		if e.Action != "fail" {
			delete(r.outputs, at)
		}
	}
}

// end prints the result of a package; if it failed, with all output except that of tests which passed.
func (r *report) end(pkg test, failed bool) {
	for _, t := range r.tests {
		if failed && t.pkg == pkg.pkg && t != pkg {
			fmt.Fprint(r.to, strings.Join(r.outputs[t], ""))
			delete(r.outputs, t) // a test that wrote after its end is twice in the list
		}
	}
	for _, line := range r.outputs[pkg] {
		if failed || strings.HasPrefix(line, "ok  \t") {
			fmt.Fprint(r.to, line)
		}
	}
	r.tests = slices.DeleteFunc(r.tests, func(t test) bool {
		if t.pkg == pkg.pkg {
			delete(r.outputs, t)
		}
		return t.pkg == pkg.pkg
	})
}

// told is a line that a test logs, after the place.
var told = regexp.MustCompile(`^ *\S+\.go:\d+: (.*)`)

// reason returns what a skipped test logged.
func reason(lines []string) string {
	var words []string
	for _, line := range lines {
		if m := told.FindStringSubmatch(line); m != nil {
			words = append(words, m[1])
		}
	}
	return strings.Join(words, "; ")
}
