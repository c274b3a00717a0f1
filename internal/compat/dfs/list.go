package dfs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// list implements -ls. Each line has the mode, number of copies, owner, group, size, time and path.
func list(c *call) error {
	if len(c.args) == 0 {
		c.args = []string{"."}
	}
	deep := c.options["R"] || c.name == "lsr"
	return c.each(c.args, func(f file, info fs.FileInfo) error {
		if !info.IsDir() || c.options["d"] {
			return c.line(f, info)
		}
		return c.folder(f, deep, !deep)
	})
}

// folder lists the contents of a folder.
func (c *call) folder(f file, deep, head bool) error {
	entries, err := os.ReadDir(f.path)
	if err != nil {
		return err
	}
	if head && len(entries) > 0 && !c.options["C"] {
		fmt.Fprintf(c.Out, "Found %d items\n", len(entries))
	}
	var errs []error
	for _, e := range entries {
		inner := f.child(e.Name())
		info, err := os.Stat(inner.path)
		if errors.Is(err, fs.ErrNotExist) {
			continue // removed meanwhile, or a symbolic link to nothing
		}
		if err == nil {
			err = c.line(inner, info)
		}
		if err == nil && deep && info.IsDir() {
			err = c.folder(inner, true, false)
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

func (c *call) line(f file, info fs.FileInfo) error {
	if c.options["C"] {
		_, err := fmt.Fprintln(c.Out, f.name)
		return err
	}
	kind, copies, size := "-", "1", info.Size()
	if info.IsDir() {
		kind, copies, size = "d", "-", 0
	}
	owner, group := owners(info)
	_, err := fmt.Fprintf(c.Out, "%s%s %3s %s %s %10s %s %s\n", kind, info.Mode().Perm().String()[1:], copies, owner, group,
		c.bytes(size), info.ModTime().Format("2006-01-02 15:04"), f.name)
	return err
}

// owners returns the names of a file's owner and group, or their numbers.
func owners(info fs.FileInfo) (owner, group string) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return "?", "?"
	}
	owner, group = strconv.Itoa(int(st.Uid)), strconv.Itoa(int(st.Gid))
	if u, err := user.LookupId(owner); err == nil {
		owner = u.Username
	}
	if g, err := user.LookupGroupId(group); err == nil {
		group = g.Name
	}
	return owner, group
}

// bytes returns a size as text, in a form for people with -h.
func (c *call) bytes(n int64) string {
	if !c.options["h"] || n < 1024 {
		return strconv.FormatInt(n, 10)
	}
	x, unit := float64(n)/1024, 0
	for ; x >= 1024 && unit < 4; unit++ {
		x /= 1024
	}
	return fmt.Sprintf("%.1f %c", x, "KMGTP"[unit])
}

// sum has the totals of a tree.
type sum struct{ folders, files, bytes int64 }

// measure computes the totals of a tree.
func measure(path string) (s sum, err error) {
	err = filepath.WalkDir(path, func(_ string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			s.folders++
			return nil
		}
		info, err := d.Info()
		if err == nil {
			s.files, s.bytes = s.files+1, s.bytes+info.Size()
		}
		return err
	})
	return s, err
}

// usage implements -du: for each entry the bytes of one copy and of all copies, which are equal here.
func usage(c *call) error {
	if len(c.args) == 0 {
		c.args = []string{"."}
	}
	one := func(f file) error {
		s, err := measure(f.path)
		if err == nil {
			_, err = fmt.Fprintf(c.Out, "%s  %s  %s\n", c.bytes(s.bytes), c.bytes(s.bytes), f.name)
		}
		return err
	}
	return c.each(c.args, func(f file, info fs.FileInfo) error {
		if !info.IsDir() || c.options["s"] || c.name == "dus" {
			return one(f)
		}
		entries, err := os.ReadDir(f.path)
		errs := []error{err}
		for _, e := range entries {
			errs = append(errs, one(f.child(e.Name())))
		}
		return errors.Join(errs...)
	})
}

// count implements -count: folders, files, bytes.
func count(c *call) error {
	return c.each(c.args, func(f file, _ fs.FileInfo) error {
		s, err := measure(f.path)
		if err == nil {
			_, err = fmt.Fprintf(c.Out, "%12d %12d %18s %s\n", s.folders, s.files, c.bytes(s.bytes), f.name)
		}
		return err
	})
}

// test implements -test: exit code 0 for yes, 1 for no.
func test(c *call) error {
	f, err := c.resolve(c.args[0])
	if err != nil {
		return err
	}
	info, err := os.Stat(f.path)
	if err != nil {
		return errFalse
	}
	ok := func(option string, holds bool) bool { return !c.options[option] || holds }
	if ok("d", info.IsDir()) && ok("f", info.Mode().IsRegular()) && ok("z", info.Size() == 0) && ok("s", info.Size() > 0) &&
		ok("r", unix.Access(f.path, unix.R_OK) == nil) && ok("w", unix.Access(f.path, unix.W_OK) == nil) {
		return nil
	}
	return errFalse
}
