// Package batch is about records that are stored in batches, and lists that are read in pages.
package batch

// Outcome is what storing a record changed.
type Outcome uint8

// The outcomes of a record that was accepted.
const (
	New Outcome = iota
	Updated
	Unchanged
	RemovedEarlier // it, or the user it belongs to, was deleted here: it stays deleted, and nothing was stored
)

// Result is the outcome of one record, or the reason why it was not accepted.
type Result struct {
	Outcome Outcome
	Err     error // a *fault.Error; when set, Outcome means nothing
}
