package main

import "github.com/spf13/cobra"

// habits are flags that users bring along from GNU parallel, xargs and HyperQueue, and what does the same here.
var habits = map[string]string{
	"j": "--throttle", "jobs": "--throttle", "P": "--throttle", "max-procs": "--throttle",
	"halt": "--max-fails", "timeout": "--time-limit", "results": "--stdout and --stderr",
	"dryrun": "--dry-run", "arg-file": "--each-line", "memfree": "--mem",
	"S": "--hosts", "sshlogin": "--hosts", "slf": "--hosts", "sshloginfile": "--hosts",
	"transferfile": "--inputs", "transfer": "--inputs", "basefile": "--inputs", "bf": "--inputs", "return": "--outputs",
	"trc":  "--outputs; what the command names is brought to hosts by itself, and removed there",
	"cpus": "--cpus-per-task", "name": "--job-name", "from-json": "berth run",
	"link": ":::+ or ::::+ before the second list", "xapply": ":::+ or ::::+ before the second list",
	"u": "--group, when a task is over", "ungroup": "--group, when a task is over", "lb": "--group, when a task is over", "line-buffer": "--group, when a task is over",
	"eta": "shown by itself", "bar": "shown by itself", "progress": "shown by itself", "verbose": "--dry-run, or berth report --tasks",
	"resume": "berth resume JOB", "resume-failed": "berth resume JOB --failed", "retry-failed": "berth resume JOB --failed",
	"pipe": "berth mapreduce, which cuts its input into parts", "pipepart": "berth mapreduce, which cuts its input into parts",
	"wd": "cd before it, or dir in a job file", "workdir": "cd before it, or dir in a job file", "env": "not needed: tasks have the environment of the command",
	"nice": "nice before it: tasks are as nice as the command", "q": "not needed: what entries have is never read by the shell", "quote": "not needed: what entries have is never read by the shell",
	"d": "tr, to make lines of the input, or --null", "delimiter": "tr, to make lines of the input, or --null",
	"I": "the placeholder {}", "i": "the placeholder {}", "X": "an entry a task", "m": "an entry a task", "n": "an entry a task; lists give it several values", "max-args": "an entry a task; lists give it several values",
	"header": "--colsep and {1}, {2} …; cut the first line off with tail -n +2", "shuf": "shuf, before the lines come in", "delay": "--throttle", "load": "not needed: tasks have cores of their own (--cpus-per-task)",
}

// habit advises one who wrote a flag that is not known but elsewhere.
func habit(c *cobra.Command, flag string) string {
	if here, is := habits[flag]; is && c.Name() == "bag" {
		return "here it is " + here
	}
	return "see " + c.CommandPath() + " --help"
}
