package cli

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"berth/internal/core/job"
	"berth/internal/core/job/parse"
)

// directives are the options of sbatch in a script that a bag has, too, with their names here.
var directives = map[string]string{
	"array": "array", "a": "array", "cpus-per-task": "cpus-per-task", "c": "cpus-per-task", "mem": "mem", "gpus-per-task": "gpus",
	"time": "time-limit", "t": "time-limit", "output": "stdout", "o": "stdout", "error": "stderr", "e": "stderr", "job-name": "job-name", "J": "job-name",
	"partition": "partition", "p": "partition", "account": "account", "A": "account", "qos": "qos", "q": "qos",
	"constraint": "constraint", "C": "constraint", "exclusive": "exclusive",
}

// one are options that a task has anyway if their value is 1.
var one = []string{"nodes", "N", "ntasks", "n", "ntasks-per-node"}

// otherMarks begin the lines with options of other batch systems, which are not read.
var otherMarks = []string{"#PBS", "#$", "#BSUB", "#HQ"}

// script takes the options in the #SBATCH lines of the script that a command runs. Flags are taken later, so that they replace them. What
// is not used of such lines is noted.
func (o *BagOptions) script(ask *parse.Ask, dir string, command []string, array bool) error {
	words := job.Script(command)
	if len(words) == 0 || len(command) == 1 && strings.ContainsAny(command[0], " \t\n;") {
		return nil
	}
	path := words[0]
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	lines, others := directiveLines(path)
	var used, unused []string
	for i := 0; i < len(lines); i++ {
		name, value, behind := directive(lines[i])
		here, option := directives[name], (*parse.Option)(nil)
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
			if err := option.Set(ask, words[0]+": #SBATCH "+name, value); err != nil {
				return err
			}
			used = append(used, "--"+option.Name)
		}
	}
	o.noteDirectives(words[0], used, append(unused, others...))
	return nil
}

func (o *BagOptions) noteDirectives(script string, used, unused []string) {
	if len(used) > 0 {
		o.Notes = append(o.Notes, fmt.Sprintf("the #SBATCH lines of %s are taken as %s for each task", script, strings.Join(used, ", ")))
	}
	if len(unused) > 0 {
		o.Notes = append(o.Notes, fmt.Sprintf("%s asks for what is not used: %s", script, strings.Join(unused, ", ")))
	}
}

// directiveLines returns the words in the #SBATCH lines of a script, of which sbatch reads those before the first command, and the
// marks of other systems in it.
func directiveLines(path string) (words, others []string) {
	if st, err := os.Stat(path); err != nil || !st.Mode().IsRegular() {
		return nil, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, nil
	}
	defer func() { _ = f.Close() }() // only read
	for in := bufio.NewScanner(f); in.Scan(); {
		line := strings.TrimSpace(in.Text())
		if line != "" && line[0] != '#' {
			break
		}
		mark, rest, _ := strings.Cut(line, " ")
		switch {
		case mark == "#SBATCH":
			for _, w := range strings.Fields(rest) {
				if w[0] == '#' {
					break
				}
				words = append(words, strings.Trim(w, `"'`))
			}
		case slices.Contains(otherMarks, mark) && !slices.Contains(others, mark+" lines"):
			others = append(others, mark+" lines")
		}
	}
	return words, others
}

// directive parses an option of sbatch: --name, --name=value, -n or -nVALUE. behind says that the value belongs to the same word.
func directive(word string) (name, value string, behind bool) {
	if long, is := strings.CutPrefix(word, "--"); is {
		return cutValue(long)
	}
	if short := strings.TrimPrefix(word, "-"); len(short) > 1 {
		return short[:1], strings.TrimPrefix(short[1:], "="), true
	}
	return strings.TrimPrefix(word, "-"), "", false
}

func cutValue(long string) (name, value string, behind bool) {
	name, value, behind = strings.Cut(long, "=")
	return name, strings.Trim(value, `"'`), behind
}

// outputTemplate returns the template of a file that sbatch names by a pattern, or "" if the tasks would share it.
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
