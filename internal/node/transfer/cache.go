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

// Cache keeps contents of files on a host, by their SHA-256. Tasks have them as hard links, so a content that is in use has more than one name.
//
//	DIR/contents/SHA256    whole and checked, not writable, with the time of modification that says that nobody changed it
//	DIR/contents/SHA256.x  the same for programs
//	DIR/parts/SHA256       what has arrived so far; locked by who fetches it (flock)
//
// The folder is shared by all workers of the user on the host and outlives them.
type Cache struct {
	dir  string
	host string // for errors

	mu     sync.Mutex
	used   map[string]*use // contents that are fetched or about to be linked, by SHA-256
	held   int64           // bytes that the cache takes, as far as this process knows
	listed bool
}

// use is a content that tasks want just now.
type use struct {
	sync.Mutex // of the one who fetches it
	tasks      int
}

// unchanged is the time of modification of a content that nobody has written to since it was checked.
var unchanged = time.Unix(946684801, 0)

// OpenCache returns the cache in a folder, made if it is missing.
func OpenCache(dir, host string) (*Cache, error) {
	c := &Cache{dir: dir, host: host, used: make(map[string]*use)}
	for _, d := range []string{dir, c.contents(), c.parts()} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			return nil, c.failure(d, err)
		}
	}
	return c, nil
}

func (c *Cache) contents() string { return filepath.Join(c.dir, "contents") }
func (c *Cache) parts() string    { return filepath.Join(c.dir, "parts") }

// file returns where the content of an item is.
func (c *Cache) file(i *Item) string {
	name := i.Sum
	if i.Mode&0o111 != 0 {
		name += programEnd
	}
	return filepath.Join(c.contents(), name)
}

// programEnd ends the names of contents that can be run.
const programEnd = ".x"

// failure says that this host's disk let the task down. It is not the job's to end by: another host may have room.
func (c *Cache) failure(where string, err error) error {
	return process.Passing("host %s: %s: %v; free space there, or name another folder with --scratch", c.host, where, err)
}

// Populate puts the files that a task needs into an empty folder, and returns how many bytes were fetched for them.
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

// put puts one file into a task's folder.
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

// want keeps a content from being removed.
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

// have sees to it that a content is there, and returns how many bytes were fetched. One at a time fetches it, also among processes.
func (c *Cache) have(ctx context.Context, client *Client, id job.ID, i *Item, u *use) (int64, error) {
	u.Lock()
	defer u.Unlock()
	if c.intact(i) {
		return 0, nil
	}
	part, err := c.openPart(ctx, i.Sum)
	if err != nil {
		return 0, err
	}
	defer func() { _ = part.Close() }() // lets go of the lock
	if c.intact(i) {                    // another process fetched it meanwhile
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

// intact reports whether the content is there as it was put there, and notes that it is used.
func (c *Cache) intact(i *Item) bool {
	file := c.file(i)
	st, err := os.Stat(file)
	if err != nil {
		return false
	}
	if st.Size() != i.Size || !st.ModTime().Equal(unchanged) {
		_ = os.Remove(file) // a task wrote to it; those that run have it still
		return false
	}
	_ = os.Chtimes(file, time.Now(), unchanged) // of its use; the order of removal is no matter of life
	return true
}

// lockPause is how long a content is left alone that another process fetches.
const lockPause = 50 * time.Millisecond

// openPart opens what has arrived of a content, and locks it.
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
			_ = f.Close() // it went into place meanwhile
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

// fetch fetches what is missing of a content. Where it is not what was promised, it is fetched once more from the beginning.
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

// rehash reads what has arrived, so that its SHA-256 goes on from there, and returns how much that is.
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

// append fetches from an offset to the end.
func (c *Cache) append(ctx context.Context, client *Client, id job.ID, i *Item, part *os.File, from int64, h hash.Hash) (int64, error) {
	if from == i.Size {
		return 0, nil
	}
	body, err := client.Content(ctx, id, i.Sum, from)
	if err != nil {
		return 0, err
	}
	defer func() { _ = body.Close() }()
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

// writer tells errors of writing from those of reading.
type writer struct {
	to  io.Writer
	err error
}

func (w *writer) Write(p []byte) (int, error) {
	n, err := w.to.Write(p)
	w.err = err
	return n, err
}

// keep puts a content into place.
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
	return nil
}
