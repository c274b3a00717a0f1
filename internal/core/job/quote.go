package job

import (
	"strconv"
	"strings"
)

// Quote returns a word quoted so that a POSIX shell reads it as that one word.
func Quote(word string) string {
	if isPlain(word) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

func quoteWords(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = Quote(w)
	}
	return strings.Join(quoted, " ")
}

// isPlain reports whether a word needs no quotes anywhere in a shell command. For zsh, =ls is the path of ls.
func isPlain(word string) bool {
	if strings.HasPrefix(word, "=") {
		return false
	}
	for _, c := range []byte(word) {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		if !letter && !strings.ContainsRune("_@%+=:,./-", rune(c)) {
			return false
		}
	}
	return word != ""
}

// shellScript replaces the placeholders of a shell command by the values of an entry. Plain values are
// written into the script. For any other value the script has a positional parameter, and the value is
// appended to values.
func (b *BagSpec) shellScript(entry Entry, index int) (script string, values []string) {
	command := b.Command[0]
	q := quoting{dollar: b.shell() != PosixShell}
	var text strings.Builder
	rest, places := command, b.places()
	for {
		at := places.FindStringIndex(rest)
		if at == nil {
			text.WriteString(rest)
			return text.String(), values
		}
		text.WriteString(rest[:at[0]])
		q.read(rest[:at[0]])
		for i, v := range b.values(rest[at[0]:at[1]], entry, index) {
			if i > 0 {
				text.WriteByte(' ')
			}
			if isPlain(v) {
				text.WriteString(v)
				continue
			}
			values = append(values, v)
			text.WriteString(q.parameter(len(values)))
		}
		rest = rest[at[1]:]
	}
}

// quoting is the state of a parser of a shell command's quotes. Its stack has an element for each
// open construct: ' and " for quotes, $ for quotes that begin with $', ` and ( for command substitutions
// or groups, and { for a parameter in braces.
type quoting struct {
	open    []byte
	dollar  bool // the shell knows $'…', in which a backslash quotes the next character
	last    byte // the character before; 0: there is none, or it is quoted
	escaped bool // a backslash quotes the next character
}

func (q *quoting) top() byte {
	if len(q.open) == 0 {
		return 0
	}
	return q.open[len(q.open)-1]
}

func (q *quoting) push(c byte) { q.open = append(q.open, c) }
func (q *quoting) pop()        { q.open = q.open[:len(q.open)-1] }

// read advances the state over text, which ends at a placeholder or at the end of the command.
func (q *quoting) read(text string) {
	q.last, q.escaped = 0, false
	for i := range len(text) {
		q.next(text[i])
	}
}

// next advances the state over one character.
func (q *quoting) next(c byte) {
	last := q.last
	q.last = c
	if q.escaped {
		q.last, q.escaped = 0, false
		return
	}
	switch q.top() {
	case '\'':
		if c == '\'' {
			q.pop()
		}
		return
	case '"':
		if c == '"' {
			q.pop()
			return
		}
		if c == '\'' || c == '(' && last != '$' || c == ')' {
			return
		}
	}
	switch {
	case c == '\\':
		q.escaped = true
	case q.top() != '$':
		q.step(last, c)
	case c == '\'':
		q.pop()
	}
}

// step advances the state over one character that may open or close a construct, by the character before it.
func (q *quoting) step(last, c byte) {
	switch {
	case c == '`' && q.top() == '`', c == ')' && q.top() == '(', c == '}' && q.top() == '{':
		q.pop()
	case c == '\'' && q.dollar && last == '$':
		q.push('$')
	case c == '\'' || c == '"' || c == '`' || c == '(':
		q.push(c)
	case c == '{' && last == '$':
		q.push(c)
	}
}

// parameter returns the positional parameter n, quoted so that it is one word at the present position.
func (q *quoting) parameter(n int) string {
	p := "${" + strconv.Itoa(n) + "}"
	switch q.top() {
	case '"':
		return p
	case '\'':
		return `'"` + p + `"'`
	case '$':
		return `'"` + p + `"$'`
	case '{':
		if len(q.open) > 1 && q.open[len(q.open)-2] == '"' {
			return p
		}
	case '`':
		if len(q.open) > 1 && q.open[len(q.open)-2] == '"' {
			return `\"` + p + `\"`
		}
	}
	return `"` + p + `"`
}
