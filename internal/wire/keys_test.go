package wire

import (
	"crypto/ed25519"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"berth/internal/core/job"
)

func TestCAIsKeptAndLoaded(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "server", "keys")
	if _, err := LoadCA(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("without a folder: %v", err)
	}
	made := must[*CA](t)(GenerateCA(dir))
	for path, want := range map[string]fs.FileMode{dir: 0o700, filepath.Join(dir, caFile): 0o600} {
		if info := must[fs.FileInfo](t)(os.Stat(path)); info.Mode().Perm() != want {
			t.Errorf("%s has mode %v", path, info.Mode())
		}
	}
	loaded := must[*CA](t)(LoadCA(dir))
	if !loaded.cert.Equal(made.cert) || !loaded.key.(ed25519.PrivateKey).Equal(made.key) {
		t.Error("another authority was loaded")
	}
	if other := must[*CA](t)(GenerateCA(dir)); other.key.(ed25519.PrivateKey).Equal(made.key) {
		t.Error("the same authority was made twice")
	}
}

// A worker that got its keys from one coordinator gets into that one's successor.
func TestSuccessorOfACoordinator(t *testing.T) {
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	first := must[*CA](t)(GenerateCA(dir))
	worker := must[*Identity](t)(first.IssueWorker("a1/0"))
	second := must[*CA](t)(LoadCA(dir))
	a := authority{second, must[*Identity](t)(second.IssueCoordinator())}
	if err := meet(t, ServerTLS(a.coordinator), ClientTLS(worker)); err != nil {
		t.Error(err)
	}
}

func TestKeysThatOthersCouldKnow(t *testing.T) {
	dir := t.TempDir()
	keys := filepath.Join(dir, "keys")
	ca := must[*CA](t)(GenerateCA(keys))
	bundle := filepath.Join(dir, "bundle")
	if err := WriteBundle(bundle, []string{"host:1"}, must[*Identity](t)(ca.IssueWorker("a1/0"))); err != nil {
		t.Fatal(err)
	}
	loadCA := func() error { _, err := LoadCA(keys); return err }
	loadBundle := func() error { _, err := LoadBundle(bundle); return err }
	tests := []struct {
		path string
		load func() error
	}{
		{keys, loadCA}, {filepath.Join(keys, caFile), loadCA}, {bundle, loadBundle},
	}
	for _, tt := range tests {
		good := must[fs.FileInfo](t)(os.Stat(tt.path)).Mode().Perm()
		for _, bit := range []fs.FileMode{0o040, 0o020, 0o010, 0o004, 0o002, 0o001} {
			if err := os.Chmod(tt.path, good|bit); err != nil {
				t.Fatal(err)
			}
			var e *job.Error
			if err := tt.load(); !errors.As(err, &e) || e.Where != tt.path || !strings.Contains(e.Do, "chmod") {
				t.Errorf("%s with mode %v: %v", tt.path, good|bit, err)
			}
		}
		if err := os.Chmod(tt.path, good); err != nil {
			t.Fatal(err)
		}
		if err := tt.load(); err != nil {
			t.Errorf("%s with mode %v: %v", tt.path, good, err)
		}
	}
	if os.Geteuid() != 0 {
		t.Skip("only root can give a file to another user; the modes are tested")
	}
	for _, tt := range tests {
		if err := os.Chown(tt.path, 12345, -1); err != nil {
			t.Fatal(err)
		}
		if err := tt.load(); err == nil || !strings.Contains(err.Error(), "belongs to user 12345") {
			t.Errorf("%s of another user: %v", tt.path, err)
		}
		if err := os.Chown(tt.path, 0, -1); err != nil {
			t.Fatal(err)
		}
	}
}

func TestFilesThatAreNoKeys(t *testing.T) {
	dir := t.TempDir()
	ca := must[*CA](t)(newCA(time.Now()))
	worker := must[*Identity](t)(ca.IssueWorker("a1/0"))
	path := filepath.Join(dir, "bundle")
	if err := WriteBundle(path, []string{"host:1"}, worker); err != nil {
		t.Fatal(err)
	}
	good := string(must[[]byte](t)(os.ReadFile(path)))
	blocks := strings.SplitAfter(good, "-----\n")
	keyBlock := strings.Join(blocks[6:8], "")
	other := must[*Identity](t)(ca.IssueWorker("a1/1"))
	otherPath := filepath.Join(dir, "other")
	if err := WriteBundle(otherPath, []string{"host:1"}, other); err != nil {
		t.Fatal(err)
	}
	otherGood := string(must[[]byte](t)(os.ReadFile(otherPath)))
	coordinator := filepath.Join(dir, "coordinator")
	if err := WriteBundle(coordinator, []string{"host:1"}, must[*Identity](t)(ca.IssueCoordinator())); err != nil {
		t.Fatal(err)
	}
	tests := map[string]string{
		"empty":                "",
		"text":                 "hello\n",
		"without a key":        strings.Replace(good, keyBlock, "", 1),
		"another's key":        strings.Replace(good, keyBlock, strings.Join(strings.SplitAfter(otherGood, "-----\n")[6:8], ""), 1),
		"without an address":   strings.Join(blocks[2:], ""),
		"one certificate":      strings.Join(blocks[:2], "") + strings.Join(blocks[4:], ""),
		"a coordinator's":      string(must[[]byte](t)(os.ReadFile(coordinator))),
		"cut short":            good[:len(good)/2],
		"with an unknown part": good + "-----BEGIN SURPRISE-----\n-----END SURPRISE-----\n",
	}
	for name, text := range tests {
		bad := filepath.Join(dir, "bad")
		if err := os.WriteFile(bad, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		var e *job.Error
		if b, err := LoadBundle(bad); !errors.As(err, &e) || e.Where != bad {
			t.Errorf("%s: %+v, %v", name, b, err)
		}
	}
	if _, err := LoadBundle(dir); err == nil || !strings.Contains(err.Error(), "not a plain file") {
		t.Errorf("a folder: %v", err)
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	if _, err := LoadBundle(link); err == nil {
		t.Error("a link was followed")
	}
	if _, err := LoadBundle(filepath.Join(dir, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
}

// A new coordinator tells its addresses by writing the bundle anew.
func TestBundleIsReplaced(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bundle")
	ca := must[*CA](t)(newCA(time.Now()))
	worker := must[*Identity](t)(ca.IssueWorker("a3/17"))
	for _, addrs := range [][]string{{"127.0.0.1:4711"}, {"10.0.0.1:4712", "[fd00::1]:4712", "login1:4712"}} {
		if err := WriteBundle(path, addrs, worker); err != nil {
			t.Fatal(err)
		}
		b := must[*Bundle](t)(LoadBundle(path))
		if !slices.Equal(b.Addrs, addrs) || b.Node != "a3/17" {
			t.Errorf("got %q of %q", b.Addrs, b.Node)
		}
		if info := must[fs.FileInfo](t)(os.Stat(path)); info.Mode() != 0o600 {
			t.Errorf("mode %v", info.Mode())
		}
	}
	for name, bad := range map[string][]string{"none": {}, "too many": make([]string, maxAddrs+1)} {
		if err := WriteBundle(path, bad, worker); err == nil {
			t.Errorf("addresses %s were taken", name)
		}
	}
	if _, err := ca.IssueWorker(""); err == nil {
		t.Error("keys for no node")
	}
}

// TestClockSetBack: keys that were made before the clock was set back by a day and more are valid, with those that are issued after it.
func TestClockSetBack(t *testing.T) {
	ahead := time.Now().Add(30 * time.Hour)
	ca := must[*CA](t)(newCA(ahead))
	l, refused := listen(t, authority{ca, must[*Identity](t)(ca.IssueCoordinator())})
	enter(t, l, must[*Identity](t)(ca.issue("a1/0", ahead, certLife)))
	c, _, err := l.Accept()
	if err != nil {
		t.Fatalf("the worker is refused: %v, %v", err, refused.errs)
	}
	c.Close()
}

func TestExpiredCA(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "keys")
	must[*CA](t)(GenerateCA(dir))
	old := must[*CA](t)(newCA(time.Now().Add(-caLife - time.Minute)))
	if err := writeKeys(filepath.Join(dir, caFile), nil, old.key, old.cert.Raw); err != nil {
		t.Fatal(err)
	}
	if _, err := LoadCA(dir); err == nil || !strings.Contains(err.Error(), "expired") {
		t.Errorf("got %v", err)
	}
}
