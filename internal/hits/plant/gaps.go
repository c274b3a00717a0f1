package plant

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// mapping is a line of /proc/PID/maps.
type mapping struct {
	start, end uint64
	offset     uint64 // in its file
	executable bool
	dev, inode uint64
	path       string // of its file, or a name in brackets
}

// space is the address space of a process, by address.
type space []mapping

func readMaps(pid int) (space, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", pid))
	if err != nil {
		return nil, err
	}
	var m space
	for line := range bytes.Lines(text) {
		one, ok := parseMapping(string(bytes.TrimSuffix(line, []byte("\n"))))
		if !ok {
			return nil, fmt.Errorf("cannot read the mappings of process %d: %q", pid, line)
		}
		m = append(m, one)
	}
	return m, nil
}

// parseMapping parses a line: from-to rights offset major:minor inode path.
func parseMapping(line string) (m mapping, ok bool) {
	f := strings.SplitN(line, " ", 6)
	if len(f) < 6 || len(f[1]) < 4 {
		return m, false
	}
	from, to, _ := strings.Cut(f[0], "-")
	major, minor, _ := strings.Cut(f[3], ":")
	ok = true
	number := func(text string, base int) uint64 {
		n, err := strconv.ParseUint(text, base, 64)
		ok = ok && err == nil
		return n
	}
	m = mapping{start: number(from, 16), end: number(to, 16), offset: number(f[2], 16), executable: f[1][2] == 'x',
		dev: unix.Mkdev(uint32(number(major, 16)), uint32(number(minor, 16))), inode: number(f[4], 10), path: strings.TrimLeft(f[5], " ")}
	return m, ok
}

const (
	lowest = 0x20000        // lower addresses are not used, because the kernel may forbid them (vm.mmap_min_addr)
	guard  = 0x10000        // free space on both sides
	reach  = 1<<31 - 1<<20  // the reach of a 32-bit displacement, less what the instructions of trampolines need
	user   = 0x7ffffffff000 // end of the addresses of a program
)

// room finds and reserves size bytes of free address space from which every byte of lo…hi can be
// reached. It prefers lower addresses, because the heap grows above a program, and the stack is
// above its libraries.
func (m *space) room(lo, hi, size uint64) (uint64, bool) {
	at, ok := m.below(lo, hi, size)
	if !ok {
		at, ok = m.above(lo, hi, size)
	}
	if ok {
		i, _ := slices.BinarySearchFunc(*m, at, func(m mapping, at uint64) int { return cmp.Compare(m.start, at) })
		*m = slices.Insert(*m, i, mapping{start: at, end: at + size})
	}
	return at, ok
}

func (m space) below(lo, hi, size uint64) (uint64, bool) {
	for i := len(m) - 1; i >= 0; i-- {
		top := m[i].start
		if top > lo {
			continue
		}
		floor := uint64(lowest)
		if i > 0 {
			floor = max(floor, m[i-1].end)
		}
		if top < floor+size+2*guard {
			continue
		}
		at := top - guard - size
		return at, hi-at < reach
	}
	return 0, false
}

func (m space) above(lo, hi, size uint64) (uint64, bool) {
	for i, part := range m {
		if part.end < hi || i+1 < len(m) && m[i+1].path == "[stack]" {
			continue
		}
		top := uint64(user)
		if i+1 < len(m) {
			top = m[i+1].start
		}
		top = min(top, lo+reach)
		if top < part.end+size+2*guard {
			continue
		}
		return (top - guard - size) &^ (pageSize - 1), true
	}
	return 0, false
}
