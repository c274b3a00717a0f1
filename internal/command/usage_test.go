package command

import (
	"errors"
	"io"
	"regexp"
	"strings"
	"testing"

	"berth/internal/compat/synonyms"
	"berth/internal/core/job"
)

// TestMisspelt: what cannot be taken is named, with what was probably meant.
func TestMisspelt(t *testing.T) {
	tests := []struct {
		args []string
		want string
		code int
	}{
		{[]string{"mapredcue"}, `there is no command "mapredcue"; did you mean mapreduce?`, 1},
		{[]string{"xyzzy"}, `there is no command "xyzzy"; see berth --help`, 1},
		{[]string{"server", "stopp"}, `there is no command "server stopp"; did you mean stop?`, 1},
		{[]string{"plan", "bagg"}, `there is no command "plan bagg"; did you mean bag?`, 1},
		{[]string{"status", "--jsn"}, "there is no flag --jsn; did you mean --json?", 1},
		{[]string{"bag", "--retrys", "3"}, "there is no flag --retrys; did you mean --retries?", 255},
		{[]string{"bag", "--xyzzyxyzzy"}, "there is no flag --xyzzyxyzzy; see berth bag --help", 255},
		{[]string{"simulate", "run", "--jobs", "many"}, `--jobs: "many" is not a whole number; see berth simulate run --help`, 1},
		{[]string{"simulate", "table2", "--nodes", "128"}, `there is no command "simulate table2"; use berth-lab table2`, 1},
		{[]string{"report", "-x"}, "there is no flag -x; see berth report --help", 1},
		{[]string{"help", "bog"}, `there is no command "bog"; did you mean bag?`, 1},
		{[]string{"bag", "--gres=license:1"}, "there is no flag --gres; use --gpus N[:TYPE] for GPUs; what else the batch system counts by --sbatch-arg=--gres=…, for a node and not for a task", 255},
		{[]string{"bag", "-j4", "true"}, "there is no flag -j; use --throttle", 255},
		{[]string{"bag", "--timeout=4", "true"}, "there is no flag --timeout; use --time-limit", 255},
		{[]string{"bag", "--pipe", "wc"}, "there is no flag --pipe; use berth mapreduce, which cuts its input into parts", 255},
		{[]string{"bag", "--pin", "taskset", "true"}, "there is no flag --pin; not needed: tasks that want some of a node's cores are bound to them", 255},
		{[]string{"submit", "--array", "1-10", "true"}, `there is no command "submit"; use berth bag -- COMMAND, with --array, --each-line or lines on standard input; one task is --array 1`, 1},
		{[]string{"job", "list", "--all"}, `there is no command "job"; use berth status`, 1},
		{[]string{"scancel", "12"}, `there is no command "scancel"; use berth cancel JOB`, 1},
		{[]string{"job", "bogus"}, `there is no command "job"; use berth status, wait, cancel, cat, report and forget, each with the job's id or number, or last`, 1},
		{[]string{"server", "info"}, `there is no command "server info"; use berth server status`, 1},
		{[]string{"worker", "start"}, `there is no command "worker start"; not needed: berth starts workers itself, on this machine, on a cluster's nodes or on --hosts`, 1},
		{[]string{"bag", "-a", "files.txt", "echo"}, `--array: "files.txt": "files.txt" is not an index or a range (to name a file use each-line); write indices as in 1-10, 0-10:2, 1,5-8 or 1-100%5`, 255},
		{[]string{"bag", "-J"}, "flag needs an argument: 'J' in -J; see berth bag --help", 255},
		{[]string{"wait", "--timeout=4"}, "there is no flag --timeout; see berth wait --help", 255},
		{[]string{"cancel"}, "cancel wants a job; name it by id or number, or write last for the last one", 1},
		{[]string{"resume", "1", "2"}, "resume takes one job, but there are 2 arguments", 255},
		{[]string{"status", "all"}, "no job all; berth status lists the jobs there are", 1},
		{[]string{"run"}, "run wants a job file; see berth run --help", 255},
		{[]string{"close"}, "close wants a bag; see berth close --help", 1},
		{[]string{"add"}, "add wants a job; name it by id or number, or write last for the last one", 1},
		{[]string{"completion", "fishy"}, `there is no command "completion fishy"; did you mean fish?`, 1},
		{[]string{"sumbit", "x"}, `there is no command "sumbit"; use berth bag -- COMMAND, with --array, --each-line or lines on standard input; one task is --array 1`, 1},
		{[]string{"srun", "hostname"}, `there is no command "srun"; use berth bag -- COMMAND; one task is --array 1`, 1},
		{[]string{"squeue"}, `there is no command "squeue"; use berth status`, 1},
		{[]string{"init"}, `there is no command "init"; not needed: the first job starts the coordinator`, 1},
		{[]string{"rerun"}, `there is no command "rerun"; use berth resume JOB --failed`, 1},
		{[]string{"bag", "-o", "x", "true"}, "there is no flag -o; use --stdout", 255},
		{[]string{"bag", "--wrap", "true"}, "there is no flag --wrap; write the command behind --, in quotes if a shell is to run it", 255},
		{[]string{"bag", "-n", "2", "true"}, "there is no flag -n; not needed: each entry is a task, and ::: lists or --colsep give it several values", 255},
		{[]string{"resume", "--bogus"}, "there is no flag --bogus; see berth resume --help", 255},
	}
	for _, tt := range tests {
		root := Root(Extra{})
		root.SetArgs(tt.args)
		root.SetOut(io.Discard)
		root.SetErr(io.Discard)
		err := root.Execute()
		var e *job.Error
		if !errors.As(err, &e) || err.Error() != tt.want || ExitCode(err) != tt.code {
			t.Errorf("berth %q: error %v, exit %d; want %s, %d", tt.args, err, ExitCode(err), tt.want, tt.code)
		}
	}
}

// TestForeignFlags: the flags of sbatch, qsub, GNU parallel and HyperQueue that a bag has not are known, and what is said of them
// names flags that there are.
func TestForeignFlags(t *testing.T) {
	bag, _, err := Root(Extra{}).Find([]string{"bag"})
	if err != nil {
		t.Fatal(err)
	}
	named := regexp.MustCompile(`(?:^|[ (])--([a-z-]+)`)
	for name := range strings.FieldsSeq(`cores walltime queue hold reservation licenses begin mem-per-node threads requeue container mpi
		gres gpus-per-node gpus-per-task dependency output error ntasks ntasks-per-node chdir mail-type mail-user export nodelist exclude wrap parsable test-only tmp
		l pe V hold_jid tc sync queue project cores
		jobs halt timeout results dryrun sshlogin link eta bar pipe wd nice quote delimiter I header shuf delay csv replace max-args
		pin stream crash-limit time-request resource directives task-dir priority cwd log`) {
		flag := bag.Flags().Lookup(name)
		if len(name) == 1 {
			flag = bag.Flags().ShorthandLookup(name)
		}
		here, known := synonyms.Flag(name)
		if !known && flag == nil {
			t.Errorf("nothing is said of %s", name)
		}
		for _, m := range named.FindAllStringSubmatch(advice(here), -1) {
			if m[1] != "failed" && m[1] != "help" && bag.Flags().Lookup(m[1]) == nil {
				t.Errorf("what is said of %s names --%s, which is no flag: %s", name, m[1], here)
			}
		}
	}
}

// TestHelpIsGrouped: each command that help lists and each flag of a bag is in a group.
func TestHelpIsGrouped(t *testing.T) {
	for _, tt := range []struct {
		args      []string
		has, lack string
	}{{[]string{"--help"}, "Run jobs:\n  add ", "Additional Commands"}, {[]string{"bag", "--help"}, "\nBatch system:\n  -A, --account", "--version"},
		{[]string{"run", "--help"}, "\nRented machines:\n      --budget", "Entries:"}} {
		root := Root(Extra{})
		var out strings.Builder
		root.SetArgs(tt.args)
		root.SetOut(&out)
		if err := root.Execute(); err != nil || !strings.Contains(out.String(), tt.has) || strings.Contains(out.String(), tt.lack) {
			t.Errorf("berth %q: %v\n%s", tt.args, err, &out)
		}
		if _, other, is := strings.Cut(out.String(), "\nOther:\n"); is && strings.Count(other, "\n") != 1 { // --help
			t.Errorf("berth %q has flags in no group:\n%s", tt.args, other)
		}
	}
}

// TestGroups: a group alone says what is in it, and that is no error.
func TestGroups(t *testing.T) {
	for _, args := range [][]string{{}, {"plan"}, {"server"}, {"--version"}} {
		root := Root(Extra{})
		root.SetArgs(args)
		root.SetOut(io.Discard)
		if err := root.Execute(); err != nil {
			t.Errorf("berth %q: %v", args, err)
		}
	}
}
