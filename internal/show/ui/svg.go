package ui

import (
	"fmt"
	"html"
	"io"
	"strings"
)

// Colours of Okabe and Ito ("Color Universal Design", 2008), which colour-blind people can distinguish.
const (
	blue      = "#0072B2"
	green     = "#009E73"
	vermilion = "#D55E00"
	purple    = "#CC79A7"
)

// svg is a drawing on a white ground. Lengths are in pixels.
type svg struct{ b strings.Builder }

func newSVG(wide, high, font int) *svg {
	d := &svg{}
	d.printf(`<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %[1]d %[2]d" font-family="sans-serif" font-size="%d">`, wide, high, font)
	d.printf(`<rect width="%d" height="%d" fill="#fff"/>`, wide, high)
	return d
}

// printf adds a line.
func (d *svg) printf(format string, args ...any) { fmt.Fprintf(&d.b, format+"\n", args...) }

// text adds a text whose anchor (start, middle, end) is at a point.
func (d *svg) text(x, y int, anchor, text string) {
	d.printf(`<text x="%d" y="%d" text-anchor="%s">%s</text>`, x, y, anchor, html.EscapeString(clean(text)))
}

// write ends the drawing.
func (d *svg) write(w io.Writer) error {
	d.printf("</svg>")
	return put(w, d.b.String())
}
