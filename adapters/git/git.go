// Package git lets Git clone and fetch pastes, read-only, over HTTP: the snippets are files, and each edit is a commit.
//
// Package httpapi has the router, the deadlines, the limits and the log. It serves Git.Routes (httpapi.Config.Beside).
package git

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strconv"
	"strings"

	"github.com/go-git/go-git/v6/plumbing/transport"
	"github.com/go-git/go-git/v6/storage"

	"github.com/gluepot/gluepot/adapters/internal/filename"
	"github.com/gluepot/gluepot/adapters/internal/route"
	"github.com/gluepot/gluepot/application/languages"
	"github.com/gluepot/gluepot/application/pastes"
	"github.com/gluepot/gluepot/application/tokens"
	"github.com/gluepot/gluepot/application/users"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/token"
	"github.com/gluepot/gluepot/domain/user"
)

// Modules have the use cases that Git needs.
type Modules struct {
	Users     *users.UseCases
	Tokens    *tokens.UseCases
	Pastes    *pastes.UseCases
	Languages *languages.UseCases
}

// Git serves pastes as repositories.
type Git struct {
	modules Modules
	slots   chan struct{} // of repositories that are being made
	made    *cache
}

// New returns an adapter over the use cases.
func New(modules Modules) *Git {
	return &Git{modules: modules, slots: make(chan struct{}, max(1, runtime.GOMAXPROCS(0)/2)), made: newCache()}
}

// Routes returns the paths of a repository below that of its paste.
func (g *Git) Routes() []route.Page {
	return []route.Page{
		{Path: "/:id/info/refs", Get: g.advertise, Secret: secret},
		{Path: "/:id/git-upload-pack", Post: g.upload, Secret: secret, Encoded: true},
		{Path: "/:id/git-receive-pack", Post: refuse, Secret: secret, Encoded: true},
	}
}

// Suffix ends the path of a repository, after the paste's id.
const Suffix = ".git"

const (
	typeAdvertisement = "application/x-git-upload-pack-advertisement"
	typeResult        = "application/x-git-upload-pack-result"
)

// secret returns the token that Git sends as the password. Any user name will do.
func secret(r *http.Request) (presented string, tries bool) {
	if _, password, ok := r.BasicAuth(); ok {
		return password, false
	}
	return "", false
}

// asked is a request of Git for a repository.
type asked struct {
	*http.Request

	id       string
	secret   string
	viewer   token.Viewer
	rejected bool // the token was
}

// begin signs in. A token that is not valid gives what visitors get, as does that of a suspended user.
func (g *Git) begin(r *http.Request) (*asked, error) {
	id, isRepository := strings.CutSuffix(r.PathValue("id"), Suffix)
	if !isRepository {
		return nil, paste.ErrNotFound
	}
	a := &asked{Request: r, id: id}
	if a.secret, _ = secret(r); a.secret == "" {
		return a, nil
	}
	viewer, err := g.modules.Tokens.SignIn.Do(r.Context(), a.secret)
	switch {
	case err == nil:
		a.viewer = viewer
	case fault.Is(err, fault.Unauthenticated):
		a.rejected = true
	case !fault.Is(err, fault.Forbidden):
		return nil, err
	}
	return a, nil
}

// answered returns what a route.Handler returns. A paste that cannot be read does not exist: without a token, Git is
// asked for one.
func (a *asked) answered(w http.ResponseWriter, err error) (reader user.ID, rejected bool, _ error) {
	if fault.Is(err, fault.NotFound) && a.secret == "" {
		w.Header().Set("WWW-Authenticate", `Basic realm="Gluepot", charset="UTF-8"`)
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.WriteHeader(http.StatusUnauthorized)
		_, err = io.WriteString(w, "To read a private paste, use an access token as the password.\n")
	}
	return a.viewer.User.ID, a.rejected, err
}

// advertise answers the first request of a clone or fetch.
func (g *Git) advertise(w http.ResponseWriter, r *http.Request) (reader user.ID, rejected bool, err error) {
	switch r.URL.Query().Get("service") {
	case transport.UploadPackService:
	case transport.ReceivePackService:
		return refuse(w, r)
	default:
		return "", false, paste.ErrNotFound
	}
	a, err := g.begin(r)
	if err != nil {
		return "", false, err
	}
	return a.answered(w, g.serve(w, a, nil, typeAdvertisement))
}

// The most that Git may send, and the most commits that it may want at once: there is one branch. What an answer costs
// grows with both.
const (
	maxRequest = 256 << 10
	maxWants   = 2
)

var (
	errRequest = fault.New(fault.Invalid, "This is not a request that Git makes for the one branch of a paste.")
	errMany    = fault.Wrap(fault.Busy, "Many pastes are being cloned at the moment. Try again shortly.",
		errors.New("half of the processors make repositories, and no slot became free in time"))
)

// upload answers the requests that follow: for the branch, and for the objects that Git lacks.
func (g *Git) upload(w http.ResponseWriter, r *http.Request) (reader user.ID, rejected bool, err error) {
	a, err := g.begin(r)
	if err != nil {
		return "", false, err
	}
	body := io.Reader(r.Body)
	if r.Header.Get("Content-Encoding") == "gzip" {
		if body, err = gzip.NewReader(body); err != nil {
			return "", false, errRequest
		}
	}
	request, err := io.ReadAll(io.LimitReader(body, maxRequest+1))
	if err != nil || len(request) > maxRequest || bytes.Count(request, []byte("want ")) > maxWants {
		return "", false, errRequest
	}
	return a.answered(w, g.serve(w, a, request, typeResult))
}

// budgeted is an answer that counts towards the budget of memory: see route.Handler.
type budgeted interface {
	Hold(bytes int64, waits bool) error
}

// serve answers a request, or advertises the branch if it is nil. What is sent is complete before the first byte
// leaves, so that a client that reads slowly takes no slot.
func (g *Git) serve(w http.ResponseWriter, a *asked, request []byte, mediaType string) error {
	var answer bytes.Buffer
	if err := g.answer(w, a, request, &answer); err != nil {
		return err
	}
	w.Header().Set("Content-Type", mediaType)
	w.Header().Set("Cache-Control", "private, no-store")
	if err := hold(w, int64(answer.Cap())); err != nil {
		return err
	}
	if err := http.NewResponseController(w).Flush(); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return err
	}
	_, err := answer.WriteTo(w)
	return err
}

func hold(w http.ResponseWriter, size int64) error {
	if answer, ok := w.(budgeted); ok {
		return answer.Hold(size, true)
	}
	return nil
}

func (g *Git) answer(w http.ResponseWriter, a *asked, request []byte, answer *bytes.Buffer) error {
	ctx := a.Context()
	select {
	case g.slots <- struct{}{}:
		defer func() { <-g.slots }()
	case <-ctx.Done():
		return errMany
	}
	repository, size, err := g.repository(ctx, a)
	if err != nil {
		return err
	}
	// The repository, and what is sent of it.
	if err := hold(w, 2*size); err != nil {
		return err
	}
	protocol := a.Header.Get("Git-Protocol")
	err = transport.UploadPack(ctx, repository, io.NopCloser(bytes.NewReader(request)), nopCloser{answer},
		&transport.UploadPackRequest{
			GitProtocol: protocol, AdvertiseRefs: request == nil, StatelessRPC: true,
			SkipDeltaCompression: true,
		})
	if err == nil {
		return nil
	}
	// In protocol v0, Git asks where a shallow clone ends in a request of its own, which ends early. More than the list
	// would be taken for the beginning of the next answer.
	if end := listEnd(answer.Bytes()); end > 0 && !strings.Contains(protocol, "version=2") &&
		!bytes.HasSuffix(request, []byte("done\n")) {
		answer.Truncate(end)
		return nil
	}
	return fault.Wrap(errRequest.Kind, errRequest.Message, err)
}

// listEnd returns where the first list of an answer ends: after the packet without a length. It returns 0 if there is
// none.
func listEnd(answer []byte) int {
	for at := 0; at+4 <= len(answer); {
		length, err := strconv.ParseUint(string(answer[at:at+4]), 16, 16)
		switch {
		case err != nil:
			return 0
		case length == 0:
			return at + 4
		}
		at += max(4, int(length))
	}
	return 0
}

// nopCloser is a buffer that does not close.
type nopCloser struct{ *bytes.Buffer }

func (nopCloser) Close() error { return nil }

// anonymous is the author of pastes whose owner has no public profile.
const anonymous = "Anonymous"

// repository returns the repository of a paste that the viewer may see, and its length in bytes.
func (g *Git) repository(ctx context.Context, a *asked) (storage.Storer, int64, error) {
	found, err := g.modules.Pastes.Read.History(ctx, a.viewer, a.id)
	if err != nil {
		return nil, 0, err
	}
	author := anonymous
	if found.Owner != "" {
		owner, err := g.modules.Users.ShowProfile.ByID(ctx, found.Owner)
		if err == nil {
			author = owner.Name.String()
		} else if !fault.Is(err, fault.NotFound) {
			return nil, 0, err
		}
	}
	key := fmt.Sprintf("%s %s %d %s", found.ID, found.Revision(), len(found.Edits), author)
	if kept, size, ok := g.made.get(key); ok {
		return kept, size, nil
	}
	versions, err := found.Versions()
	if err != nil {
		return nil, 0, err
	}
	repository, size, err := newRepository(&found, versions, author, g.fileName)
	if err == nil {
		g.made.put(key, repository, size)
	}
	return repository, size, err
}

func (g *Git) fileName(pasty *paste.Pasty) string {
	var extensions []string
	if language, err := g.modules.Languages.FindByName.Do(pasty.Language); err == nil {
		extensions = language.Extensions
	}
	return filename.Of(pasty.Title, pasty.ID, extensions)
}

// refuse answers a push, whether there is such a paste or not.
func refuse(w http.ResponseWriter, _ *http.Request) (reader user.ID, rejected bool, err error) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(http.StatusForbidden)
	_, err = io.WriteString(w, "Git can only read pastes here. Edit the paste on its page, or with 'gluepot push'.\n")
	return "", false, err
}
