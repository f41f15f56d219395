// Package batch helps to store records in batches and to read lists in pages.
package batch

// Outcome is what storing a record did.
type Outcome uint8

// The outcomes of an accepted record.
const (
	New Outcome = iota
	Updated
	Unchanged
	RemovedEarlier // nothing was stored: the record, or its owner, was deleted here before
)

// Result is the outcome of one record, or the reason for refusing it.
type Result struct {
	Outcome Outcome
	Err     error // a *fault.Error; if it is set, ignore Outcome
}
