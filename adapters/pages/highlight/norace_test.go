//go:build !race

package highlight

const watched = false
