package process

import (
	"log/slog"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"berth/internal/core/job"
)

// Warm starts programs of Python faster: a server, python -m berth.warm, loads what they load, and forks a process for each. That one begins as a child
// of this process, in its own group, with the files, cores and environment of its command, and with all else that a server inherits from its lane, as
// if it had been started plainly. A server is for one interpreter, folder, list of modules and change, and for one environment without the variables
// of single attempts. It ends by itself, when nothing was asked of it for a while or when this process has ended.
//
// Until the process that it forks has the environment of its attempt, it descends from the server, which is a helper. It is an orphan only
// then, so at no time can it be taken for a process of another attempt.
type Warm struct {
	Log   *slog.Logger
	Loads time.Duration // how long a program waits for a server that loads modules, before it is started plainly

	mu      sync.Mutex
	servers map[string]*warmServer
}

// warmServer is a server. It is no more asked for anything once it has refused all, or has ended.
type warmServer struct {
	log     *slog.Logger
	line    int // the socket; −1: there is none any more
	begun   time.Time
	ready   chan struct{} // closed when it has said whether it forks
	refuses atomic.Bool   // what it has loaded cannot be forked
	gone    atomic.Bool   // it has ended

	mu    sync.Mutex // held for one request
	forks bool       // it has answered one
}

const (
	// maxWarm is how many servers there may be, each of which holds the memory of what it has loaded.
	maxWarm = 4
	// warmForks is how long a request may take.
	warmForks = 20 * time.Second
	// warmRoom is the size of a variable of the server, in whose place a task gets variables of its own.
	warmRoom = 64 << 10
	// warmRefuses is the word before the reason in an answer that is none.
	warmRefuses = "no "
	plainly     = "each task starts a Python of its own, and none is forked"
)

// server returns the server for a command, which runs now, or nil if the command is to be started plainly. It is called on a lane.
func (w *Warm) server(c *Command) *warmServer {
	first, _, _ := strings.Cut(c.Modules, ",")
	if w == nil || first == "" || len(c.Args) < 3 || c.Args[1] != "-m" || c.Args[2] != first || c.Planter != nil {
		return nil
	}
	relations.mu.RLock()
	indexes := relations.batch.Indexes()
	relations.mu.RUnlock()
	env := slices.DeleteFunc(slices.Clone(c.Env), func(kv string) bool { return OfTask(kv) || slices.Contains(indexes, nameOf(kv)) })
	path, args := c.Change.Command(c.Path, []string{c.Args[0], "-m", "berth.warm", c.Path, c.Modules})
	key := strings.Join(slices.Concat([]string{path, c.Dir, strconv.Itoa(c.Change.Mask())}, args, env), "\x00")
	s := w.find(key, func() *warmServer {
		for _, name := range []string{cookieName, taskBatchJob} { // by the first, what is left of it is found if this process is killed
			if value, ok := job.LookupEnv(c.Env, name); ok {
				env = append(env, name+"="+value)
			}
		}
		env = append(env, "ROOM_FOR_ENVIRONMENT="+strings.Repeat(" ", warmRoom))
		attr := &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL} // also if it is stopped, or loads without end
		return w.start(&exec.Cmd{Path: path, Args: args, Dir: c.Dir, Env: env, SysProcAttr: attr})
	})
	if s == nil || !s.isReady(w.Loads-time.Since(s.begun)) || s.refuses.Load() || s.gone.Load() {
		return nil
	}
	return s
}

// find returns the server of a key. If it has ended or there is none another one is started, unless there are too many.
func (w *Warm) find(key string, start func() *warmServer) *warmServer {
	w.mu.Lock()
	defer w.mu.Unlock()
	live := 0
	for k, s := range w.servers {
		switch {
		case s.over():
			s.close()
			delete(w.servers, k)
		case !s.refuses.Load():
			live++
		}
	}
	if s := w.servers[key]; s != nil || live >= maxWarm {
		return s
	}
	if w.servers == nil {
		w.servers = make(map[string]*warmServer)
	}
	w.servers[key] = start()
	return w.servers[key]
}

// start starts a server by its command.
func (w *Warm) start(cmd *exec.Cmd) *warmServer {
	s := &warmServer{log: w.Log, line: -1, begun: time.Now(), ready: make(chan struct{})}
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err == nil {
		theirs := os.NewFile(uintptr(pair[1]), "warm")
		defer theirs.Close()
		s.line, cmd.ExtraFiles = pair[0], []*os.File{theirs}
		err = StartHelper(cmd, true)
	}
	if err != nil {
		s.refuse("none can be: " + err.Error())
		close(s.ready)
		return s
	}
	go func() {
		_ = cmd.Wait() // whether it forks, it has said
		s.gone.Store(true)
	}()
	go func() {
		defer close(s.ready)
		switch said, err := s.hear(); {
		case err != nil || said == "":
			s.refuse("what loads the modules has ended")
		case said != "ready":
			s.refuse(strings.TrimPrefix(said, warmRefuses))
		}
	}()
	return s
}

// refuse has all programs be started plainly, and says why.
func (s *warmServer) refuse(why string) {
	s.refuses.Store(true)
	s.close()
	s.log.Warn(plainly, "why", why)
}

// isReady reports whether the server has said if it forks, or does so in this time.
func (s *warmServer) isReady(within time.Duration) bool {
	select {
	case <-s.ready:
		return true
	default:
	}
	select {
	case <-s.ready:
		return true
	case <-time.After(within):
		return false
	}
}

// over reports whether the server forked processes and has ended.
func (s *warmServer) over() bool { return s.gone.Load() && s.isReady(0) && !s.refuses.Load() }

// close releases the socket of a server that has ended.
func (s *warmServer) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.line >= 0 {
		_ = unix.Close(s.line)
		s.line = -1
	}
}

// hear returns the next packet of the server, "" at its end.
func (s *warmServer) hear() (string, error) {
	var packet [1024]byte
	for {
		n, err := unix.Read(s.line, packet[:])
		if err != unix.EINTR {
			return string(packet[:max(n, 0)]), err
		}
	}
}

// fork has the server start a command with these files, and returns the number of the process, which begins when begin is called. 0: it is to be started
// plainly. It is called on a lane, whose cores the process gets.
func (s *warmServer) fork(c *Command, files []uintptr) (pid int, begin func()) {
	var gate [2]int
	var cores unix.CPUSet
	if unix.Pipe2(gate[:], unix.O_CLOEXEC) != nil {
		return 0, nil
	}
	defer unix.Close(gate[0])
	if unix.SchedGetaffinity(0, &cores) == nil {
		pid = s.ask(request(c, &cores), append(fds(files), gate[0]))
	}
	if pid == 0 {
		_ = unix.Close(gate[1])
		return 0, nil
	}
	return pid, func() {
		_, _ = unix.Write(gate[1], []byte{0}) // it may just have been killed
		_ = unix.Close(gate[1])
	}
}

// ask makes a request, and returns the number of the process, or 0.
func (s *warmServer) ask(packet []byte, files []int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	patience := unix.NsecToTimeval(int64(warmForks))
	_ = unix.SetsockoptTimeval(s.line, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &patience)
	_ = unix.SetsockoptTimeval(s.line, unix.SOL_SOCKET, unix.SO_SNDTIMEO, &patience)
	if err := unix.Sendmsg(s.line, packet, unix.UnixRights(files...), nil, unix.MSG_NOSIGNAL); err != nil {
		if err != unix.EMSGSIZE {
			s.gone.Store(true)
		}
		return 0
	}
	said, err := s.hear()
	if err != nil || said == "" { // an answer that comes later would be taken for that to the next request
		_ = unix.Shutdown(s.line, unix.SHUT_RDWR)
		s.gone.Store(true)
		if err == nil && !s.forks { // the next one would end in the same way, and each task would wait for it
			s.refuses.Store(true)
			s.log.Warn(plainly, "why", "what forks has ended")
		}
		return 0
	}
	s.forks = true
	pid, err := strconv.Atoi(said)
	if err != nil {
		s.log.Warn("a task starts a Python of its own", "why", strings.TrimPrefix(said, warmRefuses))
		return 0
	}
	return pid
}

// request returns a command as the server reads it.
func request(c *Command, cores *unix.CPUSet) []byte {
	var numbers []string
	for i := range len(cores) * 64 {
		if cores.IsSet(i) {
			numbers = append(numbers, strconv.Itoa(i))
		}
	}
	first := []string{strconv.Itoa(os.Getpid()), strings.Join(numbers, ","), c.Dir, strconv.Itoa(len(c.Args))}
	return []byte(strings.Join(slices.Concat(first, c.Args, c.Env), "\x00"))
}

func fds(files []uintptr) []int {
	list := make([]int, 0, len(files)+1)
	for _, f := range files {
		list = append(list, int(f))
	}
	return list
}
