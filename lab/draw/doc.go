// Package draw draws the reports of package evaluate as SVG and PNG: panels of curves with error
// bars above one legend. Report returns the figure of a report, and Charts a figure of other
// measurements:
//
//	svg, err := draw.Report(report).SVG()
//
// The package must not compute figures or read or write files. The same report gives the same bytes.
package draw
