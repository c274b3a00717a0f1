package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// pastRuns are the runs of ninety days: a hundred a day, and a thousand on the last one. liveJobs are the jobs that run beside them.
const pastRuns, liveJobs = 89*100 + 1000, 200

// days measures how long commands take beside many jobs and the runs of many days. These are copies of the folder of one bag that is
// done, as a coordinator reads none of a run that is over but its summary.
func days(b *bed) ([]row, error) {
	id, _, err := b.submit(1)
	if err != nil {
		return nil, err
	}
	if _, _, err := b.berth("wait", id); err != nil {
		return nil, err
	}
	b.kill()
	if err := copies(filepath.Join(b.o.dir, ".local", "state", "berth", "runs"), id); err != nil {
		return nil, err
	}
	begun := time.Now()
	if err := b.start(); err != nil {
		return nil, err
	}
	listens := time.Since(begun)
	b.fleet.task.Store(int64(time.Hour)) // so that all of the jobs run
	for range liveJobs {
		if _, _, err := b.submit(2 * b.o.workers / liveJobs); err != nil {
			return nil, err
		}
	}
	var took []time.Duration
	for range 21 {
		_, t, err := b.berth("status")
		if err != nil {
			return nil, err
		}
		took = append(took, t)
	}
	slices.Sort(took)
	return []row{{fmt.Sprintf("with %d runs that are over and %d jobs at once: `berth status`, and the start of the coordinator", pastRuns, liveJobs),
		fmt.Sprintf("median %d ms, longest %d ms; it listens after %.1f s", took[10].Milliseconds(), took[20].Milliseconds(), listens.Seconds()), "≤ 50 ms"}}, nil
}

// copies copies the folder of a run under the names of later ones.
func copies(runs, id string) error {
	const summary = "summary.json"
	var said map[string]any
	text, err := os.ReadFile(filepath.Join(runs, id, summary))
	if err == nil {
		err = json.Unmarshal(text, &said)
	}
	if err != nil {
		return err
	}
	delete(said, "checksum") // that of the original; files of earlier versions have none
	for i := range pastRuns {
		said["id"] = fmt.Sprintf("bag-%d", 1000+i)
		to := filepath.Join(runs, said["id"].(string))
		if err := os.CopyFS(to, os.DirFS(filepath.Join(runs, id))); err != nil {
			return err
		}
		if text, err = json.Marshal(said); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(to, summary), text, 0o600); err != nil {
			return err
		}
	}
	return nil
}
