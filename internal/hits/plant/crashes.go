package plant

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
)

// errCrashed is the reason why such a program is not planted.
var errCrashed = errors.New("a signal ended it while its functions were counted; they are not counted any more")

func (p *Planter) crashPath(id string) string { return filepath.Join(p.Dir, "crashed", id) }

// crashed reports whether a program is never planted again.
func (p *Planter) crashed(id string) bool {
	if _, known := p.crashes.Load(id); known || p.Dir == "" {
		return known
	}
	_, err := os.Stat(p.crashPath(id))
	return err == nil
}

// crash notes that a program is never planted again, in the folder of the Planter, too. If the folder
// cannot be written, this process alone knows.
func (p *Planter) crash(id string) {
	p.crashes.Store(id, true)
	if p.Dir != "" && os.MkdirAll(filepath.Dir(p.crashPath(id)), 0o700) == nil {
		_ = os.WriteFile(p.crashPath(id), nil, 0o600)
	}
}

// touched notes that a program is going to be changed.
func (s *Session) touched(in image) {
	s.mu.Lock()
	defer s.mu.Unlock()
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
