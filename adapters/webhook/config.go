// Package webhook sends notices of events to an operator's program, as requests to a URL.
package webhook

import (
	"errors"
	"net/url"
)

// Config says where notices go.
type Config struct {
	// URL gets a POST for each notice. It may be a secret itself, so nothing prints it. Empty: notices are not sent.
	URL string
	// Secret signs the requests. Empty: they are not signed.
	Secret string
}

// Validate returns one error that names every wrong value. It quotes none.
func (c Config) Validate() error {
	var wrong []error
	if parsed, err := url.Parse(c.URL); c.URL != "" &&
		(err != nil || parsed.Scheme != "https" && parsed.Scheme != "http" || parsed.Host == "") {
		wrong = append(wrong, errors.New("GLUEPOT_NOTIFY_URL is not an address that begins with https:// or http://"))
	}
	if c.Secret != "" && c.URL == "" {
		wrong = append(wrong, errors.New("GLUEPOT_NOTIFY_SECRET is set without GLUEPOT_NOTIFY_URL: set that, too"))
	}
	return errors.Join(wrong...)
}
