package job

import (
	"slices"
	"strings"
	"testing"
)

func TestTaskEnv(t *testing.T) {
	m := soundMapReduce().MapReduce
	m.Env = []string{"PATH=/bin", "mapreduce_task_id=stale", "X=user", "broken"}
	m.CmdEnv = []string{"X=cmd", "my_key=cmd"}
	m.Conf = map[string]string{"my.key": "conf", "a-b.c": "v", "mapreduce.job.reduces": "9"}
	info := TaskInfo{
		Name: "wc", Attempt: Attempt{Job: "mr-17", Task: 12, N: 2}, Kind: MapTask, Index: 12, Maps: 20, Reduces: 3, User: "u", OutputDir: "/o/_t",
		Split: &Split{Ranges: []Range{{Path: "/in/a.txt", Offset: 100, Length: 50, Size: 1000}}},
	}
	env := TaskEnv(m, info)
	for _, want := range []string{
		"PATH=/bin", "X=cmd", "my_key=cmd", "a_b_c=v", "mapreduce_job_reduces=3", "mapred_reduce_tasks=3", "mapred_map_tasks=20",
		"mapreduce_task_id=task_local_0017_m_000012", "mapred_tip_id=task_local_0017_m_000012",
		"mapreduce_task_attempt_id=attempt_local_0017_m_000012_1", "mapred_task_id=attempt_local_0017_m_000012_1",
		"mapreduce_job_id=job_local_0017", "mapred_job_id=job_local_0017", "mapreduce_job_name=wc", "mapred_job_name=wc",
		"mapreduce_task_partition=12", "mapred_task_partition=12", "mapreduce_task_ismap=true", "mapred_task_is_map=true",
		"mapreduce_map_input_file=file:/in/a.txt", "map_input_file=file:/in/a.txt", "map_input_start=100", "mapreduce_map_input_start=100",
		"map_input_length=50", "mapreduce_map_input_length=50", "mapreduce_task_output_dir=/o/_t", "mapred_work_output_dir=/o/_t",
		"mapred_output_dir=/home/u/out", "user_name=u", "stream_map_output_field_separator=\t",
	} {
		if !slices.Contains(env, want) {
			t.Errorf("the environment lacks %s", want)
		}
	}
	names := map[string]bool{}
	for _, kv := range env {
		name, _, _ := strings.Cut(kv, "=")
		if names[name] {
			t.Errorf("%s is set twice", name)
		}
		names[name] = true
	}
}

func TestTaskEnvInputNames(t *testing.T) {
	m := soundMapReduce().MapReduce
	whole := TaskEnv(m, TaskInfo{Attempt: Attempt{Job: "mr-1"}, Kind: MapTask, Split: &Split{Ranges: []Range{{Path: "/in/a.gz", Length: -1, Size: 77}}}})
	if !slices.Contains(whole, "map_input_length=77") {
		t.Errorf("a compressed file's length is missing: %q", whole)
	}
	several := TaskEnv(m, TaskInfo{Attempt: Attempt{Job: "mr-1"}, Kind: MapTask, Split: &Split{Ranges: []Range{{Path: "/a"}, {Path: "/b"}}}})
	if slices.ContainsFunc(several, func(kv string) bool { return strings.HasPrefix(kv, "map_input_file=") }) {
		t.Error("a split over two files names one of them")
	}
	one := TaskEnv(m, TaskInfo{Attempt: Attempt{Job: "mr-1"}, Kind: MapTask, Split: &Split{Ranges: []Range{{Path: "/a", Offset: 5, Length: 7}, {Path: "/a", Offset: 12, Length: 3}}}})
	for _, want := range []string{"mapreduce_map_input_file=file:/a", "mapreduce_map_input_start=5", "mapreduce_map_input_length=10"} {
		if !slices.Contains(one, want) {
			t.Errorf("a split over two parts of one file lacks %s", want)
		}
	}
	reduce := TaskEnv(m, TaskInfo{Attempt: Attempt{Job: "mr-1", N: 1}, Kind: ReduceTask, Index: 3})
	if !slices.Contains(reduce, "mapred_task_id=attempt_local_0001_r_000003_0") || !slices.Contains(reduce, "mapreduce_task_ismap=false") {
		t.Errorf("a reduce's ids are wrong: %q", reduce)
	}
}

func TestTaskEnvTruncates(t *testing.T) {
	m := soundMapReduce().MapReduce
	m.Conf = map[string]string{"stream.jobconf.truncate.limit": "3", "long": "abcdef", "nul": "a\x00"}
	env := TaskEnv(m, TaskInfo{})
	if !slices.Contains(env, "long=abc") {
		t.Errorf("a long value is not cut: %q", env)
	}
	if slices.ContainsFunc(env, func(kv string) bool { return strings.HasPrefix(kv, "nul=") && len(kv) > 5 }) {
		t.Error("a value with NUL is handed over")
	}
}
