package server

import (
	"bytes"
	"cmp"
	"crypto/tls"
	"fmt"
	"os"
	"sync"

	"go.uber.org/zap"

	"github.com/gluepot/gluepot/domain/fault"
)

// certificate is a certificate and key in files, which are read again when they change.
type certificate struct {
	certFile, keyFile string
	log               *zap.Logger

	mu        sync.Mutex
	current   *tls.Certificate
	cert, key []byte // the files as last read; nil: unreadable
}

// newTLS returns the configuration for a certificate and its key. It fails with fault.Invalid if it cannot use the
// files. It disables session tickets, because a resumed session would use the old certificate.
func newTLS(certFile, keyFile string, log *zap.Logger) (*tls.Config, error) {
	c := &certificate{certFile: certFile, keyFile: keyFile, log: log}
	if _, err := c.load(); err != nil {
		return nil, fault.New(fault.Invalid, fmt.Sprintf("Cannot serve with the certificate in %q and the key in %q: %v. "+
			"Check GLUEPOT_HTTP_TLS_CERT_FILE and GLUEPOT_HTTP_TLS_KEY_FILE.", certFile, keyFile, err))
	}
	return &tls.Config{
		MinVersion: tls.VersionTLS12, GetCertificate: c.forHandshake, NextProtos: []string{"http/1.1"},
		SessionTicketsDisabled: true,
	}, nil
}

// load reads the files, and reports whether the certificate has changed.
func (c *certificate) load() (changed bool, err error) {
	cert, certErr := os.ReadFile(c.certFile)
	key, keyErr := os.ReadFile(c.keyFile)
	if c.current != nil && bytes.Equal(cert, c.cert) && bytes.Equal(key, c.key) {
		return false, nil
	}
	c.cert, c.key = cert, key
	if err := cmp.Or(certErr, keyErr); err != nil {
		return false, err
	}
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return false, err
	}
	c.current = &pair
	return true, nil
}

// forHandshake returns the certificate that is now in the files. Reading them costs a fraction of a handshake. While
// they do not match, such as when only one is written yet, the old certificate stays. The log says so once for each
// change.
func (c *certificate) forHandshake(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	changed, err := c.load()
	switch {
	case err != nil:
		c.log.Error("the new certificate cannot be used: the previous one stays in use",
			zap.String("certificate", c.certFile), zap.String("key", c.keyFile), zap.Error(err))
	case changed:
		c.log.Info("the certificate was reloaded", zap.String("certificate", c.certFile),
			zap.Time("expires", c.current.Leaf.NotAfter))
	}
	return c.current, nil
}
