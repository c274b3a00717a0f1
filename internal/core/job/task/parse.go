package task

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"berth/internal/core/job"
	"berth/internal/core/job/parse"
)

// maxName is the length in bytes of the longest name of a task.
const maxName = 255

// reader reads the value of a key into a task.
type reader func(s *Spec, where string, v json.RawMessage) error

// keys are the keys of a line.
var keys = func() map[string]reader {
	all := map[string]reader{
		"name":        into(name, func(s *Spec) *string { return &s.Name }),
		"command":     command,
		"entry":       into(words, func(s *Spec) *[]string { return (*[]string)(&s.Entry) }),
		"dir":         into(text, func(s *Spec) *string { return &s.Dir }),
		"env":         env,
		"stdout":      into(text, func(s *Spec) *string { return &s.Stdout }),
		"stderr":      into(text, func(s *Spec) *string { return &s.Stderr }),
		"outputs":     into(words, func(s *Spec) *[]string { return &s.Outputs }),
		"application": into(text, func(s *Spec) *string { return &s.Application }),
		"retries":     retries,
		"use": func(s *Spec, where string, v json.RawMessage) error {
			return need(&s.Needs, where, v, func(n *job.Needs, where, value string) (err error) {
				n.Uses, err = parse.Uses(where, value)
				return err
			})
		},
		"after": after,
	}
	for _, n := range parse.Needs {
		all[n.Name] = ofNeeds(n.Read)
	}
	all["ranks_per_node"] = ofNeeds(parse.RanksPerNode)
	return all
}()

func into[T any](read func(where string, v json.RawMessage) (T, error), field func(*Spec) *T) reader {
	return func(s *Spec, where string, v json.RawMessage) (err error) {
		*field(s), err = read(where, v)
		return err
	}
}

// Lines returns the lines of an input, nil for an empty one.
func Lines(input []byte) []json.RawMessage {
	lines := make([]json.RawMessage, 0, bytes.Count(input, []byte{'\n'})+1)
	for line := range bytes.Lines(input) {
		if line = bytes.TrimSpace(line); len(line) == 0 {
			line = nil
		}
		lines = append(lines, line)
	}
	return lines
}

// Parse reads tasks, one JSON object a line. Empty lines are skipped. from is the name of the input, for errors.
func Parse(from string, lines []json.RawMessage) ([]Spec, error) {
	tasks := make([]Spec, 0, len(lines))
	for i, line := range lines {
		if len(line) == 0 {
			continue
		}
		s, err := parseLine(place(from, i+1), line)
		if err != nil {
			return nil, err
		}
		s.Line = i + 1
		tasks = append(tasks, s)
	}
	return tasks, nil
}

// place returns the position of a line, for errors. Lines that a program hands over are in no file.
func place(from string, line int) string {
	if from == "" {
		return "line " + strconv.Itoa(line)
	}
	return from + ":" + strconv.Itoa(line)
}

func parseLine(where string, line []byte) (s Spec, err error) {
	if !utf8.Valid(line) {
		return s, job.ConfigError(where, "the line is not valid UTF-8", "write other bytes of a name into a script, and the script into the line")
	}
	var object map[string]json.RawMessage
	if err := json.Unmarshal(line, &object); err != nil || object == nil {
		return s, job.ConfigError(where, "the line is not a JSON object", `write one object a line, as in {"name":"a","command":["sort","a.txt"]}`)
	}
	if what, do := lossy(line); what != "" {
		return s, job.ConfigError(where, what, do)
	}
	for _, key := range slices.Sorted(maps.Keys(object)) {
		read, known := keys[key]
		if !known {
			all := slices.Sorted(maps.Keys(keys))
			return s, job.ConfigError(where, fmt.Sprintf("a task has no key %q", key), parse.DidYouMean(key, all, "the keys are "+strings.Join(all, ", ")))
		}
		if err := read(&s, where+": "+key, object[key]); err != nil {
			return s, err
		}
	}
	if s.Command != nil && s.Entry != nil {
		return s, job.ConfigError(where, "the task has both a command and an entry", "leave one out: an entry is for the bag's command")
	}
	if s.Ranks > 0 && s.RanksPerNode > s.Ranks {
		return s, job.ConfigError(where+": ranks_per_node", fmt.Sprintf("%d on each node are more than %s", s.RanksPerNode, job.Count(s.Ranks, "rank")), "write fewer, or more ranks")
	}
	if s.Stdout != "" && s.Stdout == s.Stderr && s.Stdout != job.Discard {
		return s, job.ConfigError(where, "stdout and stderr are the same file", "write 2>&1 in a shell command instead")
	}
	return s, nil
}

// lossy says what a valid JSON text has that its value would not show, and what to do.
func lossy(line []byte) (what, do string) {
	for _, escape := range escapes().FindAllString(string(line), -1) {
		if len(escape) == len(`\ud800`) {
			return escape + " is half of a character", "write other bytes of a name into a script, and the script into the line"
		}
	}
	if key, is := keyTwice(json.NewDecoder(bytes.NewReader(line))); is {
		return fmt.Sprintf("the key %q is there twice", key), "keep one of them"
	}
	return "", ""
}

// escapes matches escapes of JSON texts: a backslash, a surrogate pair, or half of one.
var escapes = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\\\\|\\u[dD][89abAB]..\\u[dD][c-fC-F]..|\\u[dD][89a-fA-F]..`)
})

// keyTwice returns a key that an object in the next value has twice. The value must be valid.
func keyTwice(d *json.Decoder) (key string, is bool) {
	token, err := d.Token()
	begin, nested := token.(json.Delim)
	if err != nil || !nested {
		return "", false
	}
	seen := map[string]bool{}
	for d.More() {
		if begin == '{' {
			token, _ := d.Token()
			key, _ := token.(string)
			if seen[key] {
				return key, true
			}
			seen[key] = true
		}
		if key, is := keyTwice(d); is {
			return key, true
		}
	}
	_, _ = d.Token() // the end of the object or list
	return "", false
}

// text reads a string.
func text(where string, v json.RawMessage) (string, error) {
	var s string
	switch err := json.Unmarshal(v, &s); {
	case err != nil || s == "":
		return "", job.ConfigError(where, fmt.Sprintf("%s is not a text", shown(v)), "write it in quotes, or leave the key out")
	case strings.ContainsRune(s, 0):
		return "", job.ConfigError(where, fmt.Sprintf("%q has a NUL", s), "leave it out: no program could receive it")
	}
	return s, nil
}

// name reads a task's name. It must not look like an id, and must fit into a line of a report.
func name(where string, v json.RawMessage) (string, error) {
	s, err := text(where, v)
	if err != nil {
		return "", err
	}
	if _, err := strconv.Atoi(s); err == nil || len(s) > maxName || strings.ContainsAny(s, "\n\r\t") {
		return "", job.ConfigError(where, fmt.Sprintf("%s is not the name of a task", shown(v)),
			fmt.Sprintf("write at most %d bytes in one line, with something other than digits", maxName))
	}
	return s, nil
}

// words reads a list of strings, or a single one.
func words(where string, v json.RawMessage) ([]string, error) {
	var list []string
	if v[0] == '"' {
		s, err := text(where, v)
		return []string{s}, err
	}
	if err := json.Unmarshal(v, &list); err != nil || len(list) == 0 {
		return nil, job.ConfigError(where, fmt.Sprintf("%s is not a list of texts", shown(v)), `write a list such as ["a","b"]`)
	}
	for _, s := range list {
		if strings.ContainsRune(s, 0) {
			return nil, job.ConfigError(where, fmt.Sprintf("%q has a NUL", s), "leave it out: no program could receive it")
		}
	}
	return list, nil
}

func command(s *Spec, where string, v json.RawMessage) (err error) {
	s.Command, err = words(where, v)
	if s.Shell = v[0] == '"'; err == nil && s.Command[0] == "" {
		return job.ConfigError(where, "the name of the program is empty", `write a list such as ["sort","a.txt"], or a text for the shell`)
	}
	return err
}

// whole reads a number without a fraction.
func whole(where string, v json.RawMessage, low, high int) (int, error) {
	n, err := strconv.Atoi(string(v))
	if err != nil || n < low || n > high {
		return 0, job.ConfigError(where, fmt.Sprintf("%s is not a whole number from %d to %d", shown(v), low, high), "write the number without quotes")
	}
	return n, nil
}

func ofNeeds(read func(n *job.Needs, where, value string) error) reader {
	return func(s *Spec, where string, v json.RawMessage) error { return need(&s.Needs, where, v, read) }
}

// need reads one of the task's own needs as the option for it does: a text with a unit, a type or a range, or a number without.
func need(n *job.Needs, where string, v json.RawMessage, read func(n *job.Needs, where, value string) error) (err error) {
	said, before := string(v), *n
	if v[0] == '"' {
		if said, err = text(where, v); err != nil {
			return err
		}
	}
	if err = read(n, where, said); err == nil && *n == before {
		err = job.ConfigError(where, "it is 0", "write more, or leave the key out")
	}
	return err
}

func retries(s *Spec, where string, v json.RawMessage) error {
	n, err := whole(where, v, 0, math.MaxInt16)
	s.Attempts = n + 1
	return err
}

func env(s *Spec, where string, v json.RawMessage) error {
	var vars map[string]string
	if err := json.Unmarshal(v, &vars); err != nil {
		return job.ConfigError(where, fmt.Sprintf("%s is not an object of texts", shown(v)), `write an object such as {"OMP_NUM_THREADS":"4"}`)
	}
	for _, name := range slices.Sorted(maps.Keys(vars)) {
		kv := name + "=" + vars[name]
		if name == "" || strings.ContainsAny(name, "=") || strings.ContainsRune(kv, 0) {
			return job.ConfigError(where, fmt.Sprintf("%q cannot be the name or value of a variable", kv), "leave the NUL or the = out")
		}
		s.Env = append(s.Env, kv)
	}
	return nil
}

func after(s *Spec, where string, v json.RawMessage) error {
	var list []json.RawMessage
	if err := json.Unmarshal(v, &list); err != nil {
		return job.ConfigError(where, fmt.Sprintf("%s is not a list", shown(v)), `write a list of names and ids, as in ["a",3]`)
	}
	for _, one := range list {
		var r Ref
		var err error
		if one[0] == '"' {
			r.Name, err = name(where, one)
		} else {
			r.ID, err = whole(where, one, 0, math.MaxInt32)
		}
		if err != nil {
			return err
		}
		s.After = append(s.After, r)
	}
	return nil
}

// shown returns a value for an error.
func shown(v json.RawMessage) string { return job.Shorten(string(v), 60) }
