package ui

import (
	"io"
	"slices"
	"strings"
)

// table is rows of cells under a head, in aligned columns. A column whose head ends with '>' is aligned to the right.
type table struct {
	head []string
	rows [][]string
	gap  string // between columns
}

func newTable(head ...string) *table { return &table{head: head, gap: "  "} }

// add adds a row, whose cells are cleaned.
func (t *table) add(cells ...string) {
	for i, c := range cells {
		cells[i] = clean(c)
	}
	t.rows = append(t.rows, cells)
}

// narrow removes columns, the first of those that are named first, until the table fits the width of a terminal; 0: there
// is none.
func (t *table) narrow(width int, drop ...string) {
	for _, head := range drop {
		if _, wide := t.lines(); width == 0 || wide <= width {
			return
		}
		if i := slices.Index(t.head, head); i >= 0 {
			t.empty(i)
		}
	}
}

// empty removes a column.
func (t *table) empty(column int) {
	for _, row := range t.rows {
		row[column] = ""
	}
}

// shorten cuts the cells of a column so that the table fits the width of a terminal, or removes the column if less than least
// columns would be left of it; 0: there is no terminal.
func (t *table) shorten(width int, head string, least int) {
	i, longest := slices.Index(t.head, head), 0
	for _, row := range t.rows {
		longest = max(longest, columns(row[i]))
	}
	_, wide := t.lines()
	if width == 0 || wide <= width {
		return
	}
	if longest -= wide - width; longest < least {
		t.narrow(width, head)
		return
	}
	for _, row := range t.rows {
		row[i] = fit(row[i], longest)
	}
}

// sheet is text that is written for a terminal of a width; 0: for none.
type sheet struct {
	strings.Builder
	width int
}

// widthOf returns the width of the terminal to which w writes, 0 if it is none.
func widthOf(w io.Writer) int {
	if w, is := w.(*wrapper); is {
		return w.width
	}
	width, _, _ := terminalSize(w)
	return width
}

// String formats the table.
func (t *table) String() string {
	lines, _ := t.lines()
	return join(lines)
}

// lines returns the lines of the table without the columns that are empty in all rows, and the width of the widest.
func (t *table) lines() (lines []string, widest int) {
	wide := make([]int, len(t.head))
	for i, h := range t.head {
		for _, r := range t.rows {
			wide[i] = max(wide[i], columns(r[i]))
		}
		if wide[i] > 0 {
			wide[i] = max(wide[i], columns(strings.TrimSuffix(h, ">")))
		}
	}
	for _, cells := range append([][]string{t.head}, t.rows...) {
		var out []string
		for i, c := range cells {
			switch {
			case wide[i] == 0:
			case strings.HasSuffix(t.head[i], ">"):
				out = append(out, padLeft(strings.TrimSuffix(c, ">"), wide[i]))
			default:
				out = append(out, pad(c, wide[i]))
			}
		}
		line := strings.TrimRight(strings.Join(out, t.gap), " ")
		lines, widest = append(lines, line), max(widest, columns(line))
	}
	return lines, widest
}
