package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"berth/lab/page"
)

func main() {
	quick := flag.Bool("quick", false, "only what has a short form, without touching the pages")
	only := flag.Bool("page", false, "run nothing: write the page from the tables as they are")
	state := flag.String("state", "bin/figures", "folder with what is done, for each commit")
	results := flag.String("results", "lab/results", "folder of the pages")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := do(ctx, *quick, *only, *state, *results); err != nil {
		fmt.Fprintln(os.Stderr, "figures:", err)
		os.Exit(1)
	}
}

func do(ctx context.Context, quick, only bool, state, results string) error {
	var err error
	if !only {
		err = measure(ctx, quick, state)
	}
	if quick {
		return err
	}
	return errors.Join(err, writePage(results)) // also what there is if a step failed
}

// measure runs the steps that are not done for the commit of the working folder.
func measure(ctx context.Context, quick bool, state string) error {
	if os.Geteuid() != 0 { // now rather than in the middle of the night
		return errors.New("nodes and machines of measurements are namespaces and control groups: run this as root")
	}
	commit := page.Commit()
	if strings.Contains(commit, " ") && !quick {
		return errors.New("the source has changes beyond " + strings.Fields(commit)[0] + ": commit them first, so that tables say what was measured")
	}
	name := strings.ReplaceAll(commit, " ", "-")
	if quick {
		name += "-quick"
	}
	dir, err := filepath.Abs(filepath.Join(state, name))
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	return night{dir: dir, quick: quick, make: runMake}.all(ctx, steps)
}
