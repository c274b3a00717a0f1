// Package step holds what goes into a step of the engine and what comes out of it, beside records: inputs and actions.
// Who gives the engine inputs or carries out its actions (coordinator, drivers, simulator) needs these values and not the engine.
package step
