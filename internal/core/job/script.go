package job

import (
	"path"
	"slices"
	"strings"

	"berth/internal/core/pattern"
)

// An interpreter runs a script. Its options are single letters here.
type interpreter struct {
	name   string // without a version
	valued string // options that have the next word as their value
	code   string // options with which it runs no script
}

var interpreters = func() (all []interpreter) {
	for row := range strings.Lines(`
python WX cm
pypy WX cm
sh oO cs
bash oO cs
dash oO cs
zsh oO cs
ksh oO cs
perl I eE
ruby Ir e
Rscript - e
julia ptJL eE
node r ep
lua - e`) {
		if words := strings.Fields(row); len(words) > 0 {
			all = append(all, interpreter{words[0], words[1], words[2]})
		}
	}
	return all
}()

// Script returns a command from its script on, without the interpreter that runs it: "./map.py -n" of "python3 -u map.py -n". A relative
// path of a script begins with ./ then, and so does the name of a program that has an extension. Other commands are returned unchanged.
func Script(words []string) []string {
	interpreted := false
	for len(words) > 0 {
		rest, script := behind(words)
		if len(rest) == 0 {
			break
		}
		words, interpreted = rest, interpreted || script
	}
	if len(words) == 0 {
		return words
	}
	first := words[0]
	if path.IsAbs(first) || isPlaceholder(first) || !interpreted && !strings.HasPrefix(first, "./") && !withExtension().MatchString(first) {
		return words
	}
	return append([]string{"./" + path.Clean(first)}, words[1:]...)
}

// withExtension is the name of a program text.
var withExtension = pattern.Lazy(`^[\w./+-]*\w\.[A-Za-z][A-Za-z0-9]{0,4}$`)

// behind returns the words of a command behind the program at its beginning if that runs what these words say, else nil. script says
// that it is an interpreter.
func behind(words []string) (rest []string, script bool) {
	name := strings.TrimRight(path.Base(words[0]), "0123456789.")
	switch name {
	case "env", "nohup", "time", "exec":
		return behindEnv(words[1:]), false
	case "java":
		return behindJar(words[1:]), true
	}
	if i := slices.IndexFunc(interpreters, func(in interpreter) bool { return in.name == name }); i >= 0 {
		return interpreters[i].script(words[1:]), true
	}
	return nil, false
}

// script returns an interpreter's arguments from the script on, or nil if it runs none.
func (in interpreter) script(words []string) []string {
	for i := 0; i < len(words); i++ {
		option, isOption := strings.CutPrefix(words[i], "-")
		switch {
		case !isOption:
			return words[i:]
		case option == "" || option == "-" || strings.HasPrefix(option, "-e"), option[0] != '-' && strings.ContainsAny(option, in.code):
			return nil
		case len(option) == 1 && strings.Contains(in.valued, option):
			i++
		}
	}
	return nil
}

// behindEnv returns the words behind the variables that env sets, or nil if it has options.
func behindEnv(words []string) []string {
	for i, w := range words {
		if strings.HasPrefix(w, "-") {
			return nil
		}
		if !strings.Contains(w, "=") {
			return words[i:]
		}
	}
	return nil
}

// behindJar returns the words behind -jar, or nil if java runs a class.
func behindJar(words []string) []string {
	if i := slices.Index(words, "-jar"); i >= 0 && i+1 < len(words) {
		return words[i+1:]
	}
	return nil
}

// preparing are commands that prepare what a shell command is about.
var preparing = strings.Fields(`cd export module source . set ulimit umask mkdir read test [ [[ for case select function done fi esac }`)

// beforeCommand are words of a shell that stand before a command.
var beforeCommand = strings.Fields(`if then else elif while until do ! time {`)

// shellScriptWords returns the words of the first command of a shell's text that does not only prepare others.
func shellScriptWords(text string) []string {
	var first []string
	for _, part := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(";|&\n()", r) }) {
		words := strings.Fields(part)
		for len(words) > 0 && slices.Contains(beforeCommand, words[0]) {
			words = words[1:]
		}
		words = words[min(len(words), assignments(words)):]
		if len(words) > 0 && first == nil {
			first = words
		}
		if len(words) > 0 && !slices.Contains(preparing, words[0]) {
			return words
		}
	}
	return first
}

// assignments returns the number of words at the beginning that set variables.
func assignments(words []string) int {
	for i, w := range words {
		if name, _, is := strings.Cut(w, "="); !is || strings.ContainsAny(name, "/-{'\"") {
			return i
		}
	}
	return len(words)
}
