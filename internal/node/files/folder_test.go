package files

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/node/process"
)

// tree makes files with their names as content.
func tree(t *testing.T, dir string, names ...string) {
	t.Helper()
	for _, name := range names {
		file := filepath.Join(dir, name)
		err := os.MkdirAll(filepath.Dir(file), 0o700)
		if err == nil {
			err = os.WriteFile(file, []byte(name), 0o640)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// listing writes what is below a folder: "a" a file, "a@" a link, "a/" a folder.
func listing(t *testing.T, dir string) string {
	t.Helper()
	var list []string
	err := filepath.WalkDir(dir, func(file string, e fs.DirEntry, err error) error {
		if err != nil || file == dir {
			return err
		}
		name := strings.TrimPrefix(file, dir+"/")
		switch e.Type() {
		case fs.ModeDir:
			name += "/"
		case fs.ModeSymlink:
			name += "@"
		}
		list = append(list, name)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(list)
	return strings.Join(list, " ")
}

var first = job.Attempt{Job: "bag-1", Task: 0, N: 1}

// What a task finds in its folder.
func TestFolderHoldsTheJobsFolder(t *testing.T) {
	tests := []struct {
		name            string
		there           []string
		patterns, words []string
		want            string
	}{
		{"names as links, what is named as a copy", []string{"a", "b", "tool.py"}, []string{"*.gz"}, []string{"a", "nothing", "/etc/passwd", "../x"}, "a b@ tool.py@"},
		{"no earlier output", []string{"a", "a.gz", "b.gz"}, []string{"a.gz"}, []string{"a"}, "a b.gz@"},
		{"an input that the pattern matches", []string{"a.dat", "b.dat"}, []string{"*.dat"}, []string{"a.dat"}, "a.dat"},
		{"folders on the way", []string{"data/a", "data/b", "lib/c", "lib/d/e"}, []string{"data/*.gz"}, []string{"data/a"}, "data/ data/a data/b@ lib@"},
		{"a named file in another folder", []string{"in/a", "in/b", "out/a.png"}, []string{"out/*.png"}, []string{"in/a"}, "in/ in/a in/b@ out/"},
		{"folders that are not there", []string{"a"}, []string{"x/y/*.gz"}, nil, "a@ x/ x/y/"},
		{"folders by pattern", []string{"run1/a", "run2/b", "c"}, []string{"run*/*.log"}, nil, "c@ run1/ run1/a@ run2/ run2/b@"},
		{"parts of other attempts", []string{"a", ".bag-1.7.1.outputs.part/x", ".a.bag-1.7.1.part", ".hidden"}, []string{"*.gz"}, nil, ".hidden@ a@"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			tree(t, dir, tt.there...)
			f, err := fillFolder(dir, tt.patterns, tt.words, first)
			if err != nil {
				t.Fatal(err)
			}
			if got := listing(t, f.Dir); got != tt.want {
				t.Errorf("the folder has %q, want %q", got, tt.want)
			}
			f.Drop()
			for _, name := range tt.there {
				if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
					t.Errorf("the job's own file is gone: %v", err)
				}
			}
		})
	}
}

// What is kept of what a task leaves.
func TestFolderKeepsWhatMatches(t *testing.T) {
	tests := []struct {
		name            string
		patterns, words []string
		left            []string // made by the task
		want            string   // in the job's folder, beside what was there
	}{
		{"some of it", []string{"*.gz"}, []string{"a"}, []string{"b.gz", "a.gz", "tmp", "sub/c.gz"}, "a a.gz b.gz in/ in/x"},
		{"several patterns", []string{"*.bam", "log/*.txt"}, nil, []string{"1.bam", "log/1.txt", "log/1.tmp"}, "1.bam a in/ in/x log/ log/1.txt"},
		{"a folder, into one that is there", []string{"in"}, nil, []string{"in/y", "in/z/w"}, "a in/ in/x in/y in/z/ in/z/w"},
		{"hidden ones only where they are meant", []string{"*"}, nil, []string{".cache", "r"}, "a in/ in/x r"},
		{"not what the task found", []string{"*", "in/*"}, []string{"a", "in/x"}, []string{"r", "in/y"}, "a in/ in/x in/y r"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			tree(t, dir, "a", "in/x")
			f, err := fillFolder(dir, tt.patterns, tt.words, first)
			if err != nil {
				t.Fatal(err)
			}
			tree(t, f.Dir, tt.left...)
			names, err := f.Left()
			if err == nil {
				err = f.Commit(names, NewDurable())
			}
			f.Drop()
			if got := listing(t, dir); got != tt.want || err != nil {
				t.Errorf("the job's folder has %q, want %q (%v)", got, tt.want, err)
			}
			if !slices.IsSorted(names) {
				t.Errorf("files are put into place in no order: %q", names)
			}
		})
	}
}

// An input that the task changed in place is its output where the pattern says so; the job's own stays as it was until then.
func TestFolderInputChangedInPlace(t *testing.T) {
	dir := t.TempDir()
	tree(t, dir, "a.dat", "b.dat")
	f, err := fillFolder(dir, []string{"*.dat"}, []string{"a.dat"}, first)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Left(); err == nil {
		t.Error("an input that did not change is an output")
	}
	if err := os.WriteFile(filepath.Join(f.Dir, "a.dat"), []byte("changed"), 0); err != nil {
		t.Fatal(err)
	}
	if b, _ := os.ReadFile(filepath.Join(dir, "a.dat")); string(b) != "a.dat" {
		t.Errorf("before the commit the job's file is %q", b)
	}
	names, err := f.Left()
	if err == nil {
		err = f.Commit(names, NewDurable())
	}
	if b, _ := os.ReadFile(filepath.Join(dir, "a.dat")); string(b) != "changed" || err != nil {
		t.Errorf("after the commit the job's file is %q (%v)", b, err)
	}
}

// Two attempts at one task see nothing of each other, and the later commit replaces what an earlier one put into place.
func TestFoldersOfDuplicates(t *testing.T) {
	dir := t.TempDir()
	tree(t, dir, "a")
	var folders []*Folder
	for n := 1; n <= 2; n++ {
		f, err := fillFolder(dir, []string{"*.gz"}, []string{"a"}, job.Attempt{Job: "bag-1", Task: 0, N: n})
		if err != nil {
			t.Fatal(err)
		}
		if got := listing(t, f.Dir); got != "a" {
			t.Errorf("attempt %d finds %q", n, got)
		}
		if err := os.WriteFile(filepath.Join(f.Dir, "a.gz"), []byte(fmt.Sprint(n)), 0o600); err != nil {
			t.Fatal(err)
		}
		folders = append(folders, f)
	}
	for n, f := range folders {
		names, err := f.Left()
		if err == nil {
			err = f.Commit(names, NewDurable())
		}
		if b, _ := os.ReadFile(filepath.Join(dir, "a.gz")); string(b) != fmt.Sprint(n+1) || err != nil {
			t.Errorf("a.gz is %q after attempt %d (%v)", b, n+1, err)
		}
	}
	(&Bag{Spec: &job.Spec{Dir: dir, Bag: &job.BagSpec{Outputs: []string{"*.gz"}}}, At: folders[1].at, Captured: true}).DropOthers(2)
	folders[1].Drop()
	if got := listing(t, dir); got != "a a.gz" {
		t.Errorf("the job's folder has %q", got)
	}
}

// A folder of the job's may be a link to another file system, where no rename leads.
func TestFolderOnTwoFileSystems(t *testing.T) {
	dir := t.TempDir()
	other, err := os.MkdirTemp("/dev/shm", "berth-test-")
	if err != nil {
		t.Skipf("there is no second file system: %v", err)
	}
	defer func() { _ = os.RemoveAll(other) }()
	if err := os.Symlink(other, filepath.Join(dir, "out")); err != nil {
		t.Fatal(err)
	}
	f, err := fillFolder(dir, []string{"out/*"}, nil, first)
	if err != nil {
		t.Fatal(err)
	}
	tree(t, f.Dir, "out/x", "out/y")
	left, err := f.Left()
	if err == nil {
		err = f.Commit(left, NewDurable())
	}
	f.Drop()
	if got := listing(t, other); got != "x y" || err != nil {
		t.Errorf("the other file system has %q (%v)", got, err)
	}
	if got := listing(t, dir); got != "out@" {
		t.Errorf("the job's folder has %q", got)
	}
}

func TestFolderFailures(t *testing.T) {
	dir := t.TempDir()
	var f *process.Failure
	if _, err := fillFolder(dir, []string{"../x"}, nil, first); !errors.As(err, &f) || f.Outcome != event.Failed {
		t.Errorf("a pattern that leads out: %v", err)
	}
	if _, err := fillFolder(dir, []string{"/etc/x"}, nil, first); !errors.As(err, &f) || f.Outcome != event.Failed {
		t.Errorf("an absolute pattern: %v", err)
	}
	folder, err := fillFolder(dir, []string{filepath.Join(dir, "x")}, nil, first)
	if err != nil {
		t.Fatalf("an absolute pattern below the job's folder: %v", err)
	}
	if _, err := folder.Left(); !errors.As(err, &f) || f.Outcome != event.Failed || !strings.Contains(f.Reason, "--outputs x") {
		t.Errorf("nothing matches: %v", err)
	}
}

// What a worker that was killed left is found by the next one.
func TestPartsAreCleared(t *testing.T) {
	dir, p := t.TempDir(), Parts{Root: filepath.Join(t.TempDir(), "parts")}
	kept := filepath.Join(dir, "mine")
	tree(t, dir, "mine/x")
	f, err := fillFolder(dir, []string{"*.gz"}, nil, first)
	if err == nil {
		err = errors.Join(p.Note(first, "", f.Dir), p.Note(first, "", f.Dir), p.Note(job.Attempt{Job: "bag-2", N: 1}, "", kept))
	}
	if err != nil {
		t.Fatal(err)
	}
	second := job.Attempt{Job: "bag-1", Task: 0, N: 2}
	if err := p.Note(second, "", folderName(dir, second)); err != nil {
		t.Fatal(err)
	}
	p.Forget(second, "")
	p.Clear()
	if got := listing(t, dir); got != "mine/ mine/x" {
		t.Errorf("after the worker's death the job's folder has %q", got)
	}
}
