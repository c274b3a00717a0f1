package transfer

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"berth/internal/core/job"
	"berth/internal/node/files"
	"berth/internal/node/process"
)

// Cache keeps the contents of files on a host, by their SHA-256. Tasks get hard links to them, so a content that is in
// use has more than one name.
//
//	DIR/contents/SHA256    complete and verified; read-only, with a fixed modification time that shows that it is unchanged
//	DIR/contents/SHA256.x  the same for executable files
//	DIR/parts/SHA256       the part that has arrived so far; locked by the process that fetches it (flock)
//	DIR/sums/SHA256        of a content that is named by the version of its file (Near): a link to the SHA-256 of the content
//
// The folder is shared by all workers of the user on the host and outlives them.
type Cache struct {
	dir  string
	host string // for errors

	mu     sync.Mutex
	used   map[string]*use // contents that are fetched or about to be linked, by SHA-256
	sound  map[string]bool // files of contents whose SHA-256 this process has verified
	held   int64           // size of the cache in bytes, as far as this process knows
	listed bool
}

// use counts the tasks that are about to link a content.
type use struct {
	sync.Mutex // locked while a task of this process looks for the content and fetches it
	tasks      int
}

// unchanged is the modification time of every content that nobody has written to since it was verified, but for those of versions.
var unchanged = time.Unix(946684801, 0)

// stamp returns the modification time of an item's content. That of a version is the file's, as programs compare it with the times of other files.
func (i *Item) stamp() time.Time {
	if i.near {
		return time.Unix(0, i.MTime)
	}
	return unchanged
}

// OpenCache returns the cache in the folder dir, which is created if it does not exist.
func OpenCache(dir, host string) (*Cache, error) {
	c := &Cache{dir: dir, host: host, used: make(map[string]*use), sound: make(map[string]bool)}
	if err := c.makeFolders(); err != nil {
		return nil, err
	}
	return c, nil
}

func (c *Cache) makeFolders() error {
	for _, d := range []string{c.dir, c.contents(), c.parts(), c.sums()} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			return c.Failure(d, err)
		}
	}
	return nil
}

func (c *Cache) contents() string { return filepath.Join(c.dir, "contents") }
func (c *Cache) parts() string    { return filepath.Join(c.dir, "parts") }
func (c *Cache) sums() string     { return filepath.Join(c.dir, "sums") }

// file returns the path of the content of an item.
func (c *Cache) file(i *Item) string {
	name := i.Sum
	if i.Mode&0o111 != 0 {
		name += programEnd
	}
	return filepath.Join(c.contents(), name)
}

// programEnd is the suffix of the names of executable contents.
const programEnd = ".x"

// Failure returns an error of this host's disk. It fails the attempt but not the job, because another host may have
// free space.
func (c *Cache) Failure(where string, err error) error {
	return process.DiskFailure("host %s: %s: %v; free space there, or name another folder with --scratch", c.host, where, err)
}

// filling is the work of Populate.
type filling struct {
	*Cache
	ctx     context.Context
	source  Source
	job     job.ID
	fetched int64 // bytes
}

// Populate links or copies the files that a task needs into an empty folder, and returns the number of bytes that were
// fetched for them.
func (c *Cache) Populate(ctx context.Context, source Source, id job.ID, n *Needs, dir string) (fetched int64, err error) {
	f := &filling{Cache: c, ctx: ctx, source: source, job: id}
	for i := range n.Items {
		item := &n.Items[i]
		to := filepath.Join(dir, item.Path)
		switch item.Kind {
		case Folder:
			err = os.Mkdir(to, item.Mode.Perm()|0o700)
		case Link:
			err = os.Symlink(item.Target, to)
		default:
			err = f.put(item, to)
		}
		if err != nil && !errors.As(err, new(*process.Failure)) {
			err = c.Failure(to, err)
		}
		if err != nil {
			break
		}
	}
	return f.fetched, err
}

// put links or copies one file into a task's folder.
func (f *filling) put(i *Item, to string) error {
	content := f.file(i)
	u := f.want(i.Sum, 1)
	defer f.want(i.Sum, -1)
	if err := f.have(i, u); err != nil {
		return err
	}
	if !i.Own {
		err := os.Link(content, to)
		if err == nil || !process.IsAny(err, unix.EXDEV, unix.EMLINK, unix.EPERM) {
			return err
		}
	}
	if err := files.CopyFile(content, to, i.Mode.Perm()|0o600); err != nil {
		return err
	}
	at := time.Unix(0, i.MTime)
	return errors.Join(os.Chtimes(to, at, at), os.Chmod(to, i.Mode.Perm()|0o400))
}

// want adds to the tasks that are about to link a content, which protect it from removal.
func (c *Cache) want(sum string, tasks int) *use {
	c.mu.Lock()
	defer c.mu.Unlock()
	u := c.used[sum]
	if u == nil {
		u = &use{}
		c.used[sum] = u
	}
	if u.tasks += tasks; u.tasks == 0 {
		delete(c.used, sum)
	}
	return u
}

// have ensures that a content is in the cache. Only one task of one process fetches a content at a time.
func (f *filling) have(i *Item, u *use) error {
	u.Lock()
	defer u.Unlock()
	if f.intact(i) {
		return nil
	}
	if err := f.makeFolders(); err != nil { // something may have removed them since they were made
		return err
	}
	part, err := f.openPart(f.ctx, i.Sum)
	if err != nil {
		return err
	}
	defer part.Close() // closing the file releases its lock
	if f.intact(i) {   // another process fetched it meanwhile
		return nil
	}
	if err := f.makeRoom(i.Size); err != nil {
		return f.Failure(f.dir, err)
	}
	if err := f.fetch(i, part); err != nil {
		return err
	}
	return f.keep(i, part)
}

// intact reports whether the content is in the cache and unchanged. If so, it sets its access time, by which contents
// are removed.
func (c *Cache) intact(i *Item) bool {
	file := c.file(i)
	st, err := os.Stat(file)
	if err != nil {
		return false
	}
	if st.Size() != i.Size || !st.ModTime().Equal(i.stamp()) || !c.verify(file, c.contentSum(i)) {
		_ = os.Remove(file) // a task has written to it, or the disk has damaged it; running tasks keep their links
		return false
	}
	_ = os.Chtimes(file, time.Now(), i.stamp()) // an error only affects the order of removal
	return true
}

// contentSum returns the SHA-256 of the content of an item, "" if it is not known.
func (c *Cache) contentSum(i *Item) string {
	if !i.near {
		return i.Sum
	}
	sum, _ := os.Readlink(filepath.Join(c.sums(), i.Sum)) // the content is copied again if it cannot be read
	return sum
}

// noteSum notes the SHA-256 of the content of a version.
func (c *Cache) noteSum(version, sum string) error {
	link := filepath.Join(c.sums(), version)
	_ = os.Remove(link) // of a content that was removed or damaged
	if err := os.Symlink(sum, link); err != nil {
		return c.Failure(link, err)
	}
	return nil
}

// verify reports whether a content has its SHA-256. Each process reads a content for that before its first use of it: the
// content may be weeks old, and a disk may have damaged it meanwhile.
func (c *Cache) verify(file, sum string) bool {
	c.mu.Lock()
	sound := c.sound[file]
	c.mu.Unlock()
	if sound {
		return true
	}
	f, err := os.Open(file)
	if err != nil {
		return false
	}
	defer f.Close() // only read
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil || hex.EncodeToString(h.Sum(nil)) != sum {
		return false
	}
	c.verified(file)
	return true
}

// verified notes that a content has its SHA-256.
func (c *Cache) verified(file string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sound[file] = true
}

// lockPause is the interval between tries to lock a content that another task fetches.
const lockPause = 50 * time.Millisecond

// openPart opens and locks the file with the part of a content that has arrived. The lock is of the open file, so it keeps out other tasks of this process, too.
func (c *Cache) openPart(ctx context.Context, sum string) (*os.File, error) {
	path := filepath.Join(c.parts(), sum)
	for {
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			return nil, c.Failure(path, err)
		}
		if unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil {
			if hasName(f) {
				return f, nil
			}
			_ = f.Close() // another task has moved it to the contents
			continue
		}
		_ = f.Close()
		select {
		case <-time.After(lockPause):
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// hasName reports whether the path of an open file still leads to it.
func hasName(f *os.File) bool {
	mine, err := f.Stat()
	there, terr := os.Stat(f.Name())
	return err == nil && terr == nil && os.SameFile(mine, there)
}

// fetch fetches the missing part of a content. If the whole has another SHA-256 than expected, it is fetched once more
// from the beginning. That of a version is not known before, so nothing tells whether a part of it is sound.
func (f *filling) fetch(i *Item, part *os.File) error {
	known := i.Size
	if i.near {
		known = 0
	}
	for range 2 {
		h := sha256.New()
		at, err := rehash(part, known, h)
		if err != nil {
			return f.Failure(part.Name(), err)
		}
		if err := f.append(i, part, at, h); err != nil {
			return err
		}
		switch sum := hex.EncodeToString(h.Sum(nil)); {
		case i.near:
			return f.noteSum(i.Sum, sum)
		case sum == i.Sum:
			return nil
		}
		if err := part.Truncate(0); err != nil {
			return f.Failure(part.Name(), err)
		}
	}
	return lost("%s does not arrive as it was promised", i.Path)
}

// rehash feeds the part that has arrived to h, and returns its length in bytes.
func rehash(part *os.File, size int64, h hash.Hash) (int64, error) {
	if _, err := part.Seek(0, io.SeekStart); err != nil {
		return 0, err
	}
	n, err := io.Copy(h, io.LimitReader(part, size))
	if err != nil {
		return 0, err
	}
	return n, part.Truncate(n)
}

// append fetches the content from the offset from to its end, and appends it to part.
func (f *filling) append(i *Item, part *os.File, from int64, h hash.Hash) error {
	if from == i.Size {
		return nil
	}
	body, err := f.source.Content(f.ctx, f.job, i.Sum, from)
	if err != nil {
		return err
	}
	defer body.Close()
	n, err := io.Copy(io.MultiWriter(part, h), io.LimitReader(body, i.Size-from))
	f.fetched += n
	switch {
	case errors.As(err, new(*process.Failure)):
		return err
	case errors.As(err, new(*fs.PathError)): // of the part
		return f.Failure(part.Name(), err)
	case f.ctx.Err() != nil:
		return context.Cause(f.ctx)
	case err != nil || n < i.Size-from:
		return lost("%s was cut off while it was fetched: %v", i.Path, cmp.Or(err, errShort))
	}
	return nil
}

// keep makes a complete part read-only and moves it to the contents.
func (c *Cache) keep(i *Item, part *os.File) error {
	if !hasName(part) { // what has its name now is a part that another process fetches
		return c.Failure(part.Name(), fs.ErrNotExist)
	}
	mode := fs.FileMode(0o444)
	if i.Mode&0o111 != 0 {
		mode = 0o555
	}
	err := errors.Join(part.Chmod(mode), os.Chtimes(part.Name(), time.Now(), i.stamp()))
	if err == nil {
		err = os.Rename(part.Name(), c.file(i))
	}
	if err != nil {
		return c.Failure(part.Name(), err)
	}
	c.verified(c.file(i)) // when it was fetched
	return nil
}
