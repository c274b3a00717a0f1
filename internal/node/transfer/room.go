package transfer

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"berth/internal/core/job"
)

// makeRoom removes unused contents, the least recently used first, until the cache with a further content of that size
// takes at most half of the sum of its own size and the free space.
func (c *Cache) makeRoom(size int64) error {
	var disk unix.Statfs_t
	if err := unix.Statfs(c.dir, &disk); err != nil {
		return err
	}
	if disk.Blocks == 0 {
		return nil // the file system has no limit, or does not report it
	}
	free := int64(disk.Bavail) * disk.Bsize
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.listed || c.held+size > (c.held+free)/2 { // other processes may have removed or added contents
		freed, err := c.removeOld(size, free)
		if err != nil {
			return err
		}
		free += freed
	}
	if total := int64(disk.Blocks) * disk.Bsize; size > total {
		return fmt.Errorf("%w: the disk is too small: %s are needed and it has %s", unix.ENOSPC, job.FormatSize(size), job.FormatSize(total))
	}
	if size > free {
		return fmt.Errorf("%w: %s are needed and %s are free", unix.ENOSPC, job.FormatSize(size), job.FormatSize(free))
	}
	c.held += size
	return nil
}

// removeOld lists the cache and removes contents as makeRoom says. The caller holds the lock.
func (c *Cache) removeOld(size, free int64) (freed int64, err error) {
	all, err := c.list()
	if err != nil {
		return 0, err
	}
	for _, e := range all {
		if c.held+size <= (c.held+free)/2 {
			break
		}
		if c.busy(&e) || os.Remove(e.path) != nil {
			continue
		}
		c.held, free, freed = c.held-e.size, free+e.size, freed+e.size
	}
	return freed, nil
}

// busy reports whether a task uses or is about to use a content, or a process is fetching it. The caller holds the
// lock.
func (c *Cache) busy(e *entry) bool {
	sum := strings.TrimSuffix(filepath.Base(e.path), programEnd)
	if e.links > 1 || c.used[sum] != nil {
		return true
	}
	if filepath.Dir(e.path) != c.parts() {
		return false
	}
	f, err := os.Open(e.path)
	if err != nil {
		return true // it is complete now
	}
	defer f.Close() // closing the file releases its lock
	return unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) != nil
}

// entry is a file of the cache.
type entry struct {
	path  string
	size  int64
	links uint64
	used  int64 // when it was used last, nanoseconds since 1970
}

// dropSums removes the sums of contents that were removed.
func (c *Cache) dropSums() {
	versions, _ := os.ReadDir(c.sums()) // what cannot be listed now is removed later
	for _, v := range versions {
		i := Item{Sum: v.Name()}
		plain := c.file(&i)
		_, err := os.Lstat(plain)
		_, errProgram := os.Lstat(plain + programEnd)
		if err != nil && errProgram != nil && c.used[i.Sum] == nil {
			_ = os.Remove(filepath.Join(c.sums(), i.Sum))
		}
	}
}

// list returns the cache's files, the least recently used first, and sets held to the sum of their sizes. The caller
// holds the lock.
func (c *Cache) list() (all []entry, err error) {
	c.held, c.listed = 0, true
	c.dropSums()
	for _, dir := range []string{c.parts(), c.contents()} {
		names, err := os.ReadDir(dir)
		if err != nil {
			return nil, err
		}
		for _, n := range names {
			var st unix.Stat_t
			path := filepath.Join(dir, n.Name())
			if unix.Lstat(path, &st) != nil {
				continue // it was removed
			}
			c.held += st.Size
			all = append(all, entry{path, st.Size, uint64(st.Nlink), st.Atim.Nano()})
		}
	}
	slices.SortFunc(all, func(a, b entry) int { return cmp.Compare(a.used, b.used) })
	return all, nil
}
