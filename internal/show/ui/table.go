package ui

import "strings"

// table is rows of cells under a head, in aligned columns. A column whose head ends with '>' is aligned to the right.
type table struct {
	head []string
	rows [][]string
	gap  string // between columns
}

func newTable(head ...string) *table { return &table{head: head, gap: "  "} }

func (t *table) add(cells ...string) { t.rows = append(t.rows, cells) }

// lines returns the lines of the table and the width of the widest.
func (t *table) lines() (lines []string, wide int) {
	lines = strings.Split(strings.TrimSuffix(t.String(), "\n"), "\n")
	for _, l := range lines {
		wide = max(wide, columns(l))
	}
	return lines, wide
}

// String formats the table without the columns that are empty in all rows.
func (t *table) String() string {
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
		b.WriteString(strings.TrimRight(strings.Join(out, t.gap), " ") + "\n")
	}
	line(t.head)
	for _, r := range t.rows {
		line(r)
	}
	return b.String()
}
