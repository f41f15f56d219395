package pastes

// For tests in another package.
const (
	MaxRenderedBytes = maxRenderedBytes
	LargePage        = largePage
)
