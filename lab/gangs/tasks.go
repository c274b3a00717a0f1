package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"slices"
)

// The cluster.
const nodes, cores = 8, 8

// task sleeps. It is a line of the file that both sides read, in the form of berth bag --tasks.
type task struct {
	Command      []string `json:"command"`
	CPUs         int      `json:"cpus"`
	Ranks        int      `json:"ranks,omitempty"` // nodes of a gang
	RanksPerNode int      `json:"ranks_per_node,omitempty"`

	seconds float64
}

// script is what a task runs: it appends its number, when it began and ended, and how many nodes it was given, in one write.
const script = `begun=$EPOCHREALTIME
sleep "$2"
echo "$1 $begun $EPOCHREALTIME ${BERTH_NODES:-${HQ_NUM_NODES:-1}}" >>times
`

// draw returns the tasks of a seed, in random order. Times are within a half of the mean, as in the simulation of the same.
func (o options) draw(seed int) []task {
	rng := rand.New(rand.NewPCG(uint64(seed), 11))
	var all []task
	for number, i := range rng.Perm(o.gangs + o.small) {
		t, mean := task{CPUs: 1}, o.mean.Seconds()
		if i < o.gangs {
			t, mean = task{CPUs: cores, Ranks: 2 + rng.IntN(5), RanksPerNode: 1}, 2*mean
		}
		t.seconds = math.Round(mean*(0.5+rng.Float64())*1000) / 1000
		t.Command = []string{"bash", "task.sh", fmt.Sprint(number), fmt.Sprint(t.seconds)}
		all = append(all, t)
	}
	return all
}

// cores returns how many cores the task holds on all of its nodes.
func (t task) cores() int { return t.CPUs * max(1, t.Ranks) }

// work returns the core-seconds of the tasks.
func work(all []task) (sum float64) {
	for _, t := range all {
		sum += t.seconds * float64(t.cores())
	}
	return sum
}

// write writes the tasks, one on each line.
func write(path string, all []task) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	lines := json.NewEncoder(f)
	for _, t := range all {
		if err := lines.Encode(t); err != nil {
			return err
		}
	}
	return f.Close()
}

// makespan returns the seconds from the first begin to the last end of what tasks have written. It is an error if not each of them ran once on as
// many nodes as it wants, or if they held more cores than there are.
func makespan(r io.Reader, all []task) (float64, error) {
	type change struct {
		at    float64
		cores int
	}
	var changes []change
	seen := make([]bool, len(all))
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		var number, on int
		var begun, ended float64
		if n, _ := fmt.Sscan(lines.Text(), &number, &begun, &ended, &on); n != 4 || number < 0 || number >= len(all) || seen[number] {
			return 0, fmt.Errorf("what a task has written, %q, is not the first of a task", lines.Text())
		}
		seen[number] = true
		t := all[number]
		if on != max(1, t.Ranks) {
			return 0, fmt.Errorf("task %d ran on %d nodes instead of %d", number, on, t.Ranks)
		}
		changes = append(changes, change{begun, t.cores()}, change{ended, -t.cores()})
	}
	if err := lines.Err(); err != nil {
		return 0, err
	}
	if i := slices.Index(seen, false); i >= 0 {
		return 0, fmt.Errorf("task %d has not ended", i)
	}
	slices.SortFunc(changes, func(a, b change) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.cores, b.cores)) })
	held := 0
	for _, c := range changes {
		if held += c.cores; held > nodes*cores {
			return 0, fmt.Errorf("tasks hold %d cores at once", held)
		}
	}
	return changes[len(changes)-1].at - changes[0].at, nil
}
