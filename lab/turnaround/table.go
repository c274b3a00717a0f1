package main

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"berth/lab/paired"
)

// tolerance is the highest accepted ratio of berth's turnaround to the best.
const tolerance = 1.10

// verdict is a row of the table.
type verdict struct {
	s     *situation
	by    map[string]outcome // by strategy; the mean of all
	all   map[string][]outcome
	best  float64 // the lowest turnaround in seconds; +Inf: no strategy completed the job
	ratio float64 // berth's turnaround divided by best; +Inf: berth did not complete the job
}

func (v *verdict) ok() bool { return v.ratio <= tolerance }

// compare compares the strategies in a situation. It returns false unless all were run.
func compare(s *situation, all []outcome) (verdict, bool) {
	v := verdict{s: s, by: map[string]outcome{}, all: map[string][]outcome{}, best: math.Inf(1)}
	for _, o := range all {
		if o.Situation == s.name {
			v.all[o.Strategy] = append(v.all[o.Strategy], o)
		}
	}
	for name, of := range v.all {
		v.by[name] = meanOf(of)
		v.best = min(v.best, v.by[name].completed())
	}
	v.ratio = v.by[ours].completed() / v.best
	if math.IsNaN(v.ratio) { // no strategy completed the job
		v.ratio = math.Inf(1)
	}
	return v, len(v.by) == len(strategies)
}

// meanOf returns the first of several runs with the mean times of those that completed the job.
func meanOf(of []outcome) outcome {
	done := slices.DeleteFunc(slices.Clone(of), func(o outcome) bool { return math.IsInf(o.completed(), 1) })
	if len(done) == 0 {
		return of[0]
	}
	mean := done[0]
	mean.Turnaround, mean.Wait, mean.Used = 0, 0, 0
	for _, o := range done {
		n := float64(len(done))
		mean.Turnaround, mean.Wait, mean.Used = mean.Turnaround+o.Turnaround/n, mean.Wait+o.Wait/n, mean.Used+o.Used/n
	}
	return mean
}

// completed returns the turnaround, or +Inf if the job was not completed.
func (o outcome) completed() float64 {
	if o.Error != "" || o.Turnaround == 0 {
		return math.Inf(1)
	}
	return o.Turnaround
}

// compareAll returns the rows of the situations in which all strategies were run.
func compareAll(all []outcome) []verdict {
	var rows []verdict
	for i := range script {
		if v, complete := compare(&script[i], all); complete {
			rows = append(rows, v)
		}
	}
	return rows
}

// tables is the text between the marks in lab/results/turnaround.md.
func tables(rows []verdict) string {
	var b strings.Builder
	good := 0
	b.WriteString("| situation |")
	for _, st := range strategies {
		b.WriteString(" " + st.name + " |")
	}
	b.WriteString(" berth / best | within 10 % | berth's allocations |\n|---|" + strings.Repeat("--:|", len(strategies)+1) + "---|---|\n")
	for _, v := range rows {
		mark := "no"
		if v.ok() {
			mark = "yes"
			good++
		}
		fmt.Fprintf(&b, "| %s |", v.s.name)
		for _, st := range strategies {
			fmt.Fprintf(&b, " %s |", v.cell(st.name))
		}
		own := v.by[ours]
		fmt.Fprintf(&b, " %s | %s | %s |\n", figure(v.ratio, 3), mark, own.shapes())
	}
	fmt.Fprintf(&b, "\nberth is the best or within 10 %% of the best in %d of %d situations%s%s%s\n\n", good, len(rows), besideHabits(rows), inBands(rows), loads(rows))
	b.WriteString(means(rows))
	b.WriteString("\n" + situations(rows))
	return b.String()
}

// besideHabits says how berth's turnaround compares with that of the best habit, which is not bounded by berth's own.
func besideHabits(rows []verdict) string {
	logs, worst := 0.0, 0.0
	var differences []float64
	for _, v := range rows {
		r := v.by[ours].completed() / v.bestHabit()
		logs, worst, differences = logs+math.Log(r)/float64(len(rows)), max(worst, r), append(differences, r-1)
	}
	if len(rows) == 0 {
		return ""
	}
	return fmt.Sprintf("; it takes %s of the best habit's time in the geometric mean, %s at worst, median of the differences %s",
		figure(math.Exp(logs), 2), figure(worst, 2), paired.Of(differences))
}

// bestHabit returns the lowest turnaround of a habit, in seconds; +Inf: none completed the job.
func (v *verdict) bestHabit() float64 {
	best := math.Inf(1)
	for name, o := range v.by {
		if name != ours {
			best = min(best, o.completed())
		}
	}
	return best
}

// inBands says how often the first allocation began in the band that berth predicted by history, for its own requests and those of
// habits, and how often where the request was predicted to wait.
func inBands(rows []verdict) string {
	var of [2]struct{ in, n int }
	for _, v := range rows {
		for _, st := range strategies {
			for _, o := range v.all[st.name] {
				if o.Predicted == nil || o.SameAs != "" || math.IsInf(o.completed(), 1) {
					continue
				}
				for i := range of {
					if i == 1 && o.Predicted.High == 0 {
						continue
					}
					if of[i].n++; o.Predicted.holds(o.Wait) {
						of[i].in++
					}
				}
			}
		}
	}
	if of[0].n == 0 {
		return ""
	}
	return fmt.Sprintf("; %d of %d starts were in the band that it predicted by history, %d of %d where it predicted a wait",
		of[0].in, of[0].n, of[1].in, of[1].n)
}

// loads says how busy the machine was, if that was measured.
func loads(rows []verdict) string {
	low, high := math.Inf(1), 0.0
	for _, v := range rows {
		for _, st := range strategies {
			if l := v.by[st.name].Load; l > 0 {
				low, high = min(low, l), max(high, l)
			}
		}
	}
	if high == 0 {
		return ""
	}
	return fmt.Sprintf("; load of the machine when runs began: %.1f to %.1f", low, high)
}

// cell formats a turnaround in seconds; the best is bold.
func (v *verdict) cell(strategy string) string {
	t := v.by[strategy].completed()
	text := figure(t, 0)
	if t == v.best && !math.IsInf(t, 1) {
		return "**" + text + "**"
	}
	return text
}

// figure formats a number, or a dash if it is unknown.
func figure(x float64, decimals int) string {
	if math.IsInf(x, 0) || math.IsNaN(x) {
		return "–"
	}
	return fmt.Sprintf("%.*f", decimals, x)
}

// means compares the strategies over all situations.
func means(rows []verdict) string {
	if len(rows) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("| | strategy | turnaround / best, geometric mean (lower is better) | worst | mean wait, s | mean node-seconds allocated |\n|---|---|--:|--:|--:|--:|\n")
	for _, st := range strategies {
		var logs, wait, used, worst float64
		n := 0.0
		for _, v := range rows {
			o := v.by[st.name]
			r := o.completed() / v.best
			logs, worst = logs+math.Log(r), max(worst, r)
			wait, used, n = wait+o.Wait, used+o.Used, n+1
		}
		label := st.name
		if label == ours {
			label = ""
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s |\n", label, st.about,
			figure(math.Exp(logs/n), 2), figure(worst, 2), figure(wait/n, 0), figure(used/n, 0))
	}
	return b.String()
}

// situations describes the rows.
func situations(rows []verdict) string {
	var b strings.Builder
	b.WriteString("| situation | | job | the others' jobs: running; waiting; later |\n|---|---|---|---|\n")
	for _, v := range rows {
		s := v.s
		about := s.about
		if s.fresh {
			about += "; no profile"
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", s.name, about, s.job.text(), or(s.running)+"; "+or(s.waiting)+"; "+or(s.later))
	}
	return b.String()
}

func or(fills string) string {
	if fills == "" {
		return "–"
	}
	return fills
}

// names parses a list of names of situations or strategies.
func names(list string, known []string) ([]string, error) {
	if list == "" {
		return known, nil
	}
	chosen := strings.Split(list, ",")
	for _, n := range chosen {
		if !slices.Contains(known, n) {
			return nil, fmt.Errorf("%q is none of %s", n, strings.Join(known, ", "))
		}
	}
	return chosen, nil
}
