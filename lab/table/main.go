// Command table puts what another command prints into a table of a page, as the other commands of the laboratory do with
// their own: with the date, the commit, the machine, its load meanwhile, and the number of repetitions.
//
//	go run ./lab/table -docs PAGE -name TABLE -repetitions 10 -- COMMAND…
package main

import (
	"context"
	"errors"
	"flag"
	"os"
	"os/exec"
	"syscall"

	"berth/lab/page"
)

func main() {
	r := page.Flags("table", "", 0)
	flag.StringVar(&r.Table, "name", "", "the table that is replaced")
	flag.IntVar(&r.Repeat, "repetitions", 1, "how many repetitions the command makes")
	flag.Parse()
	r.Main(func(ctx context.Context) (string, error) {
		if flag.NArg() == 0 {
			return "", errors.New("no command is given: name it after --")
		}
		cmd := exec.CommandContext(ctx, flag.Arg(0), flag.Args()[1:]...)
		cmd.Stderr = os.Stderr
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // what the command started ends with it
		cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
		out, err := cmd.Output()
		return string(out), err
	})
}
