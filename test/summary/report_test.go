package main

import (
	"strings"
	"testing"
)

const events = `{"Action":"start","Package":"a"}
{"Action":"output","Package":"a","Test":"TestGood","Output":"=== RUN   TestGood\n"}
{"Action":"output","Package":"a","Test":"TestGood","Output":"    a_test.go:1: not shown\n"}
{"Action":"output","Package":"b","Test":"TestBad","Output":"    b_test.go:2: got 1, want 2\n"}
{"Action":"output","Package":"a","Test":"TestGood","Output":"--- PASS: TestGood (0.00s)\n"}
{"Action":"pass","Package":"a","Test":"TestGood","Elapsed":12.34}
{"Action":"pass","Package":"a","Test":"TestGood/part","Elapsed":11}
{"Action":"pass","Package":"a","Test":"TestQuick","Elapsed":9.9}
{"Action":"output","Package":"a","Test":"TestHosts/far","Output":"    a_test.go:3: no hosts: not root\n"}
{"Action":"output","Package":"a","Test":"TestHosts/far","Output":"    --- SKIP: TestHosts/far (0.00s)\n"}
{"Action":"skip","Package":"a","Test":"TestHosts/far"}
{"Action":"output","Package":"a","Output":"PASS\n"}
{"Action":"output","Package":"a","Output":"ok  \ta\t0.1s\n"}
{"Action":"pass","Package":"a"}
{"Action":"output","Package":"b","Test":"TestGood","Output":"    b_test.go:1: not shown\n"}
{"Action":"pass","Package":"b","Test":"TestGood"}
{"Action":"output","Package":"b","Test":"TestGood","Output":"panic: written after the test\n"}
{"Action":"fail","Package":"b","Test":"TestBad"}
{"Action":"output","Package":"b","Output":"FAIL\tb\t0.1s\n"}
{"Action":"fail","Package":"b"}
{"Action":"output","Package":"c","Output":"?   \tc\t[no test files]\n"}
{"Action":"skip","Package":"c"}
{"Action":"build-output","ImportPath":"d","Output":"d.go:1:1: syntax error\n"}
{"Action":"output","Package":"d","Output":"FAIL\td [build failed]\n"}
{"Action":"fail","Package":"d"}
go: no space left on device
`

// TestReport checks that packages that pass have one line, failures are shown with all that belongs to them, skipped
// tests are listed with their reasons, and tests that take long with their seconds.
func TestReport(t *testing.T) {
	var out strings.Builder
	r := report{to: &out, outputs: map[test][]string{}}
	if err := r.read(strings.NewReader(events)); err != nil {
		t.Fatal(err)
	}
	want := "ok  \ta\t0.1s\n    b_test.go:2: got 1, want 2\npanic: written after the test\nFAIL\tb\t0.1s\n" +
		"d.go:1:1: syntax error\nFAIL\td [build failed]\ngo: no space left on device\n"
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
	if got, want := r.skipped.String(), "a TestHosts/far: no hosts: not root\n"; got != want {
		t.Errorf("skipped %q, want %q", got, want)
	}
	if got, want := r.slow.String(), "   12.3 a TestGood\n"; got != want {
		t.Errorf("slow %q, want %q", got, want)
	}
}
