// Package program builds the berth that tests run as users do.
package program

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// Var names the environment variable with the path of a berth that is built already. make test builds one for all packages.
const Var = "BERTH_TEST_PROGRAM"

// Build returns the path of berth. It builds it in dir with these flags of go build, unless it is built already.
func Build(dir string, flags ...string) (string, error) {
	if path := os.Getenv(Var); path != "" {
		if filepath.Base(path) != "berth" { // scripts of tests find it on PATH
			return "", fmt.Errorf("%s=%s: the program must have the name berth", Var, path)
		}
		return path, nil
	}
	path := filepath.Join(dir, "berth")
	args := append(append([]string{"build"}, flags...), "-ldflags=-s -w", "-o", path, "berth/cmd/berth")
	if out, err := exec.Command("go", args...).CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, out)
	}
	return path, nil
}
