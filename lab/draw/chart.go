package draw

// Chart is a panel for measurements that do not come from package evaluate.
type Chart struct {
	Title, X, Y string
	Ticks       []string // names of x = 1, 2, …; nil: x is a number
	Series      []Series
	// Width and Height are lower limits for the ends of the axes, so that charts can be compared.
	Width, Height float64
}

// Series is a curve of a Chart, or separate points if x has names. Half has the half-widths of the
// error bars, or is nil.
type Series struct {
	Name       string // in the legend; series of the same name look the same in all charts of a figure
	X, Y, Half []float64
	NoMarkers  bool // a line without markers, for many points
}

// Charts returns a figure of charts in rows. All rows must have the same length.
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

// styleFor returns the position of the series's name in the legend, and adds the name if it is
// missing.
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
