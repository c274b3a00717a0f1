package ui

// color wraps text in ANSI colours, or returns it unchanged if false.
type color bool

func (c color) wrap(code, s string) string {
	if !c || s == "" {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

func (c color) red(s string) string   { return c.wrap("31", s) }
func (c color) green(s string) string { return c.wrap("32", s) }
func (c color) bold(s string) string  { return c.wrap("1", s) }
func (c color) dim(s string) string   { return c.wrap("2", s) }
