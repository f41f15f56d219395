package signin

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/identity"
)

// openID signs in with a provider of OpenID Connect.
type openID struct {
	oauth

	scopes   []string
	required string // the name of a claim, emailDomain, or ""
	claim    string // the claim with the value, or ""
	value    string // the required value
	metadata atomic.Pointer[providerMetadata]
}

// providerMetadata is what the provider publishes about itself.
type providerMetadata struct {
	provider *oidc.Provider
	verifier *oidc.IDTokenVerifier
	config   *oauth2.Config
	issuer   bool // each answer names its issuer (RFC 9207)
}

// emailDomain stands for a requirement on the claim email. No claim has this name.
const emailDomain = "email_domain"

func newOIDC(o oauth, scopes, requiredClaim string) *openID {
	p := &openID{oauth: o, scopes: strings.Fields(scopes)}
	p.required, p.value, _ = strings.Cut(requiredClaim, "=")
	if !slices.Contains(p.scopes, oidc.ScopeOpenID) {
		p.scopes = append([]string{oidc.ScopeOpenID}, p.scopes...)
	}
	p.claim = p.required
	if p.required == emailDomain {
		p.claim = "email"
		if !slices.Contains(p.scopes, oidc.ScopeEmail) {
			p.scopes = append(p.scopes, oidc.ScopeEmail)
		}
	}
	return p
}

// discover asks the provider for its metadata, until it has answered once.
func (p *openID) discover(ctx context.Context) (*providerMetadata, error) {
	if d := p.metadata.Load(); d != nil {
		return d, nil
	}
	provider, err := oidc.NewProvider(ctx, p.client.URL)
	if err != nil {
		return nil, p.unavailable(brief("discovery", err))
	}
	var more struct {
		Methods []string `json:"token_endpoint_auth_methods_supported"`
		Issuer  bool     `json:"authorization_response_iss_parameter_supported"`
	}
	if err := provider.Claims(&more); err != nil {
		return nil, p.unavailable(err)
	}
	endpoint := provider.Endpoint()
	endpoint.AuthStyle = oauth2.AuthStyleInHeader // trying both would use up the code
	if slices.Contains(more.Methods, "client_secret_post") && !slices.Contains(more.Methods, "client_secret_basic") {
		endpoint.AuthStyle = oauth2.AuthStyleInParams
	}
	d := &providerMetadata{
		provider: provider, config: p.oauth2Config(endpoint, p.scopes...), issuer: more.Issuer,
		verifier: provider.Verifier(&oidc.Config{ClientID: p.client.ID, SkipExpiryCheck: true}), // see Finish
	}
	p.metadata.Store(d)
	return d, nil
}

// Begin implements identity.ProviderClient.
func (p *openID) Begin(ctx context.Context, proof identity.Proof) (string, error) {
	ctx, cancel := p.withTimeout(ctx)
	defer cancel()
	d, err := p.discover(ctx)
	if err != nil {
		return "", err
	}
	return d.config.AuthCodeURL(proof.State, oauth2.S256ChallengeOption(proof.Verifier), oidc.Nonce(proof.Nonce)), nil
}

// clockSkew is how far the provider's clock may be off.
const clockSkew = 5 * time.Minute

// Finish implements identity.ProviderClient.
func (p *openID) Finish(
	ctx context.Context, proof identity.Proof, callback identity.Callback,
) (identity.Profile, error) {
	ctx, cancel := p.withTimeout(ctx)
	defer cancel()
	d, err := p.discover(ctx)
	if err != nil {
		return identity.Profile{}, err
	}
	if callback.Issuer != p.client.URL && (callback.Issuer != "" || d.issuer) {
		return identity.Profile{}, p.notConfirmed(fmt.Errorf("the answer is from the issuer %.200q", callback.Issuer))
	}
	token, err := p.exchange(ctx, d.config, proof, callback.Code)
	if err != nil {
		return identity.Profile{}, err
	}
	raw, _ := token.Extra("id_token").(string)
	idToken, err := d.verifier.Verify(ctx, raw)
	switch {
	case err != nil:
		return identity.Profile{}, p.notConfirmed(brief("ID token", err))
	case time.Now().After(idToken.Expiry.Add(clockSkew)):
		return identity.Profile{}, p.notConfirmed(fmt.Errorf("the ID token expired at %v", idToken.Expiry))
	case subtle.ConstantTimeCompare([]byte(idToken.Nonce), []byte(proof.Nonce)) != 1:
		return identity.Profile{}, p.notConfirmed(errors.New("the ID token has another nonce"))
	}
	claims := make(claims)
	if err := idToken.Claims(&claims); err != nil {
		return identity.Profile{}, p.notConfirmed(err)
	}
	// The verifier checks that the audiences include us. The rest is ours to check (OpenID Connect Core, 3.1.3.7; RFC
	// 7519, 4.1.5).
	party := claims["azp"]
	seconds, _ := claims["nbf"].(float64)
	notBefore := time.Unix(int64(seconds), 0).UTC()
	switch {
	case party != nil && party != any(p.client.ID):
		return identity.Profile{}, p.notConfirmed(errors.New("the ID token is for another client"))
	case party == nil && len(idToken.Audience) > 1:
		return identity.Profile{}, p.notConfirmed(errors.New("the ID token is for several clients, and has no azp"))
	case time.Now().Add(clockSkew).Before(notBefore):
		return identity.Profile{}, p.notConfirmed(fmt.Errorf("the ID token is valid from %v on", notBefore))
	}
	more, err := p.userInfo(ctx, d, token, idToken.Subject, claims)
	if err != nil {
		return identity.Profile{}, err
	}
	if p.required != "" {
		if reason := claims.first(more, p.claim).refuse(p.required, p.claim, p.value); reason != nil {
			return identity.Profile{}, fault.Wrap(fault.Forbidden,
				"Your account at "+p.label+" may not sign in here. Ask the operator of this server.", reason)
		}
	}
	return identity.Profile{
		Identity: identity.Identity{Subject: idToken.Subject}, Name: claims.first(more, "preferred_username").name(),
		AvatarURL: claims.first(more, "picture").text("picture"),
	}, nil
}

// userInfo returns the claims of the UserInfo endpoint, if the ID token lacks some.
func (p *openID) userInfo(
	ctx context.Context, d *providerMetadata, token *oauth2.Token, subject string, have claims,
) (claims, error) {
	needed := p.required != "" && have.find(p.claim) == nil
	if d.provider.UserInfoEndpoint() == "" || !needed && have["preferred_username"] != nil {
		return nil, nil //nolint:nilnil // there are no more claims
	}
	info, err := d.provider.UserInfo(ctx, oauth2.StaticTokenSource(token))
	more := make(claims)
	if err == nil {
		err = info.Claims(&more)
	}
	switch {
	case err != nil && needed:
		return nil, p.unavailable(brief("UserInfo", err))
	case err != nil || info.Subject != subject: // of another user (OpenID Connect Core, 5.3.2)
		return nil, nil //nolint:nilnil,nilerr // only a name to propose is missing
	}
	return more, nil
}

// claims are the claims of an ID token or of UserInfo.
type claims map[string]any

// find returns the claim of that name, or nil. realm_access.roles may also be the member roles of the claim
// realm_access. Names themselves may have dots.
func (c claims) find(name string) any {
	if value := c[name]; value != nil {
		return value
	}
	for at, char := range name {
		if inner, ok := c[name[:at]].(map[string]any); ok && char == '.' {
			if value := claims(inner).find(name[at+1:]); value != nil {
				return value
			}
		}
	}
	return nil
}

// first returns c if it has a claim of that name, and otherwise more.
func (c claims) first(more claims, name string) claims {
	if c.find(name) == nil {
		return more
	}
	return c
}

func (c claims) text(name string) string {
	text, _ := c[name].(string)
	return text
}

// name returns what the provider calls the user. Some providers put a mail address into these claims.
func (c claims) name() string {
	for _, claim := range []string{"preferred_username", "nickname", "name"} {
		if name, _, _ := strings.Cut(c.text(claim), "@"); name != "" {
			return name
		}
	}
	return ""
}

// refuse returns nil if a claim has the wanted value, or is a list with it. The error leaves out the claim's own value,
// which is personal.
func (c claims) refuse(required, claim, want string) error {
	value := c.find(claim)
	list, _ := value.([]any)
	mail, _ := value.(string)
	switch {
	case value == nil || value == "":
		return fmt.Errorf("the claim %s is missing in the ID token and in UserInfo", claim)
	case required != emailDomain && (value == any(want) || slices.Contains(list, any(want))):
		return nil
	case required != emailDomain:
		return fmt.Errorf("the claim %s has another value than %s", claim, want)
	case c["email_verified"] != true && c["email_verified"] != "true":
		return errors.New("the provider has not verified the address in the claim email")
	}
	domain := mail[strings.LastIndexByte(mail, '@')+1:]
	lookAlike := strings.ContainsFunc(domain, func(c rune) bool { return c > '~' }) // some fold to ASCII
	if len(domain) < len(mail) && !lookAlike && strings.EqualFold(domain, want) {
		return nil
	}
	return fmt.Errorf("the address in the claim email is not at %s", want)
}
