package worker

import (
	"context"
	"encoding/xml"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"berth/internal/core/job"
	"berth/internal/node/process"
)

// debugTime is the longest duration of a debug script.
const debugTime = time.Minute

// debug runs the job's script for failed maps or reduces (-mapdebug, -reducedebug) in the task's folder. Its arguments are
// those that Hadoop passes: the files stdout, stderr, syslog and jobconf. debug returns the task's last lines, followed
// by the output of the script.
func (t *streamTask) debug(cause error, tail string) string {
	script := t.spec.MapDebug
	if t.kind == job.ReduceTask {
		script = t.spec.ReduceDebug
	}
	if script == "" {
		return tail
	}
	args, err := t.debugFiles(cause)
	if err != nil {
		t.w.log.Warn("debug script is not run", "attempt", t.a.id, "err", err)
		return tail
	}
	name := strings.TrimSuffix(t.stderr.Path, ".stderr") + ".debug"
	log := &process.Log{Path: name, Meter: t.a.meter, Prefix: "\n"} // no line begins with this, so none is a report
	p := t.command(append(strings.Fields(script), args...), log)
	p.Lax = true
	ctx, cancel := context.WithTimeout(t.a.ctx, debugTime)
	defer cancel()
	err = t.w.guard(t.a, func() error { return p.Run(ctx, strings.NewReader(""), log.Stream()) })
	said, lerr := log.Close()
	if err != nil || lerr != nil {
		t.w.log.Warn("debug script failed", "attempt", t.a.id, "err", err, "log", lerr)
	}
	if said == "" {
		return tail
	}
	return process.LastLines(strings.TrimPrefix(tail+"\n"+said, "\n"))
}

// debugFiles creates the files for a debug script and returns their paths.
func (t *streamTask) debugFiles(cause error) ([]string, error) {
	conf, err := jobconf(t.spec.Conf)
	if err != nil {
		return nil, err
	}
	var paths []string
	for _, f := range []struct {
		name string
		text []byte
	}{
		{"stdout", nil}, // as the standard output of a streaming task is its output
		{"stderr", nil},
		{"syslog", []byte(cause.Error() + "\n")},
		{"job.xml", conf},
	} {
		path := filepath.Join(t.dir, f.name)
		if _, err := os.Stat(t.stderr.Path); err == nil && f.name == "stderr" {
			path = t.stderr.Path
		} else if err := os.WriteFile(path, f.text, 0o600); err != nil {
			return nil, err
		}
		paths = append(paths, path)
	}
	return paths, nil
}

// property is an entry of a Hadoop configuration file.
type property struct {
	Name  string `xml:"name"`
	Value string `xml:"value"`
}

// jobconf returns job keys in the form of Hadoop's job.xml.
func jobconf(conf map[string]string) ([]byte, error) {
	var doc struct {
		XMLName    xml.Name   `xml:"configuration"`
		Properties []property `xml:"property"`
	}
	for _, key := range slices.Sorted(maps.Keys(conf)) {
		doc.Properties = append(doc.Properties, property{key, conf[key]})
	}
	text, err := xml.MarshalIndent(&doc, "", "  ")
	return append([]byte(xml.Header), text...), err
}
