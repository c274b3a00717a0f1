package main

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

//go:embed Snakefile
var snakefile string

//go:embed main.nf
var mainNF string

//go:embed maps.py
var mapsPy string

// workflow is what an engine is given.
type workflow struct {
	name         string
	jobs, layers int
	seconds      string // of the jobs, one after the other
}

// Names of the workflows, with their numbers of jobs.
const (
	shortJobs = "%d jobs of 1 s in three layers"
	longJobs  = "%d jobs of 5 to 60 s"
)

// slots is how many jobs run at once on the private cluster.
const slots = 16

// workflows returns the one of short jobs and the one of long jobs.
func (b *bench) workflows() (all []workflow) {
	if b.short > 0 {
		all = append(all, workflow{fmt.Sprintf(shortJobs, b.short), b.short, 3, "1"})
	}
	var lengths []string
	for i := range b.long {
		lengths = append(lengths, strconv.Itoa(length(i, b.long)))
	}
	if b.long > 0 {
		all = append(all, workflow{fmt.Sprintf(longJobs, b.long), b.long, 1, strings.Join(lengths, ",")})
	}
	return all
}

// length returns how many seconds the i-th of n long jobs lasts. The lengths are spread evenly, in an order that is no order.
func length(i, n int) int { return 5 + (i*37%n)*55/max(1, n-1) }

// least returns the makespan in seconds below which nobody comes: all jobs divided by the slots, or jobs that follow each other. It is 0
// for an unknown workflow.
func least(what string) float64 {
	n, work, longest := 0, 0, 0
	if _, err := fmt.Sscanf(what, shortJobs, &n); err == nil && fmt.Sprintf(shortJobs, n) == what {
		work, longest = n, 3
	} else if _, err := fmt.Sscanf(what, longJobs, &n); err == nil {
		for i := range n {
			work, longest = work+length(i, n), max(longest, length(i, n))
		}
	}
	return max(float64(work)/slots, float64(longest))
}

// engine is a workflow engine with its own executor for Slurm and the one for berth.
type engine struct {
	name  string
	sides []side
}

// side is how an engine runs a workflow: a command of the shell, in a folder with the engine's files.
type side struct{ name, command string }

// The names of sides.
const (
	itself  = "its own for Slurm"
	berthed = "berth"
	again   = "berth, again"
	quick   = "berth, polled every second"
)

// onBerth runs Snakemake with berth's executor.
const onBerth = `snakemake --executor berth --jobs unlimited --retries 2 --berth-flags='--on slurm' --config "$@"`

// onHQ runs Nextflow with berth's hq.
const onHQ = `eval "$(berth hq-home hq -- --on slurm)" && nextflow run main.nf -process.executor hq $(for p in "$@"; do echo "--$p"; done); status=$?
	hq server stop && exit $status`

var engines = []engine{
	{"snakemake", []side{
		{itself, `snakemake --executor slurm --jobs 1000 --retries 2 --default-resources slurm_account=main slurm_partition=main --config "$@"`},
		{berthed, onBerth},
		{again, onBerth},
	}},
	{"nextflow", []side{
		{itself, `nextflow run main.nf -process.executor slurm $(for p in "$@"; do echo "--$p"; done)`},
		{berthed, onHQ},
		{again, onHQ},
		{quick, `echo "executor.pollInterval = '1 sec'" >nextflow.config; ` + onHQ},
	}},
}

// bench makes runs on a private cluster.
type bench struct {
	options
	res   *results
	slurm string // folder of the cluster
	bin   string // folder of commands
}

// up starts the cluster, with accounting, which Snakemake's executor asks for the states of jobs.
func (b *bench) up(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "eng")
	if err != nil {
		return err
	}
	b.slurm, b.bin = filepath.Join(dir, "s"), filepath.Join(dir, "bin")
	cmd := exec.CommandContext(ctx, b.script, "up", b.slurm)
	cmd.Env = append(os.Environ(), "SLURM_ACCT=own")
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	if err := cmd.Run(); err != nil {
		return err
	}
	return b.commands()
}

// down ends the cluster with all its jobs.
func (b *bench) down() {
	_ = exec.Command(b.script, "down", b.slurm).Run() //nolint:noctx // also after an interrupt
	_ = os.RemoveAll(filepath.Dir(b.slurm))
}

// commands writes commands that the engines run. Snakemake's executor takes SLURM_CONF from srun, as Slurm's own place for it is elsewhere.
func (b *bench) commands() error {
	opens := ""
	for _, p := range []string{"java.lang", "java.util", "java.net", "java.io", "java.nio", "sun.nio.ch"} {
		opens += " --add-opens=java.base/" + p + "=ALL-UNNAMED"
	}
	srun, err := exec.LookPath("srun")
	if err != nil {
		return err
	}
	scripts := map[string]string{
		"srun":     "SLURM_CONF=" + filepath.Join(b.slurm, "slurm.conf") + " exec " + srun + ` "$@"`,
		"nextflow": "exec java -XX:TieredStopAtLevel=1" + opens + " -cp '" + filepath.Join(b.venv, "nextflow", "jars") + `/*' nextflow.cli.Launcher "$@"`,
	}
	if err := os.MkdirAll(b.bin, 0o755); err != nil {
		return err
	}
	for name, text := range scripts {
		if err := os.WriteFile(filepath.Join(b.bin, name), []byte("#!/bin/sh\n"+text+"\n"), 0o755); err != nil {
			return err
		}
	}
	return nil
}

// env returns the environment of a run in a folder, with a state folder of berth.
func (b *bench) env(dir, state string, more ...string) []string {
	path := []string{b.bin, filepath.Join(b.venv, "bin"), filepath.Dir(b.berth), os.Getenv("PATH"), "/usr/sbin"}
	return append(append(os.Environ(), "PATH="+strings.Join(path, ":"), "BERTH="+b.berth, "PYTHONPATH="+b.python, "XDG_STATE_HOME="+state,
		"XDG_CACHE_HOME="+filepath.Join(dir, "cache"), "NXF_HOME="+filepath.Join(dir, "nxf"), "NXF_OFFLINE=true", "NXF_ANSI_LOG=false", "BERTH_LISTEN=127.0.0.1"), more...)
}

// run runs a workflow, unless there is a result of it, and adds the result.
func (b *bench) run(ctx context.Context, w workflow, e engine, s side, repetition int) error {
	m := measurement{What: w.name, Engine: e.name, Side: s.name, Repetition: repetition, Load: load()}
	if b.res.has(m) {
		return nil
	}
	dir, err := os.MkdirTemp(b.Out, e.name+"-")
	if err != nil {
		return err
	}
	for name, text := range map[string]string{"Snakefile": snakefile, "main.nf": mainNF} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			return err
		}
	}
	before, err := b.batchJobs(ctx)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, b.bound)
	defer cancel()
	state := filepath.Join(dir, "state")
	if s.name == berthed || s.name == again {
		state = filepath.Join(b.Out, fmt.Sprintf("state-%s-%d-%d", e.name, w.jobs, repetition))
	}
	begun := time.Now()
	cmd := exec.CommandContext(ctx, "/bin/bash", "-c", s.command, s.name, fmt.Sprint("jobs=", w.jobs), fmt.Sprint("layers=", w.layers), "seconds="+w.seconds)
	if e.name == "nextflow" {
		cmd.Args = append(cmd.Args, "dir="+dir)
	}
	cmd.Dir, cmd.Env = dir, b.env(dir, state, "SLURM_CONF="+filepath.Join(b.slurm, "slurm.conf"))
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = time.Minute
	out, err := cmd.CombinedOutput()
	m.Seconds = time.Since(begun).Seconds()
	_ = os.WriteFile(filepath.Join(dir, "log"), out, 0o600)
	if err != nil {
		return fmt.Errorf("%s with %s: %w; its log is in %s", e.name, s.name, err, dir)
	}
	after, err := b.rest(ctx)
	if err != nil {
		return err
	}
	m.BatchJobs = len(after) - len(before)
	if m.Done, err = ends(dir, begun); err != nil {
		return err
	}
	if len(m.Done) != w.jobs {
		return fmt.Errorf("%s with %s: %d of %d jobs have told their times in %s", e.name, s.name, len(m.Done), w.jobs, dir)
	}
	b.Turn(repetition)
	return b.res.add(m)
}

// ends reads when the jobs of a workflow ended, in seconds after its begin, in order.
func ends(dir string, begun time.Time) (all []float64, err error) {
	files, err := filepath.Glob(filepath.Join(dir, "[abc]*[0-9]"))
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			return nil, err
		}
		var from, to float64
		if n, _ := fmt.Sscan(string(text), &from, &to); n != 2 {
			return nil, fmt.Errorf("%s has no times: %q", f, text)
		}
		all = append(all, to-float64(begun.UnixNano())/1e9)
	}
	slices.Sort(all)
	return all, nil
}

// batchJobs returns the ids of the jobs that Slurm has had, of those in some states if these are named.
func (b *bench) batchJobs(ctx context.Context, states ...string) ([]string, error) {
	if len(states) == 0 {
		states = []string{"all"}
	}
	cmd := exec.CommandContext(ctx, "squeue", "--noheader", "--all", "--format", "%i", "--states", strings.Join(states, ","))
	cmd.Env = append(os.Environ(), "SLURM_CONF="+filepath.Join(b.slurm, "slurm.conf"))
	out, err := cmd.Output()
	return strings.Fields(string(out)), err
}

// rest waits until the cluster has nothing to do, and returns the ids of all jobs.
func (b *bench) rest(ctx context.Context) ([]string, error) {
	for {
		live, err := b.batchJobs(ctx, "PENDING", "RUNNING", "COMPLETING")
		if err != nil {
			return nil, err
		}
		if len(live) == 0 {
			return b.batchJobs(ctx)
		}
		select {
		case <-time.After(500 * time.Millisecond):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// maps measures maps of empty functions, one repetition.
func (b *bench) maps(ctx context.Context, repetition int) error {
	dir, err := os.MkdirTemp(b.Out, "maps-")
	if err != nil {
		return err
	}
	script := filepath.Join(dir, "maps.py")
	if err := os.WriteFile(script, []byte(mapsPy), 0o600); err != nil {
		return err
	}
	now := load()
	cmd := exec.CommandContext(ctx, filepath.Join(b.venv, "bin", "python"), script, strconv.Itoa(b.calls), strconv.Itoa(repetition%2))
	cmd.Dir, cmd.Env, cmd.Stderr = dir, b.env(dir, filepath.Join(dir, "state"), "BERTH_ON=local"), os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("%s: %w", script, err)
	}
	for line := range bytes.Lines(out) {
		m := measurement{Engine: "maps", Repetition: repetition, Load: now}
		if err := json.Unmarshal(line, &m); err != nil {
			return fmt.Errorf("%s printed %q: %w", script, line, err)
		}
		b.Turn(repetition)
		if err := b.res.add(m); err != nil {
			return err
		}
	}
	return nil
}

// load returns how many processes of this machine wanted to run in the last minute on average.
func load() float64 {
	text, _ := os.ReadFile("/proc/loadavg")
	var l float64
	_, _ = fmt.Sscan(string(text), &l)
	return l
}
