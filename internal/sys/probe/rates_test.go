package probe

import (
	"os"
	"path/filepath"
	"testing"
)

func TestDiskRate(t *testing.T) {
	dir := t.TempDir()
	n, err := DiskRate(dir)
	if err != nil || n <= 0 {
		t.Errorf("%d, %v", n, err)
	}
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("%v is left", left)
	}
	if _, err := DiskRate(filepath.Join(dir, "none")); err == nil {
		t.Error("a folder that is not there has a disk")
	}
}

func TestLinkRate(t *testing.T) {
	for _, address := range []string{"127.0.0.1", "::1", "", "no address", "192.0.2.254"} {
		if n := LinkRate(address); n != 0 {
			t.Errorf("%q: %d", address, n)
		}
	}
	root := t.TempDir()
	for text, want := range map[string]int64{"1000\n": 125e6, "10000\n": 1250e6, "-1\n": 0, "": 0, "fast": 0} {
		if err := os.MkdirAll(filepath.Join(root, "eth0"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, "eth0", "speed"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := linkSpeed(root, "eth0"); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
	if got := linkSpeed(root, "eth1"); got != 0 {
		t.Errorf("an interface that is not there: %d", got)
	}
}
