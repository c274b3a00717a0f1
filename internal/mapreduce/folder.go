package mapreduce

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"berth/internal/core/job"
	"berth/internal/core/pattern"
	"berth/internal/sys/disk"
)

// temporaryDir is the folder below an output that has a folder of the job that it belongs to, in which are those of attempts.
const temporaryDir = "_temporary"

// ownDir returns the folder by which the output belongs to a job.
func ownDir(spec *job.MapReduceSpec, id job.ID) string {
	return filepath.Join(spec.Output, temporaryDir, strings.ReplaceAll(string(id), "/", "_"))
}

// claimOutput makes the folder of the job in the output. It returns an error if the output belongs to another job: the user removed it, and
// the other job made it again.
func claimOutput(spec *job.MapReduceSpec, id job.ID) error {
	own := ownDir(spec, id)
	if _, err := os.Lstat(own); err == nil {
		return nil
	}
	if err := checkOwner(spec, id); err != nil {
		return err
	}
	if err := os.MkdirAll(own, 0o777); err != nil {
		return outputError(own, err)
	}
	if err := checkOwner(spec, id); err != nil { // another job came at the same time
		return errors.Join(err, os.Remove(own))
	}
	return nil
}

// checkOwner returns an error if the output belongs to another job, or was completed by one.
func checkOwner(spec *job.MapReduceSpec, id job.ID) error {
	temp := filepath.Join(spec.Output, temporaryDir)
	entries, err := os.ReadDir(temp)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return outputError(temp, err)
	}
	own := filepath.Base(ownDir(spec, id))
	for _, e := range entries {
		if name := e.Name(); name != own && !strings.HasPrefix(name, own+"_") { // an attempt of an older version of berth
			return otherOutput(spec.Output, name)
		}
	}
	if _, err := os.Lstat(filepath.Join(spec.Output, successName)); err == nil && len(entries) == 0 {
		return otherOutput(spec.Output, "another job")
	}
	return nil
}

func otherOutput(path, other string) error {
	return job.OutputError(path, "the output was removed while this job was not over, and belongs to "+other+" now", "submit this job again with another output")
}

// Folder is a folder below the job's output with what an attempt leaves: its part file, and the files that its
// programs have written beside it (mapreduce.task.output.dir). An attempt on a machine that sees the output writes
// there; the files of one on another machine are sent there. Files in the folder become part of the output by renames.
type Folder struct {
	spec *job.MapReduceSpec
	job  job.ID
	Dir  string
	part string // name of the attempt's part file
}

// NewFolder creates the folder of an attempt, empty. index is the number of the task among the job's maps or reduces.
func NewFolder(spec *job.MapReduceSpec, a job.Attempt, index int) (*Folder, error) {
	part, err := partFile(spec, index)
	if err != nil {
		return nil, err
	}
	if err := claimOutput(spec, a.Job); err != nil {
		return nil, err
	}
	f := &Folder{spec: spec, job: a.Job, Dir: filepath.Join(ownDir(spec, a.Job), fmt.Sprintf("%d_%d", a.Task, a.N)), part: part}
	err = os.RemoveAll(f.Dir) // of an attempt with this number whose record was lost
	if err == nil {
		err = os.Mkdir(f.Dir, 0o777) // it fails if the output was removed
	}
	return f, outputError(f.Dir, err)
}

// partFile returns the name of the part file of a partition, or of a map without reduces.
func partFile(spec *job.MapReduceSpec, n int) (string, error) {
	c, err := fileCodec(spec)
	if err != nil || c == nil {
		return partName(n), err
	}
	return partName(n) + c.Suffix, nil
}

// reserved matches the names that a program must not give to its files: those of parts and of berth's own files.
var reserved = pattern.Lazy(`^(part-[0-9]{5,}|_SUCCESS|_temporary)(\.[a-z0-9]+)?$`)

// Received is a file of a Folder that arrives from another machine.
type Received struct{ *os.File }

// Receive creates a file that the attempt sends. It returns an error for a name that the attempt must not write, for
// example the part of another task.
func (f *Folder) Receive(name string) (*Received, error) {
	first, _, _ := strings.Cut(name, "/")
	if !filepath.IsLocal(name) || filepath.Clean(name) != name || name != f.part && reserved().MatchString(first) {
		return nil, fmt.Errorf("an attempt must not write a file named %q", name)
	}
	mode := uint32(0)
	if name == f.part {
		mode = f.spec.PartMode
	}
	file, err := createFile(filepath.Join(f.Dir, name), mode)
	if err != nil {
		return nil, err
	}
	return &Received{file}, nil
}

// Close completes the file and syncs it to the disk.
func (r *Received) Close() error {
	return errors.Join(r.Sync(), r.File.Close())
}

// Drop removes the file, which did not arrive completely.
func (r *Received) Drop() { _ = os.Remove(r.Name()) } // a part that stays is not committed, as its attempt has failed

// Prepare does nothing: the files are in the folder.
func (f *Folder) Prepare(context.Context, []disk.File) error { return nil }

// Commit moves the files of the folder into the output and syncs the output to the disk. They replace those of an
// earlier attempt that was lost. An attempt without a part, as LazyOutput allows, removes the part of an earlier one.
func (f *Folder) Commit(context.Context, time.Duration) error {
	if _, err := os.Lstat(f.Dir); err != nil {
		return outputError(f.Dir, err)
	}
	if err := checkOwner(f.spec, f.job); err != nil {
		return err
	}
	_, err := os.Lstat(filepath.Join(f.Dir, f.part))
	if errors.Is(err, fs.ErrNotExist) && f.spec.LazyOutput {
		if err = os.Remove(filepath.Join(f.spec.Output, f.part)); errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
	}
	if err != nil {
		return outputError(filepath.Join(f.spec.Output, f.part), err)
	}
	if err := promote(f.Dir, f.spec.Output); err != nil {
		return err
	}
	_ = os.Remove(f.Dir) // if it is not empty, it is removed with _temporary
	return outputError(f.spec.Output, disk.Sync(f.spec.Output))
}

// Abort removes the folder. What cannot be removed now is removed with _temporary.
func (f *Folder) Abort() { _ = os.RemoveAll(f.Dir) }

// promote moves the content of the folder from into the folder to. Files are synced to the disk and replace files of
// the same name. Folders are merged. If an attempt is lost in between, the next attempt moves its own files over those
// that were moved.
func promote(from, to string) error {
	entries, err := os.ReadDir(from)
	if err != nil {
		return outputError(from, err)
	}
	for _, e := range entries {
		source, target := filepath.Join(from, e.Name()), filepath.Join(to, e.Name())
		switch {
		case e.IsDir():
			if err = os.Mkdir(target, 0o777); err == nil || errors.Is(err, fs.ErrExist) {
				if err = promote(source, target); err == nil {
					err = errors.Join(disk.Sync(target), os.Remove(source))
				}
			}
		case e.Type().IsRegular():
			err = errors.Join(disk.Sync(source), os.Rename(source, target))
		default:
			err = os.Rename(source, target)
		}
		if err != nil {
			return outputError(target, err)
		}
	}
	return nil
}
