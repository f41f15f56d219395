package signin

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"golang.org/x/oauth2"

	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/identity"
)

// Limits of a provider's answers.
const (
	answerTime = 4 * time.Second // less than a request may wait for
	maxAnswer  = 256 << 10       // bytes
)

// oauth is what all providers have in common.
type oauth struct {
	label    string
	client   Client
	redirect string // where browsers come back to
	http     *http.Client
}

func newOAuth(label string, client Client, redirect string) oauth {
	return oauth{label: label, client: client, redirect: redirect, http: &http.Client{
		Timeout: answerTime, Transport: limitedTransport{http.DefaultTransport},
		// A redirect would send secrets to another address.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// limitedTransport limits the size of answers.
type limitedTransport struct{ http.RoundTripper }

func (b limitedTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := b.RoundTripper.RoundTrip(r)
	if err == nil {
		answer.Body = http.MaxBytesReader(nil, answer.Body, maxAnswer)
	}
	return answer, err
}

func (o *oauth) oauth2Config(endpoint oauth2.Endpoint, scopes ...string) *oauth2.Config {
	return &oauth2.Config{
		ClientID: o.client.ID, ClientSecret: string(o.client.Secret), Endpoint: endpoint, RedirectURL: o.redirect,
		Scopes: scopes,
	}
}

// withTimeout returns a context for all requests to the provider in one call.
func (o *oauth) withTimeout(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithValue(ctx, oauth2.HTTPClient, o.http), answerTime)
}

// exchange gets a token for the code of a callback.
func (o *oauth) exchange(
	ctx context.Context, config *oauth2.Config, proof identity.Proof, code string,
) (*oauth2.Token, error) {
	token, err := config.Exchange(ctx, code, oauth2.VerifierOption(proof.Verifier))
	if err == nil {
		return token, nil
	}
	retrieveErr, ok := errors.AsType[*oauth2.RetrieveError](err)
	if !ok {
		return nil, o.unavailable(err)
	}
	err = fmt.Errorf("token endpoint: %s %.64q", retrieveErr.Response.Status, retrieveErr.ErrorCode) // without the body
	// GitHub says bad_verification_code.
	if retrieveErr.ErrorCode == "invalid_grant" || retrieveErr.ErrorCode == "bad_verification_code" {
		return nil, o.notConfirmed(err)
	}
	return nil, o.unavailable(err) // which is logged, because the operator may have to act
}

// brief returns the beginning of an error: the rest may be a provider's whole answer.
func brief(what string, err error) error {
	return errors.New(what + fmt.Sprintf(": %.200s", err.Error()))
}

// unavailable returns the error for a provider that does not answer as it should.
func (o *oauth) unavailable(cause error) error {
	return fault.Wrap(fault.Unavailable, o.label+" did not answer as expected. Try again in a moment.", cause)
}

// notConfirmed returns the error for an answer that does not prove who the user is.
func (o *oauth) notConfirmed(cause error) error {
	return fault.Wrap(fault.Invalid, o.label+" did not confirm who you are. Start again.", cause)
}
