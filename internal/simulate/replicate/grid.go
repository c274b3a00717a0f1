package replicate

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// WriteGrid writes lines of aligned cells: the first left columns to the left, the others to the
// right.
func WriteGrid(b *strings.Builder, grid [][]string, left int) {
	wide := make([]int, len(grid[0]))
	for _, line := range grid {
		for i, cell := range line {
			wide[i] = max(wide[i], utf8.RuneCountInString(cell))
		}
	}
	for _, line := range grid {
		var text strings.Builder
		for i, cell := range line {
			if i < left {
				fmt.Fprintf(&text, "%-*s  ", wide[i], cell)
			} else {
				fmt.Fprintf(&text, "%*s  ", wide[i], cell)
			}
		}
		b.WriteString(strings.TrimRight(text.String(), " ") + "\n")
	}
}
