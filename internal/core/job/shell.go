package job

import (
	"path"
	"slices"

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

// SetCommand sets the command to the words that a user gave (BagCommand). With a shell that the user named (ShellProgram), a single
// word is always a shell command.
func (b *BagSpec) SetCommand(words []string) {
	named := b.ShellProgram != ""
	b.Command, b.Shell = bagCommand(words, b.Array, named)
	if b.ShellNamed = named; !named && b.RunsShell() && len(words) == 1 {
		b.ShellProgram = PosixShell
	}
}

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
	joins     = []string{"|", "||", "&&", "&", ";"}
	redirects = []string{">", ">>", "<", "<<", "2>"}
	merges    = []string{"2>&1", "1>&2", ">&2"}

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
