package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// users are the packages whose tests use a package most, and run if the package's own tests notice nothing.
var users = map[string][]string{
	"engine":   {"sim"},
	"extsort":  {"mapreduce"},
	"files":    {"worker", "transfer"},
	"journal":  {"coordinator", "results"},
	"plan":     {"engine", "sim"},
	"process":  {"worker"},
	"sched":    {"engine", "sim"},
	"transfer": {"worker", "driver/ssh"},
	"wire":     {"coordinator", "worker"},
}

// runner runs tests on changed sources.
type runner struct {
	tree    *tree
	scratch string
	limit   time.Duration // for the tests of one package
	clean   map[*pkg]*cleanRun
}

// cleanRun is what the tests of a package do without a change.
type cleanRun struct {
	limit time.Duration
	flaky []string // tests that failed, and therefore say nothing
}

// suite returns the packages whose tests run for a mutant of p.
func (r *runner) suite(p *pkg) ([]*pkg, error) {
	suite := []*pkg{p}
	for _, name := range users[p.name()] {
		found := r.tree.named(name)
		if len(found) == 0 {
			return nil, fmt.Errorf("no package %q, whose tests use %s", name, p.name())
		}
		suite = append(suite, found[0])
	}
	return slices.DeleteFunc(suite, func(p *pkg) bool { return len(p.TestGoFiles)+len(p.XTestGoFiles) == 0 }), nil
}

// overlay writes the changed file and the description of the overlay, and returns the latter's path.
func (r *runner) overlay(s *site) (string, error) {
	src, err := os.ReadFile(s.file)
	if err != nil {
		return "", err
	}
	changed := slices.Concat(src[:s.start], []byte(s.text), src[s.end:])
	file := filepath.Join(r.scratch, "changed.go")
	if err := os.WriteFile(file, changed, 0o600); err != nil {
		return "", err
	}
	desc, err := json.Marshal(map[string]any{"Replace": map[string]string{s.file: file}})
	if err != nil {
		return "", err
	}
	path := filepath.Join(r.scratch, "overlay.json")
	return path, os.WriteFile(path, desc, 0o600)
}

// compiles reports whether the package of the site compiles with the change.
func (r *runner) compiles(ctx context.Context, s *site) (bool, error) {
	overlay, err := r.overlay(s)
	if err != nil {
		return false, err
	}
	cmd := exec.CommandContext(ctx, "go", "build", "-overlay", overlay, s.pkg.ImportPath)
	cmd.Dir = r.tree.dir
	return cmd.Run() == nil, ctx.Err()
}

// try runs the tests on one mutant.
func (r *runner) try(ctx context.Context, s *site) (Result, error) {
	res := Result{Mutant: s.Mutant, Outcome: Survived, Where: r.where(s)}
	suite, err := r.suite(s.pkg)
	if err != nil {
		return res, err
	}
	began := time.Now()
	for _, p := range suite {
		clean, err := r.cleanRun(ctx, p)
		if err != nil {
			return res, err
		}
		overlay, err := r.overlay(s)
		if err != nil {
			return res, err
		}
		if done, err := r.tryIn(ctx, &res, p, clean, overlay); done || err != nil {
			return res, err
		}
	}
	res.Seconds = time.Since(began).Round(100 * time.Millisecond).Seconds()
	return res, nil
}

// tryIn runs the tests of one package on a mutant, and reports whether the outcome is known.
func (r *runner) tryIn(ctx context.Context, res *Result, p *pkg, clean *cleanRun, overlay string) (bool, error) {
	began := time.Now()
	defer func() { res.Seconds = time.Since(began).Round(100 * time.Millisecond).Seconds() }()
	skip := slices.Clone(clean.flaky)
	for range 3 {
		out, err := r.test(ctx, p, clean.limit, "-overlay="+overlay, "-failfast", "-skip="+exactly(skip))
		if err == nil || ctx.Err() != nil {
			return false, ctx.Err()
		}
		if unbuilt(out) {
			res.Outcome, res.By = Invalid, p.name()+": "+firstLine(out)
			return true, nil
		}
		failed := failures(out)
		res.By = p.name() + ": " + strings.Join(failed, ", ")
		if len(failed) == 0 { // the whole binary ended: by a panic, a fatal error, a limit
			res.Outcome, res.By = Killed, p.name()+": "+ending(out)
			return true, nil
		}
		// A test that depends on time may have failed for another reason.
		if _, err := r.test(ctx, p, clean.limit, "-overlay="+overlay, "-run="+exactly(failed)); err != nil {
			res.Outcome = Killed
			return true, ctx.Err()
		}
		res.Outcome = Unsure
		skip = append(skip, failed...)
	}
	return false, nil
}

// sameKill reports whether the tests that noticed the mutant in another run, "package: TestA, TestB", notice it again.
func (r *runner) sameKill(ctx context.Context, s *site, by string) (bool, error) {
	name, tests, _ := strings.Cut(by, ": ")
	found := r.tree.named(name)
	if !strings.HasPrefix(tests, "Test") && !strings.HasPrefix(tests, "Fuzz") || len(found) == 0 {
		return false, nil
	}
	run := "-run=" + exactly(strings.Split(tests, ", "))
	began := time.Now()
	if out, err := r.test(ctx, found[0], r.limit, run); err != nil || strings.Contains(out, noTests) {
		return false, ctx.Err() // they are gone, or say nothing
	}
	limit := r.limitAfter(time.Since(began))
	overlay, err := r.overlay(s)
	if err != nil {
		return false, err
	}
	out, err := r.test(ctx, found[0], limit, "-overlay="+overlay, run)
	return err != nil && !unbuilt(out), ctx.Err()
}

// limitAfter returns the limit for tests that took this long without a change.
func (r *runner) limitAfter(clean time.Duration) time.Duration {
	return min(r.limit, 4*clean+time.Minute)
}

// unbuilt reports whether the output is that of a go test that could not build the tests.
func unbuilt(out string) bool {
	return strings.Contains(out, "[build failed]") || strings.Contains(out, "[setup failed]")
}

// noTests is what go test says if a pattern matches none.
const noTests = "no tests to run"

// cleanRun runs the tests of an unchanged package once: how long they take bounds the runs with changes, and tests that fail
// are not asked.
func (r *runner) cleanRun(ctx context.Context, p *pkg) (*cleanRun, error) {
	if c, ok := r.clean[p]; ok {
		return c, nil
	}
	began := time.Now()
	out, err := r.test(ctx, p, r.limit)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	c := &cleanRun{limit: r.limitAfter(time.Since(began))}
	if err != nil {
		if c.flaky = failures(out); len(c.flaky) == 0 {
			return nil, fmt.Errorf("the unchanged tests of %s fail: %s", p.ImportPath, out)
		}
		fmt.Printf("not asked, as they fail without a change: %s: %s\n", p.name(), strings.Join(c.flaky, ", "))
	}
	r.clean[p] = c
	return c, nil
}

// contained is a shell program that runs a command with limits: 8 GB of memory and 4 GB for each file.
const contained = `ulimit -v 8000000 && ulimit -f 8000000 && "$@"`

// test runs the tests of a package and returns what they print.
func (r *runner) test(ctx context.Context, p *pkg, limit time.Duration, flags ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*limit+time.Minute) // go test also compiles
	defer cancel()
	args := []string{"sh", "-c", contained, "sh", "go", "test", "-count=1", "-vet=off", "-timeout=" + limit.String()}
	if os.Getuid() == 0 {
		args = append([]string{"unshare", "--pid", "--fork", "--kill-child", "--mount-proc"}, args...)
	}
	args = append(append(args, flags...), p.ImportPath)
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir = r.tree.dir
	cmd.WaitDelay = time.Second
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	return out.String(), err
}

func (r *runner) where(s *site) string {
	file, err := filepath.Rel(r.tree.dir, s.file)
	if err != nil {
		file = s.file
	}
	return fmt.Sprintf("%s:%d", file, s.line)
}

// exactly returns the pattern of the go command for these tests and no others.
func exactly(tests []string) string { return "^(" + strings.Join(tests, "|") + ")$" }

var failure = regexp.MustCompile(`(?m)^--- FAIL: (\w+)`)

// failures returns the names of the tests that failed according to the output of go test.
func failures(out string) []string {
	var names []string
	for _, m := range failure.FindAllStringSubmatch(out, -1) {
		if !slices.Contains(names, m[1]) {
			names = append(names, m[1])
		}
	}
	return names
}

var end = regexp.MustCompile(`(?m)^(panic: .*|fatal error: .*|signal: .*|SIG.*)`)

// ending returns the line of the output that says why a test binary ended.
func ending(out string) string {
	if line := end.FindString(out); line != "" {
		return line
	}
	return firstLine(out)
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return line
}
