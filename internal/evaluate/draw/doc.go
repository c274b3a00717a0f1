// Package draw draws the reports of package evaluate: panels of curves with error bars over one
// legend, as SVG and PNG. It computes no figure, and reads and writes no file. The same report
// gives the same bytes.
package draw
