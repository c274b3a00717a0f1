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
	sync.Mutex // locked while a task of this process fetches the content
	tasks      int
}

// unchanged is the modification time of every content that nobody has written to since it was verified.
var unchanged = time.Unix(946684801, 0)

// OpenCache returns the cache in the folder dir, which is created if it does not exist.
func OpenCache(dir, host string) (*Cache, error) {
	c := &Cache{dir: dir, host: host, used: make(map[string]*use), sound: make(map[string]bool)}
	if err := c.makeFolders(); err != nil {
		return nil, err
	}
	return c, nil
}

func (c *Cache) makeFolders() error {
	for _, d := range []string{c.dir, c.contents(), c.parts()} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			return c.failure(d, err)
		}
	}
	return nil
}

func (c *Cache) contents() string { return filepath.Join(c.dir, "contents") }
func (c *Cache) parts() string    { return filepath.Join(c.dir, "parts") }

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

// failure returns an error of this host's disk. It fails the attempt but not the job, because another host may have
// free space.
func (c *Cache) failure(where string, err error) error {
	return process.Passing("host %s: %s: %v; free space there, or name another folder with --scratch", c.host, where, err)
}

// Populate links or copies the files that a task needs into an empty folder, and returns the number of bytes that were
// fetched for them.
func (c *Cache) Populate(ctx context.Context, client *Client, id job.ID, n *Needs, dir string) (fetched int64, err error) {
	for i := range n.Items {
		item := &n.Items[i]
		to := filepath.Join(dir, item.Path)
		switch item.Kind {
		case Folder:
			err = os.Mkdir(to, item.Mode.Perm()|0o700)
		case Link:
			err = os.Symlink(item.Target, to)
		default:
			var n int64
			n, err = c.put(ctx, client, id, item, to)
			fetched += n
		}
		if err != nil {
			if process.IsFailure(err) {
				return fetched, err
			}
			return fetched, c.failure(to, err)
		}
	}
	return fetched, nil
}

// put links or copies one file into a task's folder.
func (c *Cache) put(ctx context.Context, client *Client, id job.ID, i *Item, to string) (fetched int64, err error) {
	content := c.file(i)
	u := c.want(i.Sum)
	defer c.wantNoMore(i.Sum)
	if fetched, err = c.have(ctx, client, id, i, u); err != nil {
		return fetched, err
	}
	if !i.Own {
		err = os.Link(content, to)
		if err == nil || !errors.Is(err, unix.EXDEV) && !errors.Is(err, unix.EMLINK) && !errors.Is(err, unix.EPERM) {
			return fetched, err
		}
	}
	if err := files.CopyFile(content, to, i.Mode.Perm()|0o600); err != nil {
		return fetched, err
	}
	at := time.Unix(0, i.MTime)
	return fetched, errors.Join(os.Chtimes(to, at, at), os.Chmod(to, i.Mode.Perm()|0o400))
}

// want protects a content from removal until wantNoMore is called.
func (c *Cache) want(sum string) *use {
	c.mu.Lock()
	defer c.mu.Unlock()
	u := c.used[sum]
	if u == nil {
		u = &use{}
		c.used[sum] = u
	}
	u.tasks++
	return u
}

func (c *Cache) wantNoMore(sum string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.used[sum].tasks--; c.used[sum].tasks == 0 {
		delete(c.used, sum)
	}
}

// have ensures that a content is in the cache, and returns the number of bytes that were fetched. Only one task of one
// process fetches a content at a time.
func (c *Cache) have(ctx context.Context, client *Client, id job.ID, i *Item, u *use) (int64, error) {
	u.Lock()
	defer u.Unlock()
	if c.intact(i) {
		return 0, nil
	}
	if err := c.makeFolders(); err != nil { // something may have removed them since they were made
		return 0, err
	}
	part, err := c.openPart(ctx, i.Sum)
	if err != nil {
		return 0, err
	}
	defer part.Close() // closing the file releases its lock
	if c.intact(i) {   // another process fetched it meanwhile
		return 0, nil
	}
	if err := c.makeRoom(i.Size); err != nil {
		return 0, c.failure(c.dir, err)
	}
	n, err := c.fetch(ctx, client, id, i, part)
	if err != nil {
		return n, err
	}
	return n, c.keep(i, part)
}

// intact reports whether the content is in the cache and unchanged. If so, it sets its access time, by which contents
// are removed.
func (c *Cache) intact(i *Item) bool {
	file := c.file(i)
	st, err := os.Stat(file)
	if err != nil {
		return false
	}
	if st.Size() != i.Size || !st.ModTime().Equal(unchanged) || !c.verify(file, i.Sum) {
		_ = os.Remove(file) // a task has written to it, or the disk has damaged it; running tasks keep their links
		return false
	}
	_ = os.Chtimes(file, time.Now(), unchanged) // an error only affects the order of removal
	return true
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

// lockPause is the interval between tries to lock a content that another process fetches.
const lockPause = 50 * time.Millisecond

// openPart opens and locks the file with the part of a content that has arrived.
func (c *Cache) openPart(ctx context.Context, sum string) (*os.File, error) {
	path := filepath.Join(c.parts(), sum)
	for {
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			return nil, c.failure(path, err)
		}
		if unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil {
			mine, err := f.Stat()
			there, terr := os.Stat(path)
			if err == nil && terr == nil && os.SameFile(mine, there) {
				return f, nil
			}
			_ = f.Close() // another process has moved it to the contents
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

// fetch fetches the missing part of a content. If the whole has another SHA-256 than expected, it is fetched once more
// from the beginning.
func (c *Cache) fetch(ctx context.Context, client *Client, id job.ID, i *Item, part *os.File) (n int64, err error) {
	for range 2 {
		h := sha256.New()
		at, err := rehash(part, i.Size, h)
		if err != nil {
			return n, c.failure(part.Name(), err)
		}
		m, err := c.append(ctx, client, id, i, part, at, h)
		n += m
		if err != nil {
			return n, err
		}
		if hex.EncodeToString(h.Sum(nil)) == i.Sum {
			return n, nil
		}
		if err := part.Truncate(0); err != nil {
			return n, c.failure(part.Name(), err)
		}
	}
	return n, lost("%s does not arrive as it was promised", i.Path)
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
func (c *Cache) append(ctx context.Context, client *Client, id job.ID, i *Item, part *os.File, from int64, h hash.Hash) (int64, error) {
	if from == i.Size {
		return 0, nil
	}
	body, err := client.Content(ctx, id, i.Sum, from)
	if err != nil {
		return 0, err
	}
	defer body.Close()
	w := &writer{to: part}
	n, err := io.Copy(io.MultiWriter(w, h), io.LimitReader(body, i.Size-from))
	switch {
	case w.err != nil:
		return n, c.failure(part.Name(), w.err)
	case ctx.Err() != nil:
		return n, context.Cause(ctx)
	case err != nil || n < i.Size-from:
		return n, lost("%s was cut off while it was fetched: %v", i.Path, cmp.Or(err, errShort))
	}
	return n, nil
}

// writer keeps the error of writing, so that it can be distinguished from errors of reading.
type writer struct {
	to  io.Writer
	err error
}

func (w *writer) Write(p []byte) (int, error) {
	n, err := w.to.Write(p)
	w.err = err
	return n, err
}

// keep makes a complete part read-only and moves it to the contents.
func (c *Cache) keep(i *Item, part *os.File) error {
	mode := fs.FileMode(0o444)
	if i.Mode&0o111 != 0 {
		mode = 0o555
	}
	err := errors.Join(part.Chmod(mode), os.Chtimes(part.Name(), time.Now(), unchanged))
	if err == nil {
		err = os.Rename(part.Name(), c.file(i))
	}
	if err != nil {
		return c.failure(part.Name(), err)
	}
	c.verified(c.file(i)) // when it was fetched
	return nil
}
