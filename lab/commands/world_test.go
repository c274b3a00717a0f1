package commands

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"berth/internal/command"
)

// world is a folder in which commands of berth-lab run, in this process.
type world struct {
	t     *testing.T
	dir   string
	stdin []byte
}

// newWorld makes a folder the working folder of the test.
func newWorld(t *testing.T) *world {
	w := &world{t: t, dir: t.TempDir()}
	t.Chdir(w.dir)
	return w
}

// result is what a command printed, and its exit code.
type result struct {
	code           int
	stdout, stderr string
}

// run runs a command to its end. The error is a line of stderr, as in the program.
func (w *world) run(args ...string) result {
	var out, log bytes.Buffer
	root := command.Root(Extra())
	root.SetArgs(args)
	root.SetIn(bytes.NewReader(w.stdin))
	root.SetOut(&out)
	root.SetErr(&log)
	err := root.ExecuteContext(w.t.Context())
	if err != nil {
		log.WriteString(err.Error() + "\n")
	}
	return result{command.ExitCode(err), out.String(), log.String()}
}

// must runs a command and fails the test unless it exits with 0.
func (w *world) must(args ...string) result {
	w.t.Helper()
	r := w.run(args...)
	if r.code != 0 {
		w.t.Fatalf("berth-lab %s: %v", strings.Join(args, " "), r)
	}
	return r
}

// write writes a file of the folder.
func (w *world) write(name, content string) {
	w.t.Helper()
	if err := os.WriteFile(filepath.Join(w.dir, name), []byte(content), 0o600); err != nil {
		w.t.Fatal(err)
	}
}

// read returns the content of a file of the folder.
func (w *world) read(name string) string {
	w.t.Helper()
	b, err := os.ReadFile(filepath.Join(w.dir, name))
	if err != nil {
		w.t.Fatal(err)
	}
	return string(b)
}
