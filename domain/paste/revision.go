package paste

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"
	"io"

	"github.com/gluepot/gluepot/domain/fault"
)

// ErrEdited is the fault.Conflict for changes to what another editor has changed meanwhile.
var ErrEdited = fault.New(fault.Conflict, "The paste was edited meanwhile.")

// Revision is the same for two contents that differ in nothing that an edit can change. Unlike a number of edits it also tells
// whether tags, visibility or the order of pasties are others, of which there is no history, or an import came in between.
func (c Content) Revision() string {
	sum := sha256.New()
	writeText(sum, c.Title, c.Visibility.String())
	writeCount(sum, len(c.Tags))
	writeText(sum, c.Tags...)
	for _, p := range c.Pasties {
		writeText(sum, p.ID, p.Title, p.Language, p.Code)
	}
	return hex.EncodeToString(sum.Sum(nil)[:16])
}

// writeText writes each text after its length, so that no two lists look the same.
func writeText(sum hash.Hash, texts ...string) {
	for _, text := range texts {
		writeCount(sum, len(text))
		_, _ = io.WriteString(sum, text) // a hash.Hash does not fail
	}
}

func writeCount(sum hash.Hash, n int) {
	_, _ = sum.Write(binary.BigEndian.AppendUint64(nil, uint64(n)))
}
