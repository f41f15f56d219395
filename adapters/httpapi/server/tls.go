package server

import (
	"crypto/tls"
	"fmt"
	"io/fs"
	"os"
	"sync"

	"go.uber.org/zap"

	"github.com/gluepot/gluepot/domain/fault"
)

// certificate is a pair of files, read again when they have changed.
type certificate struct {
	certFile, keyFile string
	log               *zap.Logger

	mu      sync.Mutex
	current *tls.Certificate
	seen    [2]fs.FileInfo // what the files were when they were last read; nil for one that was not there
}

// loadCertificate fails with fault.Invalid when the files hold no certificate and its key.
func loadCertificate(certFile, keyFile string, log *zap.Logger) (*certificate, error) {
	c := &certificate{certFile: certFile, keyFile: keyFile, log: log}
	c.seen = c.look()
	loaded, err := tls.LoadX509KeyPair(certFile, keyFile)
	if err != nil {
		return nil, fault.New(fault.Invalid,
			fmt.Sprintf("Cannot serve with the certificate in %q and the key in %q: %v.", certFile, keyFile, err))
	}
	c.current = &loaded
	return c, nil
}

func (c *certificate) look() (now [2]fs.FileInfo) {
	for i, path := range [...]string{c.certFile, c.keyFile} {
		if info, err := os.Stat(path); err == nil {
			now[i] = info
		}
	}
	return now
}

// same reports whether a file is as it was. Orchestrators swap a link, certbot too; others write the file anew.
func same(a, b fs.FileInfo) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return os.SameFile(a, b) && a.ModTime().Equal(b.ModTime()) && a.Size() == b.Size()
}

// forHandshake returns the certificate as it is in the files now. Looking costs a hundredth of a handshake. When they hold none, such
// as between the writing of one and of the other, the one before stays, and the log says why, once for each change.
func (c *certificate) forHandshake(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.look()
	if same(now[0], c.seen[0]) && same(now[1], c.seen[1]) {
		return c.current, nil
	}
	c.seen = now // before reading: what changes meanwhile is read again
	loaded, err := tls.LoadX509KeyPair(c.certFile, c.keyFile)
	if err != nil {
		c.log.Error("the new certificate cannot be used, the one before stays", zap.String("certificate", c.certFile),
			zap.String("key", c.keyFile), zap.Error(err))
		return c.current, nil
	}
	c.current = &loaded
	c.log.Info("the certificate was read again", zap.String("certificate", c.certFile), zap.Time("expires", loaded.Leaf.NotAfter))
	return c.current, nil
}

// config refuses to resume sessions: that would go on with the certificate of before.
func (c *certificate) config() *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS12, GetCertificate: c.forHandshake, NextProtos: []string{"http/1.1"}, SessionTicketsDisabled: true,
	}
}
