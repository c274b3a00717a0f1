package plant

import (
	"cmp"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/google/renameio/v2"
)

// statistics is how often the functions of a program and its libraries were entered, in runs in
// which all of them were counted. They are kept by the program's build-id, because the hits of a
// library depend on the program that uses it.
type statistics struct {
	Program string                 `json:"program"` // its path, for people
	Objects map[string]*objectHits `json:"objects"` // by build-id
}

// objectHits is how often the functions of one object were entered.
type objectHits struct {
	Path string            `json:"path"`
	Hits map[uint64]uint64 `json:"hits"`           // of all counted functions, by entry
	Late map[uint64]uint64 `json:"late,omitempty"` // the functions entered in the last seconds, with their hits then
}

// functionID identifies a function by the build-id of its object and its entry.
type functionID struct {
	object string
	entry  uint64
}

// selection is the functions of a program that are not counted, because they are entered too often.
type selection map[functionID]bool

// entry is one function of the statistics.
type entry struct {
	functionID
	hits, late uint64
}

// entries returns all functions, those with the fewest hits first.
func (s *statistics) entries() (all []entry) {
	for id, o := range s.Objects {
		for at, n := range o.Hits {
			all = append(all, entry{functionID{id, at}, n, o.Late[at]})
		}
	}
	slices.SortFunc(all, func(a, b entry) int {
		return cmp.Or(cmp.Compare(a.hits, b.hits), cmp.Compare(a.object, b.object), cmp.Compare(a.entry, b.entry))
	})
	return all
}

// choose skips the functions entered more often than threshold times the mean of all functions: the few that cost most and show
// progress least. In the paper no2-outliers, section 4, the mean as the threshold leaves 0.03 to 0.1 % of an overhead of 8 to 11 %.
// The mean is over all counted functions, including those without hits; after a short run it is less than one hit. So a function that
// was hit once is kept at every threshold above 0: otherwise nothing that the program enters would be counted. A threshold of 0 keeps
// the functions without hits.
//
// A program in a loop may enter only functions with very many hits, and then the remaining functions show no progress. So, of the
// functions entered in the last seconds, those with the fewest hits are kept until their hits suffice.
func (s *statistics) choose(threshold float64) selection {
	all, sum := s.entries(), 0.0
	for _, e := range all {
		sum += float64(e.hits)
	}
	most := threshold * sum / float64(max(1, len(all)))
	if threshold > 0 {
		most = max(most, 1)
	}
	sel, late := selection{}, uint64(0)
	for _, e := range all {
		if float64(e.hits) <= most || late < enough && e.late > 0 {
			late += e.late
		} else {
			sel[e.functionID] = true
		}
	}
	return sel
}

// enough is the number of hits in lateFor that suffice to measure progress.
const enough = 100

// add adds other runs.
func (s *statistics) add(other *statistics) {
	for id, o := range other.Objects {
		if s.Objects[id] == nil {
			s.Objects[id] = &objectHits{Path: o.Path, Hits: map[uint64]uint64{}}
		}
		for entry, n := range o.Hits {
			s.Objects[id].Hits[entry] += n
		}
	}
}

// programs is what this process knows of the programs that it has planted.
type programs struct {
	mu   sync.Mutex
	byID map[string]selection
}

// selection returns which functions of a program are omitted; nil if it has no statistics.
func (p *Planter) selection(id string) selection {
	p.programs.mu.Lock()
	defer p.programs.mu.Unlock()
	if sel := p.programs.byID[id]; sel != nil {
		return sel
	}
	if s := p.readStatistics(id); s != nil {
		return p.keep(id, s)
	}
	return nil
}

// known returns earlier results of selection and learn, without reading files.
func (p *Planter) known(id string) selection {
	p.programs.mu.Lock()
	defer p.programs.mu.Unlock()
	return p.programs.byID[id]
}

// learn keeps the statistics of a first task. If there are some by now these remain valid, so that
// all tasks count the same functions.
func (p *Planter) learn(id string, s *statistics) {
	p.programs.mu.Lock()
	defer p.programs.mu.Unlock()
	if p.programs.byID[id] != nil {
		return
	}
	if before := p.readStatistics(id); before != nil {
		s = before
	} else {
		p.writeStatistics(id, s)
	}
	p.keep(id, s)
}

// keep must be called with the lock held.
func (p *Planter) keep(id string, s *statistics) selection {
	if p.programs.byID == nil {
		p.programs.byID = map[string]selection{}
	}
	p.programs.byID[id] = s.choose(cmp.Or(p.Threshold, 1))
	return p.programs.byID[id]
}

// addStatistics adds a run to the kept statistics of a program.
func (p *Planter) addStatistics(id string, s *statistics) {
	p.programs.mu.Lock()
	defer p.programs.mu.Unlock()
	if before := p.readStatistics(id); before != nil {
		before.add(s)
		s = before
	}
	p.writeStatistics(id, s)
}

func (p *Planter) statisticsPath(id string) string { return filepath.Join(p.Dir, id+".hits") }

// readStatistics returns the kept statistics of a program, or nil if there are none or they cannot
// be read.
func (p *Planter) readStatistics(id string) *statistics {
	if p.Dir == "" {
		return nil
	}
	b, err := os.ReadFile(p.statisticsPath(id))
	if err != nil {
		return nil
	}
	var s statistics
	if json.Unmarshal(b, &s) != nil || s.Objects == nil || slices.Contains(slices.Collect(maps.Values(s.Objects)), nil) {
		return nil
	}
	return &s
}

// writeStatistics keeps statistics. A failure only means that another task will count all functions
// again.
func (p *Planter) writeStatistics(id string, s *statistics) {
	if p.Dir == "" {
		return
	}
	b, err := json.Marshal(s)
	if err == nil {
		err = os.MkdirAll(p.Dir, 0o700)
	}
	if err == nil {
		_ = renameio.WriteFile(p.statisticsPath(id), b, 0o600)
	}
}
