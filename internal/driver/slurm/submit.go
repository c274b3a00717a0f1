package slurm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"berth/internal/job"
)

// pausedAfter is how many submissions fail in a row before it is called a pause.
const pausedAfter = 5

// newEnvironment is what a user can do when submissions go on failing.
const newEnvironment = "; if sinfo answers in your shell, cancel the job and resume it from there, which gives berth that shell's environment"

// soonAfter is how long after a submission its job is looked at; a job that finds free nodes begins at once.
const soonAfter = defaultRetryFirst

// submitDue submits what is to be submitted now.
func (d *Driver) submitDue(ctx context.Context) {
	for ctx.Err() == nil {
		a := d.due(func(a *alloc, now job.Time) bool {
			return a.job == "" && !a.released && now >= a.submit.next && now >= d.submit.next
		})
		if a == nil {
			return
		}
		id, err := d.place(ctx, a)
		if ctx.Err() != nil {
			return // it was cut off; a later driver looks what came of it
		}
		d.placed(a, id, err)
	}
}

// placed takes in what came of a submission.
func (d *Driver) placed(a *alloc, id string, err error) {
	d.mu.Lock()
	defer d.unlock()
	now := d.opts.Now()
	switch {
	case err == nil:
		a.job, a.maybe = id, false
		d.submit.reset()
		d.nextPoll = now.Add(min(d.opts.Poll, soonAfter))
		d.opts.Log.Info("allocation is submitted", "alloc", a.id, "job", id)
	case errors.Is(err, errLater):
		a.submit.fail(now, d.opts.RetryFirst, d.opts.RetryMax)
		d.opts.Log.Info("Slurm takes no job now", "alloc", a.id, "err", err)
		d.giveWay(now, err)
		d.note(a, fmt.Sprintf("Slurm does not take its job now: %s; next try at %s", wordsOf(err), clock(a.submit.next)), 0)
	case job.ClassOf(err) == job.Transient:
		a.maybe = true
		d.submit.fail(now, d.opts.RetryFirst, d.opts.RetryMax)
		d.opts.Log.Warn("submission failed", "alloc", a.id, "failures", d.submit.failures, "err", err)
		d.noteWaiting(err)
	default:
		d.opts.Log.Warn("Slurm refuses a job", "alloc", a.id, "err", err)
		d.drop(a, "Slurm refuses its job: "+wordsOf(err), true)
		a.clear = true // nothing ran in it
		d.forget(a)
	}
}

// noteWaiting tells all that are yet to be submitted why they are not. The lock is held.
func (d *Driver) noteWaiting(err error) {
	text := "submission failed: %s; next try at %s"
	if d.submit.failures >= pausedAfter {
		text = fmt.Sprintf("submission is paused after %d failures", d.submit.failures) + ": %s; next try at %s" + newEnvironment
	}
	for _, a := range d.allocs {
		if a.job == "" {
			d.note(a, fmt.Sprintf(text, wordsOf(err), clock(d.submit.next)), 0)
		}
	}
}

// wordsOf returns what Slurm said, without the name of the command.
func wordsOf(err error) string {
	var e *job.Error
	if errors.As(err, &e) {
		if e.Do != "" {
			return e.What + "; " + e.Do
		}
		return e.What
	}
	return err.Error()
}

// place returns the id of the allocation's job: one that was submitted before, unknown to
// us, or else a new one.
func (d *Driver) place(ctx context.Context, a *alloc) (string, error) {
	f, busy, err := a.lockJobFile()
	if err != nil {
		return "", err
	}
	if busy {
		return "", errSubmitting
	}
	defer func() { _ = f.Close() }()
	if id, _ := a.noted(); id != "" {
		return id, nil
	}
	script, err := a.script()
	if err != nil || script == "" {
		return "", folderError(a.dir, errors.Join(errors.New("its script is missing"), err))
	}
	if a.maybe {
		id, err := d.lookUp(ctx, script)
		if id != "" {
			_, err = f.WriteString(id + "\n")
		}
		if id != "" || err != nil {
			return id, err
		}
	}
	return d.sbatch(ctx, a, f, script)
}

// errSubmitting says that the sbatch of an earlier coordinator still runs.
var errSubmitting = &job.Error{Class: job.Transient, Where: "sbatch", What: "an earlier submission is still under way", Err: errLater}

// lookUp returns the id of the live job with that script, "" where there is none.
func (d *Driver) lookUp(ctx context.Context, script string) (string, error) {
	rows, err := d.client().table(ctx, findFields, "--me", "--states=all")
	if err != nil {
		return "", err
	}
	return findByScript(rows, script), nil
}

// sbatch submits an allocation's script. The job's id goes from sbatch straight to the file,
// which stays locked while sbatch lives: should this process die meanwhile, the id is not lost.
func (d *Driver) sbatch(ctx context.Context, a *alloc, f *os.File, script string) (string, error) {
	s, err := d.theSite(ctx)
	if err != nil {
		return "", err
	}
	args := slices.Concat(shapeArgs(a.req, s.memory), ownArgs(a.dir), a.extra, []string{script})
	c := d.client()
	cmd, err := c.command(ctx, "sbatch", args...)
	if err != nil {
		return "", err
	}
	defer cmd.cancel()
	var said bytes.Buffer
	cmd.Env = jobEnv(c.env)
	cmd.Stdout, cmd.Stderr = f, &said
	if err := cmd.Run(); err != nil {
		return "", cmd.failure(said.String(), err)
	}
	if id, _ := a.noted(); id != "" {
		return id, nil
	}
	return "", &job.Error{Class: job.Transient, Where: "sbatch", What: "it names no job: " + strings.TrimSpace(said.String()), Err: errAway}
}

// theSite returns what scontrol show config says, which is asked once.
func (d *Driver) theSite(ctx context.Context) (site, error) {
	d.mu.Lock()
	known := d.site
	d.mu.Unlock()
	if known != nil {
		return *known, nil
	}
	out, err := d.client().run(ctx, "scontrol", "show", "config")
	if err != nil {
		return site{}, err
	}
	s := parseSite(out)
	d.mu.Lock()
	d.site = &s
	d.mu.Unlock()
	return s, nil
}

// Test asks Slurm when a job for the request would begin, by its own plan.
func (d *Driver) Test(ctx context.Context, req job.AllocRequest) (job.Time, error) {
	s, err := d.theSite(ctx)
	if err != nil {
		return 0, err
	}
	c := d.client()
	cmd, err := c.command(ctx, "sbatch", append(shapeArgs(req, s.memory), "--test-only")...)
	if err != nil {
		return 0, err
	}
	defer cmd.cancel()
	var said bytes.Buffer
	cmd.Env = jobEnv(c.env)
	cmd.Stdin, cmd.Stderr = strings.NewReader("#!/bin/sh\n:\n"), &said
	if err := cmd.Run(); err != nil {
		return 0, cmd.failure(said.String(), err)
	}
	text, ok := parseTestOnly(said.String())
	if start := parseTime(text); ok && start > 0 {
		return start, nil
	}
	return 0, &job.Error{Class: job.Fatal, Where: "sbatch --test-only", What: "its answer is not understood: " + words(said.String())}
}
