package plant

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// compile compiles a program of testdata.
func compile(t testing.TB, name string, flags ...string) string {
	t.Helper()
	return compileBy(t, "gcc", name, name+".c", flags...)
}

func compileBy(t testing.TB, compiler, name, source string, flags ...string) string {
	t.Helper()
	if _, err := exec.LookPath(compiler); err != nil {
		t.Skipf("there is no %s; make test installs gcc and g++", compiler)
	}
	out := filepath.Join(t.TempDir(), name)
	args := append([]string{"-o", out, filepath.Join("testdata", source), "-pthread"}, flags...)
	if text, err := exec.Command(compiler, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s %s: %v\n%s", compiler, strings.Join(args, " "), err, text)
	}
	return out
}

// analysed is the folder of the objects of fresh planters.
var analysed string

// fresh returns a planter that knows no program. The C library and others were analysed by the first that met them, as that takes long.
func fresh(t testing.TB) *Planter {
	t.Helper()
	dir := t.TempDir()
	if err := os.Symlink(analysed, filepath.Join(dir, "objects")); err != nil {
		t.Fatal(err)
	}
	return &Planter{Dir: dir}
}

// result is the output of a program and its exit status.
type result struct {
	out    string
	status unix.WaitStatus
}

// plain runs a program without the planter.
func plain(t testing.TB, env []string, argv ...string) result {
	t.Helper()
	c := exec.Command(argv[0], argv[1:]...)
	c.Env = env
	out, _ := c.Output() // the exit status is compared
	return result{string(out), unix.WaitStatus(c.ProcessState.Sys().(syscall.WaitStatus))}
}

// planted runs a program with the planter.
func planted(t testing.TB, p *Planter, o Options, env []string, argv ...string) (*Session, result) {
	t.Helper()
	return plantedWhile(t, p, o, env, func(int) {}, argv...)
}

func plantedWhile(t testing.TB, p *Planter, o Options, env []string, started func(int), argv ...string) (*Session, result) {
	t.Helper()
	path, err := exec.LookPath(argv[0])
	if err != nil {
		t.Fatal(err)
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	text := make(chan []byte, 1)
	go func() {
		b, _ := io.ReadAll(r)
		text <- b
	}()
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	attr := &syscall.ProcAttr{Env: env, Files: []uintptr{null.Fd(), w.Fd(), 2}, Sys: &syscall.SysProcAttr{Setpgid: true}}
	s, status, err := p.Run(path, argv, attr, o, started)
	_, _ = null.Close(), w.Close()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s, result{string(bytes.Clone(<-text)), status}
}

// hits returns the counts of an object's functions by name.
func hits(s *Session, object string) map[string]uint64 {
	by := map[string]uint64{}
	for _, f := range s.Functions() {
		if f.Object == object {
			by[f.Name] += f.Hits
		}
	}
	return by
}
