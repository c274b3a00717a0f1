package job

// Curve is the progress of a finished attempt over time. A profile stores curves, and the next job of
// the application is compared with them.
type Curve struct {
	Kind   TaskKind       `msgpack:"k" json:"kind"`
	Source ProgressSource `msgpack:"s" json:"source"`
	// Marks holds three numbers for each point of the curve: seconds since the attempt began, the count in the
	// unit of Source, and seconds of processor time.
	Marks []float64 `msgpack:"m" json:"marks"`
}
