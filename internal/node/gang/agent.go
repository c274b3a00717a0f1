package gang

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"berth/internal/sys/private"
)

// Agent is the name under which berth is the launch agent.
const Agent = "berth-launch"

// The variables of the processes of a gang by which they reach their worker: the path of the agent, and what it needs for that.
const (
	AgentVariable = "BERTH_LAUNCH"
	KeyVariable   = "BERTH_LAUNCH_KEY"
)

// Key returns the value of KeyVariable: the secret of the gang on a node, and the socket of the node's worker.
func Key(secret, socket string) string { return secret + "@" + socket }

// exitOwn is the exit status of an agent that has failed itself, as that of ssh.
const exitOwn = 255

// IsAgent reports whether a process that was started under this name is a launch agent.
func IsAgent(arg0 string) bool { return filepath.Base(arg0) == Agent }

// Main is the launch agent. It is called as ssh is called, and returns the exit status of the command.
func Main(args []string, key string) int {
	result, err := launch(args, key)
	switch f := result.Failure; {
	case err != nil:
		fmt.Fprintf(os.Stderr, "%s: %v\n", Agent, err)
		return exitOwn
	case f == nil:
		return 0
	case f.Signal != 0:
		return 128 + f.Signal // as a shell says it
	case f.Exit != 0:
		return f.Exit
	default:
		fmt.Fprintf(os.Stderr, "%s: %s\n", Agent, f.Reason)
		return exitOwn
	}
}

func launch(args []string, key string) (Result, error) {
	host, command, err := parse(args)
	if err != nil {
		return Result{}, err
	}
	secret, socket, ok := strings.Cut(key, "@")
	if !ok {
		return Result{}, fmt.Errorf("it can be called only by a running task of several ranks (%s is not set)", KeyVariable)
	}
	conn, err := private.Dial(context.Background(), socket)
	if err != nil {
		return Result{}, fmt.Errorf("the worker of this node does not answer: %w", err)
	}
	defer conn.Close()
	dir, _ := os.Getwd() // the task's own folder is as good
	result, err := Run(conn, Request{Secret: secret, Host: host, Shell: command, Dir: dir}, os.Stdin, os.Stdout, os.Stderr)
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return Result{}, fmt.Errorf("the connection to %s was lost", host)
	case err == nil && result.Refused != "":
		return Result{}, errors.New(result.Refused)
	}
	return result, err
}

// valued are the options of ssh(1) that have a value.
const valued = "BbcDEeFIiJLlmOopPQRSWw"

// parse returns the host and the command line of a call of ssh. Its options are for connections that the agent does not make.
func parse(args []string) (host, command string, err error) {
	args, last := options(args)
	if len(args) > 0 {
		host = args[0][strings.LastIndex(args[0], "@")+1:]
		if args = args[1:]; !last {
			args, _ = options(args) // charmrun has them after the host
		}
	}
	if len(args) == 0 {
		return "", "", fmt.Errorf("it is called as ssh with a command: %s HOST COMMAND…", Agent)
	}
	return host, strings.Join(args, " "), nil
}

// options returns the arguments behind those that are options, and whether -- says that these were the last.
func options(args []string) (rest []string, last bool) {
	for len(args) > 0 && strings.HasPrefix(args[0], "-") && args[0] != "-" {
		option := args[0]
		args = args[1:]
		if option == "--" {
			return args, true
		}
		if at := strings.IndexAny(option[1:], valued); at >= 0 && at == len(option)-2 && len(args) > 0 { // its value is the next word
			args = args[1:]
		}
	}
	return args, false
}
