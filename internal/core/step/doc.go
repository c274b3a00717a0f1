// Package step defines what goes into a step of the engine and what comes out of it beside records: inputs and actions.
// Packages that give the engine inputs or carry out its actions (coordinator, drivers, simulator) import it instead of the
// engine:
//
//	out, err := e.Step(now, step.Submit{Work: work})
//	for _, action := range out.Actions {
//		step.Perform(action, performer)
//	}
//
// It contains values and no decisions.
package step
