package cli

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"berth/internal/core/job"
	"berth/internal/core/job/parse"
	"berth/internal/driver"
	"berth/internal/driver/registry"
)

// script takes the options that the script which a command runs has in lines for a batch system. Flags are taken later, so that they replace them. What
// is not used of such lines is noted.
func (o *BagOptions) script(ask *parse.Ask, dir string, command []string, array bool) error {
	words := job.Script(command)
	if len(words) == 0 || len(command) == 1 && strings.ContainsAny(command[0], " \t\n;") {
		return nil
	}
	system, lines, unused := directiveLines(below(dir, words[0]))
	ranks, options := ranksOf(scriptOptions(system, lines))
	var used []string
	take := func(name, value, as string) error {
		option := o.option(name)
		if option.Arg == "" {
			value = "true"
		}
		used = append(used, "--"+strings.TrimSpace(option.Name+" "+as))
		return option.Set(ask, words[0]+": "+system.Mark+" "+name, value)
	}
	if o.Request.has("ranks", "ranks-per-node") {
		ranks.onNode = 0 // how many share what the script says of a node is not known
	}
	if ranks.Several() && o.Request.has("ranks") {
		unused = append(unused, ranks.said...)
	} else if ranks.Several() {
		errs := take("ranks", strconv.Itoa(ranks.Ranks), strconv.Itoa(ranks.Ranks))
		if ranks.RanksPerNode > 0 {
			errs = errors.Join(errs, take("ranks-per-node", strconv.Itoa(ranks.RanksPerNode), strconv.Itoa(ranks.RanksPerNode)))
		}
		if errs != nil {
			return errs
		}
	}
	for _, opt := range options {
		value := opt.value
		switch {
		case opt.here == "stdout" || opt.here == "stderr":
			value = outputTemplate(value)
		case opt.isOfNode():
			value = ranks.forRank(words[0]+": "+system.Mark+" "+opt.name, opt)
		}
		option := o.option(opt.here)
		if option == nil || value == "" && option.Arg != "" || option.Batch && o.Request.withoutBatch() || opt.here == "array" && array ||
			opt.here == "ranks" || opt.here == "ranks-per-node" {
			unused = append(unused, opt.said)
			continue
		}
		if err := take(opt.here, value, ""); err != nil {
			return err
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

// option returns the option of a bag with that name, nil if there is none.
func (o *BagOptions) option(name string) *parse.Option {
	at := slices.IndexFunc(o.Request.options, func(opt *parse.Option) bool { return opt.Name == name })
	if at < 0 {
		return nil
	}
	return o.Request.options[at]
}

// scriptOptions returns the options in the words of a script's lines for a batch system.
func scriptOptions(system driver.BatchWords, lines []string) (all []scriptOption) {
	for i := 0; i < len(lines); i++ {
		name, value, behind := directive(lines[i])
		said := lines[i]
		if !behind && i+1 < len(lines) && !strings.HasPrefix(lines[i+1], "-") {
			i++
			value = lines[i]
			said += " " + value
		}
		all = append(all, scriptOption{said, name, value, system.Directives.Of(name)})
	}
	return all
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
