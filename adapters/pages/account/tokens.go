package account

import (
	"cmp"
	"net/http"
	"strconv"
	"time"

	"github.com/gluepot/gluepot/adapters/pages/site"
	"github.com/gluepot/gluepot/application/tokens"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/token"
)

// tokensPage has the access tokens of the signed-in user.
type tokensPage struct {
	site.Layout

	Tokens  []accessToken
	Made    string // the secret that was just made, or ""
	Problem string
}

// accessToken is one of them. The zero moments stand for never.
type accessToken struct {
	ID, Name, Scope        string
	Created, Used, Expires site.Moment
}

// label is what tells it from the others.
func (t *accessToken) label() string { return cmp.Or(t.Name, t.ID) }

// accountTokens shows a reader's own access tokens.
func (p *pages) accountTokens(w http.ResponseWriter, r *site.Request) error {
	return p.showTokens(w, r, tokensPage{})
}

func (p *pages) showTokens(w http.ResponseWriter, r *site.Request, page tokensPage) error {
	found, err := p.Modules.Tokens.List.Do(r.Context(), reader(r))
	if err != nil {
		return err
	}
	now := time.Now()
	for _, t := range found {
		if t.ValidAt(now) {
			page.Tokens = append(page.Tokens, accessToken{
				string(t.ID), t.Name, t.Scope.String(), site.At(t.CreatedAt), site.At(t.LastUsedAt), site.At(t.ExpiresAt),
			})
		}
	}
	page.Layout = r.Layout("Your access tokens", "")
	site.Guard(w, r)
	if page.Problem != "" {
		site.WriteStatus(w, http.StatusBadRequest)
	}
	return site.Write(r.Context(), w, p.tokensView(page))
}

// changeTokens makes an access token, which is shown once, or revokes one.
func (p *pages) changeTokens(w http.ResponseWriter, r *site.Request) error {
	if !site.Recently(w, r, pathTokens) {
		return nil
	}
	fields, err := r.Fields(3)
	if err != nil {
		return err
	}
	if id := fields.Get("revoke"); id != "" {
		if err := p.Modules.Tokens.RevokeOwn.Do(r.Context(), r.Viewer, id); err != nil {
			return err
		}
		site.SeeOther(w, pathTokens)
		return nil
	}
	wanted := tokens.IssueInput{Name: fields.Get("name")}
	if wanted.Scope, err = token.ParseScope(fields.Get("scope")); err != nil {
		return err
	}
	days, err := strconv.ParseUint(fields.Get("days"), 10, 12)
	if err != nil {
		return fault.New(fault.Invalid, "The number of days is not one of the list. Open the page again, and choose one.")
	}
	wanted.ExpiresIn = time.Duration(days) * 24 * time.Hour
	_, secret, err := p.Modules.Tokens.IssueOwn.Do(r.Context(), r.Viewer, wanted)
	if fault.Is(err, fault.Invalid) {
		return p.showTokens(w, r, tokensPage{Problem: fault.MessageOf(err)})
	}
	if err != nil {
		return err
	}
	return p.showTokens(w, r, tokensPage{Made: secret.Reveal()})
}
