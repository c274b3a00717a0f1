package pbs

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"berth/internal/core/job"
	"berth/internal/driver/batch"
)

// TestScriptEnds: a job's script that gets SIGTERM while it waits before it starts pbsdsh again starts it no more, and ends. PBS would take
// the end of the job for done while new tasks run.
func TestScriptEnds(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "bin"), 0o700); err != nil {
		t.Fatal(err)
	}
	conf := filepath.Join(dir, "pbs.conf")
	write("bin/pbsdsh", "#!/bin/sh\necho started >>"+dir+"/starts\n")
	write("bin/sleep", "#!/bin/sh\n: >"+dir+"/waits\nread line <"+dir+"/never\n") // until a signal comes
	write("pbs.conf", "PBS_EXEC="+dir+"\n")
	write("hosts", "n1\n")
	if err := syscall.Mkfifo(filepath.Join(dir, "never"), 0o600); err != nil {
		t.Fatal(err)
	}
	write("batch.sh", Open([]string{"PBS_CONF_FILE=" + conf}).Script("test", dir))
	cmd := exec.Command(filepath.Join(dir, "batch.sh"))
	cmd.Env = []string{"PATH=" + dir + "/bin:/usr/bin:/bin", "PBS_NODEFILE=" + dir + "/hosts"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // PBS sends a signal to all processes of the job on the first node
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		if _, err := os.Stat(filepath.Join(dir, "waits")); err == nil {
			break
		}
		if time.Now().After(end) {
			_ = cmd.Process.Kill()
			t.Fatal("the script does not wait")
		}
	}
	if err := syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	late := time.AfterFunc(time.Minute, func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) })
	defer late.Stop()
	if err := cmd.Wait(); err != nil {
		t.Errorf("the script ends with %v", err)
	}
	if text, err := os.ReadFile(filepath.Join(dir, "starts")); string(text) != "started\n" {
		t.Errorf("pbsdsh was started as %q (%v)", text, err)
	}
}

// TestCancelAgain: a job that has not ended after it was deleted is deleted again and then killed; one that has ended meanwhile is not.
func TestCancelAgain(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"qdel", "qsig"} {
		text := "#!/bin/sh\necho ${0##*/} \"$@\" >>" + dir + "/calls\n[ \"$1\" != 8.pbs ] || { echo \"qdel: Job has finished $1\" >&2; exit 35; }\n"
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	s := Open([]string{"PATH=" + dir})
	if err := errors.Join(s.Cancel(t.Context(), "7.pbs", false), s.Cancel(t.Context(), "7.pbs", true)); err != nil {
		t.Error(err)
	}
	if err := s.Cancel(t.Context(), "8.pbs", true); !errors.Is(err, batch.ErrGone) {
		t.Errorf("a job that has ended: %v", err)
	}
	if calls, err := os.ReadFile(filepath.Join(dir, "calls")); string(calls) != "qdel 7.pbs\nqdel 7.pbs\nqsig -s KILL 7.pbs\nqdel 8.pbs\n" {
		t.Errorf("it called %q (%v)", calls, err)
	}
}

// TestTORQUE: TORQUE has commands of the same names. It is refused in one line that says what it is and what can be done, before anything
// else is called.
func TestTORQUE(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"qsub": "exit 9", "pbsnodes": "exit 9",
		"qstat": `[ "$1" != --version ] || { echo "Version: 6.1.3" >&2; exit 0; }
echo "qstat: invalid option -- 'F'
usage: qstat [-f [-1]] [-W site_specific] [-x] [ job_identifier... | destination... ]" >&2; exit 2`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+text+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	env := []string{"PATH=" + dir + ":/usr/bin:/bin"}
	_, err := batch.Backend(func(env []string) batch.System { return Open(env) }).Observe(t.Context(), env, 0, &job.Request{})
	if job.ClassOf(err) != job.User || err.Error() != "qstat: this PBS prints no format dsv, and has no select: it is TORQUE, or older than PBS Pro 14 (Version: 6.1.3); "+
		"use --on ssh with the nodes of a job that you have started yourself" {
		t.Errorf("it is refused by %v", err)
	}
}

// TestServerStarts: nodes that have not reported since the server was started are waited for: while most have not, and then while more do (in
// kill rounds 15, 49 and 83 a command was refused as none or one of eight had). Those that stay silent when no more report count as down, and
// are not waited for.
func TestServerStarts(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+text+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	node := func(number, state string) string { return `printf 'Name=n` + number + `\037state=` + state + `\n'; ` }
	away := "state-unknown,down"
	write("pbsnodes", `echo >>`+dir+`/asked
case $(grep -c "" `+dir+`/asked) in
1) `+node("1", away)+node("2", away)+node("3", away)+`;;
2) `+node("1", "free")+node("2", away)+node("3", away)+`;;
*) `+node("1", "free")+node("2", "free")+node("3", away)+`;;
esac`)
	write("qstat", "echo 'Server: pbs1'")
	write("pbs_rstat", "exit 0")
	s := Open([]string{"PATH=" + dir + ":/usr/bin:/bin"})
	for _, c := range []struct{ before, after int }{{0, 4}, {1, 4}, {4, 5}} { // how often PBS was asked before and after
		if err := os.WriteFile(filepath.Join(dir, "asked"), bytes.Repeat([]byte("\n"), c.before), 0o600); err != nil {
			t.Fatal(err)
		}
		snap, err := s.Snapshot(t.Context(), "")
		if err != nil || len(snap.Nodes) != 3 || snap.Nodes[0].Down != "" || snap.Nodes[1].Down != "" || snap.Nodes[2].Down != "not reported yet" {
			t.Errorf("the snapshot has %+v (%v)", snap.Nodes, err)
		}
		if n, err := os.ReadFile(filepath.Join(dir, "asked")); len(n) != c.after {
			t.Errorf("PBS was asked %d times, want %d (%v)", len(n), c.after, err)
		}
	}
}
