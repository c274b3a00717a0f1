package dfs

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

func mkdir(c *call) error {
	make := os.Mkdir
	if c.options["p"] {
		make = os.MkdirAll
	}
	return c.named(c.args, func(path string) error { return make(path, 0o777) })
}

// named calls do with the path of each argument. The paths need not exist.
func (c *call) named(args []string, do func(path string) error) error {
	var errs []error
	for _, arg := range args {
		f, err := c.resolve(arg)
		if err == nil {
			err = asNamed(do(f.path), f)
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// asNamed replaces the path in an error by the name that the user wrote.
func asNamed(err error, f file) error {
	var of *fs.PathError
	if errors.As(err, &of) && of.Path == f.path {
		return &fs.PathError{Op: of.Op, Path: f.name, Err: of.Err}
	}
	return err
}

func touch(c *call) error {
	return c.named(c.args, func(path string) error {
		f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o666)
		if err != nil {
			return err
		}
		return f.Close()
	})
}

// put implements -put and its aliases: the sources are files of the machine, and - is standard input.
func put(c *call) error {
	if len(c.args) == 1 {
		c.args = append(c.args, ".")
	}
	last := len(c.args) - 1
	if c.args[0] == "-" && last == 1 {
		to, err := c.resolve(c.args[1])
		if err != nil {
			return err
		}
		return c.write(to, c.In)
	}
	if err := get(c); err != nil || c.name != "moveFromLocal" {
		return err
	}
	return c.named(c.args[:last], os.RemoveAll)
}

// get copies all arguments but the last to the last, or into it if it is a folder. If the last is a dash, it copies
// them to standard output.
func get(c *call) error {
	if len(c.args) == 1 {
		c.args = append(c.args, ".")
	}
	last := len(c.args) - 1
	if c.args[last] == "-" {
		c.args = c.args[:last]
		return cat(c)
	}
	return c.into(c.args[:last], c.args[last], c.copyTree)
}

// into calls do with each source and its destination.
func (c *call) into(sources []string, target string, do func(from, to file) error) error {
	to, err := c.resolve(target)
	if err != nil {
		return err
	}
	info, err := os.Stat(to.path)
	folder := err == nil && info.IsDir()
	if len(sources) > 1 && !folder {
		return missing(target)
	}
	return c.each(sources, func(from file, _ fs.FileInfo) error {
		if !folder {
			return do(from, to)
		}
		return do(from, to.child(filepath.Base(from.path)))
	})
}

func (c *call) copyTree(from, to file) error {
	info, err := os.Stat(from.path)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		in, err := os.Open(from.path)
		if err != nil {
			return err
		}
		defer in.Close() // only read
		return c.write(to, in)
	}
	entries, err := os.ReadDir(from.path)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(to.path, 0o777); err != nil {
		return err
	}
	for _, e := range entries {
		if err := c.copyTree(from.child(e.Name()), to.child(e.Name())); err != nil {
			return err
		}
	}
	return nil
}

// write creates a file with the contents of in. It replaces an existing file only with -f. Until it is complete the
// file has another name, as in HDFS.
func (c *call) write(to file, in io.Reader) error {
	if _, err := os.Lstat(to.path); err == nil && !c.options["f"] {
		return &fs.PathError{Path: to.name, Err: fs.ErrExist}
	}
	half := to.path + "._COPYING_"
	out, err := os.OpenFile(half, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o666)
	if errors.Is(err, fs.ErrNotExist) {
		return missing(to.name[:max(0, strings.LastIndexByte(to.name, '/'))])
	}
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	if err = errors.Join(err, out.Close()); err == nil {
		err = os.Rename(half, to.path)
	}
	if err != nil {
		err = errors.Join(err, os.Remove(half))
	}
	return err
}

func move(c *call) error {
	last := len(c.args) - 1
	return c.into(c.args[:last], c.args[last], func(from, to file) error {
		if _, err := os.Lstat(to.path); err == nil {
			return &fs.PathError{Path: to.name, Err: fs.ErrExist}
		}
		return os.Rename(from.path, to.path)
	})
}

// remove implements -rm. There is no trash, so the removal is final.
func remove(c *call) error {
	deep := c.options["r"] || c.options["R"] || c.name == "rmr"
	args := c.args
	if c.options["f"] { // a file that does not exist is no error
		args = slices.DeleteFunc(slices.Clone(args), func(arg string) bool {
			found, err := c.files(arg)
			if err != nil || len(found) != 1 {
				return err == nil && len(found) == 0
			}
			_, err = os.Lstat(found[0].path)
			return errors.Is(err, fs.ErrNotExist)
		})
	}
	return c.each(args, func(f file, info fs.FileInfo) error {
		if info.IsDir() && !deep {
			return refuse(f.name, "Is a directory")
		}
		if filepath.Clean(f.path) == "/" || c.Root != "" && filepath.Clean(f.path) == filepath.Clean(c.Root) {
			return refuse(f.name, "the root of a file system is not removed")
		}
		if err := os.RemoveAll(f.path); err != nil {
			return err
		}
		_, err := fmt.Fprintf(c.Out, "Deleted %s\n", f.name)
		return err
	})
}

func rmdir(c *call) error {
	return c.each(c.args, func(f file, info fs.FileInfo) error {
		if !info.IsDir() {
			return refuse(f.name, "Is not a directory")
		}
		err := os.Remove(f.path)
		if err != nil && c.options["ignore-fail-on-non-empty"] {
			return nil
		}
		return err
	})
}

func chmod(c *call) error {
	mode, err := strconv.ParseUint(c.args[0], 8, 12)
	if err != nil {
		return refuse(c.args[0], "berth takes octal modes")
	}
	return c.each(c.args[1:], func(f file, _ fs.FileInfo) error {
		if !c.options["R"] {
			return os.Chmod(f.path, fs.FileMode(mode))
		}
		return filepath.WalkDir(f.path, func(path string, _ fs.DirEntry, err error) error {
			return errors.Join(err, os.Chmod(path, fs.FileMode(mode)))
		})
	})
}

// cat implements -cat, and -text, which decompresses .gz files.
func cat(c *call) error {
	return c.each(c.args, func(f file, info fs.FileInfo) error { return c.show(f, info, 0, math.MaxInt64) })
}

const some = 1024 // bytes that -head and -tail print

func head(c *call) error {
	return c.each(c.args, func(f file, info fs.FileInfo) error { return c.show(f, info, 0, some) })
}

func tail(c *call) error {
	return c.each(c.args, func(f file, info fs.FileInfo) error { return c.show(f, info, max(0, info.Size()-some), some) })
}

// show prints some bytes of a file.
func (c *call) show(f file, info fs.FileInfo, from, most int64) error {
	if info.IsDir() {
		return refuse(f.name, "Is a directory")
	}
	file, err := os.Open(f.path)
	if err != nil {
		return err
	}
	defer file.Close() // only read
	if from > 0 {
		if _, err := file.Seek(from, io.SeekStart); err != nil {
			return err
		}
	}
	var in io.Reader = file
	if c.name == "text" && strings.HasSuffix(f.path, ".gz") {
		if in, err = gzip.NewReader(file); err != nil {
			return fmt.Errorf("`%s': %w", f.name, err)
		}
	}
	_, err = io.Copy(c.Out, io.LimitReader(in, most))
	return err
}

// getmerge writes the files of folders to one file, one after the other.
func getmerge(c *call) error {
	last := len(c.args) - 1
	out, err := os.Create(c.args[last])
	if err != nil {
		return err
	}
	to := *c.Shell
	to.Out = out
	one := call{Shell: &to, name: "cat"}
	err = c.each(c.args[:last], func(f file, info fs.FileInfo) error {
		paths := []string{f.path}
		if info.IsDir() {
			paths, _ = filepath.Glob(filepath.Join(escaped(f.path), "[^._]*")) // the pattern is valid
		}
		for _, p := range paths {
			one.args = []string{p}
			if err := cat(&one); err != nil {
				return err
			}
			if c.options["nl"] {
				fmt.Fprintln(out)
			}
		}
		return nil
	})
	return errors.Join(err, out.Close())
}

// escaped escapes the characters of a path that have a meaning in patterns.
func escaped(path string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(path)
}
