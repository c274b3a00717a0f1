package draw

import (
	"bytes"
	"fmt"
	"image/color"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// Figure is a drawing: panels in rows above one legend.
type Figure struct {
	panels [][]panel // the same number in each row
	names  []string  // of the legend, parallel to styles
	styles []style
}

// panel is one pair of axes.
type panel struct {
	title, x, y string
	ticks       []string // of x = 1, 2, …; nil: numbers
	log         bool     // logarithmic y axis
	curves      []curve

	width, height float64 // lower limits for the ends of linear axes
}

// curve is the points of a panel that belong to one legend entry.
type curve struct {
	style  int
	points []point
	bare   bool // without error bars
}

// point is a mean and its half-width.
type point struct{ x, y, half float64 }

// The sizes fit the text width of a page of A4 or Letter paper.
const (
	figureWidth   = 17 * vg.Centimeter
	panelHeight   = 6 * vg.Centimeter
	betweenPanels = 0.3 * vg.Centimeter
	legendLine    = 0.5 * vg.Centimeter
	textSize      = vg.Length(8)
	pngDPI        = 200
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
	// Liberation Sans may not be installed. A font of the same widths then replaces it.
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
	return vg.Length(len(f.panels))*panelHeight + vg.Length(f.legendLines())*legendLine
}

func (f *Figure) draw(c draw.Canvas) error {
	c.SetColor(color.White)
	c.Fill(c.Rectangle.Path())
	legend := vg.Length(f.legendLines()) * legendLine
	for i, row := range f.panels {
		wide := (figureWidth - betweenPanels) / vg.Length(len(row))
		top := c.Max.Y - vg.Length(i)*panelHeight
		for j, p := range row {
			drawn, err := p.plot(f.styles)
			if err != nil {
				return err
			}
			left := c.Min.X + vg.Length(j)*wide + betweenPanels
			right := left + wide - betweenPanels
			if p.y != "" {
				f.nameAxis(c, p.y, vg.Point{X: left, Y: top - panelHeight/2})
				left += legendLine
			}
			drawn.Draw(draw.Canvas{Canvas: c.Canvas, Rectangle: vg.Rectangle{
				Min: vg.Point{X: left, Y: top - panelHeight + betweenPanels},
				Max: vg.Point{X: right, Y: top - betweenPanels/2},
			}})
		}
	}
	f.drawLegend(draw.Canvas{Canvas: c.Canvas, Rectangle: vg.Rectangle{
		Min: vg.Point{X: c.Min.X + betweenPanels, Y: c.Min.Y}, Max: vg.Point{X: c.Max.X, Y: c.Min.Y + legend},
	}})
	return nil
}

// nameAxis writes the name beside a vertical axis. The library would center its own label on the
// values of a logarithmic axis instead of its length, and reserve space for it.
func (f *Figure) nameAxis(c draw.Canvas, name string, at vg.Point) {
	style := legendStyle()
	style.Rotation, style.XAlign, style.YAlign = math.Pi/2, draw.XCenter, draw.YTop
	c.FillText(style, at, name)
}

// plot lays out a panel.
func (p *panel) plot(styles []style) (*plot.Plot, error) {
	out := plot.New()
	sans := font.Font{Typeface: "Liberation", Variant: "Sans", Size: textSize}
	for _, f := range []*font.Font{
		&out.Title.TextStyle.Font, &out.X.Label.TextStyle.Font, &out.X.Tick.Label.Font, &out.Y.Tick.Label.Font,
	} {
		*f = sans
	}
	out.Title.TextStyle.Font.Size = textSize + 1
	out.Title.Text, out.X.Label.Text = p.title, p.x
	out.Title.Padding, out.X.Label.Padding = vg.Points(4), vg.Points(2)
	out.X.Tick.Length, out.Y.Tick.Length = vg.Points(4), vg.Points(4)
	out.X.Tick.Marker, out.Y.Tick.Marker = numbers{}, numbers{}
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

// bound chooses the ranges: from 0 for linear axes, while logarithmic axes have their own range.
func (p *panel) bound(out *plot.Plot) {
	if p.log {
		out.Y.Min, out.Y.Max = roundBelow(out.Y.Min), roundAbove(out.Y.Max)
	} else {
		out.Y.Min, out.Y.Max = 0, max(out.Y.Max, p.height)*1.04
	}
	if p.ticks != nil {
		out.X.Min, out.X.Max = 0.5, float64(len(p.ticks))+0.5
	} else {
		out.X.Min, out.X.Max = 0, max(out.X.Max, p.width)*1.04
	}
}

// lowest returns the lower limit of error bars on a logarithmic axis, where bars that reach 0 would
// have no end.
func (p *panel) lowest() float64 {
	low := math.Inf(1)
	for _, c := range p.curves {
		for _, pt := range c.points {
			low = min(low, pt.y)
		}
	}
	return low / 2
}

// add draws a curve: its error bars, its line and its markers.
func (p *panel) add(out *plot.Plot, c curve, s style, nth int) error {
	if len(c.points) == 0 {
		return nil
	}
	data := errorPoints{}
	for _, pt := range c.points {
		if p.ticks != nil { // side by side, so that bars of different curves do not overlap
			pt.x += 0.09 * (float64(nth) - float64(len(p.curves)-1)/2)
		}
		data.XYs = append(data.XYs, plotter.XY{X: pt.x, Y: pt.y})
		low := pt.half
		if p.log {
			low = min(low, pt.y-p.lowest())
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
	if !c.bare {
		out.Add(bars)
	}
	if p.ticks == nil { // no line connects named points
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
