package pbs

import (
	"cmp"
	"go/ast"
	"go/parser"
	"go/token"
	"math"
	"slices"
	"strconv"
	"strings"

	"berth/internal/core/cluster"
)

// waiting is a pending job with the values that order jobs.
type waiting struct {
	cluster.Queued
	queue int     // priority of its queue
	rank  float64 // by the site's formula; 0 if that cannot be computed
}

// inOrder returns the pending jobs in the order in which PBS tries to start them, as far as users can know it: jobs for which PBS has
// estimated a start by that start, the others by the priority of their queue, by the site's formula if its values are visible, and by
// submission, in which qstat lists them. Fair share and the scheduler's own configuration are not visible.
func inOrder(jobs []waiting) []cluster.Queued {
	slices.SortStableFunc(jobs, func(a, b waiting) int {
		switch {
		case a.Start > 0 && b.Start > 0:
			return cmp.Compare(a.Start, b.Start)
		case a.Start > 0 || b.Start > 0:
			return cmp.Compare(b.Start, a.Start)
		}
		return cmp.Or(cmp.Compare(b.queue, a.queue), cmp.Compare(b.rank, a.rank))
	})
	all := make([]cluster.Queued, len(jobs))
	for i, j := range jobs {
		all[i] = j.Queued
	}
	return all
}

// variable returns the value of a name in job_sort_formula for a job. ok is false for a name that users cannot see, such as fair share.
func variable(r record, queuePriority int, name string) (value float64, ok bool) {
	switch name {
	case "queue_priority":
		return float64(queuePriority), true
	case "job_priority":
		return number(r["Priority"])
	case "eligible_time":
		return parseSpan(r[name]).Seconds(), true
	case "fairshare_perc", "fairshare_tree_usage", "fairshare_factor", "accrue_type":
		return 0, false
	}
	text := r["Resource_List."+name]
	switch {
	case strings.Contains(text, ":"):
		return parseSpan(text).Seconds(), true
	case strings.HasSuffix(text, "b"):
		return float64(parseSize(text) >> 10), true // PBS counts sizes in kilobytes there
	}
	return number(cmp.Or(text, "0"))
}

func number(text string) (float64, bool) {
	v, err := strconv.ParseFloat(text, 64)
	return v, err == nil
}

// evaluate computes a job_sort_formula for the job whose values value returns. PBS lets Python compute it, so it may have more than numbers,
// names, + - * / and parentheses. ok is false then, and for names whose values are not known.
func evaluate(formula string, value func(name string) (float64, bool)) (result float64, ok bool) {
	e, err := parser.ParseExpr(formula)
	if err != nil {
		return 0, false
	}
	if result, ok = compute(e, value); !ok || math.IsNaN(result) {
		return 0, false
	}
	return result, true
}

func compute(e ast.Expr, value func(name string) (float64, bool)) (float64, bool) {
	switch e := e.(type) {
	case *ast.ParenExpr:
		return compute(e.X, value)
	case *ast.BasicLit:
		v, err := strconv.ParseFloat(e.Value, 64)
		return v, err == nil
	case *ast.Ident:
		return value(e.Name)
	case *ast.UnaryExpr:
		v, ok := compute(e.X, value)
		return -v, ok && e.Op == token.SUB
	case *ast.BinaryExpr:
		a, okA := compute(e.X, value)
		b, okB := compute(e.Y, value)
		switch e.Op {
		case token.ADD:
			return a + b, okA && okB
		case token.SUB:
			return a - b, okA && okB
		case token.MUL:
			return a * b, okA && okB
		case token.QUO:
			return a / b, okA && okB
		}
	}
	return 0, false
}
