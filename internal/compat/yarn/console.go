package yarn

import (
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/server/report"
)

// Console shows a job as "hadoop jar" does, by lines of its log. It implements ui.Console.
type Console struct {
	Out    io.Writer
	Number int    // number of the run
	Logs   string // folder for the logs of the job; empty: no logs are written
	User   string
	Rows   func() ([]report.AttemptRow, error) // returns the attempts of a job that is over

	at       time.Time
	ids      ids
	begun    bool
	ended    bool
	progress string
	told     uint64 // sequence number of the last failure
}

// line returns a line of the log. The further lines of a message follow it without the prefix.
func line(at time.Time, level, logger, message string) string {
	return fmt.Sprintf("%s %s %s: %s\n", at.Format("2006-01-02 15:04:05,000"), level, logger, message)
}

// log writes a line of the log. It ignores errors, because a log that cannot be written must not stop a job.
func (c *Console) log(level, logger, format string, args ...any) {
	at := c.at
	if at.IsZero() {
		at = time.Now()
	}
	_, _ = io.WriteString(c.Out, line(at.Local(), level, logger, fmt.Sprintf(format, args...)))
}

func (c *Console) job(format string, args ...any) { c.log("INFO", "mapreduce.Job", format, args...) }

// Begin prints the id of the job and the decision of its plan.
func (c *Console) Begin(v report.JobView) {
	c.at = v.At
	if !c.begun {
		c.begun, c.ids = true, ids{v.Submitted.UnixMilli(), c.Number}
		c.log("INFO", "streaming.StreamJob", "berth runs it as %s: %s", v.ID, oneLine(v.Decision))
		for _, n := range v.Notes {
			c.log("INFO", "streaming.StreamJob", "berth: %s", oneLine(n))
		}
		c.log("INFO", "impl.YarnClientImpl", "Submitted application %s", c.ids.application())
		c.job("Running job: %s", c.ids.job())
	}
	c.Update(v)
}

// Update prints the failures since the last call and the progress of the job.
func (c *Console) Update(v report.JobView) {
	c.at = v.At
	for _, f := range v.Failures {
		if f.Seq > c.told {
			c.told = f.Seq
			c.job("Task Id : %s, Status : FAILED\nError: %s", c.ids.attempt(f.Name, f.Attempt), exception(f))
		}
	}
	if p := percents(v); p != c.progress {
		c.progress = p
		c.job("%s", p)
	}
}

// Note prints a line of text.
func (c *Console) Note(text string) { c.log("INFO", "streaming.StreamJob", "berth: %s", oneLine(text)) }

// End prints how the job ended and its counters, and writes its logs.
func (c *Console) End(v report.JobView) {
	if c.ended {
		return
	}
	c.ended = true
	c.Begin(v)
	rows, err := c.Rows()
	if err == nil && c.Logs != "" {
		err = writeLogs(c.Logs, c.User, c.ids, v, rows)
	}
	if err != nil {
		c.log("WARN", "mapreduce.Job", "the history of the job is not in its logs: %s", oneLine(err.Error()))
	}
	done := v.State == event.StateDone
	if done {
		c.job("Job %s completed successfully", c.ids.job())
	} else {
		c.job("Job %s failed with state %s due to: %s", c.ids.job(), status(v), oneLine(v.Reason))
	}
	c.job("%s", text(groups(v, rows)))
	if done {
		c.log("INFO", "streaming.StreamJob", "Output directory: %s", uri(v.Output))
		return
	}
	c.log("ERROR", "streaming.StreamJob", "Job not successful!")
	_, _ = io.WriteString(c.Out, "Streaming Command Failed!\n")
}

// Close stops showing the job.
func (c *Console) Close() { c.ended = true }

// status returns Hadoop's word for how a job ended.
func status(v report.JobView) string {
	switch v.State {
	case event.StateDone:
		return "SUCCEEDED"
	case event.StateCancelled:
		return "KILLED"
	default:
		return "FAILED"
	}
}

// percents returns the progress of maps and reduces. Shuffle, sort and reduce count a third of a reduce each, as in
// Hadoop.
func percents(v report.JobView) string {
	part := func(kind job.TaskKind) int {
		sum, n := 0.0, 0
		for _, p := range v.Phases {
			if of := job.PhaseNamed(p.Phase); of < job.NumPhases && of.Kind() == kind && p.Total > 0 {
				sum, n = sum+p.Progress, n+1
			}
		}
		return int(math.Floor(100 * sum / float64(max(n, 1))))
	}
	return fmt.Sprintf(" map %d%% reduce %d%%", part(job.MapTask), part(job.ReduceTask))
}

// uri returns a path of this machine as Hadoop writes it.
func uri(path string) string {
	if !strings.HasPrefix(path, "/") {
		return path
	}
	return "file://" + path
}
