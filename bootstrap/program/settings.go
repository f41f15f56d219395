package program

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/dustin/go-humanize/english"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/gluepot/gluepot/adapters/cli"
	"github.com/gluepot/gluepot/adapters/signin"
)

// Each setting is a flag; its environment variable is GLUEPOT_ and the flag's name in capitals with underscores. A test
// compares these lists with docs/CONFIGURATION.md.

func databaseFlags(flags *pflag.FlagSet, cfg *config) {
	flags.Var((*urlValue)(&cfg.Database.URL), "database-url", "`postgres://USER:PASSWORD@HOST/DATABASE` or sqlite://PATH")
	flags.Var((*urlValue)(&cfg.ReadURL), "database-read-url",
		"`postgres://…` of a standby, or of a proxy that chooses one, to read public profiles from")
	flags.BoolVar(&cfg.Dataloader, "database-dataloader", cfg.Dataloader,
		"merge concurrent lookups into one statement, on PostgreSQL")
	flags.IntVar(&cfg.Database.MaxConnections, "database-max-connections", cfg.Database.MaxConnections,
		"size of the connection pool; SQLite uses at most 4 connections to read and one to write")
	flags.Var((*duration)(&cfg.Database.ConnectTimeout), "database-connect-timeout",
		"how long to wait for a connection, or for SQLite's write lock")
	flags.Var((*duration)(&cfg.Database.ConnectionMaxLifetime), "database-connection-max-lifetime",
		"age at which a connection to PostgreSQL is replaced; 0 is never")
	flags.Var((*duration)(&cfg.Database.SlowStatement), "database-slow-statement",
		"log a warning for a statement that takes this long; 0 is never")
	flags.BoolVar(&cfg.Database.Search, "search", cfg.Database.Search,
		"let people search pastes, and keep an index for it")
	flags.BoolVar(&cfg.Migrate, "database-migrate", cfg.Migrate,
		"let serve, import and migrate create the database and update its schema")
}

func pasteFlags(flags *pflag.FlagSet, cfg *config) {
	limits := &cfg.Pastes.Rules.Limits
	flags.IntVar(&limits.Pasties, "paste-max-pasties", limits.Pasties, "maximum number of pasties of a paste")
	flags.IntVar(&limits.Edits, "paste-max-edits", limits.Edits,
		"maximum number of entries in a paste's history; beyond it, or beyond 32 MiB of text, the oldest edits are "+
			"dropped")
}

func webhookFlags(flags *pflag.FlagSet, cfg *config) {
	flags.Var((*secretValue)(&cfg.Webhook.URL), "notify-url",
		"`URL` to notify of a new report or administrator, and of a store that fills up")
	flags.Var((*secretValue)(&cfg.Webhook.Secret), "notify-secret", "secret that signs the requests to the notify URL")
}

func signInFlags(flags *pflag.FlagSet, cfg *config) {
	flags.StringVar(
		&cfg.HTTP.PublicURL,
		"public-url",
		cfg.HTTP.PublicURL,
		"address that people use, such as https://paste.example or https://example.org/paste",
	)
	flags.StringVar((*string)(&cfg.Accounts.Registration), "registration", string(cfg.Accounts.Registration),
		"who may sign up: closed, invite or open")
	flags.BoolVar(&cfg.Passwords, "passwords", cfg.Passwords,
		"let people sign in, and sign up if they may, with a name and a password")
	flags.BoolVar(&cfg.Passkeys, "passkeys", cfg.Passkeys,
		"let people sign in, and sign up if they may, with passkeys; needs an https:// public URL, or localhost")
	s := &cfg.SignIn
	for _, p := range []struct {
		name, label string
		client      *signin.Client
	}{{"github", "GitHub", &s.GitHub}, {"gitlab", "GitLab", &s.GitLab}, {"oidc", "the OpenID Connect provider", &s.OIDC}} {
		flags.StringVar(&p.client.ID, p.name+"-client-id", "",
			"client id at "+p.label+"; turns on signing in with it")
		flags.Var((*secretValue)(&p.client.Secret), p.name+"-client-secret", "client secret at "+p.label)
	}
	flags.StringVar(&s.GitHub.URL, "github-url", s.GitHub.URL, "address of GitHub, or of a GitHub Enterprise Server")
	flags.StringVar(&s.GitLab.URL, "gitlab-url", s.GitLab.URL, "address of GitLab")
	flags.StringVar(&s.OIDC.URL, "oidc-issuer", s.OIDC.URL,
		"issuer of the OpenID Connect provider, such as https://id.example")
	flags.StringVar(&s.OIDCName, "oidc-name", s.OIDCName, "name of the OpenID Connect provider on its button")
	flags.StringVar(&s.OIDCScopes, "oidc-scopes", s.OIDCScopes,
		"scopes to request from the OpenID Connect provider, separated by spaces")
	flags.StringVar(&s.OIDCRequiredClaim, "oidc-required-claim", s.OIDCRequiredClaim,
		"claim that an account of the OpenID Connect provider needs: groups=paste-users, or email_domain=example.org")
}

// listenFlags are the flags of a server's address and TLS.
func listenFlags(flags *pflag.FlagSet, cfg *config) {
	h := &cfg.Server
	flags.StringVar(&h.Addr, "http-addr", h.Addr, "HOST:PORT to listen on, or unix:PATH for a socket")
	flags.StringVar(&h.TLSCertFile, "http-tls-cert-file", h.TLSCertFile,
		"`path` of a PEM file with a certificate and its chain, for HTTPS")
	flags.StringVar(&h.TLSKeyFile, "http-tls-key-file", h.TLSKeyFile, "`path` of a PEM file with the certificate's key")
}

func serveFlags(flags *pflag.FlagSet, cfg *config) {
	listenFlags(flags, cfg)
	flags.StringVar(&cfg.LogLevel, "log-level", cfg.LogLevel, "debug, info, warn or error")
	flags.StringVar(&cfg.LogFormat, "log-format", cfg.LogFormat, "json or console")
	flags.Var((*duration)(&cfg.SweepInterval), "sweep-interval",
		"time between removals of expired pastes; 0 leaves them to other nodes")
	flags.Var((*duration)(&cfg.Pastes.RemovedRetention), "removed-retention",
		"how long pastes that operators removed can be restored before their content is deleted")
	flags.Var((*duration)(&cfg.Pastes.OriginRetention), "origin-retention",
		"how long to keep the address that a paste was created from, for operators; 0 keeps none")
	flags.Var((*duration)(&cfg.UseInterval), "token-use-interval", "how often the last-used times of tokens are stored")
	flags.BoolVar(&cfg.PasteAnonymous, "paste-anonymous", cfg.PasteAnonymous, "let pastes be created without a token")
	const lifetime = "`LIFETIME` (" + cli.Lifetimes + ") "
	users, visitors := &cfg.Pastes.Lifetimes, &cfg.Pastes.AnonymousLifetimes
	flags.Var((*cli.Lifetime)(&users.Default), "paste-default-lifetime",
		lifetime+"of a new paste that asks for none; empty is the maximum")
	flags.Var((*cli.Lifetime)(&users.Longest), "paste-max-lifetime",
		lifetime+"that a new paste may have at most, even if it asks for more; empty is never")
	flags.Var((*cli.Lifetime)(&visitors.Default), "anonymous-default-lifetime",
		lifetime+"of a new anonymous paste that asks for none; empty is that of all pastes")
	flags.Var((*cli.Lifetime)(&visitors.Longest), "anonymous-max-lifetime",
		lifetime+"that a new anonymous paste may have at most; empty is that of all pastes")
	flags.BoolVar(&cfg.Site.Recent, "recent", cfg.Site.Recent,
		"list the newest public pastes of all users on a page and in a feed")
	flags.BoolVar(&cfg.Site.Reports, "reports", cfg.Site.Reports, "let readers report pastes to the operator")
	flags.BoolVar(&cfg.Pages, "pages", cfg.Pages, "serve pages for people beside the API")
	flags.BoolVar(&cfg.MCP, "mcp", cfg.MCP,
		"serve the Model Context Protocol at /mcp, for language models")
	flags.BoolVar(&cfg.ReadOnly, "read-only", cfg.ReadOnly,
		"answer reads, and refuse writes with 503")
	flags.StringVar(&cfg.AdminAddr, "admin-addr", cfg.AdminAddr,
		"HOST:PORT for metrics and profiles, open to everyone who reaches it; empty is off")
	h, s := &cfg.HTTP, &cfg.Server
	flags.IntVar(&h.PasteMaxBody, "paste-max-body", h.PasteMaxBody, "maximum bytes of a request's body")
	flags.StringVar(&cfg.Site.SiteName, "site-name", "Gluepot", "name of the service on pages and in feeds")
	flags.StringVar(&cfg.Site.Contact, "contact", "", "`address or URL` of the operator; every page shows it")
	flags.StringVar(&cfg.Site.TermsURL, "terms-url", "", "`URL` of the terms of use; every page shows it")
	flags.StringVar(&h.BasePath, "http-base-path", h.BasePath, "path in front of every endpoint, such as /api/v2")
	flags.Var((*duration)(&h.RequestTimeout), "http-request-timeout",
		"how long a request may wait for the database before it gets a 503")
	flags.Var((*duration)(&s.ReadTimeout), "http-read-timeout",
		"how long a request may take to arrive, if it is slower than 16 KiB a second; headers may take 5s")
	flags.Var((*duration)(&s.WriteTimeout), "http-write-timeout",
		"how long a client may take to read an answer, if it is slower than 16 KiB a second")
	flags.Var((*duration)(&s.IdleTimeout), "http-idle-timeout", "how long an unused connection stays open")
	flags.IntVar(&s.MaxConnections, "http-max-connections", s.MaxConnections,
		"connections at once; further ones wait until one closes; 0 means no limit")
	flags.IntVar(&s.MaxClientConnections, "http-max-client-connections", s.MaxClientConnections,
		"connections at once from one address, unless it is a trusted proxy; further ones are closed; 0 means no limit")
	flags.IntVar(&h.MaxMemory, "http-max-memory", h.MaxMemory,
		"bytes of memory for bodies and unsent answers; a request that does not fit waits for up to two "+
			"seconds for memory, then gets a 503")
	flags.Var((*duration)(&s.DrainDelay), "http-drain-delay", "time between readiness failing and the socket closing")
	flags.Var((*duration)(&s.DrainTimeout), "http-drain-timeout", "how long to wait for requests in flight when stopping")
	flags.IntVar(&h.Limits.Rate, "limit-rate", h.Limits.Rate,
		"requests a second of each client, a user or else an address; 0 means no limit")
	flags.IntVar(&h.Limits.Burst, "limit-burst", h.Limits.Burst,
		"requests of a client at once; 0 is as many as in a second")
	flags.IntVar(&h.Limits.FailedSignIns, "limit-failed-sign-ins", h.Limits.FailedSignIns,
		"failed sign-ins, and other invalid secrets, per minute and address; 0 means no limit")
	flags.IntVar(&cfg.Pastes.AnonymousQuota.Pastes, "limit-anonymous-pastes", cfg.Pastes.AnonymousQuota.Pastes,
		"anonymous pastes per hour and address, over all nodes; 0 means no limit")
	flags.IntVar(&cfg.Pastes.Allowance.Pastes, "user-max-pastes", 0, "active pastes of each user; 0 means no limit")
	flags.Int64Var(&cfg.Pastes.Allowance.Bytes, "user-max-bytes", 0,
		"bytes of content and history of each user's active pastes; 0 means no limit")
	flags.IntVar(&cfg.Pastes.Allowance.Rate.Pastes, "user-pastes-per-hour", 0,
		"pastes that each user may create in an hour, over all nodes; 0 means no limit")
	flags.Int64Var(&cfg.Pastes.MaxBytes, "store-max-bytes", 0,
		"bytes of content and history of all pastes; adding more gets a 503; 0 means no limit")
	flags.StringSliceVar(&h.TrustedProxies, "http-trusted-proxies", h.TrustedProxies,
		"addresses and networks whose X-Forwarded-For, -Proto, -Host and -Prefix, X-Request-Id and traceparent are believed")
}

var allSettings = []func(*pflag.FlagSet, *config){databaseFlags, pasteFlags, signInFlags, webhookFlags, serveFlags}

// flagError removes possible passwords from an error of the command line: an unknown flag or a wrong value may be a
// misplaced database URL.
func flagError(err error) error {
	if invalid, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		return valueError("--"+invalid.GetFlag().Name, invalid.GetFlag(), invalid.GetValue(), invalid.Unwrap())
	}
	if cli.MayHoldPassword(err.Error()) {
		return errors.New("unknown flag, which is not shown because it may hold a password")
	}
	return err
}

// flagHint names the flag that an unknown one was probably meant to be, if any.
func flagHint(cmd *cobra.Command, err error) string {
	unknown, ok := errors.AsType[*pflag.NotExistError](err)
	if !ok {
		return ""
	}
	var flags []string
	cmd.Flags().VisitAll(func(flag *pflag.Flag) { flags = append(flags, flag.Name) })
	nearest := cli.Nearest(unknown.GetSpecifiedName(), flags)
	if nearest == "" {
		return ""
	}
	return " Did you mean --" + nearest + "?"
}

// What cobra says of flags that are missing or exclude each other.
var (
	exclusive = regexp.MustCompile(
		`if any flags in the group \[(.+?)\] are set none of the others can be; \[.*\] were all set`)
	oneNeeded = regexp.MustCompile(`at least one of the flags in the group \[(.+?)\] is required`)
	missing   = regexp.MustCompile(`required flag\(s\) (.+) not set`)
)

// rephrase turns cobra's error into a sentence that says what to do.
func rephrase(err error) string {
	text := err.Error()
	for _, c := range []struct {
		says *regexp.Regexp
		do   string
	}{{exclusive, "choose one of "}, {oneNeeded, "give at least one of "}, {missing, "give "}} {
		text = c.says.ReplaceAllStringFunc(text, func(match string) string {
			names := strings.FieldsFunc(c.says.FindStringSubmatch(match)[1], func(r rune) bool {
				return strings.ContainsRune(` ,"`, r)
			})
			for i, name := range names {
				names[i] = "--" + name
			}
			return c.do + english.WordSeries(names, "and")
		})
	}
	return text
}

// valueError says what a flag takes instead of a value. The errors of package cli's flags say this already; those of
// pflag quote a parser.
func valueError(name string, flag *pflag.Flag, value string, err error) error {
	form, ok := map[string]string{
		"bool": "true or false", "stringSlice": "values, separated by commas",
		"stringToString": "NAME=VALUE", "int": "a whole number", "int32": "a whole number", "int64": "a whole number",
		"uint": "0 or a positive number",
	}[flag.Value.Type()]
	if !ok {
		form = err.Error()
	}
	if placeholder, _ := pflag.UnquoteUsage(flag); strings.Contains(placeholder, "=") { // such as ID=FILE
		form = placeholder
	}
	return fmt.Errorf("%s is %s: give %s", name, cli.Quote(value), form)
}
