// Package queuelog keeps what was seen of the jobs in the queues of batch systems, from which package starts predicts
// when requests begin: a file for each cluster, with the jobs of the last days by numbers of their users.
//
// The coordinator observes and writes; commands only read (Past). A file that cannot be read is set aside and told once.
package queuelog

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/google/renameio/v2"

	"berth/internal/core/cluster"
	"berth/internal/core/job"
	"berth/internal/core/starts"
	"berth/internal/sys/statedir"
)

// writeEvery is how often a history is written while it is observed.
const writeEvery = 3 * time.Minute

// Log is the histories that a coordinator keeps. Its methods may be called from several goroutines.
type Log struct {
	home statedir.Home
	log  *slog.Logger
	mu   sync.Mutex
	by   map[string]*kept        // by file
	came map[queue][]starts.Came // starts that are in no history yet
}

// queue names the queue of a cluster: its driver, and the id of the cluster.
type queue struct{ on, id string }

type kept struct {
	starts.History
	queue   queue
	written job.Time // at which look; 0: never
	asked   bool     // accounting was asked for what was before, or need not be
}

// New returns the log of a state folder.
func New(home statedir.Home, log *slog.Logger) *Log {
	return &Log{home: home, log: log, by: map[string]*kept{}, came: map[queue][]starts.Came{}}
}

// pathOf returns the file of a snapshot's cluster.
func pathOf(home statedir.Home, s *cluster.Snapshot) string {
	return filepath.Join(home.Server(), "queues", fmt.Sprintf("%s-%08x", s.Driver, cluster.Number(s.Queue.Cluster+"\n"+s.Queue.ID)))
}

// Observe adds what a snapshot shows of its cluster's queue.
func (l *Log) Observe(s *cluster.Snapshot) {
	if s.Queue == nil {
		return
	}
	path := pathOf(l.home, s)
	l.mu.Lock()
	defer l.mu.Unlock()
	k := l.by[path]
	if k == nil {
		k = &kept{queue: queue{s.Driver, s.Queue.ID}}
		h, err := read(path)
		switch {
		case err == nil:
			k.History, k.written, k.asked = *h, h.Looked, true
		case !errors.Is(err, fs.ErrNotExist):
			l.setAside(path, err)
		}
		l.by[path] = k
	}
	l.takeStarts(k)
	if k.Observe(s.At, s.Seen()); k.written == 0 || k.Looked.Sub(k.written) >= writeEvery {
		l.write(path, k)
	}
}

// Start adds a start of the user's own in the queue of a cluster. It is in the history from the next look at that queue on.
func (l *Log) Start(on, id string, c starts.Came) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.came[queue{on, id}] = append(l.came[queue{on, id}], c)
}

// takeStarts takes the starts in a queue into its history, and reports whether there were any.
func (l *Log) takeStarts(k *kept) bool {
	all := l.came[k.queue]
	for _, c := range all {
		k.History.Start(c)
	}
	delete(l.came, k.queue)
	return len(all) > 0
}

// Begins reports, once, that the history of a snapshot's cluster has begun with this coordinator, so that accounting may know more.
func (l *Log) Begins(s *cluster.Snapshot) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	k := l.by[pathOf(l.home, s)]
	if k == nil || k.asked {
		return false
	}
	k.asked = true
	return true
}

// Add adds what accounting knows of the time before. Arrivals count only if it shows jobs of others.
func (l *Log) Add(s *cluster.Snapshot, before *starts.History) {
	l.mu.Lock()
	defer l.mu.Unlock()
	k := l.by[pathOf(l.home, s)]
	if k == nil {
		return
	}
	k.Ended = slices.Concat(before.Ended, k.Ended)
	if len(before.Arrived) > 0 {
		k.Arrived, k.Since = slices.Concat(before.Arrived, k.Arrived), before.Since
	}
	k.Trim(k.Looked)
	l.write(pathOf(l.home, s), k)
}

// Replace replaces what was seen of the jobs in a snapshot's queue by what accounting knows of them, which is more exact. The user's
// own starts stay, and so do the arrivals if it shows no jobs of others. No coordinator may run.
func Replace(home statedir.Home, s *cluster.Snapshot, by *starts.History) (*starts.History, error) {
	path := pathOf(home, s)
	h, err := read(path)
	if err != nil {
		h = &starts.History{Since: s.At, Looked: s.At, Present: s.Seen()}
	}
	if h.Ended = by.Ended; len(by.Arrived) > 0 {
		h.Arrived, h.Since = by.Arrived, by.Since
	}
	h.Trim(s.At)
	return h, save(path, h)
}

// Close writes what is not written yet.
func (l *Log) Close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for path, k := range l.by {
		if l.takeStarts(k) || k.Looked != k.written {
			l.write(path, k)
		}
	}
}

func (l *Log) write(path string, k *kept) {
	k.written = k.Looked
	if err := save(path, &k.History); err != nil {
		l.log.Warn("what was seen of the queue cannot be written; predictions of starts begin anew with the next coordinator", "err", err)
	}
}

func save(path string, h *starts.History) error {
	data, err := encode(h)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(path), 0o700)
	}
	if err == nil {
		err = renameio.WriteFile(path, data, 0o600)
	}
	return err
}

// setAside renames a file that cannot be read, over one that was set aside before.
func (l *Log) setAside(path string, why error) {
	aside := path + ".broken"
	if err := os.Rename(path, aside); err != nil {
		aside = err.Error()
	}
	l.log.Warn("what was seen of the queue cannot be read, so predictions of starts begin anew", "err", why, "set aside as", aside)
}

func read(path string) (*starts.History, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	h, err := decode(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return h, nil
}

// Past returns what was seen of a snapshot's queue, prepared for predictions; nil if nothing was. A file that cannot be read counts as
// nothing: the coordinator says so and sets it aside.
func Past(home statedir.Home, s *cluster.Snapshot) *starts.Past {
	if s.Queue == nil {
		return nil
	}
	h, err := read(pathOf(home, s))
	if err != nil {
		return nil
	}
	return starts.NewPast(h, s.At)
}

// Past returns what was seen of a snapshot's queue, prepared for predictions; nil if nothing was.
func (l *Log) Past(s *cluster.Snapshot) *starts.Past {
	if s.Queue == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	k := l.by[pathOf(l.home, s)]
	if k == nil {
		return nil
	}
	return starts.NewPast(&k.History, s.At)
}
