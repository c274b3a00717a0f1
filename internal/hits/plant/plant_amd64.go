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

// fill maps memory into a process, and writes the trampolines and then the jumps.
func (s *Session) fill(p *remote, regions []*region) (err error) {
	if err := s.mapAll(p, regions); err != nil {
		return err
	}
	for i, r := range regions {
		if err = r.write(p.mem, after); err == nil {
			err = r.check(p.pid, after)
		}
		if err != nil {
			for _, r := range regions[:i+1] {
				err = errors.Join(err, r.write(p.mem, before))
			}
			return errors.Join(err, s.unmap(p, regions))
		}
	}
	return nil
}

// mapAll makes the process map counters and trampolines, and writes the trampolines. After an error
// nothing is mapped.
func (s *Session) mapAll(p *remote, regions []*region) (err error) {
	back, err := p.borrow(p.regs.Rip, syscallCode)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, back()) }()
	fd, err := s.openIn(p)
	if err != nil {
		return err
	}
	for i, r := range regions {
		if err = r.mapIn(p, fd); err != nil {
			err = errors.Join(err, unmapAll(p, regions[:i+1]))
			break
		}
	}
	_, e := p.call(unix.SYS_CLOSE, fd)
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

// unmap makes the process unmap the regions.
func (s *Session) unmap(p *remote, regions []*region) (err error) {
	back, err := p.borrow(p.regs.Rip, syscallCode)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, back()) }()
	return unmapAll(p, regions)
}

// unmapAll is unmap while the system call instruction is in place. munmap succeeds also for
// addresses without a mapping.
func unmapAll(p *remote, regions []*region) (all error) {
	for _, r := range regions {
		_, err := p.call(unix.SYS_MUNMAP, r.at, r.counters+pages(uint64(len(r.trampolines))))
		all = errors.Join(all, err)
	}
	return all
}
