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
	required string // name of a claim or emailDomain, or ""
	claim    string // the claim that decides, or ""
	value    string
	found    atomic.Pointer[discovered]
}

// discovered is what the provider says of itself.
type discovered struct {
	provider *oidc.Provider
	verifier *oidc.IDTokenVerifier
	config   *oauth2.Config
	issuer   bool // comes with each answer (RFC 9207)
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

// discover asks the provider about itself, until it has answered once.
func (p *openID) discover(ctx context.Context) (*discovered, error) {
	if known := p.found.Load(); known != nil {
		return known, nil
	}
	provider, err := oidc.NewProvider(ctx, p.client.URL)
	if err != nil {
		return nil, p.away(brief("discovery", err))
	}
	var more struct {
		Methods []string `json:"token_endpoint_auth_methods_supported"`
		Issuer  bool     `json:"authorization_response_iss_parameter_supported"`
	}
	if err := provider.Claims(&more); err != nil {
		return nil, p.away(err)
	}
	endpoint := provider.Endpoint()
	endpoint.AuthStyle = oauth2.AuthStyleInHeader // trying both would use up the code
	if slices.Contains(more.Methods, "client_secret_post") && !slices.Contains(more.Methods, "client_secret_basic") {
		endpoint.AuthStyle = oauth2.AuthStyleInParams
	}
	known := &discovered{
		provider: provider, config: p.oauth2Config(endpoint, p.scopes...), issuer: more.Issuer,
		verifier: provider.Verifier(&oidc.Config{ClientID: p.client.ID, SkipExpiryCheck: true}), // see Finish
	}
	p.found.Store(known)
	return known, nil
}

// Begin implements identity.ProviderClient.
func (p *openID) Begin(ctx context.Context, proof identity.Proof) (string, error) {
	ctx, cancel := p.bound(ctx)
	defer cancel()
	known, err := p.discover(ctx)
	if err != nil {
		return "", err
	}
	return known.config.AuthCodeURL(proof.State, oauth2.S256ChallengeOption(proof.Verifier), oidc.Nonce(proof.Nonce)), nil
}

// clockSkew is how far the provider's clock may be off.
const clockSkew = 5 * time.Minute

// Finish implements identity.ProviderClient.
func (p *openID) Finish(ctx context.Context, proof identity.Proof,
	brought identity.Callback) (identity.Profile, error) {
	ctx, cancel := p.bound(ctx)
	defer cancel()
	known, err := p.discover(ctx)
	if err != nil {
		return identity.Profile{}, err
	}
	if brought.Issuer != p.client.URL && (brought.Issuer != "" || known.issuer) {
		return identity.Profile{}, p.unproven(fmt.Errorf("the answer is of the issuer %.200q", brought.Issuer))
	}
	token, err := p.exchange(ctx, known.config, proof, brought.Code)
	if err != nil {
		return identity.Profile{}, err
	}
	raw, _ := token.Extra("id_token").(string)
	verified, err := known.verifier.Verify(ctx, raw)
	switch {
	case err != nil:
		return identity.Profile{}, p.unproven(brief("ID token", err))
	case time.Now().After(verified.Expiry.Add(clockSkew)):
		return identity.Profile{}, p.unproven(fmt.Errorf("the ID token has expired at %v", verified.Expiry))
	case subtle.ConstantTimeCompare([]byte(verified.Nonce), []byte(proof.Nonce)) != 1:
		return identity.Profile{}, p.unproven(errors.New("the ID token has another nonce"))
	}
	claims := make(claims)
	if err := verified.Claims(&claims); err != nil {
		return identity.Profile{}, p.unproven(err)
	}
	// The verifier checks that we are one of the audiences. The rest is ours to check (OpenID Connect Core, 3.1.3.7; RFC
	// 7519, 4.1.5).
	party := claims["azp"]
	seconds, _ := claims["nbf"].(float64)
	notBefore := time.Unix(int64(seconds), 0).UTC()
	switch {
	case party != nil && party != any(p.client.ID):
		return identity.Profile{}, p.unproven(errors.New("the ID token is for another client"))
	case party == nil && len(verified.Audience) > 1:
		return identity.Profile{}, p.unproven(errors.New("the ID token is for several clients, and has no azp"))
	case time.Now().Add(clockSkew).Before(notBefore):
		return identity.Profile{}, p.unproven(fmt.Errorf("the ID token is valid from %v on", notBefore))
	}
	more, err := p.userInfo(ctx, known, token, verified.Subject, claims)
	if err != nil {
		return identity.Profile{}, err
	}
	if p.required != "" {
		if missed := claims.first(more, p.claim).refuse(p.required, p.claim, p.value); missed != nil {
			return identity.Profile{}, fault.Wrap(fault.Forbidden,
				"Your account at "+p.label+" may not sign in here. Ask the operator of this server.", missed)
		}
	}
	return identity.Profile{
		Identity: identity.Identity{Subject: verified.Subject}, Name: claims.first(more, "preferred_username").name(),
		AvatarURL: claims.first(more, "picture").text("picture"),
	}, nil
}

// userInfo returns what the provider says at its UserInfo endpoint, if something is missing in the ID token.
func (p *openID) userInfo(ctx context.Context, known *discovered, token *oauth2.Token, subject string,
	have claims) (claims, error) {
	needed := p.required != "" && have.find(p.claim) == nil
	if known.provider.UserInfoEndpoint() == "" || !needed && have["preferred_username"] != nil {
		return nil, nil //nolint:nilnil // there are no more claims
	}
	info, err := known.provider.UserInfo(ctx, oauth2.StaticTokenSource(token))
	more := make(claims)
	if err == nil {
		err = info.Claims(&more)
	}
	switch {
	case err != nil && needed:
		return nil, p.away(brief("UserInfo", err))
	case err != nil || info.Subject != subject: // of another user (OpenID Connect Core, 5.3.2)
		return nil, nil //nolint:nilnil,nilerr // a name to propose is all that is missing
	}
	return more, nil
}

// claims are those of an ID token or of UserInfo.
type claims map[string]any

// find returns the claim of that name, or nil. realm_access.roles is also the member roles of the claim realm_access. A
// name may have dots itself.
func (c claims) find(name string) any {
	if found := c[name]; found != nil {
		return found
	}
	for at, char := range name {
		if inner, ok := c[name[:at]].(map[string]any); ok && char == '.' {
			if found := claims(inner).find(name[at+1:]); found != nil {
				return found
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

// refuse returns nil if a claim has the value, or is a list with it. The error says what is wrong without the claim's
// own value, which is personal.
func (c claims) refuse(required, claim, value string) error {
	found := c.find(claim)
	list, _ := found.([]any)
	mail, _ := found.(string)
	switch {
	case found == nil || found == "":
		return fmt.Errorf("the claim %s is missing in the ID token and in UserInfo", claim)
	case required != emailDomain && (found == any(value) || slices.Contains(list, any(value))):
		return nil
	case required != emailDomain:
		return fmt.Errorf("the claim %s has another value than %s", claim, value)
	case c["email_verified"] != true && c["email_verified"] != "true":
		return errors.New("the provider has not verified the address in the claim email")
	}
	domain := mail[strings.LastIndexByte(mail, '@')+1:]
	lookAlike := strings.ContainsFunc(domain, func(c rune) bool { return c > '~' }) // some fold to ASCII
	if len(domain) < len(mail) && !lookAlike && strings.EqualFold(domain, value) {
		return nil
	}
	return fmt.Errorf("the address in the claim email is not of %s", value)
}
