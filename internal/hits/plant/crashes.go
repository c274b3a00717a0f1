package plant

import (
	"maps"
	"os"
	"path/filepath"
	"sync"
)

// crashes are the programs that are never planted again, because they were ended by a signal while
// they were planted. Planting may not have been the cause; but then a program that fails anyway is not
// counted, which harms nobody.
type crashes struct {
	mu   sync.Mutex
	byID map[string]bool
}

// errCrashed is the reason why such a program is not planted.
var errCrashed = &NotHere{Why: "a signal ended it while its functions were counted; they are not counted any more"}

func (p *Planter) crashPath(id string) string { return filepath.Join(p.Dir, "crashed", id) }

// crashed reports whether a program is never planted again.
func (p *Planter) crashed(id string) bool {
	p.crashes.mu.Lock()
	defer p.crashes.mu.Unlock()
	if p.crashes.byID[id] || p.Dir == "" {
		return p.crashes.byID[id]
	}
	_, err := os.Stat(p.crashPath(id))
	return err == nil
}

// crash notes that a program is never planted again, in the folder of the Planter, too. If the folder
// cannot be written, this process alone knows.
func (p *Planter) crash(id string) {
	p.crashes.mu.Lock()
	defer p.crashes.mu.Unlock()
	if p.crashes.byID == nil {
		p.crashes.byID = map[string]bool{}
	}
	p.crashes.byID[id] = true
	if p.Dir == "" || os.MkdirAll(filepath.Dir(p.crashPath(id)), 0o700) != nil {
		return
	}
	if f, err := os.OpenFile(p.crashPath(id), os.O_CREATE|os.O_WRONLY, 0o600); err == nil {
		_ = f.Close() // nothing was written
	}
}

// touched notes that a program is going to be changed.
func (s *Session) touched(in image) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.changed == nil {
		s.changed = map[string]bool{}
	}
	s.changed[in.o.BuildID] = launcher(filepath.Base(in.path))
}

// Crashed must be called when a signal has ended the program, or one that it started. The programs of
// the session that were planted are never planted again; launchers only if there was no other. It
// reports whether there were any.
func (s *Session) Crashed() bool {
	s.mu.Lock()
	changed := maps.Clone(s.changed)
	s.mu.Unlock()
	others := false
	for _, launches := range changed {
		others = others || !launches
	}
	for id, launches := range changed {
		if !others || !launches {
			s.planter.crash(id)
		}
	}
	return len(changed) > 0
}
