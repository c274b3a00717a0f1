package task

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"berth/internal/core/job"
)

func none(string) (int, bool) { return 0, false }

func TestParse(t *testing.T) {
	got, err := Parse("-", Lines([]byte(`{"name":"a","command":["sort","-o","{}","x y"],"cpus":"2","mem":"4G","gpus":"2:a100","time":"1h30m","retries":0}

{"command":"echo $HOME","mem":512,"gpus":1,"dir":"sub","env":{"B":"2","A":"1=1"},"stdout":"o","stderr":"none","outputs":["*.txt"],"application":"x","after":["a",3]}
{"entry":"one","mem":"4G..64G","time":"10m..2h","ranks":8,"ranks_per_node":"4"}
{"entry":"\ud83d\ude00\\ud800"}
`)))
	if err != nil {
		t.Fatal(err)
	}
	want := []Spec{
		{Line: 1, Name: "a", Command: []string{"sort", "-o", "{}", "x y"},
			Needs: job.Needs{CPUs: 2, Mem: 4 << 30, GPUs: 2, GPUType: "a100", TimeLimit: 90 * time.Minute, Attempts: 1}},
		{Line: 3, Command: []string{"echo $HOME"}, Shell: true, Dir: "sub", Env: []string{"A=1=1", "B=2"}, Stdout: "o", Stderr: "none",
			Outputs: []string{"*.txt"}, Needs: job.Needs{Mem: 512 << 20, GPUs: 1, Application: "x"}, After: []Ref{{Name: "a"}, {ID: 3}}},
		{Line: 4, Entry: job.Entry{"one"}, Needs: job.Needs{Mem: 4 << 30, MaxMem: 64 << 30, TimeLimit: 10 * time.Minute, MaxTimeLimit: 2 * time.Hour,
			Gang: job.Gang{Ranks: 8, RanksPerNode: 4}}},
		{Line: 5, Entry: job.Entry{"😀\\ud800"}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

// TestErrors: each error is one line, is the user's, and names the line of the input and the mistake.
func TestErrors(t *testing.T) {
	for _, c := range []struct{ lines, want string }{
		{`{"command":"a"}` + "\n[1]", "-:2: the line is not a JSON object"},
		{"null", "-:1: the line is not a JSON object"},
		{"{}\n\n{\"comand\":\"a\"}", `-:3: a task has no key "comand"; did you mean "command"?`},
		{`{"Name":"a"}`, `-:1: a task has no key "Name"`},
		{`{"command":[]}`, "-:1: command: [] is not a list of texts"},
		{`{"command":[""]}`, "-:1: command: the name of the program is empty"},
		{`{"command":"a\u0000"}`, "has a NUL"},
		{"{}\n" + `{"command":["echo","1"],"command":["echo","2"]}`, `-:2: the key "command" is there twice; keep one of them`},
		{`{"command":"a","\u0063ommand":"b"}`, `-:1: the key "command" is there twice`},
		{`{"command":"a","env":{"A":"1","B":"2","A":"3"}}`, `-:1: the key "A" is there twice`},
		{`{"command":"a\ud800"}`, `-:1: \ud800 is half of a character`},
		{`{"command":"\uDCFFa"}`, `-:1: \uDCFF is half of a character`},
		{`{"command":"\udc00\ud800"}`, `-:1: \udc00 is half of a character`},
		{`{"command":["\\\ud83d\ude00","\ud83d\ud83d\ude00"]}`, `-:1: \ud83d is half of a character`},
		{`{"command":"a","entry":"b"}`, "both a command and an entry"},
		{"{\"command\":\"\xff\"}", "-:1: the line is not valid UTF-8"},
		{`{"cpus":0}`, `-:1: cpus: "0" is not a number in the allowed range; write a whole number from 1 to`},
		{`{"ranks":0}`, `-:1: ranks: "0" is not a number in the allowed range`},
		{`{"ranks":2,"ranks_per_node":4}`, "-:1: ranks_per_node: 4 on each node are more than 2 ranks"},
		{`{"mem":"4X"}`, `-:1: mem: "4X" is not a size`},
		{`{"mem":0}`, "-:1: mem: it is 0"},
		{`{"mem":"8G..4G"}`, `-:1: mem: "8G..4G" ends below its begin`},
		{`{"mem":"auto"}`, "-:1: mem: the memory of a single task cannot be chosen"},
		{`{"time":"2h..1h"}`, `-:1: time: "2h..1h" ends below its begin`},
		{`{"gpus":"two:a100"}`, `-:1: gpus: "two:a100" is not a number of GPUs`},
		{`{"gpus":":a100"}`, "-:1: gpus:"},
		{`{"time":{}}`, `-:1: time: "{}" is not a duration`},
		{`{"env":{"A":1}}`, "-:1: env:"},
		{`{"env":{"A=B":"1"}}`, "-:1: env:"},
		{`{"stdout":"a","stderr":"a"}`, "stdout and stderr are the same file"},
		{`{"name":"12"}`, `-:1: name: "12" is not the name of a task`},
		{`{"after":"a"}`, "-:1: after: \"a\" is not a list"},
		{`{"name":"a"}` + "\n" + `{"name":"a"}`, `-:2: name: line 1 has a task named "a" too`},
		{`{"name":"old"}`, `-:1: name: the bag has a task named "old" already`},
		{`{"after":["b"]}`, `-:1: after: the bag has no task named "b"`},
		{`{"after":[8]}`, "-:1: after: the bag has no task with the id 8"},
		{`{"after":[7]}`, "-:1: after: the task would have to be done before itself"},
		{`{"after":["b"]}` + "\n" + `{"name":"b","after":["c"]}` + "\n" + `{"name":"c","after":["b"]}`, "-:2: after: the task would have to"},
	} {
		tasks, err := Parse("-", Lines([]byte(c.lines)))
		if err == nil {
			_, err = Order("-", tasks, 7, func(name string) (int, bool) { return 3, name == "old" })
		}
		if err == nil || !strings.Contains(err.Error(), c.want) || job.ClassOf(err) != job.User || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: the error is %v, want %q", c.lines, err, c.want)
		}
	}
	if _, err := Parse("", Lines([]byte("{}\nnull"))); err == nil || !strings.HasPrefix(err.Error(), "line 2: the line is not") {
		t.Errorf("a line of no file: %v", err)
	}
}

func TestOrder(t *testing.T) {
	tasks, err := Parse("-", Lines([]byte(`{"name":"z","after":["a","old",2,"a"]}`+"\n"+`{"name":"a"}`)))
	if err != nil {
		t.Fatal(err)
	}
	got, err := Order("-", tasks, 7, func(name string) (int, bool) { return 3, name == "old" })
	if want := [][]int32{{2, 3, 8}, nil}; err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, %v, want %v", got, err, want)
	}
}

// FuzzParse: any input gives either tasks or an error of the user in one line, and what is accepted can be put in order or is refused.
func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"name":"a","command":["x"],"after":[0,"b"],"mem":"4G","gpus":"1:x","env":{"A":"b"}}` + "\n" + `{"name":"b","time":1e3}`))
	f.Add([]byte(`{"after":[null,{},[]],"gpus":"","cpus":-1}`))
	f.Fuzz(func(t *testing.T, input []byte) {
		tasks, err := Parse("-", Lines(input))
		if err == nil {
			_, err = Order("-", tasks, 1, none)
		}
		if err != nil && (job.ClassOf(err) != job.User || !strings.HasPrefix(err.Error(), "-:")) {
			t.Errorf("%q: %v", input, err)
		}
	})
}

func BenchmarkParse(b *testing.B) {
	var lines bytes.Buffer
	for i := range 10_000 {
		fmt.Fprintf(&lines, `{"name":"align-%d","command":["bash","jobs/run.%d.sh"],"cpus":%d,"mem":"4G","time":"1h","stdout":"o/%d"}`+"\n", i, i, i%4+1, i)
	}
	for b.Loop() {
		tasks, err := Parse("-", Lines(lines.Bytes()))
		if err == nil {
			_, err = Order("-", tasks, 0, none)
		}
		if err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/10_000, "us/task")
}
