package yarn

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"berth/internal/core/event"
	"berth/internal/core/pattern"
	"berth/internal/server/report"
)

const firstContainer = 2 // the first container is the application master's

// writeLogs writes the history of a job that is over, and the standard error and system log of its failed attempts, to
// files below dir with Hadoop's names: history/JOB-….jhist and userlogs/APPLICATION/CONTAINER.
func writeLogs(dir, user string, id ids, v report.JobView, rows []report.AttemptRow) error {
	containers := map[string]string{}
	for n, r := range rows {
		containers[id.attempt(r.Name, r.Attempt)] = id.container(firstContainer + n)
	}
	errs := []error{writeHistory(dir, user, id, v, rows, containers)}
	for _, f := range v.Failures {
		if c := containers[id.attempt(f.Name, f.Attempt)]; c != "" {
			errs = append(errs, writeContainer(filepath.Join(dir, "userlogs", id.application(), c), v.Logs, f))
		}
	}
	return errors.Join(errs...)
}

// historyName returns a name with the parts by which Hadoop's history server finds a job. The part for the user is
// always "hadoop", because mrjob searches for that name, the only user of Amazon's clusters. The file contains the real
// user.
func historyName(id ids, v report.JobView) string {
	return fmt.Sprintf("%s-%d-hadoop-%s.jhist", id.job(), v.Submitted.UnixMilli(), v.ID)
}

// writeHistory writes one event per line in the format of Hadoop 3 (Avro-Json). It omits the schema that Hadoop's own
// reader expects before them.
func writeHistory(dir, user string, id ids, v report.JobView, rows []report.AttemptRow, containers map[string]string) (err error) {
	dir = filepath.Join(dir, "history")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	file, err := os.Create(filepath.Join(dir, historyName(id, v)))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	w := bufio.NewWriter(file)
	h := history{json.NewEncoder(w), id}
	h.out.SetEscapeHTML(false)
	if _, err := w.WriteString("Avro-Json\n\n"); err != nil {
		return err
	}
	errs := []error{h.event("JOB_SUBMITTED", "JobSubmitted", fields{"jobid": id.job(), "jobName": v.Name, "userName": user, "submitTime": v.Submitted.UnixMilli()})}
	for _, r := range rows {
		errs = append(errs, h.attempt(r, failureOf(v, r), containers[id.attempt(r.Name, r.Attempt)]))
	}
	return errors.Join(append(errs, h.end(v, rows), w.Flush())...)
}

// failureOf returns the view's description of a failed attempt.
func failureOf(v report.JobView, r report.AttemptRow) report.Failure {
	for _, f := range v.Failures {
		if f.Name == r.Name && f.Attempt == r.Attempt {
			return f
		}
	}
	return report.Failure{Name: r.Name, Attempt: r.Attempt, Exit: r.Exit, Signal: r.Signal, Reason: r.Reason}
}

type fields map[string]any

type history struct {
	out *json.Encoder
	id  ids
}

func (h *history) event(kind, class string, f fields) error {
	return h.out.Encode(struct {
		Type  string            `json:"type"`
		Event map[string]fields `json:"event"`
	}{kind, map[string]fields{"org.apache.hadoop.mapreduce.jobhistory." + class: f}})
}

// attempt writes the start and the end of an attempt.
func (h *history) attempt(r report.AttemptRow, failure report.Failure, container string) error {
	kind := taskType(r.Name)
	about := func(more fields) fields {
		more["taskid"], more["attemptId"], more["taskType"] = h.id.task(r.Name), h.id.attempt(r.Name, r.Attempt), kind
		return more
	}
	err := h.event(kind+"_ATTEMPT_STARTED", "TaskAttemptStarted", about(fields{"startTime": r.Started.UnixMilli(), "containerId": container, "trackerName": cmp.Or(r.Host, r.Node)}))
	ended := fields{"finishTime": r.Ended.UnixMilli(), "hostname": r.Host}
	switch r.Outcome {
	case "done":
		ended["taskStatus"] = "SUCCEEDED"
		return errors.Join(err, h.event(kind+"_ATTEMPT_FINISHED", "TaskAttemptFinished", about(ended)),
			h.event("TASK_FINISHED", "TaskFinished", fields{"taskid": h.id.task(r.Name), "taskType": kind, "finishTime": r.Ended.UnixMilli(), "status": "SUCCEEDED"}))
	case "failed", "broken":
		ended["status"], ended["error"] = "FAILED", "Error: "+exception(failure)
	default:
		ended["status"], ended["error"] = "KILLED", r.Reason
	}
	return errors.Join(err, h.event(fmt.Sprintf("%s_ATTEMPT_%s", kind, ended["status"]), "TaskAttemptUnsuccessfulCompletion", about(ended)))
}

// end writes how the job ended, with its counters.
func (h *history) end(v report.JobView, rows []report.AttemptRow) error {
	about := fields{"jobid": h.id.job(), "finishTime": v.Ended.UnixMilli()}
	if v.State != event.StateDone {
		about["jobStatus"], about["diagnostics"] = status(v), v.Reason
		return h.event("JOB_"+status(v), "JobUnsuccessfulCompletion", about)
	}
	about["totalCounters"] = fields{"name": "TOTAL_COUNTERS", "groups": groups(v, rows)}
	return h.event("JOB_FINISHED", "JobFinished", about)
}

// oneSplit matches an input that is one range of a file.
var oneSplit = pattern.Lazy(`^/.*:[0-9]+\+[0-9]+$`)

// writeContainer writes the logs of a failed attempt. logs is berth's folder with its standard error.
func writeContainer(dir, logs string, f report.Failure) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if err := copyStderr(filepath.Join(dir, "stderr"), filepath.Join(logs, fmt.Sprintf("%s.%d.stderr", f.Name, f.Attempt)), f.Stderr); err != nil {
		return err
	}
	at := f.At.In(time.Local)
	text := ""
	if oneSplit().MatchString(f.Input) {
		text = line(at, "INFO", "[main] org.apache.hadoop.mapred.MapTask", "Processing split: "+uri(f.Input))
	}
	text += line(at, "WARN", "[main] org.apache.hadoop.mapred.YarnChild", "Exception running child : "+exception(f))
	return os.WriteFile(filepath.Join(dir, "syslog"), []byte(text), 0o644)
}

// copyStderr copies the standard error of an attempt. If the file no longer exists, it writes tail instead.
func copyStderr(to, from, tail string) error {
	in, err := os.Open(from)
	if errors.Is(err, fs.ErrNotExist) {
		return os.WriteFile(to, []byte(tail), 0o644)
	}
	if err != nil {
		return err
	}
	defer in.Close() // the file was only read
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}
