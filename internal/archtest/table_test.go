package archtest

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

// row is what the table says of a package. Packages are named by their path below
// internal/, and commands by cmd/NAME.
type row struct {
	pure   bool
	all    bool     // may import everything but what is in names
	names  []string // else what it may import
	listed string   // as written
}

// allows reports whether the package may import the one with this name. Nothing of the
// product may import what lies under test/.
func (r row) allows(name string) bool {
	return !strings.HasPrefix(name, "test/") && slices.Contains(r.names, name) != r.all
}

// parseTable reads the rows between the markers of the document.
func parseTable(doc string) (map[string]row, error) {
	_, rest, ok := strings.Cut(doc, tableBegin)
	table, _, end := strings.Cut(rest, tableEnd)
	if !ok || !end {
		return nil, fmt.Errorf("no table between %s and %s", tableBegin, tableEnd)
	}
	rows := map[string]row{}
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
		r, err := parseRow(cells[2], cells[3])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		rows[name] = r
	}
	for name, r := range rows {
		for _, n := range r.names {
			if _, ok := rows[n]; !ok {
				return nil, fmt.Errorf("%s may import %s, which has no row", name, n)
			}
		}
	}
	return rows, nil
}

// parseRow reads the cells "may import" and "pure".
func parseRow(imports, pure string) (row, error) {
	imports, pure = strings.TrimSpace(imports), strings.TrimSpace(pure)
	r := row{pure: pure == "pure", listed: imports}
	if pure != "" && !r.pure {
		return r, fmt.Errorf("%q is neither pure nor empty", pure)
	}
	list := imports
	switch {
	case imports == "–":
		return r, nil
	case imports == "all":
		r.all = true
		return r, nil
	case strings.HasPrefix(imports, "all but "):
		r.all, list = true, strings.TrimPrefix(imports, "all but ")
	}
	for _, n := range strings.Split(list, ",") {
		n = strings.TrimSpace(n)
		if n == "" {
			return r, fmt.Errorf("%q has an empty name", imports)
		}
		r.names = append(r.names, n)
	}
	return r, nil
}
