package view

import (
	"encoding/base64"
	"io"

	"github.com/gluepot/gluepot/domain/paste"
)

// Encrypted is a paste that its readers decrypt themselves, and cipherView with what they need for that, but for the key.
type Encrypted struct {
	ID        string `json:"_id"`
	Encrypted bool   `json:"encrypted"`
	ExpiresIn string `json:"expiresIn"`
	DeletesAt int64  `json:"deletesAt"`
}

type cipherView struct {
	Encrypted

	Version int    `json:"version"`
	Salt    string `json:"salt"`
}

// NewEncrypted returns the view of an encrypted paste.
func NewEncrypted(d *paste.Document) Encrypted {
	return Encrypted{ID: string(d.ID), Encrypted: true, ExpiresIn: string(d.ExpiresIn()), DeletesAt: d.DeletesAt()}
}

// writeCipher writes an encrypted paste in pieces.
func writeCipher(to io.Writer, d *paste.Document) error {
	w := newWriter(to)
	w.begin(cipherView{NewEncrypted(d), d.Cipher.Version, base64.RawURLEncoding.EncodeToString(d.Cipher.Salt)})
	w.raw(`,"cipher":"`)
	if w.err == nil {
		encoder := base64.NewEncoder(base64.RawURLEncoding, to)
		if _, w.err = encoder.Write(d.Cipher.Data); w.err == nil {
			w.err = encoder.Close()
		}
	}
	w.raw(`"}`)
	return w.err
}
