package evaluate

import (
	"bytes"
	"fmt"
	"image/color"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// Figure is a drawing: panels in rows, over one legend.
type Figure struct {
	panels [][]panel // as many in each row
	names  []string  // of the legend, beside styles
	styles []style
}

// panel is one pair of axes.
type panel struct {
	title, x, y string
	ticks       []string // of x = 1, 2, …; nil: numbers
	log         bool     // of y
	curves      []curve
}

// curve is the points of a panel that belong to one entry of the legend.
type curve struct {
	style  int
	points []point
}

// point is a mean and its half-width.
type point struct{ x, y, half float64 }

// Sizes fit the text width of a page of A4 or Letter paper.
const (
	figureWidth = 17 * vg.Centimeter
	panelHeight = 6 * vg.Centimeter
	legendLine  = 0.5 * vg.Centimeter
	textSize    = vg.Length(8)
	pngDPI      = 200
)

// SVG returns the figure as an SVG document.
func (f *Figure) SVG() ([]byte, error) {
	c := vgsvg.NewWith(vgsvg.UseWH(figureWidth, f.height()))
	if err := f.draw(draw.New(c)); err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if _, err := c.WriteTo(&b); err != nil {
		return nil, fmt.Errorf("a figure as SVG: %w", err)
	}
	// Where the font that it was laid out for is not installed, one of its widths does.
	sans := []byte("font-family:Liberation Sans;")
	return bytes.ReplaceAll(b.Bytes(), sans, []byte("font-family:'Liberation Sans',Arial,Helvetica,sans-serif;")), nil
}

// PNG returns the figure as a PNG image.
func (f *Figure) PNG() ([]byte, error) {
	c := vgimg.NewWith(vgimg.UseWH(figureWidth, f.height()), vgimg.UseDPI(pngDPI))
	if err := f.draw(draw.New(c)); err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if _, err := (vgimg.PngCanvas{Canvas: c}).WriteTo(&b); err != nil {
		return nil, fmt.Errorf("a figure as PNG: %w", err)
	}
	return b.Bytes(), nil
}

func (f *Figure) height() vg.Length {
	return vg.Length(len(f.panels))*panelHeight + vg.Length(f.legendLines())*legendLine + 0.2*vg.Centimeter
}

func (f *Figure) draw(c draw.Canvas) error {
	c.SetColor(color.White)
	c.Fill(c.Rectangle.Path())
	plots := make([][]*plot.Plot, len(f.panels))
	for i, row := range f.panels {
		for _, p := range row {
			drawn, err := p.plot(f.styles)
			if err != nil {
				return err
			}
			plots[i] = append(plots[i], drawn)
		}
	}
	legend := vg.Length(f.legendLines()) * legendLine
	tiles := draw.Tiles{
		Rows: len(plots), Cols: len(plots[0]), PadX: 0.3 * vg.Centimeter, PadY: 0.3 * vg.Centimeter,
		PadTop: 0.1 * vg.Centimeter, PadRight: 0.2 * vg.Centimeter, PadLeft: 0.1 * vg.Centimeter,
	}
	for i, row := range plot.Align(plots, tiles, draw.Crop(c, 0, 0, legend, 0)) {
		for j, where := range row {
			plots[i][j].Draw(where)
		}
	}
	f.drawLegend(draw.Crop(c, 0.3*vg.Centimeter, -0.3*vg.Centimeter, 0, legend-c.Max.Y))
	return nil
}

// plot lays out a panel.
func (p *panel) plot(styles []style) (*plot.Plot, error) {
	out := plot.New()
	sans := font.Font{Typeface: "Liberation", Variant: "Sans", Size: textSize}
	for _, f := range []*font.Font{
		&out.Title.TextStyle.Font, &out.X.Label.TextStyle.Font, &out.Y.Label.TextStyle.Font, &out.X.Tick.Label.Font, &out.Y.Tick.Label.Font,
	} {
		*f = sans
	}
	out.Title.TextStyle.Font.Size = textSize + 1
	out.Title.Text, out.X.Label.Text, out.Y.Label.Text = p.title, p.x, p.y
	out.Title.Padding, out.X.Label.Padding, out.Y.Label.Padding = vg.Points(4), vg.Points(2), vg.Points(2)
	out.X.Tick.Length, out.Y.Tick.Length = vg.Points(4), vg.Points(4)
	out.Y.Tick.Marker = numbers{}
	if p.log {
		out.Y.Scale, out.Y.Tick.Marker = plot.LogScale{}, powers{}
	}
	if p.ticks != nil {
		out.X.Tick.Marker = named(p.ticks)
	}
	grid := plotter.NewGrid()
	grid.Vertical.Width = 0
	grid.Horizontal.Color, grid.Horizontal.Dashes = color.Gray{Y: 225}, nil
	out.Add(grid)
	for i, c := range p.curves {
		if err := p.add(out, c, styles[c.style], i); err != nil {
			return nil, err
		}
	}
	p.bound(out)
	return out, nil
}

// bound chooses the range of y: from 0, or from and to a power of ten.
func (p *panel) bound(out *plot.Plot) {
	if p.log {
		out.Y.Min, out.Y.Max = powerBelow(out.Y.Min), powerAbove(out.Y.Max)
		return
	}
	out.Y.Min, out.Y.Max = 0, out.Y.Max*1.04
}

// add draws a curve: its error bars, its line and its markers.
func (p *panel) add(out *plot.Plot, c curve, s style, nth int) error {
	if len(c.points) == 0 {
		return nil
	}
	data := errorPoints{}
	for _, pt := range c.points {
		if p.ticks != nil { // side by side, so that the bars of curves do not hide each other
			pt.x += 0.09 * (float64(nth) - float64(len(p.curves)-1)/2)
		}
		data.XYs = append(data.XYs, plotter.XY{X: pt.x, Y: pt.y})
		low := pt.half
		if p.log && low >= pt.y {
			low = 0.9 * pt.y // no logarithm goes to 0
		}
		data.YErrors = append(data.YErrors, struct{ Low, High float64 }{low, pt.half})
	}
	bars, err := plotter.NewYErrorBars(data)
	if err != nil {
		return fmt.Errorf("a figure's error bars: %w", err)
	}
	bars.LineStyle, bars.CapWidth = draw.LineStyle{Color: s.color, Width: vg.Points(0.6)}, vg.Points(3.5)
	line, err := plotter.NewLine(data)
	if err != nil {
		return fmt.Errorf("a figure's line: %w", err)
	}
	line.LineStyle = s.line()
	dots, err := plotter.NewScatter(data)
	if err != nil {
		return fmt.Errorf("a figure's points: %w", err)
	}
	dots.GlyphStyle = s.glyph()
	out.Add(bars)
	if p.ticks == nil { // between named things nothing lies
		out.Add(line)
	}
	out.Add(dots)
	return nil
}

// errorPoints are points with error bars.
type errorPoints struct {
	plotter.XYs
	plotter.YErrors
}
