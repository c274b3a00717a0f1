package slurm

import (
	"os/exec"
	"strings"
	"testing"
)

// TestScripts checks that /bin/sh can parse the scripts, whatever characters the folders' names contain.
func TestScripts(t *testing.T) {
	for name, text := range map[string]string{
		"node":  Open(nil).NodeVariables(),
		"batch": Open(nil).Script("Allocation a1", `/home/it's "me"/$HOME/a1`),
	} {
		if strings.Contains(text, "%!") {
			t.Errorf("%s has a wrong format:\n%s", name, text)
		}
		cmd := exec.Command("/bin/sh", "-n")
		cmd.Stdin = strings.NewReader(text)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s: %v: %s\n%s", name, err, out, text)
		}
	}
}
