// Summary runs "go test -json" and prints what go test prints without -json: a line for each package, and the output of
// tests that failed. It writes which tests were skipped and why into FILE.skipped, as go test shows them only among the output
// of all tests, and which took long into FILE.slow.
//
//	summary FILE go test -json ./...
//
// It ends with the status of the command.
package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
)

func main() {
	code, err := run(os.Args[1], os.Args[2:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "summary:", err)
		code = 1
	}
	os.Exit(code)
}

// run runs a command that writes the events of tests, and returns its status.
func run(file string, command []string) (int, error) {
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Stderr = os.Stderr
	events, err := cmd.StdoutPipe()
	if err != nil {
		return 0, err
	}
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	r := report{to: os.Stdout, outputs: map[test][]string{}}
	readErr := r.read(events)
	err = cmd.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return 0, err
	}
	return cmd.ProcessState.ExitCode(), errors.Join(readErr, os.WriteFile(file+".skipped", []byte(r.skipped.String()), 0o644),
		os.WriteFile(file+".slow", []byte(r.slow.String()), 0o644))
}
