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

// makeRoom removes what was not used for longest and what no task has, until the cache with a further content takes no more than half of what it and the
// free space are together.
func (c *Cache) makeRoom(size int64) error {
	var disk unix.Statfs_t
	if err := unix.Statfs(c.dir, &disk); err != nil {
		return err
	}
	if disk.Blocks == 0 {
		return nil // a file system that has no bounds, or does not tell them
	}
	free := int64(disk.Bavail) * disk.Bsize
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.listed || c.held+size > (c.held+free)/2 { // others may have removed something, or added
		freed, err := c.removeOld(size, free)
		if err != nil {
			return err
		}
		free += freed
	}
	if size > free {
		return fmt.Errorf("%w: %s are needed and %s are free", unix.ENOSPC, job.FormatSize(size), job.FormatSize(free))
	}
	c.held += size
	return nil
}

// removeOld lists the cache and removes what is too much. The lock is held.
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

// busy reports whether a task has a content, wants it just now, or a process is fetching it. The lock is held.
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
		return true // it is no part any more
	}
	defer func() { _ = f.Close() }() // lets go of the lock
	return unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) != nil
}

// entry is a file of the cache.
type entry struct {
	path  string
	size  int64
	links uint64
	used  unix.Timespec
}

// list returns the cache's files, those that were not used for longest first, and counts what they take. The lock is held.
func (c *Cache) list() (all []entry, err error) {
	c.held, c.listed = 0, true
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
			all = append(all, entry{path, st.Size, uint64(st.Nlink), st.Atim})
		}
	}
	slices.SortFunc(all, func(a, b entry) int {
		return cmp.Or(cmp.Compare(a.used.Sec, b.used.Sec), cmp.Compare(a.used.Nsec, b.used.Nsec))
	})
	return all, nil
}
