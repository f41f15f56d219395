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
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/go-git/go-git/v6/plumbing"
	"github.com/go-git/go-git/v6/plumbing/protocol"
	"github.com/go-git/go-git/v6/plumbing/transport"
	"github.com/go-git/go-git/v6/storage"
	"github.com/go-git/go-git/v6/storage/memory"
	"golang.org/x/sync/singleflight"

	"github.com/gluepot/gluepot/adapters/internal/cache"
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
	queue   queue.Queue // for work on repositories
	making  singleflight.Group
	cache   *cache.Cache[*repository] // of the pastes that were asked for last
}

// maxWaiting is how many requests may wait for a slot.
const maxWaiting = 256

// maxCached bounds the bytes of objects in the cache. A clone asks for its repository two or three times.
const maxCached = 8 << 20

// New returns an adapter over the use cases.
func New(modules Modules) *Git {
	size := func(_ string, r *repository) int64 { return r.bytes }
	return &Git{modules: modules, queue: queue.New(maxWaiting, errMany), cache: cache.New(maxCached, size)}
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

// advertise answers the first request of a clone or fetch. It waits for nothing before it knows that the paste may be
// read. In protocol v2, the answer is what the server can do, whatever the repository is.
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
	if err := g.modules.Pastes.Read.CheckHistory(r.Context(), a.viewer, a.id); err != nil {
		return a.answered(w, err)
	}
	if a.isV2() {
		var answer bytes.Buffer
		err := transport.AdvertiseCapabilities(r.Context(), memory.NewStorage(), &answer, transport.UploadPackService)
		if err == nil {
			setHeaders(w, typeAdvertisement)
			_, err = answer.WriteTo(w)
		}
		return a.answered(w, err)
	}
	return a.answered(w, g.serve(w, a, nil, typeAdvertisement))
}

// isV2 reports whether Git speaks version 2 of its protocol.
func (a *asked) isV2() bool {
	return transport.ProtocolVersion(a.Header.Get("Git-Protocol")) == protocol.V2
}

func setHeaders(w http.ResponseWriter, mediaType string) {
	w.Header().Set("Content-Type", mediaType)
	w.Header().Set("Cache-Control", "private, no-store")
}

// The most that Git may send, and the most commits that it may want at once: there is one branch. What an answer costs
// grows with both.
const (
	maxRequest = 256 << 10
	maxWants   = 2
)

var (
	errRequest = fault.New(fault.Invalid, "This is not a request that Git makes for the only branch of a paste.")
	errLong    = fault.New(fault.Invalid, "The history of this paste is too long to clone. Download its files instead.")
	errMany    = fault.Wrap(fault.Busy, "Many pastes are being cloned at the moment. Try again shortly.",
		errors.New("no slot for making repositories became free in time, or making one took too long"))
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
	if err := route.Hold(w, int64(cap(request)), false); err != nil {
		return a.answered(w, err)
	}
	return a.answered(w, g.serve(w, a, request, typeResult))
}

// serve answers a request, or advertises the branch if it is nil. What is sent is complete before the first byte
// leaves, so that a client that reads slowly takes no slot. Nobody waits for a slot or for memory with a paste in hand.
func (g *Git) serve(w http.ResponseWriter, a *asked, request []byte, mediaType string) error {
	b := &budget{w: w, request: int64(cap(request))}
	var answer *pieces
	for {
		var err error
		if answer, err = g.answer(a, request, b); err == nil {
			break
		}
		if !b.short {
			return err
		}
		if err := b.wait(); err != nil {
			return err
		}
	}
	if err := route.Hold(w, answer.bytes(), false); err != nil {
		return err
	}
	setHeaders(w, mediaType)
	if err := http.NewResponseController(w).Flush(); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return err
	}
	_, err := answer.list.WriteTo(w)
	return err
}

// budget is the memory that an answer takes.
type budget struct {
	w       http.ResponseWriter
	request int64 // that the request takes
	used    int64 // so far
	claimed int64 // at most, of all attempts
	short   bool  // it was not free
}

// claim claims memory, or fails at once.
func (b *budget) claim(bytes int64) error {
	if b.used = max(b.used, b.request+bytes); b.used > route.Share(b.w) {
		return errLong
	}
	b.claimed = max(b.claimed, b.used)
	err := route.Hold(b.w, b.claimed, false)
	b.short = err != nil
	return err
}

// wait waits for twice the memory of the attempt that had too little: with a little more, the next one would only end a
// little later. A request that waits holds nothing but itself, or two of them would wait for each other.
func (b *budget) wait() error {
	b.claimed = min(2*b.claimed, route.Share(b.w))
	if err := route.Hold(b.w, b.request, false); err != nil {
		return err
	}
	return route.Hold(b.w, b.claimed, true)
}

// answer makes an answer in a slot. It fails if there is no memory: see budget.short.
func (g *Git) answer(a *asked, request []byte, b *budget) (*pieces, error) {
	ctx := a.Context()
	b.used, b.short = 0, false
	leave, err := g.queue.Enter(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	document, err := g.modules.Pastes.Read.History(ctx, a.viewer, a.id)
	if err != nil {
		return nil, err
	}
	if err := b.claim(document.Bytes()); err != nil {
		return nil, err
	}
	repository, err := g.repository(ctx, &document, b)
	if err != nil {
		return nil, err
	}
	if err := b.claim(document.Bytes() + repository.bytes); err != nil {
		return nil, err
	}
	used := b.used - b.request
	answer := &pieces{claim: func(bytes int64) error { return b.claim(used + bytes) }}
	err = transport.UploadPack(ctx, &bounded{Storer: repository, ctx: ctx}, io.NopCloser(bytes.NewReader(request)),
		answer, &transport.UploadPackRequest{
			GitProtocol: a.Header.Get("Git-Protocol"), AdvertiseRefs: request == nil, StatelessRPC: true,
			SkipDeltaCompression: true,
		})
	switch {
	case err == nil:
		return answer, nil
	case ctx.Err() != nil:
		return nil, errMany
	case answer.err != nil:
		return nil, answer.err
	}
	// In protocol v0, Git asks where a shallow clone ends in a request of its own, which ends early. More than the list
	// would be taken for the beginning of the next answer.
	if !a.isV2() && !bytes.HasSuffix(request, []byte("done\n")) && answer.cutAfterList() {
		return answer, nil
	}
	return nil, fault.Wrap(errRequest.Kind, errRequest.Message, err)
}

// pieces is an answer. It does not move what it holds when it grows.
type pieces struct {
	list  net.Buffers
	claim func(bytes int64) error // before it takes so much memory
	err   error                   // of the claim
}

const pieceLength = 64 << 10

// bytes returns the memory that the answer takes.
func (p *pieces) bytes() int64 { return int64(len(p.list)) * pieceLength }

// Write implements io.Writer. It fails without memory.
func (p *pieces) Write(text []byte) (n int, err error) {
	for n < len(text) {
		last := len(p.list) - 1
		if last < 0 || len(p.list[last]) == pieceLength {
			if p.err = p.claim(p.bytes() + pieceLength); p.err != nil {
				return n, p.err
			}
			p.list = append(p.list, make([]byte, 0, pieceLength))
			last++
		}
		part := text[n:min(len(text), n+pieceLength-len(p.list[last]))]
		p.list[last] = append(p.list[last], part...)
		n += len(part)
	}
	return n, nil
}

// Close implements io.Closer.
func (*pieces) Close() error { return nil }

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

// cutAfterList cuts an answer off where its first list ends: after the packet without a length. It reports whether
// there is one.
func (p *pieces) cutAfterList() bool {
	answer := bytes.Join(p.list, nil)
	for at := 0; at+4 <= len(answer); {
		length, err := strconv.ParseUint(string(answer[at:at+4]), 16, 16)
		switch {
		case err != nil:
			return false
		case length == 0:
			p.list = net.Buffers{bytes.Clone(answer[:at+4])}
			return true
		}
		at += max(4, int(length))
	}
	return false
}

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

// repository returns the repository of a paste. Requests that ask for it at once make it once.
func (g *Git) repository(ctx context.Context, doc *paste.Document, b *budget) (*repository, error) {
	author, err := g.author(ctx, doc)
	if err != nil {
		return nil, err
	}
	edits := sha256.New()
	for _, e := range doc.Edits {
		_, _ = fmt.Fprintf(edits, "%d %d %q %q %d\n", e.Number, e.Type, e.Metadata, e.Text, e.At.Unix())
	}
	key := fmt.Sprintf("%s %s %x %d %s", doc.ID, doc.Revision(), edits.Sum(nil), doc.CreatedAt.Unix(), author)
	if repo, ok := g.cache.Get(key); ok {
		return repo, nil
	}
	for {
		mine := false
		value, err, _ := g.making.Do(key, func() (any, error) {
			mine = true
			claim := func(bytes int64) error { return b.claim(doc.HistoryBytes() + bytes) }
			versions, err := doc.Versions(claim)
			if err != nil {
				return nil, err
			}
			repo, err := newRepository(ctx, doc, versions, author, g.fileName)
			switch {
			case err == nil:
				g.cache.Put(key, repo)
			case ctx.Err() != nil:
				err = errMany // those who share it go on
			}
			return repo, err
		})
		switch {
		case err == nil:
			return value.(*repository), nil //nolint:forcetypeassert // Do returns no other
		case ctx.Err() != nil:
			return nil, errMany
		case mine || !fault.Is(err, fault.Busy): // else another request had no time or memory left
			return nil, err
		}
	}
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
	_, err = io.WriteString(w, "Git can only read pastes here. Edit the paste on its page, or create a new one with "+
		"'gluepot push'.\n")
	return "", false, err
}
