package plant

import (
	"bytes"
	"debug/elf"
	"errors"
	"os"
	"sync"

	"golang.org/x/sys/unix"

	"berth/internal/hits/code"
)

// object is an analysed file with code.
type object struct {
	*code.Object
	file fileID
}

// fileID identifies a file and its version.
type fileID struct{ dev, inode, size, mtime uint64 }

// open returns the object in a file. A new object is written to disk in the background, counted in writing.
func (p *Planter) open(path string, writing *sync.WaitGroup) (*object, error) {
	f, st, err := openRegular(path)
	if err != nil {
		return nil, err
	}
	defer f.Close() // nothing was written
	id := fileID{st.Dev, st.Ino, uint64(st.Size), uint64(st.Mtim.Nano())}
	found, _ := p.objects.LoadOrStore(id, sync.OnceValues(func() (*object, error) { return load(p.Dir, f, id, writing) }))
	return found.(func() (*object, error))() // the caller that has stored it waits here, with its file open
}

// openRegular opens a file of a process for reading. Where the process has another root, its path may
// lead to something else here, and to open a FIFO would block.
func openRegular(path string) (*os.File, *unix.Stat_t, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK|unix.O_NOCTTY, 0)
	if err != nil {
		return nil, nil, err
	}
	var st unix.Stat_t
	if err = unix.Fstat(int(f.Fd()), &st); err == nil && st.Mode&unix.S_IFMT != unix.S_IFREG {
		err = errors.New("it is no regular file")
	}
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	return f, &st, nil
}

// is reports whether the mapping is one of the object's file.
func (o *object) is(m mapping) bool { return o.file.dev == m.dev && o.file.inode == m.inode }

// sameCode compares the object's code with that of a process. Some file systems (overlays, btrfs)
// report other numbers for a mapped file than for an open one, and a file may have been replaced
// since it was mapped.
func (o *object) sameCode(pid int, path string, mapped []mapping) bool {
	f, _, err := openRegular(inRoot(pid, path))
	if err != nil {
		return false
	}
	defer f.Close() // nothing was written
	for _, m := range mapped {
		load := o.load(m.offset)
		if load == nil {
			return false
		}
		start := m.start + load.Off%pageSize
		file, memory := make([]byte, min(load.Filesz, m.end-start)), make([]byte, min(load.Filesz, m.end-start))
		if _, err := f.ReadAt(file, int64(load.Off)); err != nil || readRemote(pid, start, memory) != len(memory) || !bytes.Equal(file, memory) {
			return false
		}
	}
	return true
}

// bias returns the difference between the addresses in a process and those of the file, and the
// range of its code in the process. All mappings must agree with the file's tables.
func (o *object) bias(mapped []mapping) (bias, lo, hi uint64, ok bool) {
	for i, m := range mapped {
		load := o.load(m.offset)
		if load == nil {
			return 0, 0, 0, false
		}
		b := m.start - load.Vaddr&^(pageSize-1)
		if i > 0 && b != bias {
			return 0, 0, 0, false
		}
		bias = b
	}
	return bias, mapped[0].start, mapped[len(mapped)-1].end, true
}

// load returns the segment of a mapping with the given offset.
func (o *object) load(offset uint64) *elf.ProgHeader {
	for i := range o.Loads {
		if o.Loads[i].Off&^(pageSize-1) == offset {
			return &o.Loads[i]
		}
	}
	return nil
}
