package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
)

// profile is the folder with berth's profile of an application from its earlier run.
func (b *bench) profile(w *workload) string { return filepath.Join(b.root, "profiles", w.name) }

// learn runs each application once, on an idle cluster and on other data, and keeps berth's state.
func (b *bench) learn(ctx context.Context, jobs []*workload, limit chan struct{}) error {
	errs := make([]error, len(jobs))
	var wg sync.WaitGroup
	for i, w := range jobs {
		wg.Go(func() {
			limit <- struct{}{}
			defer func() { <-limit }()
			if err := b.earlier(ctx, w); err != nil {
				errs[i] = fmt.Errorf("earlier run of %s: %w", w.name, err)
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

func (b *bench) earlier(ctx context.Context, w *workload) error {
	ctx, cancel := context.WithTimeout(ctx, b.bound)
	defer cancel()
	p, err := b.at(ctx, "earlier-"+w.name)
	if err != nil {
		return err
	}
	defer b.leave(p)
	var o outcome
	flags := append([]string{"--on", b.system.name}, forced(shape{clusterNodes, maxTime})...)
	if err := b.submit(ctx, p, w, seedEarlier, flags, &o); err != nil {
		return err
	}
	if out, err := b.command(ctx, p, "server", "stop", "--force").CombinedOutput(); err != nil {
		return fmt.Errorf("berth server stop: %w: %s", err, out)
	}
	return copyKnowledge(b.profile(w), p.state)
}

// copyKnowledge copies the database of profiles, and the run folders, so that job ids are not used
// twice. The coordinator's own folder (sockets, keys, allocations) belongs to its cluster. The
// scratch folder is omitted, because workers whose allocation has just been cancelled may still be
// clearing it.
func copyKnowledge(to, state string) error {
	if err := os.MkdirAll(filepath.Join(to, "berth"), 0o700); err != nil {
		return err
	}
	database, err := os.ReadFile(filepath.Join(state, "berth", "berth.db"))
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(to, "berth", "berth.db"), database, 0o600); err != nil {
		return err
	}
	return os.CopyFS(filepath.Join(to, "berth", "runs"), os.DirFS(filepath.Join(state, "berth", "runs")))
}
