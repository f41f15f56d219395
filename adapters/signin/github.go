package signin

import (
	"context"
	"errors"
	"strconv"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"github.com/gluepot/gluepot/domain/identity"
)

// gitHub signs in with GitHub or a GitHub Enterprise Server, which have no OpenID Connect for people
// (docs.github.com, "Authorizing OAuth apps"). What they have of it is OAuth, and an endpoint that says who a token is of.
type gitHub struct {
	oauth

	config   *oauth2.Config
	provider *oidc.Provider
}

func newGitHub(o oauth) *gitHub {
	api := o.client.URL + "/api/v3"
	if o.client.URL == publicGitHub {
		api = "https://api.github.com"
	}
	provider := (&oidc.ProviderConfig{
		AuthURL: o.client.URL + "/login/oauth/authorize", TokenURL: o.client.URL + "/login/oauth/access_token", UserInfoURL: api + "/user",
	}).NewProvider(context.Background())
	endpoint := provider.Endpoint()
	endpoint.AuthStyle = oauth2.AuthStyleInParams
	return &gitHub{oauth: o, config: o.oauth2Config(endpoint), provider: provider}
}

// Begin implements identity.Provider.
func (g *gitHub) Begin(_ context.Context, proof identity.Proof) (string, error) {
	return g.config.AuthCodeURL(proof.State, oauth2.S256ChallengeOption(proof.Verifier)), nil
}

// Finish implements identity.Provider.
func (g *gitHub) Finish(ctx context.Context, proof identity.Proof, brought identity.Callback) (identity.Profile, error) {
	ctx, cancel := g.bound(ctx)
	defer cancel()
	token, err := g.exchange(ctx, g.config, proof, brought.Code)
	if err != nil {
		return identity.Profile{}, err
	}
	var account struct {
		ID        int64  `json:"id"`
		Login     string `json:"login"`
		AvatarURL string `json:"avatar_url"`
	}
	info, err := g.provider.UserInfo(ctx, oauth2.StaticTokenSource(token))
	if err == nil {
		err = info.Claims(&account)
	}
	if err == nil && account.ID <= 0 {
		err = errors.New("no id")
	}
	if err != nil {
		return identity.Profile{}, g.away(brief("GET /user", err))
	}
	return identity.Profile{
		Identity: identity.Identity{Subject: strconv.FormatInt(account.ID, 10)}, Name: account.Login, AvatarURL: account.AvatarURL,
	}, nil
}
