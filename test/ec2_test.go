package test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"berth/test/support/moto"
)

// newCloud is a world with machines to rent, which see all of its files.
func newCloud(t *testing.T) (*world, *moto.Cloud) {
	t.Helper()
	w, c := newWorld(t), moto.Start(t)
	w.batch = append([]string{noBatch}, c.Env...)
	return w, c
}

// types is a catalogue; machines may take a while to come up.
func (w *world) types(patience string) {
	w.write("types.toml", `patience = "`+patience+`"
image = "ami-12c6146b"
[[type]]
name = "small"
instance = "t3.small"
price = 0.1
spot_price = 0.04
cores = 1
mem = "1G"
task_time = "1s"
`)
}

// nothingRented waits until no machine is rented any more, and returns how many there were.
func nothingRented(w *world, c *moto.Cloud) int {
	w.t.Helper()
	w.await("all machines to be given back", func() bool { _, live := c.Rented(); return len(live) == 0 })
	ever, _ := c.Rented()
	return ever
}

// TestRentedBag runs a bag on three rented machines, end to end; then nothing is left, neither machines nor keys.
func TestRentedBag(t *testing.T) {
	t.Parallel()
	w, c := newCloud(t)
	w.types("2m")
	// The tasks wait for each other, so that none is done before the third machine is up.
	r := w.must("bag", "--machines", "small=2,small:spot=1", "--catalogue", "types.toml", "--array", "1-30", "--idle-timeout", "1s", "--",
		"sh", "-c", "echo $PPID $AWS_SECRET_ACCESS_KEY >ran-{}; while [ $(cat ran-* | sort -u | wc -l) -lt 3 ]; do sleep 0.05; done")
	if !strings.Contains(r.stderr+r.stdout, "3 nodes") {
		t.Errorf("it does not tell of 3 nodes: %v", r)
	}
	by := map[string]int{}
	for i := range 30 {
		by[w.read(fmt.Sprintf("ran-%d", i+1))]++
	}
	if len(by) != 3 {
		t.Errorf("tasks ran by %v, not by 3 workers", by)
	}
	for line := range by {
		if strings.Contains(line, "secret") {
			t.Error("a rented machine was told the keys of the provider")
		}
	}
	if ever := nothingRented(w, c); ever != 3 || c.Calls("RunInstances") != 2 {
		t.Errorf("%d machines were rented by %d calls, want 3 by 2", ever, c.Calls("RunInstances"))
	}
	w.await("the keys to be removed", func() bool {
		left, _ := filepath.Glob(filepath.Join(w.home().Server(), "rented", "a*"))
		return len(left) == 0
	})
	if r := w.must("machines", "list"); !strings.Contains(r.stdout, "no machines are rented") {
		t.Errorf("%v", r)
	}
}

// TestRentedDeadline: a bag that would be late has further machines rented.
func TestRentedDeadline(t *testing.T) {
	t.Parallel()
	w, c := newCloud(t)
	w.batch = append(w.batch, "BERTH_LOOK_EVERY=200ms")
	w.types("2m")
	w.write("types.toml", w.read("types.toml")+"limit = 2\nboot = \"1s\"\n")
	// The first tasks show that all would take half a minute; the others wait for a second worker.
	w.must("bag", "--machines", "small=1", "--catalogue", "types.toml", "--deadline", "2s", "--array", "1-30", "--idle-timeout", "1s", "--", "sh", "-c",
		"n=0; while [ {} -lt 4 ] && [ $n -lt 600000 ]; do n=$((n+1)); done; echo $PPID >ran-{}; while [ {} -gt 3 ] && [ $(cat ran-* | sort -u | wc -l) -lt 2 ]; do sleep 0.05; done")
	nothingRented(w, c)
	log, err := os.ReadFile(w.home().ServerLog())
	if err != nil || !strings.Contains(string(log), "the deadline is 2s: with 1 more of small") {
		t.Errorf("the log does not say why a machine is rented: %v\n%s", err, log)
	}
}
