// Package pages shows pastes to people who open them in a browser.
//
// Pages says what stands at which path and makes it, over the same use cases as the interface for programs, behind which it
// stands: that has the socket, the deadlines, the limits and the log, and takes the paths of Pages for those that are none of
// its own (httpapi.Config.Pages).
package pages

import (
	"sync"
	"time"

	"github.com/gluepot/gluepot/adapters/pages/highlight"
	"github.com/gluepot/gluepot/application/accounts"
	"github.com/gluepot/gluepot/application/languages"
	"github.com/gluepot/gluepot/application/moderation"
	"github.com/gluepot/gluepot/application/pastes"
	"github.com/gluepot/gluepot/application/search"
	"github.com/gluepot/gluepot/application/tokens"
	"github.com/gluepot/gluepot/application/users"
)

// Config is what an installation chooses.
type Config struct {
	BasePath string // what stands before each path of the interface for programs: empty, or a path such as /api/v2
	// PublicURL is the address that people use, such as https://paste.example, without a slash at its end. Empty: it is not known.
	PublicURL string
	// Contact is an address of mail or a URL at which people reach the operator, and TermsURL where the terms of use are. Empty: not said.
	Contact, TermsURL string
	// Recent lists the newest public pastes of all users.
	Recent bool
	// Reports lets readers report pastes to the operator.
	Reports bool
	// KeptBytes is how much of what highlighting has found is cached in memory.
	KeptBytes int
	// HighlightTime is how long highlighting one code may take; what takes longer is shown as plain text.
	HighlightTime time.Duration
}

// DefaultConfig returns what suits most installations, for an interface without a base path.
func DefaultConfig() Config { return Config{KeptBytes: 32 << 20, HighlightTime: 50 * time.Millisecond} }

// Modules are those whose use cases pages call.
type Modules struct {
	Users      *users.UseCases
	Tokens     *tokens.UseCases
	Accounts   *accounts.UseCases
	Pastes     *pastes.UseCases
	Languages  *languages.UseCases
	Search     *search.UseCases     // or nil
	Moderation *moderation.UseCases // or nil
}

// Pages makes the pages.
type Pages struct {
	cfg      Config
	modules  Modules
	routes   []route
	colours  *highlight.Highlighter
	large    queue             // pages that take long to render
	archives queue             // files that take long to pack
	assets   map[string]*asset // by the name that stands in their path
	options  func() string
}

// New returns the pages over the use cases.
func New(cfg Config, modules Modules) *Pages {
	p := &Pages{cfg: cfg, modules: modules, assets: newAssets(), large: newQueue(), archives: newQueue()}
	p.colours = highlight.New(modules.Languages, cfg.KeptBytes, cfg.HighlightTime)
	p.options = sync.OnceValue(p.languageOptions)
	if modules.Search != nil {
		p.routes = append(p.routes, newRoute(pathSearch, methods{get: p.search}))
	}
	if modules.Moderation != nil {
		p.routes = append(p.routes,
			newRoute(pathAdmin, methods{get: administrators(p.admin), post: administrators(p.act)}).forBlocked(),
			newRoute(pathAdminBlocks, methods{get: administrators(p.adminBlocks), post: administrators(p.changeBlocks)}).forBlocked(),
			newRoute(pathAdminAudit, methods{get: administrators(p.adminAudit)}),
		)
	}
	if cfg.Reports && modules.Moderation != nil {
		p.routes = append(p.routes, newRoute("/:id/report", methods{get: p.reporting, post: p.report}),
			newRoute(pathAdminReports, methods{get: administrators(p.adminReports), post: administrators(p.changeReports)}).forBlocked())
	}
	if cfg.Recent {
		p.routes = append(p.routes, newRoute(pathRecent, methods{get: p.recent}),
			newRoute(pathRecent+".atom", methods{get: p.recentFeed}).forEveryone())
	}
	p.routes = append(p.routes,
		newRoute("/", methods{get: p.front, post: p.create}),
		newRoute("/robots.txt", methods{get: p.robots}).forEveryone(),
		newRoute("/~/assets/:name", methods{get: p.asset}).forEveryone(),
		newRoute(pathSignIn, methods{get: p.showSignIn, post: p.signIn}),
		newRoute(pathSignIn+"/:provider", methods{get: p.toProvider}).tryingSecret(),
		newRoute(pathSignIn+"/:provider/callback", methods{get: p.callback}).tryingSecret(),
		newRoute(pathSignUp, methods{get: p.showSignUp, post: p.signUp}).tryingSecret(),
		newRoute(pathInvite+":code", methods{get: p.invite}).tryingSecret(),
		newRoute(pathIdentities, methods{get: signedIn(p.identities), post: p.unlink}),
		newRoute("/sign-out", methods{post: p.signOut}).forEveryone().forBlocked(),
		newRoute(pathAccount, methods{get: signedIn(p.account), post: signedIn(p.changeAccount)}),
		newRoute(pathAccountDelete, methods{get: signedIn(p.accountDeletion), post: p.deleteAccount}),
		newRoute(pathAccountExport, methods{get: signedIn(p.export)}),
		newRoute(pathAccountTokens, methods{get: signedIn(p.accountTokens), post: p.changeTokens}),
		newRoute(pathAccountSessions, methods{get: signedIn(p.accountSessions), post: signedIn(p.endSession)}),
		newRoute(pathPastes, methods{get: p.own}),
		newRoute(pathOEmbed, methods{get: p.oembed}).forEveryone(),
		newRoute(pathStarred, methods{get: p.starred}),
		newRoute("/~:name", methods{get: p.profile}),
		newRoute("/~:name/feed.atom", methods{get: p.feed}).forEveryone(),
		newRoute("/:id", methods{get: p.paste}),
		newRoute("/:id/history", methods{get: p.history}),
		newRoute("/:id/history/:edit", methods{get: p.revision, post: p.restore}),
		newRoute("/:id/edit", methods{get: p.editing, post: p.edit}),
		newRoute("/:id/delete", methods{get: p.deletion, post: p.delete}).forBlocked(),
		newRoute("/:id/anonymous", methods{get: signedIn(p.givingUp), post: p.giveUp}),
		newRoute("/:id/embed", methods{get: p.embed}).forEveryone(),
		newRoute("/:id/fork", methods{get: p.fork}),
		newRoute("/:id/star", methods{post: p.star}),
		newRoute("/:id/open", methods{post: p.open}).forBlocked(),
		newRoute("/:id/files.zip", methods{get: p.archive}),
		newRoute("/:id/download/:pasty", methods{get: p.download}),
		newRoute("/:id/raw/:pasty", methods{get: p.raw}),
		newRoute("/:id/raw/:pasty/:edit", methods{get: p.raw}),
	)
	return p
}
