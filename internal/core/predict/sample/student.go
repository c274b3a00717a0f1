package sample

import "math"

// Confidence is the confidence level of all intervals, as in the papers.
const Confidence = 0.95

// StudentsT returns the half-width of the confidence interval in standard errors, for a number of
// degrees of freedom, at least 1. It solves P(|T| ≤ t) = Confidence for θ = atan(t/√free) by Newton's
// method; from θ = 0 on, where the probability is concave in θ, no step passes the solution.
func StudentsT(free int) float64 {
	theta := 0.0
	for range 200 {
		p, slope := central(theta, free)
		next := theta + (Confidence-p)/slope
		if next <= theta {
			break
		}
		theta = next
	}
	return math.Tan(theta) * math.Sqrt(float64(free))
}

// central returns P(|T| ≤ √free·tan θ) and its derivative by θ (Abramowitz and Stegun, 26.7.3 and
// 26.7.4): a sum of powers of cos θ, whose coefficients are ratios of odd and even numbers.
func central(theta float64, free int) (share, slope float64) {
	sin, cos := math.Sincos(theta)
	p, term, peak := 0.0, 1.0, 1.0
	if free%2 == 1 {
		p, term, peak = theta*2/math.Pi, cos*2/math.Pi, 2/math.Pi
	}
	for e := free % 2; e <= free-2; e += 2 { // e is the exponent
		p += sin * term
		term *= cos * cos * float64(e+1) / float64(e+2)
		peak *= float64(e+1) / float64(max(e, 1))
	}
	return p, peak * math.Pow(cos, float64(free-1))
}
