package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
)

// mutated are the programs of which damaged copies are run. They only read what they are given, whatever happens to them.
var mutated = []struct {
	path string
	args []string
}{
	{"/usr/bin/true", nil}, {"/usr/bin/wc", []string{"text.txt"}}, {"/usr/bin/sort", []string{"text.txt"}}, {"/usr/bin/md5sum", []string{"text.txt"}},
	{"/usr/bin/base64", []string{"text.txt"}}, {"/usr/bin/seq", []string{"500"}}, {"/usr/bin/expr", []string{"12", "*", "7"}}, {"/usr/bin/gzip", []string{"-nc", "text.txt"}},
}

// mutateFile damages a copy of a program: its header, its tables, any bytes of it, or its length.
func mutateFile(r *rand.Rand, file []byte) []byte {
	file = append([]byte(nil), file...)
	change := func(from, n int) {
		for range 1 + r.IntN(4) {
			file[from+r.IntN(n)] = byte(r.IntN(256))
		}
	}
	switch r.IntN(6) {
	case 0:
		change(16, 48) // the header behind its magic number
	case 1:
		change(64, min(13*56, len(file)-64)) // the program headers
	case 2:
		change(len(file)-min(32*64, len(file)), min(32*64, len(file))) // the section headers
	case 3:
		file = file[:64+r.IntN(len(file)-64)]
	case 4:
		change(0x1000, len(file)/2) // code and what is near it
	default:
		change(0, len(file))
	}
	return file
}

// mutants runs damaged programs in the two bags and compares. It returns a table for lab/results/planting.md.
func (o *options) mutants(ctx context.Context, dir string) (string, error) {
	if os.Geteuid() == 0 {
		return "", errors.New("damaged programs are not run as root: use setpriv --reuid 65534 --clear-groups, say")
	}
	var cases []testCase
	folder := filepath.Join(dir, "mutants")
	if err := os.Mkdir(folder, 0o755); err != nil {
		return "", err
	}
	for i := range o.mutate {
		r := rand.New(rand.NewPCG(o.seed, uint64(i)))
		of := mutated[r.IntN(len(mutated))]
		file, err := os.ReadFile(of.path)
		if err != nil {
			return "", err
		}
		path := filepath.Join(folder, fmt.Sprintf("%04d-%s", i, filepath.Base(of.path)))
		if err := os.WriteFile(path, mutateFile(r, file), 0o755); err != nil {
			return "", err
		}
		cases = append(cases, testCase{name: filepath.Base(path), program: filepath.Base(of.path),
			commands: []command{{args: append([]string{path}, of.args...)}}})
	}
	t, err := o.inBags(ctx, dir, cases)
	if t == nil {
		return "", err
	}
	s := strings.Replace(t.String(), "| programs |", "| damaged programs |", 1)
	if t.crashes+t.differences > 0 {
		err = errors.Join(err, errFailed)
	}
	return s, err
}
