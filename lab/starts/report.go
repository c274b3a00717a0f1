package starts

// Report is the comparison on one log.
type Report struct {
	Rows   []Row    `json:"rows"`
	Choice []Choice `json:"choice"`
}

// Row is how good predictions of starts are, over jobs that had to wait.
type Row struct {
	Predictor   string  `json:"predictor"` // limits or history
	Jobs        int     `json:"jobs"`
	Within10Min float64 `json:"within_10min"`   // fraction of the jobs whose start was predicted to 10 min
	MAE         float64 `json:"mae_s"`          // mean absolute error
	MAERatio    float64 `json:"mae_ratio"`      // to that of limits
	Coverage    float64 `json:"coverage_10_90"` // fraction of the starts that are in the calibrated band of 80 %
}

// Choice is the mean turnaround of a job of so much work that chooses its number of nodes in one way.
type Choice struct {
	Work       float64 `json:"work_node_h"`
	By         string  `json:"by"` // limits, history, oracle, widest or narrowest
	Turnaround float64 `json:"mean_turnaround_s"`
}
