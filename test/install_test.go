package test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	project "berth"
)

// TestInstall checks that make install and make dist install, below an empty root, a program that runs, manual pages and completions. That the
// files of a release are the same each time is for make dist-test, which takes long.
func TestInstall(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	root := filepath.Join(dir, "root")
	run := func(name string, args ...string) string {
		t.Helper()
		cmd := exec.Command(name, args...)
		cmd.Dir = ".."
		var errs bytes.Buffer
		cmd.Stderr = &errs
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%s %v: %v\n%s%s", name, args, err, out, errs.Bytes())
		}
		return string(out)
	}
	// The program under test is installed: make would compile everything once more.
	run("make", "--assume-old=build", "install", "BERTH="+program, "DESTDIR="+root, "PREFIX=/usr")
	berth := filepath.Join(root, "usr", "bin", "berth")
	release, _, _ := strings.Cut(project.Version(), " ")
	if got := run(berth, "--version"); !strings.HasPrefix(got, "berth "+release+" ") {
		t.Errorf("the program says %q of its version", got)
	}
	for _, name := range []string{
		"man/man1/berth.1", "man/man1/berth-bag.1", "bash-completion/completions/berth", "zsh/site-functions/_berth",
		"fish/vendor_completions.d/berth.fish", "doc/berth/docs/bags.md", "doc/berth/lab/results/README.md", "doc/berth/LICENSE",
	} {
		if info, err := os.Stat(filepath.Join(root, "usr", "share", name)); err != nil || info.Size() == 0 {
			t.Errorf("share/%s is not installed: %v", name, err)
		}
	}
	run("bash", "-n", filepath.Join(root, "usr", "share", "bash-completion", "completions", "berth"))
	packed := filepath.Join(dir, "dist")
	made := strings.Fields(run("scripts/dist.sh", berth, packed))
	var names []string
	for _, kind := range []string{".tar.gz", "-licences.txt", ".whl", ".deb"} {
		i := slices.IndexFunc(made, func(name string) bool { return strings.HasSuffix(name, kind) })
		if i < 0 {
			t.Fatalf("there is no %s in %q", kind, made)
		}
		names = append(names, made[i])
	}
	tarball, licences, wheel, debian := names[0], names[1], names[2], names[3]
	run("sh", "-c", `cd "$0" && sha256sum --quiet -c SHA256SUMS`, packed)
	if text, err := os.ReadFile(licences); err != nil || !bytes.Contains(text, []byte("\ngithub.com/spf13/cobra ")) || !bytes.Contains(text, []byte("MPL-2.0")) {
		t.Errorf("the list of licences has not those of cobra and yamux: %v", err)
	}
	if list := run("python3", "-m", "zipfile", "-l", wheel); !strings.Contains(list, ".data/scripts/berth ") || !strings.Contains(list, "berth/joblib.py") {
		t.Errorf("the wheel has\n%s", list)
	}
	run("tar", "-C", dir, "--strip-components=1", "-xzf", tarball)
	run(filepath.Join(dir, "bin", "berth"), "--version")
	if list := run("dpkg-deb", "--contents", debian); !strings.Contains(list, "./usr/bin/berth") || !strings.Contains(list, "./usr/share/man/man1/berth-bag.1.gz") {
		t.Errorf("the package has\n%s", list)
	}
}

// TestCompletions checks that the shell completes the existing jobs, newest first, and the values of flags.
func TestCompletions(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for range 2 {
		w.must("bag", "--stdout", "none", "--stderr", "none", "--", "true", ":::", "a")
	}
	for _, c := range []struct {
		words []string
		want  string
	}{
		{[]string{"report", ""}, "bag-2\nbag-1\n"},
		{[]string{"forget", "bag-2", ""}, "bag-1\n"},
		{[]string{"wait", "bag-1", ""}, "bag-2\n"},
		{[]string{"bag", "--stragglers", ""}, "auto\nduplicate\nabort\ntell\noff\n"},
		{[]string{"server", "start", "--order", ""}, "auto\nfifo\nshortest\n"},
		{[]string{"run", ""}, "toml\n"},
	} {
		out, err := w.command(append([]string{"__complete"}, c.words...)...).Output()
		offered, _, _ := strings.Cut(string(out), ":") // what follows is an instruction to the shell
		if err != nil || offered != c.want {
			t.Errorf("behind %q a shell is offered %q (%v), want %q", c.words, offered, err, c.want)
		}
	}
}
