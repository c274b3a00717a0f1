package evaluate

import (
	"encoding/csv"
	"io"
	"strconv"
)

// csvHead names the columns of CSV. Cell documents their meaning.
var csvHead = []string{
	"experiment", "load", "parameter", "value", "max_time_s", "adaptor", "jobs", "measure", "mean", "half_width",
	"replications", "wanted", "reached", "paper",
	"under_naive", "under_naive_half_width", "under_paper", "under_paper_half_width",
}

// CSV writes one line for each cell. Unknown numbers are empty.
func (r *Report) CSV(w io.Writer) error {
	out := csv.NewWriter(w)
	lines := [][]string{csvHead}
	for i := range r.Cells {
		c := &r.Cells[i]
		line := []string{
			r.Experiment, c.Load, c.Parameter, "", number(&c.MaxTime), c.Adaptor, string(c.Jobs), c.Measure,
			number(&c.Mean), number(c.HalfWidth), strconv.Itoa(c.Replications), strconv.FormatBool(c.Wanted),
			strconv.FormatBool(c.Reached), number(c.Paper),
		}
		if c.Parameter != "" {
			line[3] = number(&c.Value)
		}
		for _, base := range []string{NaiveCase, PaperCase} {
			if u := c.under(base); u != nil {
				line = append(line, number(&u.Reduction), number(u.HalfWidth))
			} else {
				line = append(line, "", "")
			}
		}
		lines = append(lines, line)
	}
	return out.WriteAll(lines)
}

func number(v *float64) string {
	if v == nil {
		return ""
	}
	return strconv.FormatFloat(*v, 'f', -1, 64)
}
