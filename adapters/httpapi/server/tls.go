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

// certificate is a pair of files, read again when they have changed.
type certificate struct {
	certFile, keyFile string
	log               *zap.Logger

	mu        sync.Mutex
	current   *tls.Certificate
	cert, key []byte // what the files held when they were last read; nil for one that cannot be read
}

// loadCertificate fails with fault.Invalid when the files hold no certificate and its key.
func loadCertificate(certFile, keyFile string, log *zap.Logger) (*certificate, error) {
	c := &certificate{certFile: certFile, keyFile: keyFile, log: log}
	if _, err := c.load(); err != nil {
		return nil, fault.New(fault.Invalid,
			fmt.Sprintf("Cannot serve with the certificate in %q and the key in %q: %v.", certFile, keyFile, err))
	}
	return c, nil
}

// load reads the files, and reports whether they hold another certificate than when they were last read.
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
	loaded, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return false, err
	}
	c.current = &loaded
	return true, nil
}

// forHandshake returns the certificate as it is in the files now. Reading them costs a fraction of a handshake. When they hold none, such
// as between the writing of one and of the other, the one before stays, and the log says why, once for each change.
func (c *certificate) forHandshake(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	changed, err := c.load()
	switch {
	case err != nil:
		c.log.Error("the new certificate cannot be used, the one before stays", zap.String("certificate", c.certFile),
			zap.String("key", c.keyFile), zap.Error(err))
	case changed:
		c.log.Info("the certificate was read again", zap.String("certificate", c.certFile),
			zap.Time("expires", c.current.Leaf.NotAfter))
	}
	return c.current, nil
}

// config refuses to resume sessions: that would go on with the certificate of before.
func (c *certificate) config() *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS12, GetCertificate: c.forHandshake, NextProtos: []string{"http/1.1"}, SessionTicketsDisabled: true,
	}
}
