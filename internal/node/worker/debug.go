package worker

import (
	"context"
	"encoding/xml"
	"io"
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
	stdout, syslog, jobconf := filepath.Join(t.dir, "stdout"), filepath.Join(t.dir, "syslog"), filepath.Join(t.dir, "job.xml")
	stderr := t.stderr.Path
	if _, err := os.Stat(stderr); err != nil { // the task wrote nothing there
		stderr = filepath.Join(t.dir, "stderr")
		if err := os.WriteFile(stderr, nil, 0o600); err != nil {
			return nil, err
		}
	}
	if err := os.WriteFile(stdout, nil, 0o600); err != nil { // empty, as the standard output of a streaming task is its output
		return nil, err
	}
	if err := os.WriteFile(syslog, []byte(cause.Error()+"\n"), 0o600); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(jobconf, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, err
	}
	if err := writeJobconf(f, t.spec.Conf); err != nil {
		_ = f.Close() // the error of the write is returned
		return nil, err
	}
	return []string{stdout, stderr, syslog, jobconf}, f.Close()
}

// property is an entry of a Hadoop configuration file.
type property struct {
	Name  string `xml:"name"`
	Value string `xml:"value"`
}

// writeJobconf writes job keys in the form of Hadoop's job.xml.
func writeJobconf(w io.Writer, conf map[string]string) error {
	var doc struct {
		XMLName    xml.Name   `xml:"configuration"`
		Properties []property `xml:"property"`
	}
	for _, key := range slices.Sorted(maps.Keys(conf)) {
		doc.Properties = append(doc.Properties, property{key, conf[key]})
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	enc := xml.NewEncoder(w)
	enc.Indent("", "  ")
	return enc.Encode(&doc)
}
