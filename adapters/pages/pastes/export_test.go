package pastes

// What tests of another package know of this one.
const (
	MaxRenderedBytes = maxRenderedBytes
	LargePage        = largePage
)
