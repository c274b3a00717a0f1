package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"path"
	"slices"
	"strings"
)

// pkg is a package as go list describes it.
type pkg struct {
	Dir, ImportPath           string
	GoFiles                   []string
	TestGoFiles, XTestGoFiles []string
}

func (p *pkg) name() string { return path.Base(p.ImportPath) }

// tree is a checkout of the source.
type tree struct {
	dir    string
	commit string
	pkgs   []*pkg
	sites  map[*pkg][]site
}

func openTree(ctx context.Context, dir string) (*tree, error) {
	cmd := exec.CommandContext(ctx, "go", "list", "-json=Dir,ImportPath,GoFiles,TestGoFiles,XTestGoFiles", "./...")
	cmd.Dir = dir
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list in %s: %w", dir, err)
	}
	t := &tree{dir: dir, sites: map[*pkg][]site{}}
	for d := json.NewDecoder(bytes.NewReader(out)); d.More(); {
		p := &pkg{}
		if err := d.Decode(p); err != nil {
			return nil, err
		}
		t.pkgs = append(t.pkgs, p)
	}
	git := exec.CommandContext(ctx, "git", "describe", "--always", "--dirty", "--exclude=*")
	git.Dir = dir
	if out, err := git.Output(); err == nil {
		t.commit = strings.TrimSpace(string(out))
	}
	return t, nil
}

// named returns the packages whose import path ends with the name, those of the product before those of tests.
func (t *tree) named(name string) []*pkg {
	var found []*pkg
	for _, p := range t.pkgs {
		if p.ImportPath == name || strings.HasSuffix(p.ImportPath, "/"+name) {
			found = append(found, p)
		}
	}
	slices.SortStableFunc(found, func(a, b *pkg) int { return len(a.ImportPath) - len(b.ImportPath) })
	return found
}

func (t *tree) sitesOf(p *pkg) ([]site, error) {
	s, ok := t.sites[p]
	if !ok {
		var err error
		if s, err = findSites(p); err != nil {
			return nil, err
		}
		t.sites[p] = s
	}
	return s, nil
}

// find returns the site of a mutant: in the package of its name, or else in any other of the product, as a function may have moved.
// It returns nil if there is no such place any more, or if several packages have one.
func (t *tree) find(m Mutant) (*site, error) {
	for _, p := range t.named(m.Package) {
		if s, err := t.findIn(p, m); s != nil || err != nil {
			return s, err
		}
	}
	var found *site
	for _, p := range t.pkgs {
		s, err := t.findIn(p, m)
		if err != nil {
			return nil, err
		}
		if s != nil && found != nil {
			return nil, nil
		}
		if s != nil {
			found = s
		}
	}
	return found, nil
}

func (t *tree) findIn(p *pkg, m Mutant) (*site, error) {
	sites, err := t.sitesOf(p)
	if err != nil {
		return nil, err
	}
	m.Package = p.name()
	i := slices.IndexFunc(sites, func(s site) bool { return s.Mutant == m })
	if i < 0 {
		return nil, nil
	}
	return &sites[i], nil
}

// lottery draws sites without putting them back: from each package in turn, and of each kind in turn.
type lottery struct {
	queues [][][]site // by package and kind
	next   int        // package
	kind   []int      // of each package
}

func (t *tree) newLottery(names []string, seed uint64) (*lottery, error) {
	l := &lottery{kind: make([]int, len(names))}
	r := rand.New(rand.NewPCG(seed, 0))
	for i, name := range names {
		found := t.named(name)
		if len(found) == 0 {
			return nil, fmt.Errorf("no package %q", name)
		}
		sites, err := t.sitesOf(found[0])
		if err != nil {
			return nil, err
		}
		queues := make([][]site, len(kinds))
		for _, s := range sites {
			k := slices.Index(kinds, s.Kind)
			queues[k] = append(queues[k], s)
		}
		for _, q := range queues {
			r.Shuffle(len(q), func(i, j int) { q[i], q[j] = q[j], q[i] })
		}
		l.queues = append(l.queues, queues)
		l.kind[i] = i // packages begin with different kinds, so that the kinds are even in a small sample
	}
	return l, nil
}

// draw returns the next site of the package whose turn it is, or nil if the package has no more.
func (l *lottery) draw() *site {
	queues := l.queues[l.next]
	for range kinds {
		k := l.kind[l.next] % len(kinds)
		l.kind[l.next]++
		if q := queues[k]; len(q) > 0 {
			queues[k] = q[1:]
			return &q[0]
		}
	}
	return nil
}

// advance gives the turn to the next package.
func (l *lottery) advance() { l.next = (l.next + 1) % len(l.queues) }
