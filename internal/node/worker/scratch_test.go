package worker

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/sys/probe"
	"berth/internal/wire"
)

func TestAbandonedScratchIsRemoved(t *testing.T) {
	c := newCoord(t)
	over, lives := c.config("a1/0"), c.config("a2/0")
	for _, cfg := range []Config{over, lives} {
		cfg, err := cfg.normalize()
		if err != nil {
			t.Fatal(err)
		}
		s, err := openScratch(cfg)
		if err != nil {
			t.Fatal(err)
		}
		s.close()
	}
	if err := os.Remove(over.Bundle); err != nil { // its allocation is over
		t.Fatal(err)
	}
	c.worker(c.config("a3/0"))
	left, err := filepath.Glob(filepath.Join(over.Scratch, "*"))
	if err != nil || len(left) != 2 {
		t.Fatalf("%v (%v), want the folders of a2/0 and a3/0", left, err)
	}
	for _, dir := range left {
		if strings.HasPrefix(filepath.Base(dir), "a1-0-") {
			t.Errorf("%s is still there", dir)
		}
	}
}

// A task that removes something of the scratch folder, or a cleaner that does so meanwhile, harms no later task. Attempts
// that fail after that are lost, a few of each task, and then failures are the task's own.
func TestScratchComesBack(t *testing.T) {
	for _, remove := range []string{"rm -rf ROOT", "rm -rf ROOT/*", "rm -rf DIR/*", "rm -rf DIR/tasks", "rm DIR/lock", "chmod 000 DIR"} {
		c := newCoord(t)
		cfg := c.config("a1/0")
		p, _ := c.worker(cfg)
		dir := scratchDir(t, cfg)
		s := shell(t, strings.NewReplacer("ROOT", cfg.Scratch, "DIR", dir).Replace(`[ {} = good ] || { `+remove+`; exit 3; }; echo x >"$BERTH_TASK_DIR/x"`))
		p.job(s, 0, 0)
		for n, want := range []event.Outcome{event.Lost, event.Lost, event.Lost, event.Failed} {
			p.say(start(try(s.ID, 0, n+1), "bad"))
			p.ended(want)
		}
		p.say(start(try(s.ID, 1, 1), "good"))
		p.ended(event.Done)
		for _, name := range []string{"lock", "outputs", "tasks"} {
			if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
				t.Errorf("%s: %v", remove, err)
			}
		}
	}
}

// A worker whose scratch folder cannot be made again, or was taken by another worker, ends with the reason, and what runs
// on it is lost.
func TestScratchDoesNotComeBack(t *testing.T) {
	for says, plant := range map[string]func(path string) error{
		"is not a folder":   func(path string) error { return os.WriteFile(path, nil, 0o600) },
		"cannot be trusted": func(path string) error { return os.Symlink("/tmp", path) },
		"another worker of this node": func(path string) error {
			if err := os.Mkdir(path, 0o700); err != nil {
				return err
			}
			holder(t, path, note{bundle: "/keys.pem"})
			return nil
		},
	} {
		c := newCoord(t)
		cfg := c.config("a1/0")
		p, end := c.worker(cfg)
		dir := scratchDir(t, cfg)
		other := filepath.Join(c.dir, "other")
		if err := errors.Join(plant(other), unix.Renameat2(unix.AT_FDCWD, other, unix.AT_FDCWD, dir, unix.RENAME_EXCHANGE)); err != nil {
			t.Fatal(err)
		}
		if m := expect[*wire.Retiring](p); !strings.Contains(m.Reason, says) {
			t.Errorf("the worker ends: %s; want %q", m.Reason, says)
		}
		p.gone()
		if err := end(); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("the worker returned %v, want %q", err, says)
		}
	}
}

func TestScratchIsPrivate(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	if err := os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // open on purpose
		t.Fatal(err)
	}
	if err := privateFolder(dir); err != nil {
		t.Fatal(err)
	}
	if st, err := os.Stat(dir); err != nil || st.Mode().Perm() != 0o700 {
		t.Errorf("mode %v (%v)", st.Mode(), err)
	}
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{file, link} {
		if err := privateFolder(bad); err == nil {
			t.Errorf("%s was taken", bad)
		}
	}
}

// A script without an interpreter line is the shell's, as for every shell.
func TestScriptWithoutInterpreter(t *testing.T) {
	_, p := startWorker(t)
	s := bag(t, "./script", "{}")
	if err := os.WriteFile(filepath.Join(s.Dir, "script"), []byte("echo got $1\n"), 0o700); err != nil { //nolint:gosec // a program
		t.Fatal(err)
	}
	p.job(s, 0, 0)
	p.say(start(try(s.ID, 0, 1), "x"))
	p.ended(event.Done)
	if got := read(t, filepath.Join(s.Dir, "bag-1", "1.stdout")); got != "got x\n" {
		t.Errorf("output is %q", got)
	}
}

// What another user put under the names that a worker uses is refused at once, not waited for.
func TestPlantedScratch(t *testing.T) {
	root := t.TempDir()
	if err := unix.Mkfifo(filepath.Join(root, wire.TokenName), 0o666); err != nil {
		t.Fatal(err)
	}
	if wire.SeesToken(root, "x") {
		t.Error("a FIFO was taken for the token")
	}
	c := newCoord(t)
	cfg := c.config("a1/0")
	s, err := openScratch(cfg)
	if err != nil {
		t.Fatal(err)
	}
	s.close()
	for _, plant := range []func(path string) error{
		func(path string) error { return unix.Mkfifo(path, 0o666) },
		func(path string) error { return os.Symlink(filepath.Join(root, "victim"), path) },
	} {
		lock := filepath.Join(s.dir, "lock")
		if err := errors.Join(os.Remove(lock), plant(lock)); err != nil {
			t.Fatal(err)
		}
		if s, err := openScratch(cfg); err == nil || job.ClassOf(err) != job.User {
			t.Errorf("lock file of another kind: %v, %v", s, err)
		}
	}
	if _, err := os.Lstat(filepath.Join(root, "victim")); err == nil {
		t.Error("the file behind the lock's name was made")
	}
}

// A process that a task left ends with the worker; a batch job that the task submitted with
// all of its environment, and which runs on this node by chance, does not.
func TestBatchJobOfATaskLivesOn(t *testing.T) {
	for _, outer := range []string{"", "17"} {
		c := newCoord(t)
		p, cmd := c.process(c.config("a1/0"))
		s := shell(t, `env -0 > environ; echo > ready; exec sleep 1000`)
		s.Bag.Env = slices.DeleteFunc(s.Bag.Env, func(kv string) bool { return strings.HasPrefix(kv, "SLURM_JOB_ID=") })
		if outer != "" {
			s.Bag.Env = append(s.Bag.Env, "SLURM_JOB_ID="+outer)
		}
		ready := fifo(t, s.Dir, "ready")
		p.job(s, 0, 0)
		p.say(start(try(s.ID, 0, 1)))
		hear(t, ready)
		env := strings.Split(strings.TrimSuffix(read(t, filepath.Join(s.Dir, "environ")), "\x00"), "\x00")
		step, submitted := elsewhere(t, env), elsewhere(t, append(env, "SLURM_JOB_ID=18"))
		p.say(wire.Kill{Attempt: try(s.ID, 0, 1), Reason: "enough"})
		p.ended(event.Killed)
		if err := step.Wait(); err == nil {
			t.Error("the process of the task was not killed")
		}
		if err := cmd.Process.Signal(unix.SIGTERM); err != nil {
			t.Fatal(err)
		}
		exitsWell(t, cmd)
		if q, alive := probe.Find(submitted.Process.Pid); !alive {
			t.Errorf("the process of another batch job was ended: %+v", q)
		}
	}
}

// elsewhere starts a process with that environment that is no descendant of a worker, as the daemon of a batch system does.
func elsewhere(t *testing.T, env []string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command("sleep", "1000")
	cmd.Env = env
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	return cmd
}
