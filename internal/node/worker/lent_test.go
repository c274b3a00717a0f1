package worker

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/wire"
)

// What a worker leaves of a folder that it was lent: its map outputs, where others can
// read them, and else nothing.
func TestLentScratch(t *testing.T) {
	for _, shared := range []bool{true, false} {
		c := newCoord(t)
		cfg := c.config("a1/0")
		cfg.Token = "secret"
		if err := os.Mkdir(cfg.Scratch, 0o700); err != nil {
			t.Fatal(err)
		}
		if shared {
			if err := os.WriteFile(filepath.Join(cfg.Scratch, wire.TokenName), []byte("secret\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		over := filepath.Join(cfg.Scratch, "a1-1-0123") // of another node, whose keys are gone
		if err := os.MkdirAll(filepath.Join(over, "outputs", "mr-1"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(over, "lock"), []byte("/none/key.pem\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		p, end := c.worker(cfg)
		if want := filepath.Join(scratchDir(t, cfg), "outputs"); (p.hello.Outputs == want) != shared || !shared && p.hello.Outputs != "" {
			t.Errorf("shared %t: hello names outputs in %q", shared, p.hello.Outputs)
		}
		s := streaming(t, fruit, []string{"cat"}, count)
		p.job(s, 1, 1)
		p.say(startMap(s, 0, 1, split(s, 0, 100)))
		p.ended(event.Done)
		mine := scratchDir(t, cfg)
		if err := end(); err != nil {
			t.Fatal(err)
		}
		left, err := filepath.Glob(filepath.Join(mine, "*", "*", "*"))
		if want := []string{filepath.Join(mine, "outputs", "mr-1", "0.1")}; err != nil || shared && !slices.Equal(left, want) || !shared && len(left) > 0 {
			t.Errorf("shared %t: %v is left (%v)", shared, left, err)
		}
		if _, err := os.Stat(mine); shared != (err == nil) {
			t.Errorf("shared %t: %v", shared, err)
		}
		if _, err := os.Stat(filepath.Join(over, "outputs", "mr-1")); err != nil {
			t.Errorf("shared %t: another node's: %v", shared, err)
		}
	}
}

// scratchDir returns the folder of a worker in its scratch folder.
func scratchDir(t *testing.T, cfg Config) string {
	t.Helper()
	dirs, err := filepath.Glob(filepath.Join(cfg.Scratch, strings.ReplaceAll(string(cfg.Node), "/", "-")+"-*"))
	if err != nil || len(dirs) != 1 {
		t.Fatalf("%v, %v", dirs, err)
	}
	return dirs[0]
}

// Of a folder that was lent and is this node's alone not even the root stays.
func TestLentRootGoes(t *testing.T) {
	c := newCoord(t)
	cfg := c.config("a1/0")
	cfg.Token = "secret"
	_, end := c.worker(cfg)
	if err := end(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(cfg.Scratch); err == nil {
		t.Error("the root is still there")
	}
}

// lend makes the config's scratch folder one that was lent and that all see.
func lend(t *testing.T, cfg *Config) {
	t.Helper()
	cfg.Token = "secret"
	if err := os.MkdirAll(cfg.Scratch, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(cfg.Scratch, wire.TokenName), []byte(cfg.Token), 0o600); err != nil {
		t.Fatal(err)
	}
}

// Map outputs in a folder that the reduce's node sees are read there, though the nodes that
// made them are gone; one that is damaged or missing is told as any other.
func TestReduceReadsInPlace(t *testing.T) {
	c := newCoord(t)
	s := streaming(t, fruit, []string{"cat"}, count)
	var located []wire.Locate
	var files []string
	for n := range 2 {
		cfg := c.config(job.NodeID(fmt.Sprintf("a1/%d", n)))
		lend(t, &cfg)
		p, end := c.worker(cfg)
		p.job(s, 2, 1)
		p.say(startMap(s, n, 1, split(s, n, half)))
		at := p.ended(event.Done).Attempt
		located = append(located, wire.Locate{Attempt: at, Holder: cfg.Node, Addr: p.hello.Addr, Outputs: p.hello.Outputs})
		files = append(files, filepath.Join(p.hello.Outputs, "mr-1", fmt.Sprintf("%d.1", n)))
		if err := end(); err != nil {
			t.Fatal(err)
		}
	}
	whole := read(t, files[0])
	flip(t, files[0])
	if err := os.Rename(files[1], files[1]+".away"); err != nil {
		t.Fatal(err)
	}

	p, _ := c.worker(c.config("a2/0")) // of a scratch folder that nobody else sees
	p.job(s, 2, 1)
	p.say(startReduce(s, 2, 1))
	p.say(located[0], located[1])
	bad := func(n int, says string) {
		t.Helper()
		m := expect[wire.FetchFailed](p)
		if m.Map != located[n].Attempt || m.Addr != located[n].Addr || !strings.Contains(m.Reason, says) {
			t.Errorf("got %+v, want %v: %s", m, located[n].Attempt, says)
		}
	}
	again := func(n int, put func(path string) error) {
		t.Helper()
		located[n].Attempt.N = 2
		if err := put(filepath.Join(filepath.Dir(files[n]), fmt.Sprintf("%d.2", n))); err != nil {
			t.Fatal(err)
		}
		p.say(located[n])
	}
	bad(1, "no output of")
	again(1, func(path string) error { return os.Rename(files[1]+".away", path) })
	if m := expect[wire.GrantWanted](p); m.Phase != job.PhaseSort {
		t.Fatalf("got %+v", m)
	}
	p.say(wire.Grant{Attempt: try(s.ID, 2, 1), Phase: job.PhaseReduce})
	bad(0, "damaged") // it is read, and so verified, only now
	if _, err := os.Stat(files[0]); err != nil {
		t.Errorf("another node's output was removed: %v", err)
	}
	again(0, func(path string) error { return os.WriteFile(path, []byte(whole), 0o600) })
	expect[wire.CommitWanted](p)
	p.say(wire.Commit{Attempt: try(s.ID, 2, 1)})
	p.ended(event.Done)
	if got, want := read(t, filepath.Join(s.MapReduce.Output, "part-00000")), "apple\t1\nfig\t2\npear\t3\n"; got != want {
		t.Errorf("output\n%swant\n%s", got, want)
	}
}
