package signin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"golang.org/x/oauth2"

	"github.com/gluepot/gluepot/domain/identity"
)

// gitHub signs in with GitHub or a GitHub Enterprise Server, which do not offer OpenID Connect to people
// (docs.github.com, "Authorizing OAuth apps").
type gitHub struct {
	oauth

	config *oauth2.Config
	api    string
}

func newGitHub(o oauth) *gitHub {
	endpoint := oauth2.Endpoint{
		AuthURL: o.client.URL + "/login/oauth/authorize", TokenURL: o.client.URL + "/login/oauth/access_token",
		AuthStyle: oauth2.AuthStyleInParams,
	}
	api := o.client.URL + "/api/v3"
	if o.client.URL == publicGitHub {
		api = "https://api.github.com"
	}
	return &gitHub{oauth: o, config: o.oauth2Config(endpoint), api: api}
}

// Begin implements identity.ProviderClient.
func (g *gitHub) Begin(_ context.Context, proof identity.Proof) (string, error) {
	return g.config.AuthCodeURL(proof.State, oauth2.S256ChallengeOption(proof.Verifier)), nil
}

// Finish implements identity.ProviderClient.
func (g *gitHub) Finish(
	ctx context.Context, proof identity.Proof, callback identity.Callback,
) (identity.Profile, error) {
	ctx, cancel := g.withTimeout(ctx)
	defer cancel()
	token, err := g.exchange(ctx, g.config, proof, callback.Code)
	if err != nil {
		return identity.Profile{}, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, g.api+"/user", nil)
	if err != nil {
		return identity.Profile{}, g.unavailable(err)
	}
	request.Header.Set("Accept", "application/vnd.github+json")
	token.SetAuthHeader(request)
	answer, err := g.http.Do(request)
	if err != nil {
		return identity.Profile{}, g.unavailable(err)
	}
	defer answer.Body.Close() //nolint:errcheck // it was only read
	var account struct {
		ID        int64  `json:"id"`
		Login     string `json:"login"`
		AvatarURL string `json:"avatar_url"`
	}
	if answer.StatusCode != http.StatusOK {
		return identity.Profile{}, g.unavailable(fmt.Errorf("GET /user: %s", answer.Status))
	}
	if err := json.NewDecoder(answer.Body).Decode(&account); err != nil {
		return identity.Profile{}, g.unavailable(err)
	}
	if account.ID <= 0 {
		return identity.Profile{}, g.unavailable(errors.New("GET /user: no id"))
	}
	return identity.Profile{
		Identity: identity.Identity{Subject: strconv.FormatInt(account.ID, 10)}, Name: account.Login,
		AvatarURL: account.AvatarURL,
	}, nil
}
