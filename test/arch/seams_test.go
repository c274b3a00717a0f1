package arch

import (
	"go/ast"
	"go/token"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// namesOfBatchSystems matches what batch systems call themselves, their commands and their variables.
var namesOfBatchSystems = regexp.MustCompile(`(?i)\b(slurm\w*|sbatch|srun|squeue|scontrol|scancel|sinfo|sacct|sacctmgr|salloc|pbs_?\w*|qsub|qstat|qdel|qhost|qconf|qacct|qalter|qselect|pbsnodes|qrsh|grid ?engine|sge_?\w*)\b`)

// mayNameBatchSystems has the packages that may name a batch system in a text, with the reason.
var mayNameBatchSystems = map[string]string{
	"driver/gridengine":       "it is that batch system",
	"driver/pbs":              "it is that batch system",
	"driver/slurm":            "it is that batch system",
	"simulate/workload/sacct": "it reads what the command sacct prints",
	"simulate/scenario":       "the source of jobs that is called sacct, for that reader",
	"command/simulation":      "the flag --from-sacct, for that reader",
}

// TestBatchSystemsAreNamedByTheirDrivers: what a batch system calls itself, its variables, its options and its tools come from
// batch.System (driver.BatchWords, cluster.Words). So no text of the product names one elsewhere, and a new batch system needs
// a package of its own and a line of the registry.
func TestBatchSystemsAreNamedByTheirDrivers(t *testing.T) {
	named := 0
	for _, s := range sources(t) {
		inReader := s.pkg == "command" && strings.HasSuffix(fset.Position(s.file.Package).Filename, "/cmd_simulate.go") // the flag --from-sacct
		for text, at := range literals(s.file) {
			if !namesOfBatchSystems.MatchString(text) {
				continue
			}
			named++
			if reason := mayNameBatchSystems[s.pkg]; reason == "" && !inReader && !strings.HasPrefix(s.pkg, "lab") {
				t.Errorf("%s: %q names a batch system; its driver says such names", fset.Position(at), text)
			}
		}
	}
	if named == 0 {
		t.Error("no text names a batch system, not even in a driver")
	}
}

// literals yields the texts of a file without import paths and tags.
func literals(file *ast.File) func(yield func(string, token.Pos) bool) {
	return func(yield func(string, token.Pos) bool) {
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.ImportSpec:
				return false
			case *ast.Field:
				n.Tag = nil
			case *ast.BasicLit:
				if text, err := strconv.Unquote(n.Value); err == nil && n.Kind == token.STRING {
					return yield(text, n.Pos())
				}
			}
			return true
		})
	}
}
