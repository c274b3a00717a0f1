package test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// newR returns a world with R's package batchtools and berth's file for it.
func newR(t *testing.T) *doors {
	t.Helper()
	d := &doors{world: newWorld(t)}
	d.withR(t)
	return d
}

// withR adds berth's file for R's package batchtools.
func (d *doors) withR(t *testing.T) {
	t.Helper()
	if out, err := exec.Command("Rscript", "-e", "loadNamespace('future.batchtools')").CombinedOutput(); err != nil {
		t.Skipf("R has no future.batchtools; it is in the Debian package r-cran-future.batchtools: %v %s", err, out)
	}
	text, err := os.ReadFile(filepath.Join("..", "r", "berth.R"))
	if err != nil {
		t.Fatal(err)
	}
	d.write("berth.R", string(text))
}

// TestDoorsR: the examples of docs/r.md print what the page says.
func TestDoorsR(t *testing.T) {
	t.Parallel()
	newR(t).examples(t, func(command string) bool { return strings.Contains(command, "library(") }, "r.md")
}

// firstR submits jobs, says so, and waits to be killed. Job 1 waits until it has been.
const firstR = `library(batchtools)
source("berth.R")
registry = makeRegistry("jobs", conf.file = NA)
registry$cluster.functions = makeClusterFunctionsBerth()
ids = batchMap(function(i) {
  message("this is ", i)
  cat(i, "", file = "runs", append = TRUE)
  if (i == 1) readLines("gate")
  if (i == 2) stop("two is wrong")
  i * 10
}, 1:4)
ids$chunk = c(1, 2, 2, 2)
submitJobs(ids, resources = list(chunks.as.arrayjobs = TRUE, memory = "300M", colour = "red"))
writeLines("", "submitted")
Sys.sleep(1000)
`

// secondR finds them.
const secondR = `library(batchtools)
source("berth.R")
registry = loadRegistry("jobs", writeable = TRUE, conf.file = NA)
registry$cluster.functions = makeClusterFunctionsBerth()
cat("all done:", waitForJobs(sleep = 0.1), "expired:", nrow(findExpired()), "errors:", nrow(findErrors()), "\n")
cat(unlist(reduceResultsList(findDone())), getErrorMessages()$message, grep("this is", getLog(3), value = TRUE), "\n")
`

// TestDoorsRKilled: the jobs of an R session that is killed run on, and the next session has their results, errors and logs.
func TestDoorsRKilled(t *testing.T) {
	t.Parallel()
	d := newR(t)
	d.write("first.R", firstR)
	d.write("second.R", secondR)
	d.run(t, "mkfifo", "gate")
	said := d.run(t, "sh", "-c", `setsid Rscript first.R >log 2>&1 & pid=$!
until [ -e submitted ]; do kill -0 $pid || { cat log; exit 1; }; sleep 0.1; done
kill -9 $pid; echo >gate; cat log; Rscript second.R`)
	for _, want := range []string{"berth does not know the resource colour", "all done: FALSE expired: 0 errors: 1", "10 30 40 Error in (function (i)  : two is wrong this is 3"} {
		if !strings.Contains(said, want) {
			t.Errorf("%q is missing in\n%s", want, said)
		}
	}
	if runs := strings.Fields(d.read("runs")); len(runs) != 4 {
		t.Errorf("jobs ran: %s", runs)
	}
}
