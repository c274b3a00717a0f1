package main

import (
	"encoding/json"
	"fmt"
	"os"
)

// stats is the output of `berth trace stats --json` for a command.
type stats struct {
	Functions []function     `json:"functions"`
	Planted   int            `json:"planted"`
	LeftOut   map[string]int `json:"left_out"`
	Exit      int            `json:"exit"`
	Programs  int            `json:"programs"` // number of planted programs
	Planting  float64        `json:"planting_ms"`
	NotHere   string         `json:"not_here"` // the reason why a program was not planted
}

// function is a planted function.
type function struct {
	Name   string `json:"name"`
	Object string `json:"object"`
	Hits   uint64 `json:"hits"`
}

func readStats(path string) (*stats, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	s := &stats{}
	if err := json.Unmarshal(b, s); err != nil {
		return nil, fmt.Errorf("berth's JSON: %w", err)
	}
	return s, os.Remove(path)
}

// part is the functions that are planted: those whose hash is in [lo, hi).
type part struct{ lo, hi uint64 }

// all is every function.
var all = part{0, 1 << 32}

// command returns the words before a program that make berth plant it.
func (p *part) command(berth, told string) []string {
	words := []string{berth, "trace", "stats", "--json", "--all", "--output", told}
	if *p != all {
		words = append(words, "--part", fmt.Sprintf("%x-%x", p.lo, p.hi))
	}
	return append(words, "--")
}
