package cli

import (
	"bufio"
	"fmt"
	"os"
	"slices"
	"strings"

	"berth/internal/core/job"
	"berth/internal/core/job/parse"
	"berth/internal/driver"
	"berth/internal/driver/registry"
)

// one are options that a task has anyway if their value is 1.
var one = []string{"nodes", "N", "ntasks", "n", "ntasks-per-node"}

// script takes the options that the script which a command runs has in lines for a batch system. Flags are taken later, so that they replace them. What
// is not used of such lines is noted.
func (o *BagOptions) script(ask *parse.Ask, dir string, command []string, array bool) error {
	words := job.Script(command)
	if len(words) == 0 || len(command) == 1 && strings.ContainsAny(command[0], " \t\n;") {
		return nil
	}
	system, lines, unused := directiveLines(below(dir, words[0]))
	var used []string
	for i := 0; i < len(lines); i++ {
		name, value, behind := directive(lines[i])
		here := system.Directives.Of(name)
		var option *parse.Option
		if at := slices.IndexFunc(o.Request.options, func(opt *parse.Option) bool { return opt.Name == here }); at >= 0 {
			option = o.Request.options[at]
		}
		if !behind && i+1 < len(lines) && !strings.HasPrefix(lines[i+1], "-") {
			i++
			value = lines[i]
		}
		if here == "stdout" || here == "stderr" {
			if value = outputTemplate(value); value == "" {
				option = nil
			}
		}
		switch {
		case slices.Contains(one, name) && value == "1":
		case option == nil, option.Batch && o.Request.withoutBatch(), here == "array" && array:
			unused = append(unused, lines[i])
		default:
			if option.Arg == "" {
				value = "true"
			}
			if err := option.Set(ask, words[0]+": "+system.Mark+" "+name, value); err != nil {
				return err
			}
			used = append(used, "--"+option.Name)
		}
	}
	if len(used) > 0 {
		o.Notes = append(o.Notes, fmt.Sprintf("the %s lines of %s are taken as %s for each task", system.Mark, words[0], strings.Join(used, ", ")))
	}
	if len(unused) > 0 {
		o.Notes = append(o.Notes, fmt.Sprintf("%s asks for what is not used: %s", words[0], strings.Join(unused, ", ")))
	}
	return nil
}

// directiveLines returns the words in the lines of a script for a batch system whose options are read, up to the first command, and the
// marks of lines for others.
func directiveLines(path string) (system driver.BatchWords, words, others []string) {
	if st, err := os.Stat(path); err != nil || !st.Mode().IsRegular() {
		return system, nil, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return system, nil, nil
	}
	defer f.Close() // only read
	for in := bufio.NewScanner(f); in.Scan(); {
		line := strings.TrimSpace(in.Text())
		if line != "" && line[0] != '#' {
			break
		}
		mark, rest, _ := strings.Cut(line, " ")
		for _, w := range registry.Words() {
			switch {
			case mark != w.Mark:
			case w.Directives != "":
				system, words = w, append(words, untilComment(rest)...)
			case !slices.Contains(others, mark+" lines"):
				others = append(others, mark+" lines")
			}
		}
	}
	return system, words, others
}

func untilComment(text string) (words []string) {
	for _, w := range strings.Fields(text) {
		if w[0] == '#' {
			break
		}
		words = append(words, strings.Trim(w, `"'`))
	}
	return words
}

// directive parses an option: --name, --name=value, -n or -nVALUE. behind says that the value belongs to the same word.
func directive(word string) (name, value string, behind bool) {
	if long, is := strings.CutPrefix(word, "--"); is {
		name, value, behind = strings.Cut(long, "=")
		return name, strings.Trim(value, `"'`), behind
	}
	if short := strings.TrimPrefix(word, "-"); len(short) > 1 {
		return short[:1], strings.TrimPrefix(short[1:], "="), true
	}
	return strings.TrimPrefix(word, "-"), "", false
}

// outputTemplate returns the template of a file that a batch system names by a pattern, or "" if the tasks would share it.
func outputTemplate(pattern string) string {
	if pattern == "/dev/null" {
		return job.Discard
	}
	template := strings.NewReplacer("%a", "{task}", "%A", "{job}", "%j", "{job}-{task}", "%%", "%").Replace(pattern)
	if !strings.Contains(template, "{task}") || strings.Contains(template, "%") {
		return ""
	}
	return template
}
