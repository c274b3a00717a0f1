package script

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"berth/internal/core/cluster"
	"berth/internal/core/job"
	"berth/internal/core/job/parse"
	"berth/internal/driver"
	"berth/internal/driver/batch"
	"berth/internal/driver/local"
	"berth/internal/node/process"
)

const (
	Name   = "script"        // of the backend, as in --on
	DirVar = "BERTH_SCRIPTS" // the variable that names the folder of the scripts
	// jobVar is the variable with the job's id that submit gives to the processes of a job, where the scheduler says it to them.
	jobVar = "BERTH_BATCH_JOB"
)

// System reaches a scheduler by scripts.
type System struct {
	env   []string
	dir   string // of the scripts; "": none is named
	tools batch.Tools
}

// Open returns the scheduler whose scripts an environment names. It runs none.
func Open(env []string) *System {
	s := &System{env: env, dir: job.Getenv(env, DirVar)}
	s.tools = batch.Tools{Path: s.dir, Env: env, Patience: patience, Classify: s.classify}
	return s
}

// Words returns the scheduler's names. Without a folder it has none.
func (s *System) Words() driver.BatchWords {
	w := driver.BatchWords{Variables: process.SystemVariables{Job: jobVar}, BatchSystem: parse.BatchSystem{Name: Name}}
	if s.dir != "" {
		w.System, w.Controller, w.Ask = filepath.Base(s.dir), s.path("status"), s.path("snapshot")
	}
	return w
}

func (s *System) path(name string) string { return filepath.Join(s.dir, name) }

// Detect reports false: the user names the folder.
func (s *System) Detect() bool { return false }

// Installed reports whether a folder is named.
func (s *System) Installed() bool { return s.dir != "" }

// Available returns the reason why the scripts cannot be run, nil if there is none. It runs none of them.
func (s *System) Available(context.Context) error {
	if st, err := os.Stat(s.dir); s.dir == "" || !filepath.IsAbs(s.dir) || strings.Contains(s.dir, ":") || err != nil || !st.IsDir() {
		return job.ArgumentError("--on", "no folder of scripts is named "+`"`+s.dir+`"`, "write --on script:DIR with a folder that exists and has no colon in its name")
	}
	for _, name := range []string{"submit", "status", "cancel"} {
		if err := s.check(name); err != nil {
			return err
		}
	}
	return nil
}

// check returns the error of a script that cannot be run.
func (s *System) check(name string) error {
	st, err := os.Stat(s.path(name))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return job.ConfigError(s.path(name), "there is no such script", "write it as docs/scripts.md says")
	case err != nil:
		return job.TransientError(s.path(name), "it cannot be read", err)
	case !st.Mode().IsRegular() || st.Mode()&0o111 == 0:
		return job.ConfigError(s.path(name), "it is not executable", "chmod +x it")
	}
	return nil
}

// Defaults returns no options, and says what is assumed where there is no snapshot.
func (s *System) Defaults() (b job.Batch, notes []string) {
	if s.check("snapshot") != nil {
		notes = append(notes, s.path("snapshot")+" cannot be run: berth assumes one free node like this machine")
	}
	return b, notes
}

// Snapshot asks for the nodes and the queue.
func (s *System) Snapshot(ctx context.Context, inside string) (cluster.Snapshot, error) {
	v := view{Free: 1}
	if m, err := local.ThisMachine(); err == nil {
		v.PerNode = m.Capacity()
	}
	if s.check("snapshot") == nil {
		v = view{}
		if err := s.call(ctx, "snapshot", struct {
			Without string `json:"without"`
			Inside  string `json:"inside,omitempty"`
		}{batch.WakeName, inside}, &v); err != nil {
			return cluster.Snapshot{}, err
		}
	}
	snap, err := v.snapshot(filepath.Base(s.dir))
	if err != nil {
		return snap, job.ConfigError(s.path("snapshot"), err.Error(), "")
	}
	snap.Queue.ID, snap.Queue.User = batch.ClusterID(snap.Queue.Cluster, s.dir), batch.UserName(s.env)
	return snap, nil
}

// Test predicts nothing: that is left to the snapshot.
func (s *System) Test(context.Context, job.AllocRequest) (job.Time, error) { return 0, nil }

// Script returns what each node of a job runs.
func (s *System) Script(comment, dir string) string {
	return "#!/bin/sh\n# " + comment + ": RANK [NODE] starts the berth worker of one node.\nexec /bin/sh " + job.Quote(dir+"/"+batch.NodeScript) + ` "$@"` + "\n"
}

// NodeVariables sets the variables that a node's script needs.
func (s *System) NodeVariables() string {
	return "rank=${1:?the number of this node in its job is missing} node=${2:-$(hostname)} step=${" + jobVar + ":-job}.$$.$(date +%s)\n"
}

// submission is what submit reads, and what it reads to change what a waiting job waits for.
type submission struct {
	job.AllocRequest
	Avoid  []string `json:"avoid,omitempty"`
	Name   string   `json:"name,omitempty"`
	Script string   `json:"script,omitempty"`
	Dir    string   `json:"dir,omitempty"`
	Output string   `json:"output,omitempty"`
	After  []string `json:"after,omitempty"`
	Delay  int64    `json:"delay_ns,omitempty"`
	Change string   `json:"change,omitempty"`
}

// submitted is what submit prints.
type submitted struct {
	ID string `json:"id"`
}

// Submit submits a job. What the script prints goes directly to out.
func (s *System) Submit(ctx context.Context, sub batch.Submission, out *os.File) (string, error) {
	req := sub.Request
	if req.Batch.Partition == anywhere {
		req.Batch.Partition = ""
	}
	_, err := s.run(ctx, "submit", submission{req, req.Avoid, batch.JobName(req.Batch.Name), sub.Script, sub.Dir, sub.Output, sub.Wait.After, int64(sub.Wait.Delay), ""}, out)
	if err != nil {
		return "", err
	}
	text, err := os.ReadFile(out.Name())
	if err != nil {
		return "", err
	}
	var said submitted
	if err := s.decode("submit", string(text), &said); err != nil || said.ID == "" {
		_, _ = out.Seek(0, 0)
		_ = out.Truncate(0) // it is no id
		if err == nil {
			err = errors.New("it printed no id")
		}
		return "", &job.Error{Class: job.Transient, Code: job.CodeConfig, Where: s.path("submit"), What: plain(err), Err: batch.ErrUnsaid}
	}
	return said.ID, nil
}

// JobID returns the id in the output of submit, or an id that Find has found.
func (s *System) JobID(out string) string {
	var said submitted
	if s.decode("submit", out, &said) == nil && said.ID != "" {
		return said.ID
	}
	if words := strings.Fields(out); len(words) == 1 && !strings.ContainsAny(out, "{[\"") {
		return words[0]
	}
	return ""
}

// Find returns the id of the job with this script that has not ended.
func (s *System) Find(ctx context.Context, script string) (string, error) {
	all, err := s.ask(ctx, []asked{{Script: script}})
	if err != nil && job.ClassOf(err) != job.Transient {
		err = job.TransientError(s.path("status"), plain(err), batch.ErrUnsaid)
	}
	for _, a := range all {
		if a.Script == script && a.phase() != batch.Over && a.phase() != batch.Gone {
			return a.ID, err
		}
	}
	return "", err
}

// Delay changes what a pending job waits for.
func (s *System) Delay(ctx context.Context, id string, w batch.Wait) error {
	return s.call(ctx, "submit", submission{Change: id, After: w.After, Delay: int64(w.Delay)}, &submitted{})
}

// Cancel ends a job.
func (s *System) Cancel(ctx context.Context, id string, again bool) error {
	_, err := s.run(ctx, "cancel", struct {
		ID    string `json:"id"`
		Again bool   `json:"again"`
	}{id, again}, nil)
	return err
}

// Jobs asks for the states of jobs. One whose script is another's has its id by chance.
func (s *System) Jobs(ctx context.Context, jobs []batch.Job) (map[string]batch.Status, error) {
	ask := make([]asked, len(jobs))
	for i, j := range jobs {
		script, _ := batch.Submitted(j.Dir)
		ask[i] = asked{j.ID, script}
	}
	said, err := s.ask(ctx, ask)
	if err != nil {
		return nil, err
	}
	by, all := make(map[string]answer, len(said)), make(map[string]batch.Status, len(jobs))
	for _, a := range said {
		by[a.ID] = a
	}
	for i, j := range jobs {
		a := by[j.ID]
		if a.Script != "" && ask[i].Script != "" && a.Script != ask[i].Script {
			all[j.ID] = batch.AnotherJob
			continue
		}
		all[j.ID] = a.status(j)
	}
	return all, nil
}
