package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// The programs of the MapReduce jobs. Their paths identify the application to berth, so all runs use
// the same files.
const (
	mapper = `set -e
while read -r id seconds; do
	sleep "$seconds"
	printf '%s\t%s\n' "$id" "$seconds"
done
`
	reducer = `set -e
n=0
while read -r _; do n=$((n + 1)); done
sleep "$1"
echo "$n"
`
)

// writePrograms writes the programs to a folder.
func writePrograms(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for name, text := range map[string]string{"map.sh": mapper, "reduce.sh": reducer, "pull.sh": puller} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755); err != nil {
			return err
		}
	}
	return nil
}

// write writes the job's input to the folder in which it is run, and returns berth's arguments for
// the job, given the flags that choose nodes and time.
func (w *workload) write(dir, programs string, seed uint64, flags []string) ([]string, error) {
	d := w.durations(seed)
	var lines strings.Builder
	for i, s := range d {
		if w.reduces > 0 {
			fmt.Fprintf(&lines, "%04d ", i)
		}
		fmt.Fprintf(&lines, "%05.1f\n", s)
	}
	if err := os.WriteFile(filepath.Join(dir, "input"), []byte(lines.String()), 0o644); err != nil {
		return nil, err
	}
	if w.reduces == 0 {
		args := append([]string{"--json", "bag"}, flags...)
		return append(args, "--each-line", "input", "--stdout", "out/{task}", "--", "sleep {} && echo {}"), nil
	}
	args := append([]string{"--json", "mapreduce"}, flags...)
	return append(args, "-D", "mapreduce.input.lineinputformat.linespermap=1", "-D", "stream.map.input.ignoreKey=true",
		"-inputformat", "NLineInputFormat", "-numReduceTasks", strconv.Itoa(w.reduces), "-input", "input", "-output", "out",
		"-mapper", "sh "+filepath.Join(programs, "map.sh"),
		"-reducer", fmt.Sprintf("sh %s %g", filepath.Join(programs, "reduce.sh"), w.reduceTo)), nil
}

// check checks that the job's output has every task exactly once.
func (w *workload) check(dir string) error {
	files, err := filepath.Glob(filepath.Join(dir, "out", "[p0-9]*"))
	if err != nil {
		return err
	}
	sum := 0
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			return err
		}
		for line := range strings.Lines(string(b)) {
			if w.reduces == 0 {
				sum++
				continue
			}
			n, err := strconv.Atoi(strings.TrimSpace(line))
			if err != nil {
				return fmt.Errorf("output %s: %w", f, err)
			}
			sum += n
		}
	}
	if sum != w.tasks() {
		return fmt.Errorf("the output has %d tasks instead of %d", sum, w.tasks())
	}
	return nil
}
