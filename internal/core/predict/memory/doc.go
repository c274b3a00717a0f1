// Package memory chooses how much memory a task is given, from what earlier tasks of its application used:
//
//	var h memory.History
//	h.Learn(memory.Sample{Size: input, Peak: used, Time: took})
//	bytes, known := h.First(input)
//	bytes = h.Next(input, bytes) // the task ran out of them
//
// Four models predict the memory of a task from the size of its input. What they would have predicted for each earlier
// task, before it ran, is compared with what it used. So for each model the factor is found by which its prediction must
// be multiplied so that the least memory is wasted, the cost of attempts that run out of memory counted (the idea of
// first allocations: Tovar et al., A Job Sizing Strategy for High-Throughput Scientific Workflows, TPDS 2018, equation 1,
// applied to ratios instead of amounts), and the model is taken that would have wasted least (as in Sizey, arXiv
// 2407.16353, which weighs models by their accuracy). docs/models.md has the formulas.
package memory
