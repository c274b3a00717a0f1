package test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// stagesExample runs a program of examples/NAME in the world's folder.
func (w *world) stagesExample(name, program string, args ...string) (string, error) {
	w.t.Helper()
	path, err := filepath.Abs(filepath.Join("..", "examples", name, program))
	if err != nil {
		w.t.Fatal(err)
	}
	cmd := exec.Command(path, args...)
	cmd.Dir, cmd.Env = w.dir, append(w.env(), berthEnv())
	said, err := cmd.CombinedOutput()
	return string(said), err
}

// stagesExamples are the examples of jobs in stages with small inputs, and what must be installed for each.
var stagesExamples = []struct {
	name                 string
	needs                []string
	generate, run, check []string
	output               string
}{
	{"blur", []string{"python3", "convert"}, []string{"photo.ppm", "--size", "301x203"}, []string{"photo.ppm", "blurred.ppm", "6"},
		[]string{"photo.ppm", "blurred.ppm"}, "blurred.ppm"},
	{"assembly", []string{"python3", "velveth", "velvetg"}, []string{"sets", "--sets", "3", "--genome", "20000"}, []string{"sets", "contigs.fa"},
		[]string{"sets", "contigs.fa"}, "contigs.fa"},
}

// TestStagesExamples generates the input of each example, runs it, and checks its output. A changed
// output must be detected.
func TestStagesExamples(t *testing.T) {
	t.Parallel()
	for _, e := range stagesExamples {
		t.Run(e.name, func(t *testing.T) {
			t.Parallel()
			for _, program := range e.needs {
				if _, err := exec.LookPath(program); err != nil {
					t.Skip("not installed: scripts/test.sh installs it from Debian: ", err)
				}
			}
			w := newWorld(t)
			for _, step := range [][]string{append([]string{"generate"}, e.generate...), append([]string{"run"}, e.run...), append([]string{"check"}, e.check...)} {
				if said, err := w.stagesExample(e.name, step[0], step[1:]...); err != nil {
					t.Fatalf("%v: %v\n%s", step, err, said)
				}
			}
			content := []byte(w.read(e.output))
			middle := content[len(content)/2 : len(content)/2+200]
			copy(middle, bytes.ToUpper(bytes.Repeat([]byte("acgtta"), 40)))
			if err := os.WriteFile(filepath.Join(w.dir, e.output), content, 0o600); err != nil {
				t.Fatal(err)
			}
			if said, err := w.stagesExample(e.name, "check", e.check...); err == nil || !strings.Contains(said, "is wrong") {
				t.Errorf("the check of an output that was changed: %v, %s", err, said)
			}
		})
	}
}
