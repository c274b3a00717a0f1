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

// ErrNoEnergy says that this machine does not tell what energy its processors take: the kernel has no counters
// (RAPL), or keeps them from this user, as it does by default since Linux 5.10.
var ErrNoEnergy = errors.New("the energy of this machine cannot be measured")

// Where the kernel tells of energy and of the use of cores (powercap, proc(5)).
const (
	energyFolder = "/sys/class/powercap"
	statFile     = "/proc/stat"
)

// Energy counts what energy the machine's processors and their memory take. Its methods may be called from any goroutine.
type Energy struct {
	stat  string        // file
	fresh time.Duration // a reading serves for so long, as on machines with many cores one takes a while

	mu    sync.Mutex
	zones []energyZone
	at    time.Time // of the last reading
	last  EnergyReading
}

// energyZone is one counter: a processor package, or the memory beside it.
type energyZone struct {
	file  string
	last  uint64 // microjoules
	wraps uint64 // the counter begins again after this
}

// EnergyReading is what the counters told at one time.
type EnergyReading struct {
	joules float64       // since the beginning
	busy   time.Duration // of all cores, since the machine was started
	rate   float64       // joules for a second of a core between this reading and the one before
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
	// intel-rapl:0 is a package, of AMD's processors, too; intel-rapl:0:1 a part of one, of which only its memory is
	// not counted in the package. A zone psys has all packages in it.
	files, _ := filepath.Glob(filepath.Join(folder, "intel-rapl:*", "energy_uj"))
	e, why := &Energy{stat: stat}, errors.New("no package in "+folder)
	for _, file := range files {
		name, err := os.ReadFile(filepath.Join(filepath.Dir(file), "name"))
		if n := strings.TrimSpace(string(name)); err != nil || !strings.HasPrefix(n, "package-") && n != "dram" {
			continue
		}
		z := energyZone{file: file}
		if z.last, err = readCount(file); err != nil {
			why = err
			continue
		}
		if z.wraps, err = readCount(filepath.Join(filepath.Dir(file), "max_energy_range_uj")); err != nil {
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

// Read reads the counters, unless that was done a moment ago. It must be called every minute at least, as they
// begin again after some minutes.
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
			continue // what it missed comes with the next reading
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

// Share returns the part of the energy since an earlier reading that counts for somebody who used cores for a time
// since then, in joules: by that time's part of the time for which all cores were busy. For a time that is too short
// for another reading, it is by what was taken of late.
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

// readCount reads a file that has one number.
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

// busyTime reads for how long all cores together have been busy (proc(5), /proc/stat).
func busyTime(file string) (time.Duration, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return 0, err
	}
	line, _, _ := strings.Cut(string(text), "\n")
	f := strings.Fields(line)
	if len(f) < 8 || f[0] != "cpu" {
		return 0, fmt.Errorf("%s: %q does not tell of cores", file, line)
	}
	ticks := uint64(0)
	for _, i := range []int{1, 2, 3, 6, 7} { // user, nice, system, irq, softirq; not idle and iowait
		n, err := strconv.ParseUint(f[i], 10, 64)
		if err != nil {
			return 0, fmt.Errorf("%s: %w", file, err)
		}
		ticks += n
	}
	return time.Duration(ticks) * tick, nil
}
