package transfer

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"berth/internal/core/job"
	"berth/internal/node/files"
	"berth/internal/node/process"
)

// collector finds the files that a task needs below the job's folder. All names are resolved within root.
type collector struct {
	dir      string // the job's folder
	root     tree
	near     bool              // the node sees the job's folder, so only what is to be copied to its own disk is needed
	digest   func(*Item) error // sets the Sum of a file
	left     []string          // patterns of outputs; files that they match are sent only if a task names them
	items    []Item
	have     map[string]int  // by path: the index in items
	walked   map[string]bool // folders whose contents are in items
	entering []fs.FileInfo   // folders that contain the one that is being walked, to detect cycles
}

// needs returns what the task with this index finds in its folder.
func (c *collector) needs(b *job.BagSpec, entry job.Entry, index int) (*Needs, error) {
	c.have, c.walked, c.left = make(map[string]int), make(map[string]bool), b.OutputShapes()
	for _, w := range b.Words(entry, index) {
		if err := c.word(w); err != nil {
			return nil, err
		}
	}
	for _, p := range b.InputPatterns(entry, index) {
		if err := c.pattern(p); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(c.items, func(a, b Item) int { return strings.Compare(a.Path, b.Path) })
	return &Needs{Items: c.items}, nil
}

// word adds the files that a word of the command names below the job's folder.
func (c *collector) word(w job.Word) error {
	name := path.Clean(w.Text)
	switch {
	case w.Text == "" || name == "." || name == ".." || len(name) > unix.PathMax:
		return nil
	case path.IsAbs(name) && c.near:
		return nil // it is used where it is
	case path.IsAbs(name):
		return c.absolute(name)
	case !job.Below(name):
		if _, err := os.Stat(filepath.Join(c.dir, name)); err == nil {
			return process.Failed("%s is outside of the job's folder %s, and only what is below it is %s; start the job in a folder above both", name, c.dir, c.goes())
		}
		return nil
	case w.Pattern:
		names, err := fs.Glob(c.root.FS(), name)
		if err != nil {
			return nil // it is not a valid pattern
		}
		return c.named(names, w.Own)
	}
	return c.named([]string{name}, w.Own)
}

// absolute returns an error if an absolute path names something below the job's folder, because the host has that
// folder elsewhere. Any other absolute path refers to the host's own files.
func (c *collector) absolute(name string) error {
	rel, err := filepath.Rel(c.dir, name)
	if err != nil || !job.Below(rel) {
		return nil
	}
	if _, err := c.root.Lstat(rel); err != nil {
		return nil
	}
	return process.Failed("%s is a whole path, which a host that does not see the job's folder does not have; write %s", name, rel)
}

// named adds files that a command names. own says that the task may change them.
func (c *collector) named(names []string, own bool) error {
	for _, name := range names {
		if _, err := c.root.Lstat(name); err != nil {
			if real, err := filepath.EvalSymlinks(filepath.Join(c.dir, name)); err == nil {
				return c.outside(name, real)
			}
			continue // not the name of a file, or a file that the task creates
		}
		if err := c.add(name, own, true); err != nil {
			return err
		}
	}
	return nil
}

// pattern adds the files that match a pattern of --inputs. A pattern without a match is a failure of the task.
func (c *collector) pattern(p string) error {
	names, err := fs.Glob(c.root.FS(), p)
	if err != nil || len(names) == 0 {
		return process.Failed("nothing in %s matches --inputs %s", c.dir, p)
	}
	for _, name := range names {
		if err := c.add(name, false, true); err != nil {
			return err
		}
	}
	return nil
}

// add adds a file, or a folder with its contents. asked says that the user names it, and not only a folder that
// contains it.
func (c *collector) add(name string, own, asked bool) error {
	if i, known := c.have[name]; known && c.items[i].Kind != Folder {
		c.items[i].Own = c.items[i].Own || own && copied(c.items[i].Mode)
		return nil
	}
	st, err := c.root.Stat(name)
	if err != nil {
		return c.unseen(name, asked, err)
	}
	switch {
	case st.Mode().IsRegular():
		i, err := c.file(name, st)
		if err != nil {
			return c.unreadable(name, err)
		}
		i.Own = own && copied(st.Mode())
		return c.put(i)
	case st.IsDir():
		return c.folder(name, st)
	default:
		return nil // a pipe, a socket or a device
	}
}

// file returns the item for a regular file, under its name in the root.
func (c *collector) file(name string, st fs.FileInfo) (Item, error) {
	i := Item{Path: name, Kind: File, Mode: st.Mode().Perm(), Size: st.Size(), MTime: st.ModTime().UnixNano(), near: c.near}
	err := c.digest(&i)
	return i, err
}

// copied reports whether a task gets a copy of a file that it may change. Programs are not copied, because copying a
// large one takes long.
func copied(mode fs.FileMode) bool { return mode&0o111 == 0 }

// unseen handles a name that cannot be resolved within the job's folder. A link in a folder that is sent is sent as a
// link, because the host may have its target.
func (c *collector) unseen(name string, asked bool, err error) error {
	target, lerr := c.root.Readlink(name)
	switch {
	case lerr != nil:
		if errors.Is(err, fs.ErrNotExist) {
			return nil // it was removed after it was listed
		}
		return c.unreadable(name, err)
	case asked:
		if real, rerr := filepath.EvalSymlinks(filepath.Join(c.dir, name)); rerr == nil {
			return c.outside(name, real)
		}
		return process.Failed("%s leads to %s, which is not there", name, target)
	}
	return c.put(Item{Path: name, Kind: Link, Target: target})
}

// unreadable returns the error for a file or folder that cannot be read.
func (c *collector) unreadable(name string, err error) error {
	return process.Failed("%s cannot be read: %v", filepath.Join(c.dir, name), err)
}

// outside returns the error for a name that leads out of the job's folder through a symbolic link.
func (c *collector) outside(name, real string) error {
	return process.Failed("%s leads to %s, which is outside of the job's folder %s, and only what is below it is %s", name, real, c.dir, c.goes())
}

// goes says where what a task needs goes.
func (c *collector) goes() string {
	if c.near {
		return "copied to the node's own disk (--local)"
	}
	return "sent to hosts that do not see it"
}

// put adds an item and the folders that contain it.
func (c *collector) put(i Item) error {
	if dir := path.Dir(i.Path); dir != "." {
		if _, known := c.have[dir]; !known {
			if err := c.put(Item{Path: dir, Kind: Folder, Mode: 0o777}); err != nil {
				return err
			}
		}
	}
	if len(c.items) >= maxItems {
		return process.Failed("one task needs more than %d files; put them into an archive", maxItems)
	}
	c.have[i.Path] = len(c.items)
	c.items = append(c.items, i)
	return nil
}

// folder adds a folder with its contents, except outputs of tasks and uncommitted files.
func (c *collector) folder(name string, st fs.FileInfo) error {
	if c.walked[name] || c.isLeft(name) {
		return nil
	}
	c.walked[name] = true
	if slices.ContainsFunc(c.entering, func(above fs.FileInfo) bool { return os.SameFile(above, st) }) {
		return process.Failed("%s is a symbolic link to a folder that it is in", filepath.Join(c.dir, name))
	}
	if _, known := c.have[name]; !known {
		if err := c.put(Item{Path: name, Kind: Folder, Mode: st.Mode().Perm()}); err != nil {
			return err
		}
	}
	c.entering = append(c.entering, st)
	defer func() { c.entering = c.entering[:len(c.entering)-1] }()
	f, err := c.root.Open(name)
	if err != nil {
		return c.unreadable(name, err)
	}
	entries, err := f.ReadDir(-1)
	_ = f.Close() // the folder was only read
	if err != nil {
		return c.unreadable(name, err)
	}
	for _, e := range entries {
		inner := path.Join(name, e.Name())
		if files.IsPart(e.Name()) || c.isLeft(inner) {
			continue
		}
		if err := c.add(inner, false, false); err != nil {
			return err
		}
	}
	return nil
}

// isLeft reports whether name may be an output of a task.
func (c *collector) isLeft(name string) bool { return files.Leaves(c.left, name) }
