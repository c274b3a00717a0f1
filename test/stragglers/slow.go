package main

import (
	"context"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"slices"
	"time"
)

// episode is a time in which a node is slow.
type episode struct {
	Node   int     `json:"node"`
	From   float64 `json:"from_s"`
	To     float64 `json:"to_s"`
	Factor int     `json:"factor"` // so many times as long do its tasks take
	Hog    bool    `json:"hog"`    // by others that compute there; else by a smaller part of a core
}

// episodes draws when which node is slow, for so long a time: the gaps and the lengths of each node's are exponential.
func episodes(seed string, nodes int, gap, length, until float64) []episode {
	h := fnv.New64a()
	_, _ = h.Write([]byte(seed))
	rng := rand.New(rand.NewPCG(h.Sum64(), 0))
	var all []episode
	for node := range nodes {
		for at := 0.0; ; {
			from := at + rng.ExpFloat64()*gap
			at = from + rng.ExpFloat64()*length
			e := episode{Node: node, From: from, To: at, Factor: 2 + rng.IntN(3), Hog: rng.IntN(2) == 0}
			if from >= until {
				break
			}
			all = append(all, e)
		}
	}
	return all
}

// change is what happens to a node.
type change struct {
	at     float64
	node   int
	factor int // 1: it is as it should be
	hog    bool
}

// slowDown makes nodes slow, and fast again, until ctx ends; then all are fast.
func (g *groups) slowDown(ctx context.Context, nodes int, all []episode) {
	begin := time.Now()
	var changes []change
	for _, e := range all {
		changes = append(changes, change{e.From, e.Node, e.Factor, e.Hog}, change{e.To, e.Node, 1, false})
	}
	slices.SortStableFunc(changes, func(a, b change) int { return int(1000 * (a.at - b.at)) })
	told := func(err error) {
		if err != nil {
			fmt.Fprintln(os.Stderr, "stragglers: a node is not as it should be:", err)
		}
	}
	defer func() {
		for node := range nodes {
			told(g.calm(node))
		}
	}()
	for _, c := range changes {
		select {
		case <-ctx.Done():
			return
		case <-time.After(time.Until(begin.Add(time.Duration(c.at * float64(time.Second))))):
		}
		switch {
		case c.factor == 1:
			told(g.calm(c.node))
		case c.hog:
			told(g.hog(c.node, c.factor-1))
		default:
			told(g.limit(c.node, 1/float64(c.factor)))
		}
	}
	<-ctx.Done()
}
