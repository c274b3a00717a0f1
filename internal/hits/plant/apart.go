package plant

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"

	"golang.org/x/sys/unix"

	"berth/internal/hits/code"
)

// A file is analysed in a process of its own, whose memory and processor time are limited: a damaged or
// hostile file costs no more, and harms nothing else. The process is this program once more, with this
// name as its only argument.
const analyser = "berth: analysis of a file"

// The limits of an analysis.
const (
	maxProcessor = 20       // seconds
	maxMemory    = 96 << 20 // bytes, and perByte for each byte of the file
	perByte      = 16
	maxResult    = 32 << 20 // bytes
)

// refused is the exit status of an analysis with a Refusal, which it prints.
const refused = 3

func init() {
	if len(os.Args) == 1 && os.Args[0] == analyser {
		unix.Exit(analyseHere(os.NewFile(3, "file"), os.Stdout)) // at once: os.Exit waits a second under the race detector
	}
}

// analyseHere analyses a file within the limits, writes the result, and returns the exit status.
func analyseHere(f *os.File, out io.Writer) int {
	st, err := f.Stat()
	if err == nil {
		err = limit(uint64(st.Size()))
	}
	var o *code.Object
	if err == nil {
		o, err = code.Analyse(io.NewSectionReader(f, 0, st.Size()))
	}
	if err == nil {
		err = encode(out, o)
	}
	if err != nil {
		_, _ = fmt.Fprint(out, err) // the exit status says that it failed
		if r := code.Refusal(""); errors.As(err, &r) {
			return refused
		}
		return 1
	}
	return 0
}

// limit limits this process, which has little memory yet.
func limit(size uint64) error {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return err
	}
	var n, data uint64
	if _, err := fmt.Sscan(string(text), &n, &n, &n, &n, &n, &data); err != nil {
		return err
	}
	most := data*uint64(os.Getpagesize()) + maxMemory + perByte*size
	return errors.Join(unix.Setrlimit(unix.RLIMIT_DATA, &unix.Rlimit{Cur: most, Max: most}),
		unix.Setrlimit(unix.RLIMIT_CPU, &unix.Rlimit{Cur: maxProcessor, Max: maxProcessor}),
		unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{}))
}

// analyseApart analyses a file in another process, and returns the encoded result.
func analyseApart(f *os.File) ([]byte, error) {
	c := exec.Cmd{Path: "/proc/self/exe", Args: []string{analyser}, Env: []string{"GOMAXPROCS=1"}, ExtraFiles: []*os.File{f}}
	out, err := c.StdoutPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		return nil, fmt.Errorf("its analysis cannot be started: %w", err)
	}
	text, err := io.ReadAll(io.LimitReader(out, maxResult+1))
	if len(text) > maxResult || err != nil {
		err = errors.Join(code.TooLarge, err, c.Process.Kill())
		_ = c.Wait() // it was killed
		return nil, err
	}
	err = c.Wait()
	switch {
	case err == nil:
		return text, nil
	case c.ProcessState.ExitCode() == refused:
		return nil, code.Refusal(text)
	case c.ProcessState.ExitCode() == 1:
		return nil, errors.New(strings.ToValidUTF8(string(bytes.TrimSpace(text)), "?"))
	}
	return nil, fmt.Errorf("its analysis takes too much memory or time (%w)", err)
}
