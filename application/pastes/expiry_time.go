package pastes

import "github.com/gluepot/gluepot/domain/paste"

// ExpiryTime says when a paste would expire.
type ExpiryTime struct{}

// Do returns when a paste that was created at that time expires, both in seconds since 1970: 0 for never. expiresIn is
// a spelling or a name of a lifetime. It fails with a fault.Invalid that names the parameter that is missing or wrong.
func (e *ExpiryTime) Do(createdAt, expiresIn string) (int64, error) {
	created, err := paste.ParseUnix(createdAt)
	if err != nil {
		return 0, err
	}
	lifetime, err := paste.ParseLifetimeName(expiresIn)
	if err != nil {
		return 0, err
	}
	return lifetime.EndUnix(created)
}
