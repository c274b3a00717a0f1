package main

import (
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
)

// tolerance is how much longer than the best berth may take: 10 %.
const tolerance = 1.10

// verdict is a row of the table.
type verdict struct {
	s     *situation
	by    map[string]outcome // strategy → what it took
	best  float64            // the least turnaround of any, in seconds; +Inf: none was done
	ratio float64            // berth's turnaround over it; +Inf: not done
}

func (v *verdict) ok() bool { return v.ratio <= tolerance }

// judge compares the strategies in a situation; false unless all were run.
func judge(s *situation, all []outcome) (verdict, bool) {
	v := verdict{s: s, by: map[string]outcome{}, best: math.Inf(1)}
	for _, o := range all {
		if o.Situation == s.name {
			v.by[o.Strategy] = o
			v.best = min(v.best, o.took())
		}
	}
	v.ratio = v.by[ours].took() / v.best
	if math.IsNaN(v.ratio) { // nobody was done
		v.ratio = math.Inf(1)
	}
	return v, len(v.by) == len(strategies)
}

// took returns the turnaround, +Inf where the job was not done.
func (o outcome) took() float64 {
	if o.Error != "" || o.Turnaround == 0 {
		return math.Inf(1)
	}
	return o.Turnaround
}

// judgeAll returns the rows of the situations that all strategies were run in.
func judgeAll(all []outcome) []verdict {
	var rows []verdict
	for i := range script {
		if v, complete := judge(&script[i], all); complete {
			rows = append(rows, v)
		}
	}
	return rows
}

// tables is the whole text that stands between the marks in docs/turnaround.md.
func tables(rows []verdict) string {
	var b strings.Builder
	good := 0
	b.WriteString("| situation | berth | a | b | c | d | berth / best | ≤ 1.1 | berth's allocations |\n|---|--:|--:|--:|--:|--:|--:|---|---|\n")
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
	fmt.Fprintf(&b, "\nbest or within 10 %% in %d of %d\n\n", good, len(rows))
	b.WriteString(means(rows))
	b.WriteString("\n" + situations(rows))
	return b.String()
}

// cell is a turnaround in seconds; the best is bold.
func (v *verdict) cell(strategy string) string {
	t := v.by[strategy].took()
	text := figure(t, 0)
	if t == v.best && !math.IsInf(t, 1) {
		return "**" + text + "**"
	}
	return text
}

// figure is a number of the table, a dash for one that there is not.
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
	b.WriteString("| | strategy | turnaround / best, geometric mean | worst | mean wait, s | node-seconds held, mean |\n|---|---|--:|--:|--:|--:|\n")
	for _, st := range strategies {
		var logs, wait, used, worst float64
		n := 0.0
		for _, v := range rows {
			o := v.by[st.name]
			r := o.took() / v.best
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

// situations says what the rows were.
func situations(rows []verdict) string {
	var b strings.Builder
	b.WriteString("| situation | | job | the others' jobs: running; waiting; later |\n|---|---|---|---|\n")
	for _, v := range rows {
		s := v.s
		about := s.about
		if s.fresh {
			about += "; no profile"
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", s.name, about, s.job.say(), or(s.running)+"; "+or(s.waiting)+"; "+or(s.later))
	}
	return b.String()
}

func or(fills string) string {
	if fills == "" {
		return "–"
	}
	return fills
}

// The marks in docs/turnaround.md.
const (
	tableBegin = "<!-- table:begin -->"
	tableEnd   = "<!-- table:end -->"
)

// replaceTable writes the text between the marks of a document.
func replaceTable(path, text string) error {
	before, after, err := aroundTable(path)
	if err != nil {
		return err
	}
	return os.WriteFile(path, []byte(before+tableBegin+"\n"+text+tableEnd+after), 0o644)
}

// aroundTable returns what stands before and after the marks.
func aroundTable(path string) (before, after string, err error) {
	doc, err := os.ReadFile(path)
	if err != nil {
		return "", "", err
	}
	before, rest, ok := strings.Cut(string(doc), tableBegin)
	_, after, end := strings.Cut(rest, tableEnd)
	if !ok || !end {
		return "", "", fmt.Errorf("%s: no %s and %s after it", path, tableBegin, tableEnd)
	}
	return before, after, nil
}

// names checks that each name is one of a situation or strategy.
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
