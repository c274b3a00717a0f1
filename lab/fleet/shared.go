package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

const (
	sharedTasks = 40
	sharedFiles = 8
	sharedSize  = 2 << 20 // bytes of each file
)

// share runs a bag whose tasks read some files on four equal machines, and prints what each machine was sent.
func (o *options) share(ctx context.Context) (err error) {
	if o.berth, err = filepath.Abs(o.berth); err != nil {
		return err
	}
	for seed := range o.Repeat {
		if err := o.shared(ctx, uint64(seed)); err != nil {
			return err
		}
	}
	return nil
}

// shared makes one run, with fresh machines; seed decides the order of the tasks.
func (o *options) shared(ctx context.Context, seed uint64) (err error) {
	b, err := newBench(ctx, o, []kind{{Name: "even", Cores: 0.12, Rate: 1_000_000, Limit: 4}})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.close()) }()
	rng := rand.New(rand.NewPCG(seed, 0))
	words := []string{"bag", "--hosts", b.hosts([]int{4}), "--idle-timeout", "10ms", "--stragglers", "tell", "--stdout", "sums/{task}", "--", "sha256sum", "{}", ":::"}
	for i := range sharedFiles {
		data := make([]byte, sharedSize)
		for k := range data {
			data[k] = byte(rng.Uint32())
		}
		if err := os.WriteFile(filepath.Join(b.dir, fmt.Sprint("file", i)), data, 0o600); err != nil {
			return err
		}
	}
	for _, i := range rng.Perm(sharedTasks) {
		words = append(words, fmt.Sprint("file", i%sharedFiles))
	}
	if _, err := b.do(ctx, words...); err != nil {
		return err
	}
	var list struct {
		Jobs []view `json:"jobs"`
	}
	if err := b.ask(ctx, &list, "status", "--all"); err != nil {
		return err
	}
	var v struct {
		view
		Rows []struct {
			Node   string `json:"node"`
			Phases []struct {
				Phase string `json:"phase"`
				Net   int64  `json:"net_bytes"`
			} `json:"phases"`
		} `json:"rows"`
	}
	if err := b.ask(ctx, &v, "report", list.Jobs[len(list.Jobs)-1].ID, "--tasks"); err != nil {
		return err
	}
	sent, all := make(map[string]int64), int64(0)
	for _, r := range v.Rows {
		for _, p := range r.Phases {
			if p.Phase == "fetch" {
				sent[r.Node] += p.Net
				all += p.Net
			}
		}
	}
	var hosts []string
	for _, h := range slices.Sorted(maps.Keys(sent)) {
		hosts = append(hosts, fmt.Sprintf("%s %.1f", h, float64(sent[h])/1e6))
	}
	fmt.Printf("order %d: %d copies of %d files, %.1f MB (%s), %.1f s\n", seed, all/sharedSize, sharedFiles, float64(all)/1e6, strings.Join(hosts, ", "), v.makespan())
	return nil
}
