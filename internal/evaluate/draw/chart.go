package draw

// Chart is a panel for figures of other measurements than those of package evaluate.
type Chart struct {
	Title, X, Y string
	Ticks       []string // names of x = 1, 2, …; nil: x is a number
	Series      []Series
	// Width and Height are the least ends of the axes, so that charts can be compared.
	Width, Height float64
}

// Series is a curve of a Chart, or its points where x has names. Half are half-widths of error bars, or nil.
type Series struct {
	Name       string // in the legend; the same name looks the same in all charts of a figure
	X, Y, Half []float64
	NoMarkers  bool // a line alone, for many points
}

// Charts returns a figure of charts in rows. All rows have as many charts.
func Charts(rows [][]Chart) *Figure {
	f := &Figure{}
	for _, row := range rows {
		var panels []panel
		for _, c := range row {
			p := panel{title: c.Title, x: c.X, y: c.Y, ticks: c.Ticks, width: c.Width, height: c.Height}
			for _, s := range c.Series {
				p.curves = append(p.curves, curve{style: f.styleFor(s), points: s.points(), bare: s.Half == nil})
			}
			panels = append(panels, p)
		}
		f.panels = append(f.panels, panels)
	}
	return f
}

// styleFor returns the place of the series's name in the legend, where it is added unless it is there.
func (f *Figure) styleFor(s Series) int {
	for i, name := range f.names {
		if name == s.Name {
			return i
		}
	}
	st := styles[(1+len(f.names))%len(styles)]
	if s.NoMarkers {
		st.marker = nil
	}
	f.names, f.styles = append(f.names, s.Name), append(f.styles, st)
	return len(f.names) - 1
}

func (s Series) points() []point {
	points := make([]point, len(s.X))
	for i := range s.X {
		points[i] = point{x: s.X[i], y: s.Y[i]}
		if s.Half != nil {
			points[i].half = s.Half[i]
		}
	}
	return points
}
