package arch

import (
	"go/ast"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// policies are the packages that decide. simulated and live are who runs them: the
// simulator, and the shell around a real cluster.
var (
	policies  = []string{"core/cluster", "core/predict", "core/plan", "core/sched", "core/engine"}
	simulated = []string{"simulate/sim"}
	live      = []string{"server/coordinator", "server/rundir", "driver/batch", "driver/slurm", "driver/gridengine", "driver/pbs"}
)

// decisions are the doors to them: what a job asks for, what happens to it, and what lies
// between the two.
var decisions = []string{"plan.Decide", "engine.New", "step.Perform", "plan.Answer", "plan.Work", "plan.Serves"}

// TestOnePolicy: the simulator runs the very packages that decide when jobs run for real,
// through the same doors. What it shows of them holds for both.
func TestOnePolicy(t *testing.T) {
	all := sources(t)
	for _, side := range [][]string{simulated, live} {
		reached, used := reach(all, side), selectors(all, side)
		for _, p := range policies {
			if !reached[p] {
				t.Errorf("%v do not import %s", side, p)
			}
		}
		for _, d := range decisions {
			if !used[d] {
				t.Errorf("%v do not use %s", side, d)
			}
		}
	}
}

// reach returns the packages of ours that those import, directly or not.
func reach(all []source, from []string) map[string]bool {
	seen := map[string]bool{}
	for todo := slices.Clone(from); len(todo) > 0; todo = todo[1:] {
		if seen[todo[0]] {
			continue
		}
		seen[todo[0]] = true
		for _, s := range all {
			if s.pkg != todo[0] {
				continue
			}
			for _, spec := range s.file.Imports {
				path, _ := strconv.Unquote(spec.Path.Value)
				if name, ours := strings.CutPrefix(path, module+"internal/"); ours {
					todo = append(todo, name)
				}
			}
		}
	}
	return seen
}

// selectors returns what the packages' files select, "plan.Decide" say.
func selectors(all []source, pkgs []string) map[string]bool {
	used := map[string]bool{}
	for _, s := range all {
		if !slices.Contains(pkgs, s.pkg) {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			if sel, ok := n.(*ast.SelectorExpr); ok {
				if x, ok := sel.X.(*ast.Ident); ok {
					used[x.Name+"."+sel.Sel.Name] = true
				}
			}
			return true
		})
	}
	return used
}
