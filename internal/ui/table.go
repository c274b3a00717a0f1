package ui

import (
	"io"
	"strings"
)

// table is rows of cells under a head, aligned in columns. Columns whose head ends
// with '>' stand to the right.
type table struct {
	head []string
	rows [][]string
}

func newTable(head ...string) *table { return &table{head: head} }

func (t *table) add(cells ...string) { t.rows = append(t.rows, cells) }

// write writes the table; columns that are empty in all rows are left out.
func (t *table) write(w io.Writer) error {
	right := make([]bool, len(t.head))
	wide := make([]int, len(t.head))
	for i, h := range t.head {
		right[i] = strings.HasSuffix(h, ">")
		for _, r := range t.rows {
			wide[i] = max(wide[i], columns(r[i]))
		}
		if wide[i] > 0 {
			wide[i] = max(wide[i], columns(strings.TrimSuffix(h, ">")))
		}
	}
	var b strings.Builder
	line := func(cells []string) {
		var out []string
		for i, c := range cells {
			switch {
			case wide[i] == 0:
			case right[i]:
				out = append(out, padLeft(strings.TrimSuffix(c, ">"), wide[i]))
			default:
				out = append(out, pad(c, wide[i]))
			}
		}
		b.WriteString(strings.TrimRight(strings.Join(out, "  "), " ") + "\n")
	}
	line(t.head)
	for _, r := range t.rows {
		line(r)
	}
	_, err := io.WriteString(w, b.String())
	return err
}
