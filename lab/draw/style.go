package draw

import (
	"image/color"
	"math"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"berth/lab/evaluate"
)

// style is the appearance of a curve: its colour and its marker.
type style struct {
	color  color.Color
	marker []vg.Point // corners of a filled polygon, for a radius of 1; nil: no marker
	dashed bool
}

func (s style) line() draw.LineStyle {
	l := draw.LineStyle{Color: s.color, Width: vg.Points(1)}
	if s.dashed {
		l.Dashes = []vg.Length{vg.Points(3), vg.Points(2)}
	}
	return l
}

func (s style) glyph() draw.GlyphStyle {
	return draw.GlyphStyle{Color: s.color, Radius: vg.Points(2.6), Shape: polygon(s.marker)}
}

// styles are in the order of Cases. The colours are those of Okabe and Ito ("Color Universal
// Design", 2008) and Tol ("Colour Schemes", 2021), which colour-blind people can distinguish.
var styles = []style{
	{color: rgb(0x00, 0x00, 0x00), marker: corners(24, 0, 1)},
	{color: rgb(0xD5, 0x5E, 0x00), marker: corners(4, math.Pi/4, 1)},
	{color: rgb(0x88, 0x22, 0x55), marker: corners(5, math.Pi/2, 1)},
	{color: rgb(0xE6, 0x9F, 0x00), marker: corners(3, math.Pi/2, 1)},
	{color: rgb(0x56, 0xB4, 0xE9), marker: corners(3, -math.Pi/2, 1)},
	{color: rgb(0x00, 0x72, 0xB2), marker: corners(4, 0, 1)},
	{color: rgb(0x33, 0x22, 0x88), marker: corners(6, 0, 1)},
	{color: rgb(0xCC, 0x79, 0xA7), marker: corners(10, math.Pi/2, 0.4)},
	{color: rgb(0x7F, 0x60, 0x00), marker: corners(8, 0, 0.3)},
	{color: rgb(0x00, 0x9E, 0x73), marker: corners(8, math.Pi/4, 0.3)},
	{color: rgb(0x44, 0xAA, 0x99), marker: corners(12, 0, 0.5)},
	{color: rgb(0xDD, 0xCC, 0x77), marker: corners(6, math.Pi/2, 0.5)},
	{color: rgb(0x7F, 0x7F, 0x7F), dashed: true},
}

// styleOf returns the style of a case, which is the same in all figures.
func styleOf(name string) style {
	for i, c := range evaluate.Cases() {
		if c.Name == name {
			return styles[i]
		}
	}
	return styles[len(styles)-1]
}

func rgb(r, g, b uint8) color.Color { return color.RGBA{R: r, G: g, B: b, A: 255} }

// corners returns a polygon around 0 whose first corner is at the angle from. Every second corner is
// at the distance inner, which makes stars.
func corners(n int, from, inner float64) []vg.Point {
	var ps []vg.Point
	for i := range n {
		angle, far := from+2*math.Pi*float64(i)/float64(n), 1.2
		if i%2 == 1 {
			far *= inner
		}
		ps = append(ps, vg.Point{X: vg.Length(far * math.Cos(angle)), Y: vg.Length(far * math.Sin(angle))})
	}
	return ps
}

// polygon draws a marker.
type polygon []vg.Point

// DrawGlyph fills the polygon around a point.
func (p polygon) DrawGlyph(c *draw.Canvas, s draw.GlyphStyle, at vg.Point) {
	var path vg.Path
	for i, corner := range p {
		to := vg.Point{X: at.X + s.Radius*corner.X, Y: at.Y + s.Radius*corner.Y}
		if i == 0 {
			path.Move(to)
		} else {
			path.Line(to)
		}
	}
	if path != nil {
		path.Close()
		c.Fill(path)
	}
}

// The lengths of the legend's entries.
const (
	sample    = 18 // points of line before a name
	beside    = 4
	betweenIn = 14
)

// legendStyle returns the style of the legend's text.
func legendStyle() text.Style {
	return text.Style{
		Color: color.Black, Font: font.Font{Typeface: "Liberation", Variant: "Sans", Size: textSize},
		YAlign: draw.YCenter, Handler: plot.DefaultTextHandler,
	}
}

// legendRows returns the entries of each line of the legend.
func (f *Figure) legendRows() [][]int {
	var rows [][]int
	free, text := vg.Length(0), legendStyle()
	for i, name := range f.names {
		wide := sample + beside + text.Width(name) + betweenIn
		if wide > free {
			rows, free = append(rows, nil), figureWidth-0.6*vg.Centimeter
		}
		rows[len(rows)-1] = append(rows[len(rows)-1], i)
		free -= wide
	}
	return rows
}

func (f *Figure) legendLines() int { return len(f.legendRows()) }

// drawLegend draws a sample of each style with its name.
func (f *Figure) drawLegend(c draw.Canvas) {
	text := legendStyle()
	y := c.Max.Y - legendLine/2
	for _, row := range f.legendRows() {
		x := c.Min.X
		for _, i := range row {
			s := f.styles[i]
			c.StrokeLine2(s.line(), x, y, x+sample, y)
			c.DrawGlyphNoClip(s.glyph(), vg.Point{X: x + sample/2, Y: y})
			c.FillText(text, vg.Point{X: x + sample + beside, Y: y}, f.names[i])
			x += sample + beside + text.Width(f.names[i]) + betweenIn
		}
		y -= legendLine
	}
}

// numbers are ticks at round numbers, written in full.
type numbers struct{}

// Ticks returns three to seven ticks.
func (numbers) Ticks(low, high float64) []plot.Tick {
	step := math.Pow10(int(math.Ceil(math.Log10(high - low))))
	for i := 0; (high-low)/step < 3-slack; i++ { // 10, 5, 2, 1, …
		step /= []float64{2, 2.5, 2}[i%3]
	}
	var ticks []plot.Tick
	for i := math.Ceil(low / step); i*step <= high*(1+1e-9); i++ {
		ticks = append(ticks, plot.Tick{Value: i * step, Label: strconv.FormatFloat(math.Round(i*step*1e6)/1e6, 'f', -1, 64)})
	}
	return ticks
}

// powers are ticks at powers of ten with smaller ticks between them. If there are few powers, the
// ticks at 2 and 5 have labels, too.
type powers struct{}

// Ticks returns the ticks between low and high.
func (powers) Ticks(low, high float64) []plot.Tick {
	var ticks []plot.Tick
	for p := math.Pow10(int(math.Floor(math.Log10(low) + slack))); p <= high*(1+slack); p *= 10 {
		for i := 1.0; i < 10; i++ {
			tick := plot.Tick{Value: i * p}
			if i == 1 || high/low < 200 && (i == 2 || i == 5) {
				tick.Label = strconv.FormatFloat(i*p, 'f', -1, 64)
			}
			if tick.Value >= low*(1-slack) && tick.Value <= high*(1+slack) {
				ticks = append(ticks, tick)
			}
		}
	}
	return ticks
}

// slack prevents rounding errors of logarithms from moving a limit.
const slack = 1e-9

// roundBelow returns the next lower number with the single digit 1, 2 or 5.
func roundBelow(v float64) float64 {
	power := math.Pow10(int(math.Floor(math.Log10(v) + slack)))
	for _, i := range []float64{5, 2} {
		if i*power <= v*(1+slack) {
			return i * power
		}
	}
	return power
}

// roundAbove returns the next higher number with the single digit 1, 2 or 5.
func roundAbove(v float64) float64 {
	power := math.Pow10(int(math.Floor(math.Log10(v) - slack)))
	for _, i := range []float64{1, 2, 5} {
		if i*power >= v*(1-slack) {
			return i * power
		}
	}
	return 10 * power
}

// named are ticks with names at 1, 2, ….
type named []string

// Ticks returns all ticks.
func (n named) Ticks(float64, float64) []plot.Tick {
	ticks := make([]plot.Tick, len(n))
	for i, name := range n {
		ticks[i] = plot.Tick{Value: float64(i + 1), Label: name}
	}
	return ticks
}
