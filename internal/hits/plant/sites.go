package plant

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"berth/internal/hits/code"
)

// site is a place of a process where a jump is written.
type site struct {
	counter int // its index
	at      uint64
	was     []byte
	patch   []byte
}

// region is the memory of a process for one object: counters, then trampolines.
type region struct {
	p           *part
	at          uint64
	counters    uint64 // bytes, whole pages
	trampolines []byte
	sites       []site
}

// prepare computes everything that is to be written into a process, but writes nothing.
func (s *Session) prepare(pid int) ([]*region, error) {
	addresses, err := readMaps(pid)
	if err != nil {
		return nil, err
	}
	program, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid))
	if err != nil {
		return nil, err
	}
	own, err := s.planter.open(inRoot(pid, program), &s.writing)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", program, err)
	}
	if s.planter.crashed(own.BuildID) {
		return nil, errCrashed
	}
	in := image{o: own, path: program}
	found, err := s.objectsIn(pid, &in, addresses)
	if err != nil {
		return nil, err
	}
	var all []*region
	for _, f := range found {
		r, err := s.prepareObject(pid, in, &addresses, f)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.mapped[0].path, err)
		}
		if r != nil {
			all = append(all, r)
		}
	}
	if len(all) == 0 {
		return nil, errors.New("none of its functions can be counted")
	}
	s.touched(in)
	return all, nil
}

// image is a program that a process has executed.
type image struct {
	o       *object
	path    string
	catches bool // a handler of signals may throw an exception out of a fault
}

// placed is an object with its mappings.
type placed struct {
	o      *object
	mapped []mapping
}

// objectsIn returns the objects of a process that can be planted. An error means that nothing of the
// process may be planted. An object that was not analysed may catch exceptions.
func (s *Session) objectsIn(pid int, in *image, addresses space) (found []placed, err error) {
	for _, group := range objectsOf(addresses) {
		path := group[0].path
		if strings.HasSuffix(path, deleted) {
			in.catches = true
			continue
		}
		o, err := s.planter.open(inRoot(pid, path), &s.writing)
		switch {
		case errors.Is(err, code.Runtime):
			return nil, fmt.Errorf("%s has %v", path, err)
		case err != nil:
			s.leaveObject(path, err)
			in.catches = true
		case o.Locks:
			return nil, errors.New("it locks its memory (mlockall), whose limit the counters could exceed")
		default:
			in.catches = in.catches || o.Catches
			found = append(found, placed{o, group})
		}
	}
	return found, nil
}

// deleted is at the end of the path of a mapped file that was removed.
const deleted = " (deleted)"

// inRoot returns a path of a process as this process sees it.
func inRoot(pid int, path string) string { return fmt.Sprintf("/proc/%d/root%s", pid, path) }

// objectsOf returns the executable mappings of files, by file.
func objectsOf(s space) [][]mapping {
	var list [][]mapping
	for _, m := range s {
		if !m.executable || !strings.HasPrefix(m.path, "/") {
			continue
		}
		i := slices.IndexFunc(list, func(g []mapping) bool { return g[0].path == m.path })
		if i < 0 {
			i, list = len(list), append(list, nil)
		}
		list[i] = append(list[i], m)
	}
	return list
}

// prepareObject computes what is to be written for one object; nil means nothing.
func (s *Session) prepareObject(pid int, in image, addresses *space, f placed) (*region, error) {
	o, mapped, path := f.o, f.mapped, f.mapped[0].path
	if !o.is(mapped[0]) && !o.sameCode(pid, path, mapped) {
		s.leaveObject(path, errors.New("its file is not the one that is mapped"))
		return nil, nil
	}
	bias, lo, hi, ok := o.bias(mapped)
	if !ok {
		s.leaveObject(path, errors.New("it is not mapped as its tables say"))
		return nil, nil
	}
	p, err := s.part(in, o, path)
	if err != nil || len(p.chosen) == 0 {
		return nil, err
	}
	r := &region{p: p, counters: pages(uint64(len(p.chosen)) * 8)}
	if r.at, ok = addresses.room(lo, hi, r.counters+pages(uint64(len(p.chosen))*code.MaxTrampoline)); !ok {
		s.leaveObject(path, errors.New("there is no room near it"))
		return nil, nil
	}
	if r.emit(bias, s.options.Exact, in.catches); len(r.sites) == 0 {
		return nil, nil
	}
	return r, nil
}

// leaveObject records why an object is not planted.
func (s *Session) leaveObject(path string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.objects[path] = err.Error()
}

// emit makes jumps and trampolines. A function for which this fails is omitted, and one whose
// trampoline may fault if catches is set.
func (r *region) emit(bias uint64, exact, catches bool) {
	o := r.p.o
	for i, n := range r.p.chosen {
		f := &o.Functions[n]
		if catches && f.Faults {
			continue
		}
		at := code.Placement{Bias: bias, Trampoline: r.at + r.counters + uint64(len(r.trampolines)), Counter: r.at + uint64(i)*8, Exact: exact}
		patch, trampoline, err := code.Emit(*f, at)
		if err != nil || len(trampoline) > code.MaxTrampoline {
			continue
		}
		r.sites = append(r.sites, site{counter: i, at: f.Patch + bias, was: f.Original, patch: patch})
		r.trampolines = append(r.trampolines, trampoline...)
		for len(r.trampolines)%16 != 0 {
			r.trampolines = append(r.trampolines, 0xcc)
		}
	}
}

// check compares the bytes of all sites with the expected ones. They are read in batches of as many
// as process_vm_readv(2) accepts.
func (r *region) check(pid int, should func(*site) []byte) error {
	const batch = 1024
	for sites := range slices.Chunk(r.sites, batch) {
		var from []unix.RemoteIovec
		var want []byte
		for i := range sites {
			b := should(&sites[i])
			from = append(from, unix.RemoteIovec{Base: uintptr(sites[i].at), Len: len(b)})
			want = append(want, b...)
		}
		got := make([]byte, len(want))
		n, err := unix.ProcessVMReadv(pid, []unix.Iovec{{Base: &got[0], Len: uint64(len(got))}}, from, 0)
		if err != nil || n != len(got) || !bytes.Equal(got, want) {
			return fmt.Errorf("the code of %s is not as in its file", r.p.path)
		}
	}
	return nil
}

// write writes the bytes of all sites. It combines the sites of a page, because system calls and
// pages dominate the cost.
func (r *region) write(mem *os.File, bytes func(*site) []byte) error {
	for rest := r.sites; len(rest) > 0; {
		first, n := rest[0].at, 1
		for n < len(rest) && rest[n].at/pageSize == first/pageSize {
			n++
		}
		last := &rest[n-1]
		b := make([]byte, last.at+uint64(len(last.patch))-first)
		if _, err := mem.ReadAt(b, int64(first)); err != nil {
			return err
		}
		for i := range rest[:n] {
			copy(b[rest[i].at-first:], bytes(&rest[i]))
		}
		if err := writeAll(mem, b, first); err != nil {
			return err
		}
		rest = rest[n:]
	}
	return nil
}

// before and after are the bytes of a site without and with the jump.
func before(t *site) []byte { return t.was }
func after(t *site) []byte  { return t.patch }

func writeAll(mem *os.File, b []byte, at uint64) error {
	_, err := mem.WriteAt(b, int64(at))
	return err
}

// readRemote reads a process's memory from an address on, up to the length of b. It returns the
// number of bytes read.
func readRemote(pid int, at uint64, b []byte) int {
	done := 0
	for done < len(b) { // page by page, because the next page may not be mapped
		n := min(len(b)-done, int(pageSize-(at+uint64(done))%pageSize))
		local := []unix.Iovec{{Base: &b[done], Len: uint64(n)}}
		got, err := unix.ProcessVMReadv(pid, local, []unix.RemoteIovec{{Base: uintptr(at) + uintptr(done), Len: n}}, 0)
		if err != nil || got != n {
			return done
		}
		done += n
	}
	return done
}
