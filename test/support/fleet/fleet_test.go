package fleet

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// on runs a command on a machine.
func (f *Fleet) on(t *testing.T, name, script string) string {
	t.Helper()
	out, err := exec.Command("/bin/sh", "-c", f.Command+" -o ConnectTimeout=5 "+name+" '"+script+"'").CombinedOutput()
	if err != nil {
		return "failed: " + string(out)
	}
	return strings.TrimSpace(string(out))
}

// TestApart checks that a machine sees neither the files nor the processes of this one, keeps its
// files while it is down, and has the same limits afterwards.
func TestApart(t *testing.T) {
	dir := t.TempDir()
	f := ForTest(t, Options{Apart: true, Server: 10_000_000}, Machine{Name: "m1", Rate: 5_000_000, Cores: 0.5, Disk: 10 << 20}, Machine{Name: "m2"})
	h := f.Host("m1")
	if got := f.on(t, "m1", "hostname; echo $HOME; ls -A "+dir+" $HOME; kill -0 "+strconv.Itoa(os.Getpid())+" 2>&1 || true"); !strings.HasPrefix(got, "m1\n") || !strings.Contains(got, "No such file") || !strings.Contains(got, "No such process") {
		t.Errorf("the machine sees: %s", got)
	}
	f.on(t, "m1", "echo mine >$HOME/file")
	if own, err := os.ReadFile(filepath.Join(h.Home(), "file")); string(own) != "mine\n" || err != nil {
		t.Errorf("its file is %q, %v", own, err)
	}
	if got := f.on(t, "m1", "head -c 20000000 /dev/zero >/tmp/large && echo all"); !strings.Contains(got, "No space") {
		t.Errorf("a disk of 10 MiB took 20 MB: %s", got)
	}
	h.Down()
	if got := f.on(t, "m1", "true"); !strings.HasPrefix(got, "failed") {
		t.Error("it answers though it is down")
	}
	if err := h.Up(); err != nil {
		t.Fatal(err)
	}
	if got := f.on(t, "m1", "cat $HOME/file; tc qdisc show dev eth0"); !strings.HasPrefix(got, "mine\n") || !strings.Contains(got, "40Mbit") {
		t.Errorf("when it is back it has %s", got)
	}
	if err := h.Remove(); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Boot(Machine{Name: "m3"}); err != nil {
		t.Fatal(err)
	}
	if got := f.on(t, "m3", "cat $HOME/file"); !strings.Contains(got, "No such file") {
		t.Errorf("another machine in its place has %s", got)
	}
}

// TestLose checks that links lose packets in the direction that is asked for, also after a machine has started again, and none after Lose(0, 0).
// What a machine sends is then sent again, or what comes to it comes with gaps. All data arrives nevertheless.
func TestLose(t *testing.T) {
	NeedsLoss(t)
	f := ForTest(t, Options{Apart: true}, Machine{Name: "m1", Rate: 4 << 20, LoseFrom: 10}, Machine{Name: "m2", Rate: 4 << 20, LoseTo: 10})
	const much, few = 500_000, 10 // bytes; packets
	exchange := func(name string) (again, gaps int) {
		t.Helper()
		sent := fmt.Sprintf("head -c %d /dev/zero", much)
		if got := len(f.on(t, name, sent)); got != much {
			t.Errorf("%d bytes came from %s", got, name)
		}
		out, err := exec.Command("/bin/sh", "-c", sent+" | "+f.Command+" "+name+" wc -c").CombinedOutput()
		if err != nil || strings.TrimSpace(string(out)) != strconv.Itoa(much) {
			t.Errorf("%s of %d bytes came to %s, %v", out, much, name, err)
		}
		counted := f.on(t, name, "nstat -asz TcpRetransSegs TcpExtTCPOFOQueue")
		words := strings.Fields(counted)
		if len(words) < 6 {
			t.Fatalf("%s counted %q", name, counted)
		}
		again, err1 := strconv.Atoi(words[2])
		gaps, err2 := strconv.Atoi(words[5])
		if err1 != nil || err2 != nil {
			t.Fatalf("%s counted %q", name, counted)
		}
		return again, gaps
	}
	m1, m2 := f.Host("m1"), f.Host("m2")
	for range 2 {
		if again, gaps := exchange("m1"); again < few || gaps >= few {
			t.Errorf("m1, whose packets are lost, sent %d again, and missed %d", again, gaps)
		}
		m1.Down()
		if err := m1.Up(); err != nil {
			t.Fatal(err)
		}
	}
	_, before := exchange("m2")
	if before < few {
		t.Errorf("m2, to which packets are lost, missed %d", before)
	}
	if err := m2.Lose(0, 0); err != nil {
		t.Fatal(err)
	}
	if _, gaps := exchange("m2"); gaps-before >= few {
		t.Errorf("m2 missed %d packets more though none are lost", gaps-before)
	}
}

// leaveVar makes the test program print the folder of a fleet, and leave the fleet behind as if it were killed, or close it.
const (
	leaveVar = "BERTH_FLEET_LEAVE"
	closed   = "closed"
)

func TestMain(m *testing.M) {
	if os.Getenv(leaveVar) != "" {
		f, err := New(Options{Apart: os.Getenv(leaveVar) == "apart"})
		if err == nil {
			_, err = f.Boot(Machine{Name: "m1", Cores: 0.5})
		}
		if err != nil {
			_, _ = os.Stderr.WriteString(err.Error())
			os.Exit(1)
		}
		_, _ = os.Stdout.WriteString(f.dir)
		if os.Getenv(leaveVar) == closed && f.Close() == nil {
			os.Exit(0)
		}
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	}
	os.Exit(m.Run())
}

// TestNumbersOfANetwork checks that a process which shares this one's network, but not its files, takes another number, as links of the same
// name would be removed.
func TestNumbersOfANetwork(t *testing.T) {
	if why := Missing(); why != "" {
		t.Skip("no machines apart: " + why)
	}
	f := ForTest(t, Options{Apart: true}, Machine{Name: "m1"})
	cmd := exec.Command("unshare", "--mount", "sh", "-c", `mount -t tmpfs none /run && exec "$0"`, os.Args[0])
	cmd.Env = append(os.Environ(), leaveVar+"="+closed)
	dir, err := cmd.Output()
	if err != nil || len(dir) == 0 || string(dir) == f.dir {
		t.Errorf("the other has the folder %q (%v), this one %q", dir, err, f.dir)
	}
	if got := f.on(t, "m1", "echo up"); got != "up" {
		t.Errorf("the machine says %q", got)
	}
}

// TestSwept checks that New removes what a killed process left.
func TestSwept(t *testing.T) {
	for _, kind := range []string{"apart", "together"} {
		if why := Missing(); kind == "apart" && why != "" {
			continue
		}
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), leaveVar+"="+kind)
		dir, _ := cmd.Output() // it is killed
		if left := of(string(dir) + "/"); len(dir) == 0 || len(left) == 0 {
			t.Fatalf("%s: it left nothing in %q: %v", kind, dir, left)
		}
		f := ForTest(t, Options{})
		if left := of(string(dir) + "/"); len(left) > 0 {
			t.Errorf("%s: processes stay: %v", kind, left)
		}
		slot, _ := strconv.Atoi(filepath.Base(string(dir)))
		if string(dir) != f.dir {
			other, err := open(slot)
			if errors.Is(err, unix.EADDRINUSE) {
				continue // a test of another package has taken the place since
			}
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = other.lock.Close() }()
			if left, _ := os.ReadDir(string(dir)); len(left) > 0 {
				t.Errorf("%s: %v stay in %s", kind, left, dir)
			}
		}
		old := &Fleet{slot: slot}
		if err := run("ip link show %s", old.bridge()); err == nil && kind == "apart" {
			t.Errorf("%s stays", old.bridge())
		}
		if _, err := os.Stat(old.groupDir()); err == nil {
			t.Errorf("%s stays", old.groupDir())
		}
	}
}
