package main

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// tolerance is the highest accepted ratio of berth's turnaround to the best.
const tolerance = 1.10

// verdict is a row of the table.
type verdict struct {
	s     *situation
	by    map[string]outcome // by strategy
	best  float64            // the lowest turnaround in seconds; +Inf: no strategy completed the job
	ratio float64            // berth's turnaround divided by best; +Inf: berth did not complete the job
}

func (v *verdict) ok() bool { return v.ratio <= tolerance }

// compare compares the strategies in a situation. It returns false unless all were run.
func compare(s *situation, all []outcome) (verdict, bool) {
	v := verdict{s: s, by: map[string]outcome{}, best: math.Inf(1)}
	for _, o := range all {
		if o.Situation == s.name {
			v.by[o.Strategy] = o
			v.best = min(v.best, o.completed())
		}
	}
	v.ratio = v.by[ours].completed() / v.best
	if math.IsNaN(v.ratio) { // no strategy completed the job
		v.ratio = math.Inf(1)
	}
	return v, len(v.by) == len(strategies)
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
	b.WriteString("| situation | berth | a | b | c | d | berth / best | within 10 % | berth's allocations |\n|---|--:|--:|--:|--:|--:|--:|---|---|\n")
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
	fmt.Fprintf(&b, "\nberth is the best or within 10 %% of the best in %d of %d situations%s\n\n", good, len(rows), loads(rows))
	b.WriteString(means(rows))
	b.WriteString("\n" + situations(rows))
	return b.String()
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
