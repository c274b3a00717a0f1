package simulation

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"berth/internal/core/job"
)

// remains returns the paths below a folder.
func remains(t *testing.T, dir string) (paths []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		rel, _ := filepath.Rel(dir, path)
		paths = append(paths, rel)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return paths[1:]
}

// TestLeave checks that either all files exist, or neither a file nor the folder made for them.
func TestLeave(t *testing.T) {
	cause := errors.New("the pen broke")
	broken := Output{"two", func(w io.Writer) error {
		_, _ = io.WriteString(w, "half of it")
		return cause
	}}
	told := Output{"two", func(w io.Writer) (err error) {
		if err := syscall.Kill(os.Getpid(), syscall.SIGTERM); err != nil {
			return err
		}
		for err == nil { // until the signal has arrived
			_, err = io.WriteString(w, "x")
		}
		return err
	}}
	unwritable := func(err error) bool { return job.CodeOf(err) == job.CodeIO }
	interrupted := func(err error) bool { return errors.Is(err, context.Canceled) }
	for _, test := range []struct {
		name   string
		second Output
		want   string // of the error; "": no error
		is     func(error) bool
	}{
		{"all is well", bytesTo("two", []byte("2")), "", nil},
		{"one cannot be written", broken, "two: cannot write: the pen broke", unwritable},
		{"one is a folder", bytesTo(".", nil), ".: cannot write: is a directory", unwritable},
		{"told to end", told, "context canceled", interrupted},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			t.Setenv("TMPDIR", dir)
			t.Chdir(dir)
			made := filepath.Join("new", "folder")
			err := Leave(context.Background(), made, []Output{bytesTo(filepath.Join(made, "one"), []byte("1")), test.second})
			got := strings.Join(remains(t, dir), " ")
			if test.want == "" {
				if err != nil || got != "new new/folder new/folder/one two" {
					t.Errorf("%v, left %s", err, got)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), test.want) || !test.is(err) || got != "" {
				t.Errorf("got %v, left %q", err, got)
			}
		})
	}
}

// TestLeaveReplaces checks that existing files stay until all new files are complete.
func TestLeaveReplaces(t *testing.T) {
	path := filepath.Join(t.TempDir(), "one")
	if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	fails := Output{path + "2", func(io.Writer) error { return errors.New("no") }}
	if err := Leave(context.Background(), "", []Output{bytesTo(path, []byte("new")), fails}); err == nil {
		t.Error("no error")
	}
	if b, err := os.ReadFile(path); err != nil || !bytes.Equal(b, []byte("old")) {
		t.Errorf("%q, %v", b, err)
	}
}

// TestWritable checks that a file that cannot be written is reported at the beginning, by its name.
func TestWritable(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	if err := os.WriteFile(in("file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		path         string
		file, folder string // the end of the error
	}{
		{"", "", ""},
		{in("new"), "", ""},
		{in("file"), "", "not a directory"},
		{dir, "is a directory", ""},
		{in("a/b/c"), "no such file or directory", ""},
		{in("file/a"), "not a directory", "not a directory"},
	} {
		for want, err := range map[*string]error{&test.file: Writable(test.path), &test.folder: WritableFolder(test.path)} {
			if *want == "" && err == nil {
				continue
			}
			if err == nil || *want == "" || err.Error() != test.path+": cannot write: "+*want || job.CodeOf(err) != job.CodeIO {
				t.Errorf("%s: got %v, want %q", test.path, err, *want)
			}
		}
	}
	if len(remains(t, dir)) != 1 {
		t.Error("asking left something behind")
	}
}

// TestLeaveLinks checks that a link stays a link and its target is replaced, and that pipes are
// written directly, as devices are.
func TestLeaveLinks(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := cmp.Or(os.WriteFile("file", []byte("old"), 0o600), os.Symlink("file", "link"), syscall.Mkfifo("pipe", 0o600)); err != nil {
		t.Fatal(err)
	}
	pipe, err := os.OpenFile("pipe", os.O_RDWR, 0) // so that no side waits for the other
	if err != nil {
		t.Fatal(err)
	}
	defer pipe.Close()
	if err := cmp.Or(Writable("link"), Writable("pipe"), Leave(t.Context(), "", []Output{bytesTo("link", []byte("new")), bytesTo("pipe", []byte("new"))})); err != nil {
		t.Fatal(err)
	}
	file, err := os.ReadFile("file")
	if err != nil {
		t.Fatal(err)
	}
	piped := make([]byte, 3)
	if _, err := io.ReadFull(pipe, piped); err != nil || string(piped)+string(file) != "newnew" {
		t.Errorf("pipe %q, file %q, %v", piped, file, err)
	}
	if to, err := os.Readlink("link"); err != nil || to != "file" {
		t.Errorf("the link leads to %q, %v", to, err)
	}
}

// bytesTo returns an output whose contents are known.
func bytesTo(path string, data []byte) Output {
	return Output{path, func(w io.Writer) error { _, err := w.Write(data); return err }}
}
