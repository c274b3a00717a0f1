package transfer

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"berth/internal/core/job"
	"berth/internal/node/process"
)

// Source tells what a task needs and sends it: a Client, or Near.
type Source interface {
	// Needs returns what the task of an attempt needs.
	Needs(ctx context.Context, at job.Attempt) (*Needs, error)
	// Content returns a reader of the content with an Item's Sum from the offset on.
	Content(ctx context.Context, id job.ID, sum string, offset int64) (io.ReadCloser, error)
}

var (
	_ Source = (*Client)(nil)
	_ Source = (*Near)(nil)
)

// Near is the source of an attempt that runs on its node's own disk although the node sees the job's folder. It names files by their versions and not
// by their contents, so that none is read only to be named.
type Near struct {
	Spec  *job.Spec
	Entry job.Entry
	Disk  uint64 // number of the own disk's file system (st_dev): files that are there already are not copied

	places map[string]place // by Item.Sum
}

// Needs returns what the task needs, which may be anywhere if symbolic links below the job's folder lead to it. What is on the own disk already, and is
// not the task's to change, is used there.
func (n *Near) Needs(_ context.Context, at job.Attempt) (*Needs, error) {
	n.places = make(map[string]place)
	c := &collector{dir: n.Spec.Dir, root: visible(n.Spec.Dir), near: true, digest: n.version}
	needs, err := c.needs(n.Spec.Bag, n.Entry, at.Task)
	if err != nil {
		return nil, err
	}
	for k := range needs.Items {
		i := &needs.Items[k]
		if i.Kind != File || i.Own || n.places[i.Sum].dev != n.Disk {
			continue
		}
		if real, err := filepath.EvalSymlinks(filepath.Join(n.Spec.Dir, i.Path)); err == nil {
			*i = Item{Path: i.Path, Kind: Link, Target: real}
		}
	}
	return needs, nil
}

// version sets the Sum of a file to what stands for its version, with the size and the time of that version: those of a path may be old. The time is
// in whole seconds, which all disks can keep.
func (n *Near) version(i *Item) error {
	f, err := os.Open(filepath.Join(n.Spec.Dir, i.Path)) // a network file system asks its server when a file is opened
	if err != nil {
		return err
	}
	defer f.Close() // nothing was read
	v, err := versionOf(f)
	sum := sha256.Sum256(fmt.Append(nil, v))
	i.Sum, i.Size, i.MTime = hex.EncodeToString(sum[:]), v.size, int64(v.mtime.Sec)*int64(time.Second)
	n.places[i.Sum] = place{i.Path, v}
	return err
}

// Content opens the file of a version.
func (n *Near) Content(ctx context.Context, _ job.ID, sum string, offset int64) (io.ReadCloser, error) {
	p := n.places[sum]
	f, err := os.Open(filepath.Join(n.Spec.Dir, p.name))
	if err == nil {
		_, err = f.Seek(offset, io.SeekStart)
	}
	if err != nil {
		return nil, lost("%s was removed: %v", p.name, err)
	}
	return &versioned{f, ctx, p}, nil
}

// versioned reads one version of a file.
type versioned struct {
	*os.File
	ctx context.Context
	place
}

// Read returns an error if what was read may be of another version.
func (v *versioned) Read(p []byte) (int, error) {
	if v.ctx.Err() != nil {
		return 0, context.Cause(v.ctx)
	}
	n, err := v.File.Read(p)
	is, verr := versionOf(v.File)
	switch {
	case verr == nil && is != v.version:
		return 0, lost("%s was changed while it was copied", v.name)
	case err != nil && err != io.EOF:
		return 0, process.Failed("%s cannot be read: %v", v.File.Name(), err)
	}
	return n, err
}

// tree is a job's folder: an *os.Root, which no symbolic link leaves, or visible.
type tree interface {
	Open(name string) (*os.File, error)
	Stat(name string) (fs.FileInfo, error)
	Lstat(name string) (fs.FileInfo, error)
	Readlink(name string) (string, error)
	FS() fs.FS
}

// visible is a folder with all to which its symbolic links lead.
type visible string

func (v visible) Open(name string) (*os.File, error) { return os.Open(filepath.Join(string(v), name)) }
func (v visible) Stat(name string) (fs.FileInfo, error) {
	return os.Stat(filepath.Join(string(v), name))
}
func (v visible) Lstat(name string) (fs.FileInfo, error) {
	return os.Lstat(filepath.Join(string(v), name))
}
func (v visible) Readlink(name string) (string, error) {
	return os.Readlink(filepath.Join(string(v), name))
}
func (v visible) FS() fs.FS { return os.DirFS(string(v)) }
