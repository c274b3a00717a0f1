// Package memory compares rules that choose the memory of tasks, on traces of workflows: what their users asked for, rules
// of the literature, and berth's (internal/core/predict/memory). It is berth-lab memory.
package memory
