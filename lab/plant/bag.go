package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// runner runs the commands of cases as tasks of berth.
type runner interface {
	task(ctx context.Context, c *command, work string) (*ended, error)
	end(ctx context.Context) error
}

// site is a state folder of berth, and what its commands run with.
type site struct {
	berth, dir string
	env        []string
	temp       string // TMPDIR of tasks
	limit      string // task time limit of a command
}

// newSite returns a site below a folder, whose programs have the same environment as those of the others there.
func newSite(berth, dir, name, limit string) (*site, error) {
	s := &site{berth: berth, dir: filepath.Join(dir, name), temp: filepath.Join(dir, home), limit: limit}
	s.env = append(environment(dir), "BERTH_ON=local", "XDG_STATE_HOME="+filepath.Join(s.dir, "state"), "TMPDIR="+s.dir)
	return s, os.MkdirAll(s.dir, 0o755)
}

func (s *site) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, s.berth, args...)
	cmd.Dir, cmd.Env = s.dir, s.env
	return cmd
}

// run runs a command of berth, which must end with 0.
func (s *site) run(ctx context.Context, in io.Reader, args ...string) ([]byte, error) {
	cmd := s.command(ctx, args...)
	cmd.Stdin = in
	out, err := cmd.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		err = fmt.Errorf("%w: %s", err, exit.Stderr)
	}
	if err != nil {
		return nil, fmt.Errorf("berth %s: %w", strings.Join(args, " "), err)
	}
	return out, nil
}

// state returns the path of a file in the state folder.
func (s *site) state(name string) string { return filepath.Join(s.dir, "state", "berth", name) }

// analysed returns how many object files were analysed in order to be planted.
func (s *site) analysed() int {
	all, _ := os.ReadDir(s.state("trace/objects")) // it is missing if there are none
	return len(all)
}

// The files for the output of a task.
const (
	stdoutFile = "stdout"
	stderrFile = "stderr"
)

// printed adds what the task printed.
func (s *site) printed(e *ended) (err error) {
	for name, to := range map[string]*[]byte{stdoutFile: &e.stdout, stderrFile: &e.stderr} {
		path := filepath.Join(s.dir, name)
		if *to, err = os.ReadFile(path); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
		_ = os.Remove(path)
	}
	return nil
}

// shell returns the words with which a shell runs a command with its redirections.
func shell(c *command, work string) []string {
	text := `exec "$@"`
	if c.in != "" {
		text += " < " + quote(inFolder(work, c.in))
	}
	if c.out != "" {
		text += " > " + quote(inFolder(work, c.out))
	}
	return append([]string{"sh", "-c", text, "sh"}, c.args...)
}

func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// taskEnd is how an attempt ended, as berth watch tells it.
type taskEnd struct {
	Exit, Signal int
	Final        bool
	Why          string
}

func (t taskEnd) ended() *ended {
	e := &ended{code: t.Exit, hung: strings.Contains(t.Why, "time limit")}
	switch {
	case t.Signal > 0:
		e.code = 128 + t.Signal
	case !e.hung && t.Exit == 0 && t.Why != "":
		e.code = -1 // it was not the program that failed
	}
	return e
}

// open is an open bag whose tasks are run one at a time.
type open struct {
	*site
	id     string
	watch  *exec.Cmd
	events *json.Decoder
}

func newOpen(ctx context.Context, s *site, flags ...string) (*open, error) {
	out, err := s.run(ctx, nil, append([]string{"bag", "--open", "--throttle", "1"}, flags...)...)
	if err != nil {
		return nil, err
	}
	b := &open{site: s, id: strings.TrimSpace(string(out))}
	b.watch = s.command(ctx, "watch", b.id, "--json")
	pipe, err := b.watch.StdoutPipe()
	if err != nil {
		return nil, err
	}
	b.events = json.NewDecoder(bufio.NewReader(pipe))
	return b, b.watch.Start()
}

func (b *open) task(ctx context.Context, c *command, work string) (*ended, error) {
	line, err := json.Marshal(map[string]any{"command": shell(c, work), "dir": work, "time": b.limit, "env": map[string]string{"TMPDIR": b.temp},
		"stdout": filepath.Join(b.dir, stdoutFile), "stderr": filepath.Join(b.dir, stderrFile)})
	if err != nil {
		return nil, err
	}
	if _, err := b.run(ctx, bytes.NewReader(line), "add", b.id, "--tasks", "-"); err != nil {
		return nil, err
	}
	for {
		var t taskEnd
		if err := b.events.Decode(&t); err != nil {
			return nil, fmt.Errorf("the events of %s: %w", b.id, err)
		}
		if t.Final {
			e := t.ended()
			return e, b.printed(e)
		}
	}
}

func (b *open) end(ctx context.Context) error {
	_, err := b.run(ctx, nil, "close", b.id)
	if err == nil {
		_, err = io.Copy(io.Discard, b.events.Buffered())
	}
	_ = b.watch.Process.Kill() // its pipe is not read any more
	_ = b.watch.Wait()
	_, stopped := b.run(ctx, nil, "server", "stop", "--force")
	return errors.Join(err, stopped)
}

// second runs each command as the second bag of an application whose first bag took so long that the functions of the
// next one are counted.
type second struct {
	*site
	before []byte // the store after the first bag
}

func newSecond(ctx context.Context, s *site, firstTakes string) (*second, error) {
	_, err := s.run(ctx, nil, "bag", "--application", "case", "--array", "1", "--", "sleep", firstTakes)
	if err == nil {
		_, err = s.run(ctx, nil, "server", "stop")
	}
	if err != nil {
		return nil, err
	}
	before, err := os.ReadFile(s.state("berth.db"))
	return &second{s, before}, err
}

func (b *second) task(ctx context.Context, c *command, work string) (*ended, error) {
	if err := os.WriteFile(b.state("berth.db"), b.before, 0o600); err != nil {
		return nil, err
	}
	bag, err := newOpen(ctx, b.site, "--application", "case", "--progress", "hits")
	if err != nil {
		return nil, err
	}
	e, err := bag.task(ctx, c, work)
	return e, errors.Join(err, bag.end(ctx))
}

func (b *second) end(context.Context) error { return nil }

// bagTally is what running cases in bags has shown.
type bagTally struct {
	tally
	objects, plain int // files that were analysed in the bag with hits, and in the one without
}

// inBags runs all cases in two bags, one that does not count hits and one that does, and compares.
func (o *options) inBags(ctx context.Context, dir string, cases []testCase) (*bagTally, error) {
	b, err := o.newBench(dir, "w")
	if err != nil {
		return nil, err
	}
	limit := strconv.Itoa(int(o.bound.Seconds())) + "s"
	one, err := newSite(o.berth, b.dir, "plain", limit)
	if err != nil {
		return nil, err
	}
	two, err := newSite(o.berth, b.dir, "hits", limit)
	if err != nil {
		return nil, err
	}
	plain, err := newOpen(ctx, one)
	if err != nil {
		return nil, err
	}
	hits, err := newSecond(ctx, two, o.first)
	if err != nil {
		return nil, errors.Join(err, plain.end(ctx))
	}
	t := &bagTally{tally: *newTally()}
	for i := range cases {
		if err = o.trialInBags(ctx, b, plain, hits, &cases[i], t); err != nil {
			break
		}
	}
	t.plain, t.objects = one.analysed(), two.analysed()
	return t, errors.Join(err, plain.end(ctx), hits.end(ctx))
}

// trialInBags runs a case twice without hits, and then as often as the options say with them.
func (o *options) trialInBags(ctx context.Context, b *bench, plain, hits runner, c *testCase, t *bagTally) error {
	if !t.present(c) {
		return nil
	}
	b.in = plain
	want, err := b.run(ctx, c, nil)
	if err != nil {
		return err
	}
	again, err := b.run(ctx, c, nil)
	if err != nil {
		return err
	}
	if found := compare(c, want, again); len(found) > 0 {
		t.unsteady(c, found)
		return ctx.Err()
	}
	b.in = hits
	for range o.Repeat {
		got, err := b.run(ctx, c, nil)
		if err != nil {
			return err
		}
		t.assess(c, compare(c, want, got))
	}
	return ctx.Err()
}

// String returns the table for lab/results/planting.md.
func (t *bagTally) String() string {
	var b strings.Builder
	row := func(what string, value any) { fmt.Fprintf(&b, "| %s | %v |\n", what, value) }
	b.WriteString("| | |\n|---|--:|\n")
	row("programs", len(t.programs))
	row("cases", t.cases)
	row("runs with --progress hits", t.runs)
	row("object files that were analysed for them", t.objects)
	row("object files that were analysed in the bag without", t.plain)
	row("runs that crashed or did not end", t.crashes)
	row("runs with other differences", t.differences)
	row("cases that differ without planting, not judged", t.unjudged)
	return b.String()
}
