package transfer

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"

	"berth/internal/core/job"
	"berth/internal/node/process"
)

// Programs returns the words of a job's programs that are whole paths. Such a file is not shipped, as hosts may have it; one that does not can fetch it.
func Programs(spec *job.MapReduceSpec) (paths []string) {
	for _, p := range []*job.Program{&spec.Mapper, spec.Combiner, spec.Reducer} {
		if p == nil {
			continue
		}
		for _, word := range p.Args {
			if filepath.IsAbs(word) && !slices.Contains(paths, word) {
				paths = append(paths, word)
			}
		}
	}
	return paths
}

// programsDir is where Needs has them, each in a folder that is called by its index.
const programsDir = "programs"

// ProgramItem returns the name that a program has in Needs, by its index in Programs.
func ProgramItem(index int, file string) string {
	return path.Join(programsDir, strconv.Itoa(index), filepath.Base(file))
}

// ShippedItem returns the name that a shipped file has in Needs, by its index in the spec.
func ShippedItem(index int, file string) string {
	return path.Join("files", strconv.Itoa(index), filepath.Base(file))
}

// shipped returns what a MapReduce job ships to the folders of its tasks, and its programs.
func (sv *served) shipped() (*Needs, error) {
	c := &collector{dir: "/", root: sv.root, digest: sv.digests.of, have: make(map[string]int)}
	for i, f := range sv.spec.MapReduce.Files {
		real, err := filepath.EvalSymlinks(f.Path) // the root lets no link through that begins with "/"
		if err == nil {
			err = c.ship(real, ShippedItem(i, f.Path))
		}
		if err != nil {
			return nil, process.Broken("the shipped file %s cannot be read: %v", f.Path, err)
		}
	}
	for i, file := range Programs(sv.spec.MapReduce) {
		real, err := filepath.EvalSymlinks(file)
		if err != nil {
			continue // it is the hosts' own
		}
		if st, err := os.Stat(real); err != nil || !st.Mode().IsRegular() {
			continue
		}
		if err := c.ship(real, ProgramItem(i, file)); err != nil {
			return nil, process.Broken("%s cannot be read: %v", file, err)
		}
	}
	return &Needs{Items: c.items}, nil
}

// ship takes up a file, or a folder with all that is in it, under a name.
func (c *collector) ship(real, name string) error {
	return filepath.WalkDir(real, func(file string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(real, file)
		if err != nil {
			return err
		}
		at := path.Join(name, filepath.ToSlash(rel))
		switch {
		case e.IsDir():
			return c.put(Item{Path: at, Kind: Folder, Mode: 0o777})
		case e.Type()&fs.ModeSymlink != 0:
			target, err := os.Readlink(file)
			if err != nil {
				return err
			}
			return c.put(Item{Path: at, Kind: Link, Target: target})
		case !e.Type().IsRegular():
			return nil // a pipe, a socket, a device
		}
		st, err := e.Info()
		if err != nil {
			return err
		}
		sum, err := c.digest(file[1:], st)
		if err != nil {
			return err
		}
		return c.put(Item{Path: at, Kind: File, Mode: st.Mode().Perm(), Size: st.Size(), MTime: st.ModTime().UnixNano(), Sum: sum})
	})
}
