// Package git lets Git clone and fetch pastes, read-only, over HTTP: the snippets are files, and each edit is a commit.
//
// Package httpapi has the router, the deadlines, the limits and the log. It serves Git.Routes (httpapi.Config.Beside).
package git

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/go-git/go-git/v6/plumbing"
	"github.com/go-git/go-git/v6/plumbing/transport"
	"github.com/go-git/go-git/v6/storage"
	"github.com/go-git/go-git/v6/storage/memory"

	"github.com/gluepot/gluepot/adapters/internal/filename"
	"github.com/gluepot/gluepot/adapters/internal/queue"
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
	queue   queue.Queue // for repositories that are being made
	cache   *cache
}

// maxWaiting bounds the requests that hold a paste and wait for a slot.
const maxWaiting = 16

// New returns an adapter over the use cases.
func New(modules Modules) *Git {
	return &Git{modules: modules, queue: queue.New(maxWaiting, errMany), cache: newCache()}
}

// Routes returns the paths of a repository below that of its paste.
func (g *Git) Routes() []route.Page {
	return []route.Page{
		{Path: "/:id/info/refs", Get: g.advertise, Secret: secret},
		{Path: "/:id/git-upload-pack", Post: g.upload, Secret: secret, Encoded: true, MaxBody: maxRequest},
		{Path: "/:id/git-receive-pack", Post: refuse, Secret: secret, Encoded: true, MaxBody: maxRequest},
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
			return a.answered(w, errRequest)
		}
	}
	request, err := io.ReadAll(io.LimitReader(body, maxRequest+1))
	if err != nil || len(request) > maxRequest || bytes.Count(request, []byte("want ")) > maxWants {
		return a.answered(w, errRequest)
	}
	return a.answered(w, g.serve(w, a, request, typeResult))
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
	if err := route.Hold(w, int64(answer.Cap()), true); err != nil {
		return err
	}
	if err := http.NewResponseController(w).Flush(); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return err
	}
	_, err := answer.WriteTo(w)
	return err
}

func (g *Git) answer(w http.ResponseWriter, a *asked, request []byte, answer *bytes.Buffer) error {
	ctx, protocol := a.Context(), a.Header.Get("Git-Protocol")
	doc, err := g.modules.Pastes.Read.History(ctx, a.viewer, a.id)
	if err != nil {
		return err
	}
	if err := route.Hold(w, 2*doc.Bytes(), true); err != nil {
		return err
	}
	author, err := g.author(ctx, &doc)
	if err != nil {
		return err
	}
	leave, err := g.queue.Enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	var repository storage.Storer = memory.NewStorage()
	// Protocol v2 begins with what the server can do, whatever the repository is.
	if request != nil || !strings.Contains(protocol, "version=2") {
		var size int64
		if repository, size, err = g.repository(ctx, &doc, author); err != nil {
			return err
		}
		// The paste, its repository, and what is sent of it. Nobody waits for memory in a slot.
		if err := route.Hold(w, 2*doc.Bytes()+2*size, false); err != nil {
			return err
		}
	}
	bounded := &bounded{Storer: repository, ctx: ctx}
	err = transport.UploadPack(ctx, bounded, io.NopCloser(bytes.NewReader(request)), nopCloser{answer},
		&transport.UploadPackRequest{
			GitProtocol: protocol, AdvertiseRefs: request == nil, StatelessRPC: true, SkipDeltaCompression: true,
		})
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return errMany
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

// maxReads bounds how many objects a request may read: each commit that Git says it has may lead through the whole
// history.
const maxReads = 200_000

var errWork = errors.New("the request leads through too many objects")

// bounded is a repository that a request reads no longer than its deadline, and not without end.
type bounded struct {
	storage.Storer

	ctx   context.Context //nolint:containedctx // go-git passes none to where it reads
	reads atomic.Int64
}

func (b *bounded) EncodedObject(kind plumbing.ObjectType, hash plumbing.Hash) (plumbing.EncodedObject, error) {
	if b.reads.Add(1) > maxReads {
		return nil, errWork
	}
	if err := b.ctx.Err(); err != nil {
		return nil, err
	}
	return b.Storer.EncodedObject(kind, hash)
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

// author returns the name of a paste's owner, if the profile is public.
func (g *Git) author(ctx context.Context, doc *paste.Document) (string, error) {
	if doc.Owner == "" {
		return anonymous, nil
	}
	owner, err := g.modules.Users.ShowProfile.ByID(ctx, doc.Owner)
	switch {
	case err == nil:
		return owner.Name.String(), nil
	case fault.Is(err, fault.NotFound):
		return anonymous, nil
	}
	return "", err
}

// repository returns the repository of a paste, and its size in bytes.
func (g *Git) repository(ctx context.Context, doc *paste.Document, author string) (storage.Storer, int64, error) {
	edits := sha256.New()
	for _, e := range doc.Edits {
		_, _ = fmt.Fprintf(edits, "%d %d %q %q %d\n", e.Number, e.Type, e.Metadata, e.Text, e.At.Unix())
	}
	key := fmt.Sprintf("%s %s %x %d %s", doc.ID, doc.Revision(), edits.Sum(nil), doc.CreatedAt.Unix(), author)
	if repository, size, ok := g.cache.get(key); ok {
		return repository, size, nil
	}
	versions, err := doc.Versions()
	if err != nil {
		return nil, 0, err
	}
	repository, size, err := newRepository(ctx, doc, versions, author, g.fileName)
	switch {
	case ctx.Err() != nil:
		return nil, 0, errMany
	case err == nil:
		g.cache.put(key, repository, size)
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
