package probe

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"berth/internal/core/job"
)

// machine is a folder that looks like what the kernel shows of a machine with two packages, of which one has its memory told.
// The machine that tests run on need not have any such counters.
type machine struct {
	t            *testing.T
	folder, stat string
}

func newMachine(t *testing.T) machine {
	t.Helper()
	m := machine{t, t.TempDir(), filepath.Join(t.TempDir(), "stat")}
	for zone, name := range map[string]string{"intel-rapl:0": "package-0", "intel-rapl:0:0": "core", "intel-rapl:0:1": "dram", "intel-rapl:1": "package-1", "intel-rapl:2": "psys"} {
		m.write(zone, "name", name)
		m.write(zone, "max_energy_range_uj", "262143328850")
		m.count(zone, 1e6)
	}
	m.busy(0)
	return m
}

func (m machine) write(zone, file, text string) {
	m.t.Helper()
	dir := filepath.Join(m.folder, zone)
	if err := errors.Join(os.MkdirAll(dir, 0o755), os.WriteFile(filepath.Join(dir, file), []byte(text+"\n"), 0o600)); err != nil {
		m.t.Fatal(err)
	}
}

func (m machine) count(zone string, uj uint64) { m.write(zone, "energy_uj", fmt.Sprint(uj)) }

// busy says for how many seconds cores have been busy.
func (m machine) busy(seconds int) {
	m.t.Helper()
	text := fmt.Sprintf("cpu  %d 0 0 123456 77 0 0 5 0 0\ncpu0 1 2 3\n", 100*seconds)
	if err := os.WriteFile(m.stat, []byte(text), 0o600); err != nil {
		m.t.Fatal(err)
	}
}

// TestEnergy: packages and memory are counted, parts of packages and what has all of them are not, and a counter that
// begins again loses nothing.
func TestEnergy(t *testing.T) {
	m := newMachine(t)
	m.count("intel-rapl:1", 262143328850-5e6)
	e, err := openEnergy(m.folder, m.stat)
	if err != nil {
		t.Fatal(err)
	}
	first := e.Read()
	m.count("intel-rapl:0", 11e6)  // 10 J
	m.count("intel-rapl:0:0", 9e6) // within those
	m.count("intel-rapl:0:1", 3e6) // 2 J
	m.count("intel-rapl:1", 3e6)   // 8 J, over its end
	m.count("intel-rapl:2", 99e6)
	m.busy(4)
	second := e.Read()
	for _, c := range []struct {
		cpu  time.Duration
		want float64
	}{{0, 0}, {time.Second, 5}, {4 * time.Second, 20}, {9 * time.Second, 20}} {
		if got := second.Share(first, c.cpu); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%v of 4 s that cores were busy took %g J, want %g", c.cpu, got, c.want)
		}
	}
}

// TestEnergyOfAMoment: counters are not read again and again, and what takes less time than lies between readings counts
// by what was taken of late.
func TestEnergyOfAMoment(t *testing.T) {
	m := newMachine(t)
	e, err := openEnergy(m.folder, m.stat)
	if err != nil {
		t.Fatal(err)
	}
	e.Read()
	m.count("intel-rapl:0", 21e6)
	m.busy(4)
	before := e.Read()
	e.fresh = time.Hour
	m.count("intel-rapl:0", 99e6)
	m.busy(9)
	if got := e.Read().Share(before, 100*time.Millisecond); math.Abs(got-0.5) > 1e-9 {
		t.Errorf("%g J, want 0.5", got)
	}
}

// TestNoEnergy: a machine without counters, or with such as this user may not read, says so.
func TestNoEnergy(t *testing.T) {
	if _, err := openEnergy(t.TempDir(), "/proc/stat"); !errors.Is(err, ErrNoEnergy) {
		t.Errorf("no counters: %v", err)
	}
	m := newMachine(t)
	for _, zone := range []string{"intel-rapl:0", "intel-rapl:0:1", "intel-rapl:1"} {
		m.write(zone, "energy_uj", "what nobody may read")
	}
	if _, err := openEnergy(m.folder, m.stat); !errors.Is(err, ErrNoEnergy) {
		t.Errorf("counters that cannot be read: %v", err)
	}
	if _, err := OpenEnergy(); err != nil && !errors.Is(err, ErrNoEnergy) {
		t.Errorf("this machine: %v", err)
	}
}

// TestMeterEnergy: each phase has its share of what the machine took while it lasted.
func TestMeterEnergy(t *testing.T) {
	m := newMachine(t)
	e, err := openEnergy(m.folder, m.stat)
	if err != nil {
		t.Fatal(err)
	}
	meter := NewMeter(func() job.Time { return 1 })
	meter.Energy = e
	m.count("intel-rapl:0", 50e6) // before it began
	meter.Enter(job.PhaseFetch)
	m.count("intel-rapl:0", 60e6)
	m.busy(10)
	meter.Spent(Spent{CPU: 5 * time.Second})
	meter.Enter(job.PhaseCompute)
	m.count("intel-rapl:0", 90e6)
	m.busy(20)
	meter.Spent(Spent{CPU: 10 * time.Second})
	if stats := meter.Finish(); stats[0].Joules != 5 || stats[1].Joules != 30 {
		t.Errorf("%+v", stats)
	}
}
