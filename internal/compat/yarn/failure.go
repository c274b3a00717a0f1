package yarn

import (
	"fmt"

	"berth/internal/server/report"
)

// exception returns the text by which Hadoop reports a failed attempt: the exception that ended its Java process, with
// its place in the source.
func exception(f report.Failure) string {
	code := f.Exit
	if f.Signal != 0 {
		code = 128 + f.Signal // as in Java
	}
	if code == 0 {
		return "java.lang.RuntimeException: " + oneLine(f.Reason) +
			"\n\tat org.apache.hadoop.streaming.PipeMapRed.waitOutputThreads(PipeMapRed.java:326)"
	}
	caller := "\n\tat org.apache.hadoop.streaming.PipeMapper.close(PipeMapper.java:130)"
	if taskType(f.Name) == "REDUCE" {
		caller = "\n\tat org.apache.hadoop.streaming.PipeReducer.close(PipeReducer.java:134)"
	}
	return fmt.Sprintf("java.lang.RuntimeException: PipeMapRed.waitOutputThreads(): subprocess failed with code %d", code) +
		"\n\tat org.apache.hadoop.streaming.PipeMapRed.waitOutputThreads(PipeMapRed.java:326)" +
		"\n\tat org.apache.hadoop.streaming.PipeMapRed.mapRedFinished(PipeMapRed.java:539)" + caller
}
