//go:build race

package test

// raceFlag builds the program under test with the race detector, as the tests are.
const raceFlag = "-race"
