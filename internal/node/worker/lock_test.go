package worker

import (
	"bytes"
	"errors"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sys/unix"

	"berth/internal/wire"
)

// logged returns a config whose log is kept.
func logged(t *testing.T) (Config, *bytes.Buffer) {
	t.Helper()
	var said bytes.Buffer
	return Config{WorkerConfig: wire.WorkerConfig{Bundle: "/keys.pem", Node: "a1/0"}, Log: slog.New(slog.NewTextHandler(&said, nil))}, &said
}

// On a file system without locks the folder is used without one, and that is said. Any
// other failure is an error.
func TestNoLocks(t *testing.T) {
	for _, errno := range []unix.Errno{unix.ENOLCK, unix.ENOSYS, unix.EOPNOTSUPP, unix.EIO} {
		cfg, said := logged(t)
		s := &scratch{Config: cfg, dir: t.TempDir()}
		err := s.takeLock(func(*os.File) error { return errno })
		if errno == unix.EIO {
			if !errors.Is(err, errno) {
				t.Errorf("%v: %v", errno, err)
			}
			continue
		}
		if err != nil || !strings.Contains(said.String(), "without a lock") {
			t.Errorf("%v: %v; log: %s", errno, err, said)
			continue
		}
		if err := s.setCookie(); err != nil || s.cookie == "" {
			t.Errorf("%v: cookie %q, %v", errno, s.cookie, err)
		}
		s.close()
	}
}

// holder locks the file of a scratch folder in another process, which notes what it is told to.
func holder(t *testing.T, dir string, n note) *exec.Cmd {
	t.Helper()
	path := filepath.Join(dir, "lock")
	f, err := os.Create(path)
	if err == nil {
		err = writeNote(f, n)
	}
	if err == nil {
		err = f.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), asHolder+"="+path)
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // it may be dead
		_ = cmd.Wait()
	})
	if _, err := out.Read(make([]byte, 1)); err != nil {
		t.Fatalf("it does not hold the lock: %v", err)
	}
	return cmd
}

// asHolder is the variable that makes the test binary hold the lock of the file it names.
const asHolder = "WORKER_TEST_LOCK"

// holdLock is what the test binary does as a holder: it notes its process id, where the
// note has none, and waits to be killed.
func holdLock(path string) int {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err == nil {
		err = setLock(f)
	}
	var n note
	if err == nil {
		n, err = readNote(f)
	}
	if err == nil && n.host != "" && n.pid == 0 {
		n.pid = os.Getpid()
		err = writeNote(f, n)
	}
	if err != nil {
		return 1
	}
	_, _ = os.Stdout.WriteString("+")
	time.Sleep(time.Hour) // without a timer, and without cgo, the runtime would find a deadlock, end the process, and so release the lock
	_ = f.Close()
	return 0
}

// Only a holder that is certain to be of this machine is killed. For one of another machine
// the worker waits a while and goes on without the lock, as it may be of a machine that is no more.
func TestHolders(t *testing.T) {
	here, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name string
		note note
		lent bool
		dies bool
	}{
		{"of this machine", note{host: here}, true, true},
		{"of this machine, in a folder of its own", note{host: here}, false, true},
		{"of an earlier berth", note{}, false, true},
		{"of another machine", note{host: here + "-2"}, true, false},
		{"of another machine, by the number of one here", note{host: here + "-2", pid: os.Getpid()}, false, false},
		{"unknown", note{}, true, false},
		{"another process was noted", note{host: here, pid: 1 << 30}, true, false},
	}
	for _, tt := range tests {
		synctest.Test(t, func(t *testing.T) { // waits take no time
			cfg, said := logged(t)
			s := &scratch{Config: cfg, dir: t.TempDir(), lent: tt.lent}
			cmd := holder(t, s.dir, tt.note)
			if err := s.takeLock(setLock); err != nil {
				t.Errorf("%s: %v", tt.name, err)
				return
			}
			defer s.close()
			if warned := strings.Contains(said.String(), "without its lock"); warned == tt.dies {
				t.Errorf("%s: log: %s", tt.name, said)
			}
			if tt.dies {
				awaitDeath(t, cmd.Process.Pid)
			} else if err := cmd.Process.Signal(unix.Signal(0)); err != nil {
				t.Errorf("%s: it was killed (%v)", tt.name, err)
			}
		})
	}
}

// What is noted comes back; of a damaged note, what is whole.
func TestNotes(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "lock"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	long := note{bundle: "/a long path/keys.pem", cookie: "BERTH_NODE=a1/0.1234", host: "node17.cluster", pid: 4711, bare: "1:2 3:4"}
	for _, n := range []note{long, {bundle: "/b", cookie: "BERTH_NODE=x", host: "h", pid: 1}} {
		if err := writeNote(f, n); err != nil {
			t.Fatal(err)
		}
		if got, err := readNote(f); err != nil || got != n {
			t.Errorf("got %+v, %v; want %+v", got, err, n)
		}
	}
	for text, want := range map[string]note{
		"":                                  {},
		"/b":                                {},
		"/b\n":                              {bundle: "/b"},
		"/b\nBERTH_NODE=x\n":                {bundle: "/b", cookie: "BERTH_NODE=x"}, // of an earlier berth
		"/b\nx\n12 host\n":                  {bundle: "/b", host: "host", pid: 12},
		"/b\nBERTH_NODE=x\ntwelve host\n":   {bundle: "/b", cookie: "BERTH_NODE=x"},
		"/b\nBERTH_NODE=x\n12 host cut off": {bundle: "/b", cookie: "BERTH_NODE=x"},
	} {
		if err := errors.Join(f.Truncate(0), writeAt(f, text)); err != nil {
			t.Fatal(err)
		}
		if got, err := readNote(f); err != nil || got != want {
			t.Errorf("%q: %+v, %v; want %+v", text, got, err, want)
		}
	}
}

func writeAt(f *os.File, text string) error {
	_, err := f.WriteAt([]byte(text), 0)
	return err
}
