package job

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// TaskInfo describes a MapReduce task for its environment.
type TaskInfo struct {
	Name      string // of the job
	Attempt   Attempt
	Kind      TaskKind // MapTask or ReduceTask
	Index     int      // among the job's maps, or among its reduces, where it is the partition
	Maps      int      // of the job
	Reduces   int      // of the job
	Split     *Split   // of a map
	OutputDir string   // folder whose files become part of the job's output; empty: there is none
	User      string   // may be empty
}

// TaskEnv returns the environment of a streaming task, without duplicates. Later settings win over
// earlier ones, in this order: the user's environment, the job's keys, Hadoop Streaming's variables
// about the task in both spellings (mapreduce_task_partition and mapred_task_partition), -cmdenv.
// As in Hadoop (PipeMapRed.safeEnvVarName), an underscore replaces every character of a key that is
// not a letter or a digit.
//
// The variables about a map's input are set only if its split lies in one file.
func TaskEnv(m *MapReduceSpec, t TaskInfo) []string {
	e := envList{at: map[string]int{}}
	e.addAll(m.Env)
	limit := -1
	if n, err := strconv.Atoi(m.Conf["stream.jobconf.truncate.limit"]); err == nil {
		limit = n
	}
	for _, key := range slices.Sorted(maps.Keys(m.Conf)) {
		value := m.Conf[key]
		if limit >= 0 && len(value) > limit {
			value = value[:limit]
		}
		e.set(EnvName(key), value)
	}
	e.job(m, &t)
	e.task(&t)
	e.addAll(m.CmdEnv)
	return e.vars
}

// EnvName returns the name of the environment variable of a job key.
func EnvName(key string) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' {
			return r
		}
		return '_'
	}, key)
}

// envList is an environment in which a later setting of a variable replaces an earlier one.
type envList struct {
	vars []string
	at   map[string]int // index in vars of each variable
}

func (e *envList) set(name, value string) {
	if strings.ContainsRune(value, 0) {
		return // an environment variable cannot contain a NUL
	}
	i, known := e.at[name]
	if !known {
		i = len(e.vars)
		e.at[name] = i
		e.vars = append(e.vars, "")
	}
	e.vars[i] = name + "=" + value
}

// all sets the present and the earlier name of a variable.
func (e *envList) all(names, value string) {
	for name := range strings.FieldsSeq(names) {
		e.set(name, value)
	}
}

func (e *envList) addAll(vars []string) {
	for _, kv := range vars {
		if name, value, ok := strings.Cut(kv, "="); ok {
			e.set(name, value)
		}
	}
}

// Getenv returns the value of a variable in a list of NAME=VALUE, or "" if the list does not have it.
func Getenv(env []string, name string) string {
	value, _ := LookupEnv(env, name)
	return value
}

// LookupEnv returns the last value of a variable in a list of NAME=VALUE. ok is false if the list does not have it.
func LookupEnv(env []string, name string) (value string, ok bool) {
	for _, kv := range slices.Backward(env) {
		if n, value, ok := strings.Cut(kv, "="); ok && n == name {
			return value, true
		}
	}
	return "", false
}

// job sets the variables that are the same for all tasks of the job.
func (e *envList) job(m *MapReduceSpec, t *TaskInfo) {
	e.all("mapreduce_job_id mapred_job_id", "job_"+hadoopNumber(t.Attempt.Job))
	e.all("mapreduce_job_name mapred_job_name", t.Name)
	e.all("mapreduce_job_maps mapred_map_tasks", strconv.Itoa(t.Maps))
	e.all("mapreduce_job_reduces mapred_reduce_tasks", strconv.Itoa(t.Reduces))
	e.all("mapreduce_output_fileoutputformat_outputdir mapred_output_dir", m.Output)
	e.all("mapreduce_input_fileinputformat_inputdir mapred_input_dir", strings.Join(m.Inputs, ","))
	e.set("stream_num_map_output_key_fields", strconv.Itoa(m.MapOutputKeyFields))
	e.set("stream_map_output_field_separator", m.MapOutputSeparator)
	e.set("stream_reduce_output_field_separator", m.ReduceOutputSeparator)
	if t.User != "" {
		e.all("mapreduce_job_user_name user_name", t.User)
	}
}

// task sets the variables that differ between tasks. Ids have Hadoop's form, with "local" instead of
// the cluster's start time: task_local_0017_m_000012, and attempt_local_0017_m_000012_0 with
// attempts counted from 0. Old versions of Hadoop called the id of the task mapred_tip_id and that
// of the attempt mapred_task_id.
func (e *envList) task(t *TaskInfo) {
	letter := "m"
	if t.Kind == ReduceTask {
		letter = "r"
	}
	id := fmt.Sprintf("%s_%s_%06d", hadoopNumber(t.Attempt.Job), letter, t.Index)
	e.all("mapreduce_task_id mapred_tip_id", "task_"+id)
	e.all("mapreduce_task_attempt_id mapred_task_id", fmt.Sprintf("attempt_%s_%d", id, max(0, t.Attempt.N-1)))
	e.all("mapreduce_task_partition mapred_task_partition", strconv.Itoa(t.Index))
	e.all("mapreduce_task_ismap mapred_task_is_map", strconv.FormatBool(t.Kind == MapTask))
	if t.OutputDir != "" {
		e.all("mapreduce_task_output_dir mapred_work_output_dir", t.OutputDir)
	}
	if t.Split != nil {
		e.input(t.Split.Ranges)
	}
}

// input sets the variables about a map's input if the ranges are all in one file. The file's name is a
// URI without escapes, as Hadoop's Path.toString returns it.
func (e *envList) input(ranges []Range) {
	var length int64
	for _, r := range ranges {
		if r.Path != ranges[0].Path {
			return
		}
		if r.Length < 0 {
			length += r.Size
		} else {
			length += r.Length
		}
	}
	if len(ranges) == 0 {
		return
	}
	e.all("mapreduce_map_input_file map_input_file", uri(ranges[0].Path))
	e.all("mapreduce_map_input_start map_input_start", strconv.FormatInt(ranges[0].Offset, 10))
	e.all("mapreduce_map_input_length map_input_length", strconv.FormatInt(length, 10))
}

// hadoopNumber returns the part of Hadoop's ids that names the job: "local_0017".
func hadoopNumber(id ID) string {
	_, number, _ := strings.Cut(string(id), "-")
	n, _ := strconv.Atoi(number) // every id that berth made has a number
	return fmt.Sprintf("local_%04d", n)
}

// uri returns the URI of an input.
func uri(path string) string {
	if IsObject(path) {
		return path
	}
	return "file:" + path
}

// ReplaceEnv returns an environment without the variables that drop names, and with others.
func ReplaceEnv(env []string, drop func(name string) bool, add ...string) []string {
	kept := slices.DeleteFunc(slices.Clone(env), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return drop(name)
	})
	return append(kept, add...)
}
