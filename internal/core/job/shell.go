package job

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"berth/internal/core/pattern"
)

// PosixShell is the shell that runs a command if no other is chosen.
const PosixShell = "/bin/sh"

// RunsShell reports whether a shell runs the bag's command or its entries.
func (b *BagSpec) RunsShell() bool { return b.Shell || b.RunsEntries() }

// RunsEntries reports whether the entries are the commands.
func (b *BagSpec) RunsEntries() bool {
	return len(b.Command) == 3 && b.Command[0] == PosixShell && b.Command[1] == "-c" && b.Command[2] == "{}"
}

// SetCommand sets the command to the words that a user gave. A single word with white space or
// characters of the shell is run by the shell, as is every single word with a shell that the user named (ShellProgram), and several
// words are run without one. A command without a placeholder gets the entry as its last argument, unless the entries are array
// indices or the user chose a placeholder. If the only word is the placeholder, each entry is a shell command.
//
// An entry is never appended to the last of several commands, unless the user said that it is to be (appended).
func (b *BagSpec) SetCommand(words []string, appended bool) error {
	b.ShellNamed = b.ShellProgram != ""
	one := len(words) == 1
	b.Command = slices.Clone(words)
	switch b.Shell = one && (b.ShellNamed || strings.ContainsAny(words[0], shellCharacters)); {
	case one && (words[0] == b.Placeholder || b.Placeholder == "" && words[0] == "{}"):
		b.Command, b.Shell, b.Placeholder = []string{PosixShell, "-c", "{}"}, false, ""
	case b.Array || b.Placeholder != "" || placeholder().MatchString(strings.Join(words, "\n")):
	case !appended && !takesArgument(words, b.Shell):
		if entryVariable().MatchString(strings.Join(words, "\n")) {
			break // the command reads its entry itself
		}
		last := words[len(words)-1]
		return ArgumentError("command", fmt.Sprintf("it has no {}, and the entry would be appended to the last of several commands: %s {}", last),
			"write {} where the entry belongs; without an entry use --array, as in --array 1-3; --append appends it all the same")
	case b.Shell:
		b.Command[0] += " {}"
	default:
		b.Command = append(b.Command, "{}")
	}
	if !b.ShellNamed && b.RunsShell() && one {
		b.ShellProgram = PosixShell
	}
	return nil
}

// ChangeCommand sets the command of a bag that has one to what its user gave in a single word, and remembers the one before.
func (b *BagSpec) ChangeCommand(word string) error {
	b.Earlier = append(slices.Clone(b.Earlier), earlierCommand{Command: b.commandText()})
	if !b.ShellNamed {
		b.ShellProgram = ""
	}
	if err := b.SetCommand([]string{word}, false); err != nil {
		return err
	}
	b.ChooseShell()
	return nil
}

// commandText returns the command for people.
func (b *BagSpec) commandText() string {
	if b.RunsEntries() {
		return "{}"
	}
	return strings.Join(b.Command, " ")
}

// Changes tells of the commands that a bag had before.
func (b *BagSpec) Changes() (notes []string) {
	for i, e := range b.Earlier {
		next := b.commandText()
		if i+1 < len(b.Earlier) {
			next = b.Earlier[i+1].Command
		}
		notes = append(notes, fmt.Sprintf("a resume changed the command when %s done; before: %s; since: %s", countDone(e.Done), e.Command, next))
	}
	return notes
}

func countDone(n int) string {
	if n == 1 {
		return "1 task was"
	}
	return FormatCount(n) + " tasks were"
}

// shellCharacters are the characters that make a command of one word a shell command.
const shellCharacters = " \t\n|&;<>()$`\\\"'*?[]~"

// entryVariable is the variable that has the entry of a task.
var entryVariable = pattern.Lazy(`\$\{?BERTH_ENTRY\b`)

// takesArgument reports whether a further word behind a command is an argument of it. Behind several commands it belongs to the last.
// ssh joins its words to one command for the shell of the host.
func takesArgument(words []string, shell bool) bool {
	if !shell && (len(words) == 0 || path.Base(words[0]) != "ssh") {
		return true
	}
	return isSimple(strings.Join(words, " "))
}

var (
	redirection = pattern.Lazy(`\d*(<<<|>>|<>|>\||[<>]&?)\s*[^\s<>&|;]+`)
	assignment  = pattern.Lazy(`^\w+\+?=`)
)

// isSimple reports whether a text is one simple command of the shell, behind which a further word is an argument of this command:
// there is a program to run, and no list, pipeline, group, here-document, comment, or quote without an end.
func isSimple(text string) bool {
	var q quoting
	bare := []byte(text) // without what is quoted or substituted
	for i, c := range bare {
		inside, last := len(q.open) > 0 || q.escaped, q.last
		q.next(c)
		group := c == '(' && !inside && (last == 0 || !strings.ContainsRune("$<>", rune(last)))
		if (inside || len(q.open) > 0 || q.escaped) && !group {
			bare[i] = 'x'
		}
	}
	if len(q.open) > 0 || q.escaped || hereDocument().Match(bare) {
		return false
	}
	rest := redirection().ReplaceAllString(string(bare), " ")
	words := strings.Fields(rest)
	for len(words) > 0 && assignment().MatchString(words[0]) {
		words = words[1:]
	}
	comment := func(w string) bool { return strings.HasPrefix(w, "#") }
	return len(words) > 0 && !strings.ContainsAny(rest, ";&|<>(\n") && !slices.ContainsFunc(words, comment)
}

var hereDocument = pattern.Lazy(`(^|[^<])<<([^<]|$)`)

// ChooseShell replaces /bin/sh by the user's own shell, $SHELL in the bag's environment, if that is bash or zsh and the user named
// no other. It is called once the environment is known.
func (b *BagSpec) ChooseShell() {
	own := Getenv(b.Env, "SHELL")
	if name := path.Base(own); b.ShellProgram == PosixShell && !b.ShellNamed && (name == "bash" || name == "zsh") {
		b.ShellProgram = own
	}
}

// shell returns the shell that runs the bag's commands.
func (b *BagSpec) shell() string {
	if b.ShellProgram == "" { // as in specs of older versions
		return PosixShell
	}
	return b.ShellProgram
}

var (
	joins     = strings.Fields("| || && & ;")
	redirects = strings.Fields("> >> < << 2>")
	merges    = strings.Fields("2>&1 1>&2 >&2")

	program = pattern.Lazy(`^[\w./~{"'$][^\s]*$`)
)

// ShellWord returns the first word of a command that a shell would interpret and a program does not, or "". A word that no shell could
// interpret at its position is not meant for one, such as the last word of "find . -exec ls {} ;" and the "|" of "cut -d | -f 1".
func ShellWord(words []string) string {
	for i, w := range words {
		last := i == 0 || i == len(words)-1
		switch {
		case slices.Contains(merges, w),
			!last && slices.Contains(redirects, w),
			!last && slices.Contains(joins, w) && program().MatchString(words[i+1]):
			return w
		}
	}
	return ""
}
