package probe

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"
)

// ErrNoEnergy means that the energy of this machine's processors cannot be read: the kernel has no
// counters (RAPL), or does not let this user read them, which is the default since Linux 5.10.
var ErrNoEnergy = errors.New("the energy of this machine cannot be measured")

// Paths of the kernel's counters of energy and of busy cores (powercap, proc(5)).
const (
	energyFolder = "/sys/class/powercap"
	statFile     = "/proc/stat"
)

// Energy reads the energy that the machine's processors and memory have used. Its methods may be
// called from any goroutine.
type Energy struct {
	stat  string        // path of the file with the busy time of cores
	fresh time.Duration // a reading is reused for this time, because reading takes long on machines with many cores

	mu    sync.Mutex
	zones []energyZone
	at    time.Time // of the last reading
	last  EnergyReading
}

// energyZone is one counter, for a processor package or for its memory.
type energyZone struct {
	file  string
	last  uint64 // microjoules
	wraps uint64 // the value at which the counter starts again from 0
}

// EnergyReading contains the values of the counters at one time.
type EnergyReading struct {
	joules float64       // since OpenEnergy
	busy   time.Duration // of all cores, since the machine started
	rate   float64       // joules per second of one core, between the previous reading and this one
}

// OpenEnergy returns the counters of this machine, or an error that wraps ErrNoEnergy.
func OpenEnergy() (*Energy, error) {
	e, err := openEnergy(energyFolder, statFile)
	if err == nil {
		e.fresh = 100 * time.Millisecond
	}
	return e, err
}

func openEnergy(folder, stat string) (*Energy, error) {
	// intel-rapl:0 is a package, also with AMD processors. intel-rapl:0:1 is a part of one; only
	// the part for memory is not already counted in the package. A zone psys contains all packages.
	files, _ := filepath.Glob(filepath.Join(folder, "intel-rapl:*", "energy_uj"))
	e, why := &Energy{stat: stat}, errors.New("no counter of a processor package in "+folder)
	for _, file := range files {
		name, err := os.ReadFile(filepath.Join(filepath.Dir(file), "name"))
		if n := strings.TrimSpace(string(name)); err != nil || !strings.HasPrefix(n, "package-") && n != "dram" {
			continue
		}
		z := energyZone{file: file}
		if z.last, err = readCount(file); err == nil {
			z.wraps, err = readCount(filepath.Join(filepath.Dir(file), "max_energy_range_uj"))
		}
		if err != nil {
			why = err
			continue
		}
		e.zones = append(e.zones, z)
	}
	if len(e.zones) == 0 {
		return nil, fmt.Errorf("%w: %w", ErrNoEnergy, why)
	}
	if _, err := busyTime(stat); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoEnergy, err)
	}
	return e, nil
}

// Read reads the counters, unless the last reading is fresh. It must be called at least once a
// minute, because the counters wrap around after some minutes.
func (e *Energy) Read() EnergyReading {
	e.mu.Lock()
	defer e.mu.Unlock()
	now := time.Now()
	if !e.at.IsZero() && now.Sub(e.at) < e.fresh {
		return e.last
	}
	e.at = now
	r := EnergyReading{joules: e.last.joules, rate: e.last.rate}
	for i := range e.zones {
		z := &e.zones[i]
		count, err := readCount(z.file)
		if err != nil {
			continue // the next reading includes what this one missed
		}
		if count < z.last {
			r.joules += float64(z.wraps-z.last+count) / 1e6
		} else {
			r.joules += float64(count-z.last) / 1e6
		}
		z.last = count
	}
	busy, err := busyTime(e.stat)
	if r.busy = busy; err != nil {
		r.busy = e.last.busy
	}
	if d := r.busy - e.last.busy; d > 0 {
		r.rate = (r.joules - e.last.joules) / d.Seconds()
	}
	e.last = r
	return r
}

// Share returns a user's part of the energy since an earlier reading, in joules. cpu is the time
// for which that user used cores since then. The part is cpu divided by the busy time of all cores.
// If no new reading was made since, the recent rate is used.
func (r EnergyReading) Share(before EnergyReading, cpu time.Duration) float64 {
	busy := max(r.busy-before.busy, cpu)
	switch {
	case busy <= 0:
		return 0
	case r.busy == before.busy && r.joules == before.joules:
		return cpu.Seconds() * r.rate
	}
	return max(0, r.joules-before.joules) * float64(cpu) / float64(busy)
}

// readCount reads a file that contains one number.
func readCount(file string) (uint64, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return 0, err
	}
	n, err := strconv.ParseUint(strings.TrimSpace(string(text)), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", file, err)
	}
	return n, nil
}

// busyTime reads the busy time of all cores together (proc(5), /proc/stat).
func busyTime(file string) (time.Duration, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return 0, err
	}
	line, _, _ := strings.Cut(string(text), "\n")
	f := strings.Fields(line)
	if len(f) < 8 || f[0] != "cpu" {
		return 0, fmt.Errorf("%s: %q is not the line of all cores", file, line)
	}
	ticks := uint64(0)
	for _, i := range []int{1, 2, 3, 6, 7} { // user, nice, system, irq, softirq; without idle and iowait
		n, err := strconv.ParseUint(f[i], 10, 64)
		if err != nil {
			return 0, fmt.Errorf("%s: %w", file, err)
		}
		ticks += n
	}
	return time.Duration(ticks) * tick, nil
}
