package ui

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/mattn/go-runewidth"

	"berth/internal/core/job"
	"berth/internal/core/pattern"
)

// size formats bytes in the notation of flags: "150M", binary units.
var size = job.FormatSize

// bytesRate formats bytes per second: "150M/s"; empty below 1.
func bytesRate(r float64) string {
	if r < 1 {
		return ""
	}
	return size(int64(r)) + "/s"
}

// joules formats an energy: "850 J", "12.3 kJ", "1.2 MJ".
func joules(j float64) string {
	unit, of := "J", 1.0
	for _, larger := range []string{"kJ", "MJ", "GJ"} {
		if j >= 999.5*of {
			unit, of = larger, 1000*of
		}
	}
	return fmt.Sprintf("%.3g %s", j/of, unit)
}

// tasksRate formats tasks per second, or per minute for low rates: "12/s", "3.5/min"; empty for none.
func tasksRate(r float64) string {
	switch {
	case r <= 0:
		return ""
	case r >= 10:
		return fmt.Sprintf("%.0f/s", r)
	case r >= 0.5:
		return fmt.Sprintf("%.1f/s", r)
	default:
		return fmt.Sprintf("%.1f/min", r*60)
	}
}

// seconds formats a duration given in seconds: "12.3s", "4m5s".
func seconds(s float64) string {
	return job.FormatDuration(job.Seconds(s))
}

// eta formats the expected remaining time, given in seconds.
func eta(s float64) string { return "ETA " + whole(s) }

// whole formats a time to come, given in seconds: in whole seconds, above an hour in minutes, because no estimate is more
// precise.
func whole(s float64) string {
	d := job.Seconds(math.Ceil(s))
	if d >= time.Hour {
		d = d.Round(time.Minute)
	}
	return job.FormatDuration(d)
}

// span formats a range of durations given in seconds: "10s–14s", or one of them when they look the same.
func span(low, up float64) string {
	l, u := seconds(low), seconds(up)
	if l == u {
		return l
	}
	return l + "–" + u
}

// some formats a value, and returns an empty string for 0.
func some[T comparable](v T, word func(T) string) string {
	var none T
	if v == none {
		return ""
	}
	return word(v)
}

// amount formats an amount of something, "150M in"; empty for 0.
func amount[T comparable](v T, word func(T) string, what string) string {
	return some(v, func(v T) string { return word(v) + " " + what })
}

// figure formats a number; empty for 0.
func figure(n int) string { return some(n, job.FormatCount) }

// many formats a number of things, "2,000 done"; empty for 0.
func many(n int, what string) string { return amount(n, job.FormatCount, what) }

// counted formats a number of things and what is said of them, "3 attempts lost"; empty for 0.
func counted(n int, thing, what string) string {
	return some(n, func(n int) string { return job.Count(n, thing) + what })
}

// given returns the texts that are not empty.
func given(texts ...string) []string {
	return slices.DeleteFunc(texts, func(s string) bool { return s == "" })
}

// joined joins the texts that are not empty.
func joined(by string, texts ...string) string { return strings.Join(given(texts...), by) }

// list joins the texts that are not empty by commas.
func list(texts ...string) string { return joined(", ", texts...) }

// lead puts a text behind what leads to it, as in ": why"; empty without a text.
func lead(by, text string) string { return some(text, func(text string) string { return by + text }) }

// aside puts a text into parentheses, behind a space; empty without a text.
func aside(text string) string {
	return some(text, func(text string) string { return " (" + text + ")" })
}

// put writes a text.
func put(w io.Writer, text string) error {
	_, err := io.WriteString(w, text)
	return err
}

// of formats a part of a number: "3/2,000".
func of(n, total int) string { return job.FormatCount(n) + "/" + job.FormatCount(total) }

// Say prints a line for people. Commands print no text for people but by way of it and the other functions of this package, because
// names of tasks, files and hosts may have control characters.
func Say(w io.Writer, format string, args ...any) error {
	return put(w, clean(fmt.Sprintf(format, args...))+"\n")
}

// clean makes text safe for one line of a terminal: control characters are shown as text, and bytes that are not
// UTF-8 are replaced.
func clean(s string) string {
	plain := func(r rune) bool { return unicode.IsPrint(r) && r != utf8.RuneError }
	if strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0 {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '\t':
			b.WriteString("    ")
		case plain(r) || r == utf8.RuneError:
			b.WriteRune(r)
		case r < 0x20 || r == 0x7f:
			b.WriteString("^" + string(r^0x40))
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

// cleanLines is clean for text of several lines; it drops empty lines at the end and carriage returns before line
// ends.
func cleanLines(s string) []string {
	s = strings.TrimRight(s, "\r\n\t ")
	if s == "" {
		return nil
	}
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		lines[i] = clean(strings.TrimSuffix(l, "\r"))
	}
	return lines
}

// fit cuts s to a width in columns.
func fit(s string, width int) string {
	if width <= 0 {
		return ""
	}
	return runewidth.Truncate(s, width, "…")
}

// pad fills s up to a width in columns.
func pad(s string, width int) string { return s + blanks(s, width) }

// padLeft fills s up to a width in columns, at its left.
func padLeft(s string, width int) string { return blanks(s, width) + s }

func blanks(s string, width int) string { return strings.Repeat(" ", max(0, width-columns(s))) }

// escape is what color adds to text: it takes no columns.
var escape = pattern.Lazy(`\x1b\[[0-9;]*m`)

// columns returns the width of s in columns, colours left out.
func columns(s string) int {
	if strings.Contains(s, "\x1b") {
		s = escape().ReplaceAllString(s, "")
	}
	if ascii(s) {
		return len(s)
	}
	return runewidth.StringWidth(s)
}

// ascii reports whether each byte of s takes one column, as nearly always: runewidth looks for marks that belong to the letter before,
// which took a sixth of the time of berth status with 200 jobs.
func ascii(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}
