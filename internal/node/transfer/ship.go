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

// Programs returns the words of a job's programs that are absolute paths. These files are not shipped, as hosts may
// have them; a host that does not can fetch them.
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

// programsDir is the folder of programs in Needs. It has a folder for each program, named by its index.
const programsDir = "programs"

// ProgramItem returns the name in Needs of a program, given its index in Programs.
func ProgramItem(index int, file string) string {
	return path.Join(programsDir, strconv.Itoa(index), filepath.Base(file))
}

// ShippedItem returns the name in Needs of a shipped file, given its index in the spec.
func ShippedItem(index int, file string) string {
	return path.Join("files", strconv.Itoa(index), filepath.Base(file))
}

// shipped returns the files that a MapReduce job ships to the folders of its tasks, and its programs.
func (sv *served) shipped() (*Needs, error) {
	c := &collector{dir: "/", root: sv.root, digest: sv.digests.name, have: make(map[string]int)}
	for i, f := range sv.Spec.MapReduce.Files {
		real, err := filepath.EvalSymlinks(f.Path) // root follows no link to an absolute path
		if err == nil {
			err = c.ship(real, ShippedItem(i, f.Path))
		}
		if err != nil {
			return nil, process.Broken("the shipped file %s cannot be read: %v", f.Path, err)
		}
	}
	for i, file := range Programs(sv.Spec.MapReduce) {
		real, err := filepath.EvalSymlinks(file)
		if err != nil {
			continue // the hosts have their own
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

// ship adds a file, or a folder with its contents, under a name.
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
			return nil // a pipe, a socket or a device
		}
		st, err := e.Info()
		if err != nil {
			return err
		}
		i, err := c.file(file[1:], st)
		if err != nil {
			return err
		}
		i.Path = at
		return c.put(i)
	})
}
