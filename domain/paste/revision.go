package paste

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"
	"io"

	"github.com/gluepot/gluepot/domain/fault"
)

// ErrEdited is the fault.Conflict for changes to a paste that was edited meanwhile.
var ErrEdited = fault.New(fault.Conflict, "The paste was edited meanwhile.")

// Revision identifies the content as far as edits can change it. Unlike the number of edits it also changes with tags,
// visibility and the order of pasties, which have no history, and with an import.
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

// writeText writes each text after its length, so that different lists have different encodings.
func writeText(sum hash.Hash, texts ...string) {
	for _, text := range texts {
		writeCount(sum, len(text))
		_, _ = io.WriteString(sum, text) // a hash.Hash does not fail
	}
}

func writeCount(sum hash.Hash, n int) {
	_, _ = sum.Write(binary.BigEndian.AppendUint64(nil, uint64(n)))
}
