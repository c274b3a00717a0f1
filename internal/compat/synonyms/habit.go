// Package synonyms knows flags and commands that users bring along from GNU parallel, xargs and HyperQueue, and says what
// does the same here. It is pure: tables and what looks into them.
package synonyms

import (
	"maps"
	"slices"
	"strings"
)

// What is said of several flags.
const (
	severalValues = "not needed: each entry is a task, and ::: lists or --colsep give it several values"
	afterwards    = "--notify COMMAND, which is run when the job is over; its summary as JSON is on standard input"
)

// flags are those of commands that run a list of tasks, without their dashes.
var flags = map[string]string{
	"j": "--throttle", "jobs": "--throttle", "P": "--throttle", "max-procs": "--throttle",
	"halt": "--max-fails", "timeout": "--time-limit", "results": "--stdout and --stderr",
	"dryrun": "--dry-run", "arg-file": "--each-line", "memfree": "--mem", "memory": "--mem",
	"S": "--hosts", "sshlogin": "--hosts", "slf": "--hosts", "sshloginfile": "--hosts",
	"transferfile": "--inputs", "transfer": "--inputs", "basefile": "--inputs", "bf": "--inputs", "return": "--outputs",
	"trc":  "--outputs; what the command names is brought to hosts by itself, and removed there",
	"cpus": "--cpus-per-task", "name": "--job-name", "from-json": "berth run",
	"link": ":::+ or ::::+ before the second list", "xapply": ":::+ or ::::+ before the second list",
	"u": "--group, when a task is over", "ungroup": "--group, when a task is over", "lb": "--group, when a task is over", "line-buffer": "--group, when a task is over",
	"eta": "not needed: progress is shown by itself", "bar": "not needed: progress is shown by itself", "progress": "not needed: progress is shown by itself", "wait": "not needed: the command waits unless --detach is given", "verbose": "--dry-run, or berth report --tasks",
	"resume": "berth resume JOB", "resume-failed": "berth resume JOB --failed", "retry-failed": "berth resume JOB --failed",
	"pipe": "berth mapreduce, which cuts its input into parts", "pipepart": "berth mapreduce, which cuts its input into parts",
	"wd": "cd before it, or dir in a job file", "workdir": "cd before it, or dir in a job file", "env": "not needed: tasks have the environment of the command",
	"nice": "nice before it: on this machine tasks are as nice as the command", "q": "not needed: what entries have is never read by the shell", "quote": "not needed: what entries have is never read by the shell",
	"d": "tr, to make lines of the input, or --null", "delimiter": "tr, to make lines of the input, or --null",
	"i": "-I STR", "replace": "-I STR", "X": "not needed: each entry is a task", "m": "--mem, if memory is meant; -m of GNU parallel is not needed, as each entry is a task", "n": severalValues, "max-args": severalValues, "max-lines": severalValues,
	"csv": "--colsep ,", "tagstring": "--tag", "tmpdir": "--scratch", "tempdir": "--scratch", "memsuspend": "--mem", "will-cite": "not needed", "citation": "not needed", "skip-first-line": "tail -n +2, before the lines come in", "max-replace-args": severalValues,
	"header": "--colsep and {1}, {2} …; cut the first line off with tail -n +2", "shuf": "shuf, before the lines come in", "delay": "--throttle", "load": "not needed: tasks have cores of their own (--cpus-per-task)",
	// batch systems'
	"gres": "--gpus N[:TYPE] for GPUs; what else the batch system counts by {batch}gres=…, for a node and not for a task",
	"G":    "--gpus N[:TYPE], for each task", "gpus-per-task": "--gpus N[:TYPE], for each task", "gpus-per-node": "--gpus N[:TYPE], for each task",
	"dependency": "--after JOB", "mem-per-cpu": "--mem, for each task", "output": "--stdout", "error": "--stderr", "ntasks": "not needed: each entry is a task", "wrap": "write the command behind --, in quotes if a shell is to run it",
	"o": "--stdout", "e": "--stderr", "D": "cd before it, or dir in a job file", "chdir": "cd before it, or dir in a job file",
	"mail-user": afterwards, "mail-type": afterwards, "export": "not needed: tasks have the environment of the command",
	"nodelist": "{batch}nodelist=…", "exclude": "{batch}exclude=…", "w": "{batch}nodelist=…", "x": "{batch}exclude=…",
	"ntasks-per-node": "not needed: a node runs as many tasks as it has cores for (--cpus-per-task)",
	"cores":           "--cpus-per-task, for each task", "threads": "--cpus-per-task, for each task", "procs": "--cpus-per-task, for each task", "ncpus": "--cpus-per-task, for each task", "pe": "--cpus-per-task, for each task",
	"walltime": "--time-limit for each task, or --time for an allocation", "h_rt": "--time-limit for each task, or --time for an allocation",
	"queue": "--partition", "Q": "--partition", "project": "--account", "hold": "--after JOB, or submit it later", "h": "--after JOB, or submit it later", "hold_jid": "--after JOB", "tc": "--throttle",
	"reservation": "{batch}reservation=…", "licenses": "{batch}licenses=…", "L": "{batch}licenses=… for licenses; " + severalValues, "begin": "{batch}begin=…", "b": "{batch}begin=…",
	"prefer": "{batch}prefer=…", "comment": "{batch}comment=…", "switches": "{batch}switches=…", "tmp": "{batch}tmp=…", "hint": "{batch}hint=…",
	"l":            "--cpus-per-task, --mem and --time-limit; what else the batch system has behind its -l by the flag for its own arguments, see berth bag --help",
	"mem-per-node": "--mem, for each task", "mem-per-gpu": "--mem, for each task", "cpus-per-gpu": "--cpus-per-task",
	"requeue": "not needed: what a lost node did is done again; --retries is for tasks that fail", "no-requeue": "not needed: --retries is 0 unless you say another number",
	"container": "apptainer exec IMAGE in the command", "container-image": "apptainer exec IMAGE in the command",
	"mpi": "mpirun in the command: a task is on one node", "ntasks-per-core": "not needed: a task has cores of its own (--cpus-per-task)", "tasks": "not needed: each entry is a task",
	"test-only": "berth plan bag", "parsable": "--detach, which prints the id", "terse": "--detach, which prints the id", "sync": "not needed: the command waits unless --detach is given", "W": "not needed: the command waits unless --detach is given",
	"V": "not needed: tasks have the environment of the command", "clusters": "the environment of that cluster", "M": "the environment of that cluster", "input": "--inputs, or < FILE in a command for the shell",
	// HyperQueue's
	"pin": "not needed: tasks that want some of a node's cores are bound to them", "stream": "--stdout collect, the default above 2,000 tasks; berth cat reads it",
	"crash-limit": "--retries", "time-request": "not needed: berth measures how long tasks take", "resource": "--cpus-per-task, --mem, --gpus and, for what the batch system counts, the flag that passes it an argument",
	"directives": "a job file (berth run)", "task-dir": "not needed: each task has BERTH_TASK_DIR", "priority": "--weight",
	"cwd": "cd before it, or dir in a job file", "log": "--joblog", "array-filter": "--array, with the indices that are wanted", "stdin": "standard input, which is read as a list of entries, a line each",
}

// commands are those that stand first after the program's name, alone or with the word after them.
var commands = map[string]string{
	"submit": "berth bag -- COMMAND, with --array, --each-line or lines on standard input; one task is --array 1",
	"job":    "berth status, wait, cancel, cat, report and forget, each with the job's id or number, or last", "job list": "berth status", "job info": "berth report JOB --tasks, or berth progress JOB while it runs",
	"job summary": "berth status", "job wait": "berth wait JOB", "job cancel": "berth cancel JOB", "job cat": "berth cat JOB [TASK...]", "job submit": "berth bag -- COMMAND", "job submit-file": "berth run FILE",
	"job progress": "berth progress JOB", "job forget": "berth forget JOB", "job task-ids": "berth report JOB --tasks", "job timeout": "--time-limit of berth bag",
	"job open": "berth bag --open", "job close": "berth close JOB",
	"task": "berth report JOB --tasks", "jobs": "berth status", "list": "berth status", "ls": "berth status", "ps": "berth status", "info": "berth report JOB, or berth progress JOB while it runs",
	"alloc":     "not needed: berth asks the batch system for nodes when a job needs them; berth plan shows for what, and --wall-time, --partition and --account say what it may ask for",
	"autoalloc": "not needed: berth asks the batch system for nodes when a job needs them; berth plan shows for what", "output-log": "berth cat JOB [TASK...]", "journal": "berth report JOB --json",
	"worker start": "not needed: berth starts workers itself, on this machine, on a cluster's nodes or on --hosts", "worker list": "berth progress JOB", "worker stop": "berth cancel JOB, or berth server stop",
	"worker info": "berth progress JOB", "server info": "berth server status",
	"parallel": "berth bag -- COMMAND ::: VALUES", "queue": "berth status", "logs": "berth cat JOB [TASK...]", "log": "berth cat JOB [TASK...]", "kill": "berth cancel JOB", "stop": "berth cancel JOB, or berth server stop", "stat": "berth status", "tail": "berth cat --follow JOB TASK", "top": "berth progress JOB",
	"xargs": "berth bag -- COMMAND, with a line of standard input for each task", "exec": "berth bag -- COMMAND ::: VALUES",
	"retry": "berth resume JOB --failed", "rerun": "berth resume JOB --failed", "restart": "berth resume JOB", "continue": "berth resume JOB",
	"hold": "berth cancel JOB, and later berth resume JOB: finished tasks stay done", "suspend": "berth cancel JOB, and later berth resume JOB: finished tasks stay done", "pause": "berth cancel JOB, and later berth resume JOB: finished tasks stay done",
	"rm": "berth forget JOB", "delete": "berth forget JOB, or berth cancel JOB while it runs", "remove": "berth forget JOB, or berth cancel JOB while it runs", "clean": "berth forget JOB", "purge": "berth forget JOB",
	"history": "berth status --all", "version": "berth --version", "show": "berth report JOB", "describe": "berth report JOB", "inspect": "berth report JOB", "results": "berth cat JOB [TASK...]", "output": "berth cat JOB [TASK...]",
	"events": "berth watch JOB", "open": "berth bag --open", "nodes": "berth progress JOB", "workers": "berth progress JOB", "ui": "berth dashboard", "web": "berth dashboard",
	"estimate": "berth plan", "predict": "berth plan", "why": "berth explain JOB",
	"streaming": "berth mapreduce", "jar": "berth hadoop jar", "init": "not needed: the first job starts the coordinator", "start": "not needed: the first job starts the coordinator",

	// The experiments of the laboratory, which were commands of berth once.
	"simulate swf": "berth-lab swf", "simulate table2": "berth-lab table2", "simulate table3": "berth-lab table3", "simulate fig3": "berth-lab fig3",
	"simulate fig4": "berth-lab fig4", "simulate variants": "berth-lab variants", "simulate phases": "berth-lab phases", "simulate stragglers": "berth-lab stragglers",
}

// Flag returns what does here what a flag does elsewhere.
func Flag(name string) (here string, known bool) {
	here, known = flags[name]
	return here, known
}

// Command returns what does here what a command of several words does elsewhere, by as many of its words as are known.
func Command(words []string) (here string, known bool) {
	if len(words) > 1 {
		if here, known = commands[strings.Join(words[:2], " ")]; known {
			return here, true
		}
	}
	if len(words) == 0 {
		return "", false
	}
	here, known = commands[words[0]]
	return here, known
}

// Under returns the known words that may follow a command, in order; of the empty one those that may stand first.
func Under(command string) []string {
	words := make(map[string]bool)
	for _, c := range slices.Sorted(maps.Keys(commands)) {
		first, next, two := strings.Cut(c, " ")
		if command == "" {
			words[first] = true
		} else if two && first == command {
			words[next] = true
		}
	}
	return slices.Sorted(maps.Keys(words))
}
