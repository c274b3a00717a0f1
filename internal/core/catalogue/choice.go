package catalogue

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"berth/internal/core/job"
	"berth/internal/core/job/parse"
	"berth/internal/core/plan/front"
)

// Configuration parses "m1.m=30,c1.m=2" into the number of machines of each type; where is the flag that errors name.
func Configuration(where, text string, types []front.Type) ([]int, error) {
	counts, names, machines := make([]int, len(types)), []string{}, 0
	for _, t := range types {
		names = append(names, t.Name)
	}
	for part := range strings.SplitSeq(text, ",") {
		name, number, _ := strings.Cut(strings.TrimSpace(part), "=")
		n, err := strconv.Atoi(number)
		if err != nil || n < 0 || n > 100_000 {
			return nil, job.ArgumentError(where, fmt.Sprintf("%q is not a type with a number of machines", part), "write m1.m=30,c1.m=2")
		}
		at := slices.Index(names, name)
		if at < 0 {
			return nil, job.ArgumentError(where, fmt.Sprintf("there is no type %q", name), parse.DidYouMean(name, names, "known: "+strings.Join(names, ", ")))
		}
		if counts[at] += n; counts[at] > types[at].Limit {
			return nil, job.ArgumentError(where, fmt.Sprintf("%d machines of type %s are more than its limit of %d", counts[at], name, types[at].Limit), fmt.Sprintf("write limit = %d for it in the catalogue", counts[at]))
		}
		machines += n
	}
	if machines == 0 {
		return nil, job.ArgumentError(where, "a configuration has at least one machine", "write m1.m=30")
	}
	return counts, nil
}

// Choice returns the machines of a point of a front, by the names of their types.
func Choice(p front.Point) (all []job.Rented) {
	for _, name := range slices.Sorted(maps.Keys(p.Machines)) {
		all = append(all, job.Rented{Name: name, Count: p.Machines[name]})
	}
	return all
}

// Choices returns a front as a job keeps it that runs on a choice of it; nil of a single point, which is no front.
func Choices(v front.View) (all []job.Choice) {
	if len(v.Front) < 2 {
		return nil
	}
	for _, i := range v.Shown() {
		p := v.Front[i]
		all = append(all, job.Choice{Cost: p.Cost, Makespan: p.Makespan, Low: p.Low, Up: p.Up, Machines: job.Rent{Machines: Choice(p)}.String(),
			Chosen: v.Chosen != nil && i == *v.Chosen, Tipping: i == v.Tipping && len(v.Front) > 2})
	}
	return all
}

// NoChoice returns the error that no point is within the bounds; it names the nearest points.
func NoChoice(v front.View, budget float64) error {
	if len(v.Front) == 0 {
		return job.ArgumentError("", "there is no machine to rent", "raise the limits of the types")
	}
	first, last := v.Front[0], v.Front[len(v.Front)-1]
	near := fmt.Sprintf("the cheapest choice costs %s, the fastest takes %s", job.Money(first.Cost), job.FormatDuration(time.Duration(last.Makespan)*time.Second))
	if budget > 0 {
		return job.ArgumentError("--budget", "no choice of machines meets the budget and the deadline", near)
	}
	return job.ArgumentError("--deadline", "no choice of machines meets the deadline", near)
}
