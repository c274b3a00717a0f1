package pbs

import (
	"berth/internal/core/pattern"
	"slices"
	"strings"
)

// separator separates the fields of a line in the format dsv. PBS escapes it in values, as it does with other control characters.
const separator = "\x1f"

// dsv returns a command that prints that format.
func dsv(name, args string) string { return name + " -F dsv -D " + separator + " " + args }

// record is a job, queue, server, node or reservation: its values by key, and its name, whose key is empty.
type record map[string]string

func (r record) name() string { return r[""] }

// is reports whether the value of a key is "True".
func (r record) is(key string) bool { return r[key] == "True" }

// list returns the items of a value that is a list separated by commas.
func (r record) list(key string) []string {
	return strings.FieldsFunc(r[key], func(c rune) bool { return c == ',' || c == ' ' })
}

// has returns a function that reports whether a text is among these items.
func (r record) has(key string) func(item string) bool {
	return func(item string) bool { return slices.Contains(r.list(key), item) }
}

// parseRecords reads lines of the format dsv: "Job Id: 7.pbs" (or "Queue: …", "Server: …", "Name=…"), and then fields "key=value".
func parseRecords(out string) []record {
	var all []record
	for line := range strings.Lines(out) {
		fields := splitFields(strings.TrimSuffix(line, "\n"))
		r := make(record, len(fields))
		for _, f := range fields[1:] {
			if key, value, ok := strings.Cut(f, "="); ok && key != "" {
				r[key] = value
			}
		}
		if head := recordHead().FindStringSubmatch(fields[0]); head != nil {
			r[""] = head[1]
			all = append(all, r)
		}
	}
	return all
}

// recordHead begins a line of that format, and has the name of the record.
var recordHead = pattern.Lazy(`^(?:Job Id: |Queue: |Server: |Name=)(.+)`)

// splitFields splits a line at the separator. A backslash takes the meaning of the character behind it.
func splitFields(line string) []string {
	var fields []string
	var field strings.Builder
	for i := 0; i < len(line); i++ {
		switch {
		case line[i] == '\\' && i+1 < len(line) && (line[i+1] == '\\' || line[i+1] == separator[0]):
			i++
			field.WriteByte(line[i])
		case line[i] == separator[0]:
			fields = append(fields, field.String())
			field.Reset()
		default:
			field.WriteByte(line[i])
		}
	}
	return append(fields, field.String())
}

// parseListing reads "pbs_rstat -F", which knows no other format: "Resv ID: R7.pbs", and then lines "key = value".
func parseListing(out string) []record {
	var all []record
	for line := range strings.Lines(out) {
		line = strings.TrimSuffix(line, "\n")
		if name, ok := strings.CutPrefix(line, "Resv ID: "); ok {
			all = append(all, record{"": name})
		} else if key, value, ok := strings.Cut(strings.TrimSpace(line), " = "); ok && len(all) > 0 && key != "" {
			all[len(all)-1][key] = value
		}
	}
	return all
}
