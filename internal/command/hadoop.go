package command

import (
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"berth/internal/compat/yarn"
	"berth/internal/server/report"
	"berth/internal/show/ui"
	"berth/internal/sys/procattr"
	"berth/internal/sys/statedir"
)

// hadoopMessages is the flag that has a job shown as "hadoop jar" does.
const hadoopMessages = "hadoop-messages"

// newConsole returns what shows a job.
func newConsole(cmd *cobra.Command, r statedir.Run, opts ui.Options) ui.Console {
	if !is(cmd, hadoopMessages) {
		return ui.New(opts)
	}
	return &yarn.Console{Out: opts.Out, Number: statedir.RunNumber(r.ID), Logs: hadoopLogs(r), User: procattr.UserName(os.Environ()),
		Rows: func() ([]report.AttemptRow, error) { return rowsOf(r) }}
}

// hadoopLogs returns the folder for a job's logs in Hadoop's words: where programs look for them, or
// else the run's own.
func hadoopLogs(r statedir.Run) string {
	if dir := os.Getenv("HADOOP_LOG_DIR"); dir != "" {
		return dir
	}
	if dir := os.Getenv("HADOOP_HOME"); dir != "" {
		return filepath.Join(dir, "logs")
	}
	return filepath.Join(r.Logs(), "hadoop")
}
