package arch

import (
	"fmt"
	"slices"
	"strings"
)

// The markers around the table in docs/architecture.md.
const (
	tableBegin = "<!-- imports:begin -->"
	tableEnd   = "<!-- imports:end -->"
)

// layer is what the table says of the packages below one folder of internal/, or of lab or cmd.
type layer struct {
	order int      // its place in the table
	below []string // the layers that it may import beside itself
	pure  []string // its packages that decide and do not act; "all": each of them
}

// layers has the layers of the table by their names.
type layers map[string]layer

// allows reports whether a package of this layer, which has this name, may import one of the layer to. What lies under test/ is in no
// layer: only the laboratory may import it.
func (f layer) allows(name, to string) bool {
	return to == name || slices.Contains(f.below, to) || name == "lab" && to == "test"
}

// pure reports whether the package is marked as pure.
func (fs layers) pure(pkg string) bool {
	name, inside, _ := strings.Cut(pkg, "/")
	f := fs[name]
	return slices.Contains(f.pure, "all") || inside != "" && slices.Contains(f.pure, inside)
}

// layerOf returns the layer of a package, whose name is its path below internal/.
func layerOf(pkg string) string {
	name, _, _ := strings.Cut(pkg, "/")
	return name
}

// parseTable reads the rows between the markers of the page.
func parseTable(page string) (layers, error) {
	_, rest, ok := strings.Cut(page, tableBegin)
	table, _, end := strings.Cut(rest, tableEnd)
	if !ok || !end {
		return nil, fmt.Errorf("no table between %s and %s", tableBegin, tableEnd)
	}
	rows := layers{}
	for i, line := range strings.Split(strings.TrimSpace(table), "\n") {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		if len(cells) != 4 {
			return nil, fmt.Errorf("row %d has %d cells, not 4: %s", i+1, len(cells), line)
		}
		if i < 2 { // the heading and the line under it
			continue
		}
		name := strings.Trim(strings.TrimSpace(cells[0]), "`")
		if _, twice := rows[name]; twice {
			return nil, fmt.Errorf("%s has two rows", name)
		}
		if strings.TrimSpace(cells[2]) == "" {
			return nil, fmt.Errorf("the row of %s says nothing of its imports", name)
		}
		rows[name] = layer{order: i, below: names(cells[2]), pure: names(cells[3])}
	}
	for name, f := range rows {
		for _, below := range f.below {
			if _, ok := rows[below]; !ok {
				return nil, fmt.Errorf("%s may import %s, which has no row", name, below)
			}
		}
	}
	return rows, nil
}

// names reads the names of a cell, which commas separate; a dash stands for none.
func names(cell string) []string {
	return strings.FieldsFunc(cell, func(r rune) bool { return r == ',' || r == ' ' || r == '–' })
}
