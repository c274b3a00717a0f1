package private

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// nobody is another user than whoever runs the tests.
const nobody = 65534

// plants are the ways in which another user may have taken a name before; each returns
// what else may not come to exist.
var plants = map[string]func(t *testing.T, path string) (victim string){
	"FIFO": func(t *testing.T, path string) string { return done(t, unix.Mkfifo(path, 0o666)) },
	"symlink": func(t *testing.T, path string) string {
		victim := filepath.Join(t.TempDir(), "victim")
		done(t, os.WriteFile(victim, []byte("mine"), 0o600))
		done(t, os.Symlink(victim, path))
		return victim
	},
	"dangling symlink": func(t *testing.T, path string) string {
		victim := filepath.Join(t.TempDir(), "none")
		done(t, os.Symlink(victim, path))
		return victim
	},
	"hard link": func(t *testing.T, path string) string {
		victim := filepath.Join(t.TempDir(), "victim")
		done(t, os.WriteFile(victim, []byte("mine"), 0o600))
		done(t, os.Link(victim, path))
		return victim
	},
	"socket": func(t *testing.T, path string) string { return done(t, unix.Mknod(path, unix.S_IFSOCK|0o666, 0)) },
	"folder": func(t *testing.T, path string) string { return done(t, os.Mkdir(path, 0o700)) },
	"writable file": func(t *testing.T, path string) string {
		return done(t, errors.Join(os.WriteFile(path, []byte("x"), 0o600), os.Chmod(path, 0o622)))
	},
}

func done(t *testing.T, err error) string {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	return ""
}

// content returns what a file holds, "" for none.
func content(path string) string {
	b, _ := os.ReadFile(path) // a missing file is a possible answer
	return string(b)
}

func TestPlantedFiles(t *testing.T) {
	for name, plant := range plants {
		for _, flag := range []int{os.O_RDONLY, os.O_WRONLY, os.O_RDWR, os.O_RDWR | os.O_CREATE, os.O_WRONLY | os.O_CREATE | os.O_TRUNC, os.O_APPEND | os.O_WRONLY | os.O_CREATE} {
			path := filepath.Join(t.TempDir(), "name")
			victim := plant(t, path)
			before := content(victim)
			f, err := Open(path, flag)
			if err == nil {
				_ = f.Close()
			}
			var u *Untrusted
			if !errors.As(err, &u) || u.Path != path {
				t.Errorf("%s opened with %#x: %v", name, flag, err)
			}
			if after := content(victim); after != before {
				t.Errorf("%s opened with %#x: the other file holds %q, it held %q", name, flag, after, before)
			}
			if _, err := os.Lstat(victim); victim != "" && before == "" && err == nil {
				t.Errorf("%s opened with %#x: the file behind it was made", name, flag)
			}
		}
	}
}

func TestPlantedFolders(t *testing.T) {
	for name, plant := range plants {
		path := filepath.Join(t.TempDir(), "name")
		plant(t, path)
		for _, take := range []func(string) error{Folder, CheckFolder} {
			if err := take(path); name == "folder" && err != nil || name != "folder" && !errors.As(err, new(*Untrusted)) {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	real := t.TempDir()
	link := filepath.Join(t.TempDir(), "link")
	done(t, os.Symlink(real, link))
	if err := Folder(link); !errors.As(err, new(*Untrusted)) {
		t.Errorf("a link to a folder: %v", err)
	}
}

func TestFolderIsMadeAndClosed(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	for _, mode := range []os.FileMode{0o700, 0o755, 0o711} {
		done(t, Folder(dir))
		if st, err := os.Stat(dir); err != nil || st.Mode().Perm() != 0o700 {
			t.Errorf("%v, %v", st.Mode(), err)
		}
		done(t, os.Chmod(dir, mode))
	}
	for _, mode := range []os.FileMode{0o720, 0o702, 0o777} {
		done(t, os.Chmod(dir, mode))
		var u *Untrusted
		if err := Folder(dir); !errors.As(err, &u) || !u.Mode {
			t.Errorf("mode %v: %v", mode, err)
		}
	}
	if err := CheckFolder(dir + "-none"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no folder: %v", err)
	}
}

// In a folder that all may write to, only the sticky bit keeps others from moving a name away.
func TestFolderAmongOthers(t *testing.T) {
	parent := t.TempDir()
	done(t, os.Chmod(parent, 0o777)) //nolint:gosec // open on purpose
	if err := Folder(filepath.Join(parent, "x")); err == nil || !strings.Contains(err.Error(), "sticky") {
		t.Errorf("without a sticky bit: %v", err)
	}
	done(t, os.Chmod(parent, 0o777|os.ModeSticky))
	done(t, Folder(filepath.Join(parent, "x")))
}

func TestOthersOwn(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give a file to another user")
	}
	dir := t.TempDir()
	file, folder := filepath.Join(dir, "file"), filepath.Join(dir, "folder")
	done(t, os.WriteFile(file, []byte("x"), 0o600))
	done(t, os.Mkdir(folder, 0o700))
	done(t, errors.Join(os.Chown(file, nobody, -1), os.Chown(folder, nobody, -1)))
	_, read := ReadFile(file, 10)
	_, secret := ReadSecret(file, 10)
	for what, err := range map[string]error{"file": read, "secret": secret, "folder": Folder(folder), "strict folder": CheckFolder(folder)} {
		if err == nil || !strings.Contains(err.Error(), "belongs to user 65534") {
			t.Errorf("%s of another user: %v", what, err)
		}
	}
}

func TestFilesOfOnesOwn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x")
	f, err := Open(path, os.O_RDWR|os.O_CREATE)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.WriteString("12345")
	done(t, errors.Join(err, f.Close()))
	if b, err := ReadFile(path, 3); string(b) != "123" || err != nil {
		t.Errorf("read %q, %v", b, err)
	}
	done(t, os.Chmod(path, 0o644)) //nolint:gosec // open on purpose
	if _, err := ReadFile(path, 3); err != nil {
		t.Errorf("a file that others may read: %v", err)
	}
	if _, err := ReadSecret(path, 3); !errors.As(err, new(*Untrusted)) {
		t.Errorf("a secret that others may read: %v", err)
	}
	f, err = Open(path, os.O_WRONLY|os.O_TRUNC)
	if err != nil {
		t.Fatal(err)
	}
	done(t, f.Close())
	if got := content(path); got != "" {
		t.Errorf("truncated it holds %q", got)
	}
	if _, err := Open(path+"-none", os.O_RDWR); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
}
