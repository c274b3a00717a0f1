package command

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"berth"
	"berth/internal/compat/hadoophome"
	"berth/internal/core/job"
)

func newHadoopHome() *cobra.Command {
	var o struct {
		Root string `flag:"hdfs" usage:"root folder of hdfs: URIs; on a cluster all nodes must see it (default: DIR/hdfs)"`
	}
	c := command("hadoop-home", One("folder", 1, true), func(cmd *cobra.Command, args []string) error {
		return writeHome(cmd, args[0], "export HADOOP_HOME=%s\n", "", func(dir, berth string) error {
			root, err := filepath.Abs(cmp.Or(o.Root, filepath.Join(dir, "hdfs")))
			if err == nil {
				err = hadoophome.Write(dir, root, berth)
			}
			return err
		})
	})
	addFlags(c.Flags(), &o)
	return c
}

// writeHome has a folder of another program's commands written, and prints the line of shell that sets a variable to it or to a folder in it.
func writeHome(cmd *cobra.Command, dir, export, in string, write func(dir, berth string) error) error {
	dir, err := filepath.Abs(dir)
	berth, err2 := os.Executable()
	if err = errors.Join(err, err2); err == nil {
		err = write(dir, berth)
	}
	if err != nil {
		return job.IOError(job.Fatal, dir, "cannot be written", err).Advice("name another folder")
	}
	_, err = fmt.Fprintf(cmd.OutOrStdout(), export, job.Quote(filepath.Join(dir, in)))
	return err
}

// newHadoop is what bin/hadoop of a folder of "berth hadoop-home" runs.
func newHadoop() *cobra.Command {
	c := command("hadoop", nil, func(cmd *cobra.Command, args []string) error {
		h := hadoophome.Command{In: cmd.InOrStdin(), Out: cmd.OutOrStdout(), Err: cmd.ErrOrStderr(), Berth: berth.Version(),
			Jar:  func(args []string) error { return hadoopJar(cmd, args) },
			Exit: func(code int) error { return &exitError{code: code} },
			Code: func(err error) int {
				if err.Error() == "" {
					return 0 // the job was shown to its end
				}
				return ExitCode(err)
			}}
		return h.Run(args)
	})
	c.Hidden, c.DisableFlagParsing = true, true
	return c
}

// hadoopJar runs the job of a Hadoop Streaming command line.
func hadoopJar(cmd *cobra.Command, args []string) error {
	c, _, err := cmd.Root().Find([]string{"mapreduce"})
	if err != nil {
		return err
	}
	c.SetContext(cmd.Context())
	return mapReduce(c, args, true, submit)
}
