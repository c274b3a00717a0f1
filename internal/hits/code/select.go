package code

// Select selects the functions to be planted by their hits: those hit at most threshold times the
// mean. The others are the few that cost most and show progress least: in the paper no2-outliers,
// section 4, the mean as the threshold leaves 0.03 to 0.1 % of an overhead of 8 to 11 %. The mean is
// over all given functions, including those without hits; after a short run it is less than one hit.
// So a function that was hit once is selected at every threshold above 0: otherwise nothing that the
// program enters would be counted. A threshold of 0 selects the functions without hits.
func Select(hits []uint64, threshold float64) []bool {
	sum := 0.0
	for _, n := range hits {
		sum += float64(n)
	}
	most := threshold * sum / float64(max(1, len(hits)))
	if threshold > 0 {
		most = max(most, 1)
	}
	kept := make([]bool, len(hits))
	for i, n := range hits {
		kept[i] = float64(n) <= most
	}
	return kept
}
