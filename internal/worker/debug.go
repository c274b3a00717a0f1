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

	"berth/internal/job"
	"berth/internal/process"
)

// debugTime is how long a debug script may take.
const debugTime = time.Minute

// debug runs the job's script for failed maps or reduces (-mapdebug,
// -reducedebug) in the task's folder, with the arguments that Hadoop gives it:
// the files stdout, stderr, syslog and jobconf. It returns the task's last lines
// with what the script wrote behind them.
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
	log := &process.Log{Path: name, Meter: t.a.meter, Prefix: "\n"} // no line begins so: nothing in it is a report
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

// debugFiles makes the files that a debug script is given and returns their paths.
func (t *streamTask) debugFiles(cause error) ([]string, error) {
	stdout, syslog, jobconf := filepath.Join(t.dir, "stdout"), filepath.Join(t.dir, "syslog"), filepath.Join(t.dir, "job.xml")
	stderr := t.stderr.Path
	if _, err := os.Stat(stderr); err != nil { // the task wrote nothing there
		stderr = filepath.Join(t.dir, "stderr")
		if err := os.WriteFile(stderr, nil, 0o600); err != nil {
			return nil, err
		}
	}
	if err := os.WriteFile(stdout, nil, 0o600); err != nil { // what a streaming task writes there is its output
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
		_ = f.Close() // the write's error says it
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
