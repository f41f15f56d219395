// Package passkeys speaks WebAuthn, the protocol of passkeys, with github.com/go-webauthn/webauthn.
package passkeys

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strings"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/webauthn"

	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/identity"
	"github.com/gluepot/gluepot/domain/user"
)

// Passkeys implements identity.Passkeys.
type Passkeys struct{ party *webauthn.WebAuthn }

var _ identity.Passkeys = (*Passkeys)(nil)

// Refusals of New.
var (
	ErrNoAddress = errors.New("passkeys need GLUEPOT_PUBLIC_URL, the address that people use")
	ErrPlain     = errors.New("browsers support passkeys only if GLUEPOT_PUBLIC_URL is https, or its host is localhost")
	ErrNoName    = errors.New("browsers support passkeys only if the host of GLUEPOT_PUBLIC_URL is a name, not an address")
)

// New returns the passkeys of the server at a public URL, whose host is the relying party. If browsers do not support
// passkeys there, it returns an error that says why.
func New(publicURL, siteName string) (*Passkeys, error) {
	address, err := url.Parse(publicURL)
	switch {
	case publicURL == "" || err != nil:
		return nil, ErrNoAddress
	case address.Scheme != "https" && address.Hostname() != "localhost":
		return nil, ErrPlain
	}
	if _, err := netip.ParseAddr(address.Hostname()); err == nil {
		return nil, ErrNoName
	}
	party, err := webauthn.New(&webauthn.Config{
		RPID: strings.ToLower(address.Hostname()), RPDisplayName: siteName,
		RPOrigins:             []string{address.Scheme + "://" + address.Host},
		AttestationPreference: protocol.PreferNoAttestation,
		AuthenticatorSelection: protocol.AuthenticatorSelection{
			ResidentKey: protocol.ResidentKeyRequirementRequired, RequireResidentKey: protocol.ResidentKeyRequired(),
			UserVerification: protocol.VerificationPreferred,
		},
		Timeouts: webauthn.TimeoutsConfig{Login: timeout, Registration: timeout},
	})
	if err != nil {
		return nil, fmt.Errorf("passkeys: %w", err)
	}
	return &Passkeys{party}, nil
}

var timeout = webauthn.TimeoutConfig{Timeout: identity.CeremonyAge, TimeoutUVD: identity.CeremonyAge}

// owner implements webauthn.User.
type owner struct {
	id       user.ID
	name     string
	passkeys []webauthn.Credential
}

// WebAuthnID implements webauthn.User.
func (o owner) WebAuthnID() []byte { return []byte(o.id) }

// WebAuthnName implements webauthn.User.
func (o owner) WebAuthnName() string { return o.name }

// WebAuthnDisplayName implements webauthn.User.
func (o owner) WebAuthnDisplayName() string { return o.name }

// WebAuthnCredentials implements webauthn.User.
func (o owner) WebAuthnCredentials() []webauthn.Credential { return o.passkeys }

var encoding = base64.RawURLEncoding

func credentialOf(p identity.Passkey) (webauthn.Credential, error) {
	id, err := encoding.DecodeString(string(p.ID))
	return webauthn.Credential{
		ID: id, PublicKey: p.PublicKey, Flags: webauthn.CredentialFlags{BackupEligible: p.BackupEligible},
		Authenticator: webauthn.Authenticator{SignCount: p.Counter},
	}, err
}

// BeginRegistration implements identity.Passkeys.
func (p *Passkeys) BeginRegistration(
	id user.ID, name string, others []identity.Passkey,
) (identity.CeremonyOptions, error) {
	exclusions := make([]protocol.CredentialDescriptor, len(others))
	for i, other := range others {
		credential, err := credentialOf(other)
		if err != nil {
			return identity.CeremonyOptions{}, fault.Unexpected(err)
		}
		exclusions[i] = credential.Descriptor()
	}
	options, session, err := p.party.BeginRegistration(owner{id: id, name: name}, webauthn.WithExclusions(exclusions))
	if err != nil {
		return identity.CeremonyOptions{}, fault.Unexpected(err)
	}
	return newOptions(session, options.Response)
}

// BeginAuthentication implements identity.Passkeys.
func (p *Passkeys) BeginAuthentication() (identity.CeremonyOptions, error) {
	options, session, err := p.party.BeginDiscoverableLogin()
	if err != nil {
		return identity.CeremonyOptions{}, fault.Unexpected(err)
	}
	return newOptions(session, options.Response)
}

func newOptions(session *webauthn.SessionData, options any) (identity.CeremonyOptions, error) {
	text, err := json.Marshal(options)
	if err != nil {
		return identity.CeremonyOptions{}, fault.Unexpected(err)
	}
	return identity.CeremonyOptions{Challenge: session.Challenge, JSON: text}, nil
}

// refused returns identity.ErrPasskey or identity.ErrNewPasskey with its cause. The library puts details into DevInfo.
func refused(refusal *fault.Error, err error) error {
	if detailed, ok := errors.AsType[*protocol.Error](err); ok && detailed.DevInfo != "" {
		err = fmt.Errorf("%w: %s", err, detailed.DevInfo)
	}
	return fault.Wrap(refusal.Kind, refusal.Message, errors.Join(refusal, err))
}

// FinishRegistration implements identity.Passkeys.
func (p *Passkeys) FinishRegistration(challenge string, id user.ID, answer []byte) (identity.Passkey, error) {
	parsed, err := protocol.ParseCredentialCreationResponseBytes(answer)
	if err != nil {
		return identity.Passkey{}, refused(identity.ErrNewPasskey, err)
	}
	credential, err := p.party.CreateCredential(owner{id: id}, webauthn.SessionData{
		Challenge: challenge, UserID: []byte(id), UserVerification: protocol.VerificationPreferred,
		RelyingPartyID: p.party.Config.RPID, CredParams: webauthn.CredentialParametersDefault(),
	}, parsed)
	if err != nil {
		return identity.Passkey{}, refused(identity.ErrNewPasskey, err)
	}
	return identity.Passkey{
		ID: identity.PasskeyID(encoding.EncodeToString(credential.ID)), PublicKey: credential.PublicKey,
		Counter: credential.Authenticator.SignCount, BackupEligible: credential.Flags.BackupEligible,
	}, nil
}

// FinishAuthentication implements identity.Passkeys.
func (p *Passkeys) FinishAuthentication(
	challenge string, answer []byte, find func(identity.PasskeyID) (identity.Passkey, user.ID, error),
) (id identity.PasskeyID, counter uint32, err error) {
	parsed, err := protocol.ParseCredentialRequestResponseBytes(answer)
	if err != nil {
		return "", 0, refused(identity.ErrPasskey, err)
	}
	var findErr error
	id = identity.PasskeyID(encoding.EncodeToString(parsed.RawID))
	_, _, err = p.party.ValidatePasskeyLogin(func(_, _ []byte) (webauthn.User, error) {
		passkey, holder, err := find(id)
		if findErr = err; err != nil {
			return nil, err
		}
		credential, err := credentialOf(passkey)
		return owner{id: holder, passkeys: []webauthn.Credential{credential}}, err
	}, webauthn.SessionData{
		Challenge: challenge, UserVerification: protocol.VerificationPreferred, RelyingPartyID: p.party.Config.RPID,
	}, parsed)
	switch {
	case findErr != nil && !fault.Is(findErr, fault.NotFound):
		return "", 0, findErr
	case err != nil:
		return "", 0, refused(identity.ErrPasskey, err)
	}
	return id, parsed.Response.AuthenticatorData.Counter, nil
}
