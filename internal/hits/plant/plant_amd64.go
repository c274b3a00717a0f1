package plant

import (
	"bytes"
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// plant plants a process with one thread at its entry. After an error the process is unchanged.
// stopped reports that a SIGSTOP arrived meanwhile, which must be delivered.
func (s *Session) plant(pid int, mem *os.File) (stopped bool, err error) {
	regions, err := s.prepare(pid)
	if err != nil || len(regions) == 0 {
		return false, err
	}
	for _, r := range regions {
		if err := r.check(pid, before); err != nil {
			return false, err
		}
	}
	p, err := hold(pid, mem)
	if err != nil {
		return false, err
	}
	err = s.fill(p, regions)
	err = errors.Join(err, p.release())
	if err == nil {
		s.done(regions)
	}
	return p.stopped, err
}

// fill maps memory into a process, and writes the trampolines and then the jumps. After an error nothing of that is left.
func (s *Session) fill(p *remote, regions []*region) (err error) {
	back, err := p.borrow(p.regs.Rip, syscallCode)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, back()) }()
	fd, err := s.openIn(p)
	if err != nil {
		return err
	}
	begun := 0
	for ; begun < len(regions) && err == nil; begun++ {
		err = regions[begun].plantIn(p, fd)
	}
	_, e := p.call(unix.SYS_CLOSE, fd)
	if err = errors.Join(err, e); err != nil {
		for _, r := range regions[:begun] {
			err = errors.Join(err, r.removeFrom(p))
		}
	}
	return err
}

// plantIn maps one region, and writes its trampolines and then its jumps.
func (r *region) plantIn(p *remote, fd uint64) error {
	if err := r.mapIn(p, fd); err != nil {
		return err
	}
	if err := r.write(p.mem, after); err != nil {
		return err
	}
	return r.check(p.pid, after)
}

// removeFrom restores the code and unmaps the region. munmap succeeds also for addresses without a mapping.
func (r *region) removeFrom(p *remote) error {
	err := r.write(p.mem, before)
	_, e := p.call(unix.SYS_MUNMAP, r.at, r.counters+pages(uint64(len(r.trampolines))))
	return errors.Join(err, e)
}

// openIn opens the counters in the process. Meanwhile their path is below its stack.
func (s *Session) openIn(p *remote) (uint64, error) {
	name := append([]byte(s.memory.path()), 0)
	at := p.regs.Rsp - 1024
	back, err := p.borrow(at, name)
	if err != nil {
		return 0, err
	}
	fd, err := p.call(unix.SYS_OPEN, at, unix.O_RDWR|unix.O_CLOEXEC)
	if err = errors.Join(err, back()); err == nil && !s.memory.is(fmt.Sprintf("/proc/%d/fd/%d", p.pid, fd)) {
		_, err = p.call(unix.SYS_CLOSE, fd) // where the process has another root
		err = errors.Join(errors.New("the counters cannot be opened in the program"), err)
	}
	return fd, err
}

// mapIn maps one region and writes its trampolines.
func (r *region) mapIn(p *remote, fd uint64) error {
	for _, m := range []struct{ at, size, prot, flags, fd, offset uint64 }{
		{r.at, r.counters, unix.PROT_READ | unix.PROT_WRITE, unix.MAP_SHARED, fd, uint64(r.p.offset)},
		{r.at + r.counters, pages(uint64(len(r.trampolines))), unix.PROT_READ | unix.PROT_EXEC, unix.MAP_PRIVATE | unix.MAP_ANONYMOUS, ^uint64(0), 0},
	} {
		got, err := p.call(unix.SYS_MMAP, m.at, m.size, m.prot, m.flags|unix.MAP_FIXED_NOREPLACE, m.fd, m.offset)
		if err != nil {
			return err
		}
		if got != m.at { // a kernel that does not know the flag
			_, err = p.call(unix.SYS_MUNMAP, got, m.size)
			return errors.Join(errors.New("memory was mapped elsewhere"), err)
		}
	}
	if err := writeAll(p.mem, r.trampolines, r.at+r.counters); err != nil {
		return err
	}
	got := make([]byte, len(r.trampolines))
	if _, err := p.mem.ReadAt(got, int64(r.at+r.counters)); err != nil || !bytes.Equal(got, r.trampolines) {
		return fmt.Errorf("trampolines were not written: %w", err)
	}
	return nil
}
