package account

import (
	"archive/zip"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/gluepot/gluepot/adapters/internal/filename"
	"github.com/gluepot/gluepot/adapters/internal/view"
	"github.com/gluepot/gluepot/adapters/pages/site"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/token"
)

// exportedAccount is what is stored about a user beside pastes. It begins with the answer of the interface for programs.
type exportedAccount struct {
	view.Self

	CreatedAt   int64           `json:"createdAt"` // here and below, seconds since 1970; 0: never
	ShowTags    bool            `json:"showTags"`
	Admin       bool            `json:"admin"`
	FormerNames []string        `json:"formerNames"`
	Tokens      []exportedToken `json:"tokens"`
	Sessions    []exportedToken `json:"sessions"`
}

type exportedToken struct {
	Name       string `json:"name"`
	Scope      string `json:"scope"`
	CreatedAt  int64  `json:"createdAt"`
	LastUsedAt int64  `json:"lastUsedAt"`
	ExpiresAt  int64  `json:"expiresAt"`
	RevokedAt  int64  `json:"revokedAt"`
}

func exportedTokens(stored []token.Token) []exportedToken {
	exported := make([]exportedToken, len(stored))
	for i, t := range stored {
		exported[i] = exportedToken{t.Name, t.Scope.String(), unix(t.CreatedAt), unix(t.LastUsedAt), unix(t.ExpiresAt), unix(t.RevokedAt)}
	}
	return exported
}

func unix(at time.Time) int64 {
	if at.IsZero() {
		return 0
	}
	return at.Unix()
}

// export answers with everything stored about a user, as a ZIP file. It holds one paste at a time in memory, and no transaction: pastes
// created or edited meanwhile may differ between pastes.json and the files.
func (p *pages) export(w http.ResponseWriter, r *site.Request, _ url.Values) error {
	account, err := p.exportAccount(r)
	if err != nil {
		return err
	}
	site.Enclose(w, r, site.ZipContentType, r.Viewer.User.Name.String()+".zip")
	if err := http.NewResponseController(w).Flush(); err != nil {
		return err
	}
	files := zip.NewWriter(w)
	file, err := files.Create("user.json")
	if err != nil {
		return err
	}
	encoder := json.NewEncoder(file)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(account); err != nil {
		return err
	}
	if file, err = files.Create("pastes.json"); err != nil {
		return err
	}
	before := "["
	err = p.eachOwn(r, func(found *paste.Document) error {
		_, err := io.WriteString(file, before)
		before = ",\n"
		return errors.Join(err, view.WritePaste(file, found))
	})
	if err != nil {
		return err
	}
	if _, err := io.WriteString(file, strings.TrimSuffix(before, ",\n")+"]"); err != nil {
		return err
	}
	folders := make(filename.Set)
	if err := p.eachOwn(r, func(found *paste.Document) error {
		return p.Pack(files, "pastes/"+folders.Unique(filename.Safe(string(found.ID)))+"/", found)
	}); err != nil {
		return err
	}
	return files.Close()
}

func (p *pages) exportAccount(r *site.Request) (exportedAccount, error) {
	account, err := p.Modules.Users.ShowSelf.Do(r.Context(), r.Viewer)
	former, namesErr := p.Modules.Users.ShowSelf.FormerNames(r.Context(), r.Viewer)
	issued, issuedErr := p.Modules.Tokens.List.Do(r.Context(), reader(r))
	sessions, sessionsErr := p.Modules.Tokens.Sessions.List(r.Context(), reader(r))
	return exportedAccount{
		Self: view.SelfOf(account), CreatedAt: unix(account.CreatedAt), ShowTags: account.ShowTags, Admin: account.Admin,
		FormerNames: append([]string{}, former...), Tokens: exportedTokens(issued), Sessions: exportedTokens(sessions),
	}, errors.Join(err, namesErr, issuedErr, sessionsErr)
}

// patience is how long reading one paste for an export may take.
const patience = 10 * time.Second

// eachOwn calls visit with each of the reader's pastes. It fails once the session has ended.
func (p *pages) eachOwn(r *site.Request, visit func(*paste.Document) error) error {
	all := context.WithoutCancel(r.Context())
	for after := (paste.Place{}); ; {
		ctx, cancel := context.WithTimeout(all, patience)
		viewer, err := p.Modules.Tokens.SignIn.Resume(ctx, site.CookieSecret(r.Request))
		var found paste.Document
		if err == nil {
			found, err = p.Modules.Pastes.ListOwn.Next(ctx, viewer, after)
		}
		cancel()
		if fault.Is(err, fault.NotFound) {
			return nil
		}
		if err == nil {
			err = visit(&found)
		}
		if err != nil {
			return err
		}
		after = found.Place()
	}
}
