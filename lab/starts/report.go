package starts

// Report is the comparison on one log.
type Report struct {
	Rows   []Row    `json:"rows"`   // one for each way of predicting
	Choice []Choice `json:"choice"` // one for each amount of work and way of choosing
}

// Row is how good predictions of starts are, over jobs that had to wait.
type Row struct {
	Predictor   string  `json:"predictor"`      // `limits` or `history`
	Jobs        int     `json:"jobs"`           // jobs that had to wait, whose starts were predicted
	Within10Min float64 `json:"within_10min"`   // fraction of them whose start was predicted to 10 min
	MAE         float64 `json:"mae_s"`          // mean absolute error
	MAERatio    float64 `json:"mae_ratio"`      // that, divided by that of `limits`
	Coverage    float64 `json:"coverage_10_90"` // fraction of the starts that lie in the calibrated band of 80 %
}

// Choice is the mean turnaround of a job of so much work that chooses its number of nodes in one way.
type Choice struct {
	Work       float64 `json:"work_node_h"`       // work of the job that chooses its size, in hours of one node
	By         string  `json:"by"`                // `limits`, `history`, `oracle`, `widest` or `narrowest`
	Turnaround float64 `json:"mean_turnaround_s"` // of these jobs
}
