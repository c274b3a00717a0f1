package hadoophome

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"berth/internal/compat/dfs"
	"berth/internal/core/job"
)

// Command implements the command hadoop.
type Command struct {
	In       io.Reader
	Out, Err io.Writer
	Berth    string                    // the version of berth
	Jar      func(args []string) error // runs the job of a Hadoop Streaming command line, and shows it as Hadoop does
	Exit     func(code int) error      // returns an error with nothing more to say, for an exit code
	Code     func(error) int           // returns the exit code of a job's error, and 0 where there is nothing to say of it
}

// Run runs a command line without its first word "hadoop".
func (c *Command) Run(args []string) error {
	if len(args) == 0 {
		args = []string{""}
	}
	switch args[0] {
	case "jar":
		return c.jar(args[1:])
	case "streaming": // a command of mapred
		return c.jar(append([]string{"streaming"}, args[1:]...))
	case "fs", "dfs":
		shell := dfs.Shell{Root: os.Getenv(dfs.RootVar), In: c.In, Out: c.Out, Err: c.Err}
		if code := shell.Run(args[1:]); code != 0 {
			return c.Exit(code)
		}
		return nil
	case "version", "-version", "--version":
		_, err := fmt.Fprintf(c.Out, "Hadoop %s\nberth %s stands in for it\n", Version, c.Berth)
		return err
	}
	return job.ArgumentError("", fmt.Sprintf("there is no command %q of hadoop here", args[0]), "berth has jar with Hadoop Streaming, fs and version")
}

// jar runs Hadoop Streaming, whatever path its archive has.
func (c *Command) jar(args []string) error {
	switch {
	case len(args) == 0:
		return job.ArgumentError("", "required: the archive of Hadoop Streaming", "hadoop jar hadoop-streaming.jar -input PATHS -output DIR -mapper CMD")
	case !strings.Contains(filepath.Base(args[0]), "streaming"):
		return c.failed(job.ConfigError("", fmt.Sprintf("berth runs no Java archives, and %s is not called as Hadoop Streaming's", args[0]), "run it with Hadoop"))
	}
	err := c.Jar(args[1:])
	if err == nil || c.Code(err) == 0 {
		return err
	}
	return c.failed(err)
}

// failed reports a job that could not start, in the words of Hadoop Streaming.
func (c *Command) failed(err error) error {
	fmt.Fprintf(c.Err, "%s ERROR streaming.StreamJob: Error Launching job : %s\nStreaming Command Failed!\n",
		time.Now().Format("2006-01-02 15:04:05,000"), strings.ReplaceAll(err.Error(), "\n", "; "))
	return c.Exit(max(1, c.Code(err)))
}
