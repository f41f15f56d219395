package program

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"go.uber.org/zap"

	"github.com/gluepot/gluepot/adapters/cli"
	"github.com/gluepot/gluepot/adapters/client"
	"github.com/gluepot/gluepot/adapters/gormstore"
	"github.com/gluepot/gluepot/adapters/gormstore/db"
	"github.com/gluepot/gluepot/adapters/passkeys"
	"github.com/gluepot/gluepot/adapters/passwords"
	"github.com/gluepot/gluepot/adapters/pastemyst"
	"github.com/gluepot/gluepot/adapters/webhook"
	"github.com/gluepot/gluepot/application/copies"
	"github.com/gluepot/gluepot/bootstrap"
	"github.com/gluepot/gluepot/domain/fault"
)

const clientGroup, serverGroup = "client", "server" // of commands in the help

// Run runs the program with the arguments after its name, and returns its exit code: 0 for success, 1 for a failure, 2
// for wrong arguments or configuration.
func Run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	root := newCommand(stdin, stdout, stderr)
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return 0
	}
	if usage, ok := errors.AsType[*cli.UsageError](err); ok {
		printError(stderr, usage.Error())
		return 2
	}
	printError(stderr, sentence(err))
	return 1
}

// printError writes to standard error, but does not wait long for an unread pipe.
func printError(stderr io.Writer, text string) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = fmt.Fprintf(stderr, "gluepot: %s\n", strings.ReplaceAll(text, "\n", "\ngluepot: "))
	}()
	select {
	case <-done:
	case <-time.After(lineCloseTime):
	}
}

// sentence returns an error's message with its cause, which operators, unlike clients, may see.
func sentence(err error) string {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		var sentences []string
		for _, err := range joined.Unwrap() {
			sentences = append(sentences, sentence(err))
		}
		return strings.Join(sentences, "\n")
	}
	fe, ok := errors.AsType[*fault.Error](err)
	if !ok {
		return err.Error()
	}
	text := fe.Public()
	before, after, _ := strings.Cut(err.Error(), fe.Error())
	cause := errors.Unwrap(fe)
	// In a larger operation, such as an import, the message alone says too little.
	if cause != nil && (fe.Kind == fault.Unavailable || fe.Kind == fault.Internal || before != "") {
		text = fmt.Sprintf("%s (%v)", text, rootCause(cause))
	}
	return before + text + strings.ReplaceAll(after, "\n", "; ")
}

// rootCause strips what drivers and the standard library put before "connection refused". Of several errors it takes
// the last: pgx tries TLS first, and only the second attempt, without it, has the real error.
func rootCause(err error) error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		causes := joined.Unwrap()
		return rootCause(causes[len(causes)-1])
	}
	if cause := errors.Unwrap(err); cause != nil {
		return rootCause(cause)
	}
	return err
}

// Command returns the program's commands for documentation.
func Command() *cobra.Command { return newCommand(strings.NewReader(""), io.Discard, io.Discard) }

func newCommand(stdin io.Reader, stdout, stderr io.Writer) *cobra.Command {
	root := cli.Group("gluepot", "A paste service, compatible with the PasteMyst v2 API")
	root.Long = root.Short + `.

Each setting is a flag or an environment variable: --http-addr is GLUEPOT_HTTP_ADDR. A flag wins.`
	root.SilenceErrors, root.SilenceUsage = true, true
	root.Version = versionLine()
	root.SetVersionTemplate("{{.Version}}")
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	root.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error {
		// cobra's own checks return no UsageError
		if err := errors.Join(cmd.ValidateRequiredFlags(), cmd.ValidateFlagGroups()); err != nil {
			return cli.Usage("%s. See '%s --help'", rephrase(err), cmd.CommandPath())
		}
		return nil
	}
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		// the subcommand is unknown, and the flag is probably one of its own
		if cmd.HasSubCommands() && cmd.Flags().NArg() > 0 {
			return cli.Unknown(cmd, cmd.Flags().Arg(0))
		}
		return cli.Usage("%w.%s See '%s --help'", flagError(err), flagHint(cmd, err), cmd.CommandPath())
	})
	cfg := defaultConfig()
	addSettings(root.PersistentFlags(), &cfg, databaseFlags, pasteFlags, signInFlags, webhookFlags)
	root.AddCommand(serveCommand(&cfg, stdout, stderr), migrateCommand(&cfg, stdout), healthCommand(&cfg, stdout),
		versionCommand(stdout),
		backupCommand(&cfg, stdout), restoreCommand(&cfg, stdout), compactCommand(&cfg, stdout))
	operators := cli.Commands{
		Open: opener(&cfg, stderr), OpenCopy: copyOpener(&cfg), Stdin: stdin, Stdout: stdout, Stderr: stderr,
		Sources: cli.Sources{Users: pastemyst.Users, Keys: pastemyst.Keys, Pastes: pastemyst.Pastes},
	}
	root.AddCommand(operators.All()...)
	root.AddCommand(configCommand(&cfg, &operators))
	root.AddGroup(&cobra.Group{ID: clientGroup, Title: "Pastes on a server:"},
		&cobra.Group{ID: serverGroup, Title: "The server and its database:"})
	for _, cmd := range root.Commands() {
		cmd.GroupID = serverGroup
	}
	for _, cmd := range (&client.Commands{Stdin: stdin, Stdout: stdout, Stderr: stderr}).All() {
		cmd.GroupID = clientGroup
		root.AddCommand(cmd)
	}
	checkArguments(root)
	help := root.HelpFunc()
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		root.PersistentFlags().VisitAll(func(flag *pflag.Flag) { flag.Hidden = !showsSetting(cmd, flag.Name) })
		help(cmd, args)
	})
	return root
}

// checkArguments makes each command take the arguments that its Use names.
func checkArguments(cmd *cobra.Command) {
	if cmd.Args == nil {
		cmd.Args = cli.Arguments
	}
	for _, child := range cmd.Commands() {
		checkArguments(child)
	}
}

// showsSetting reports whether the help of a command shows one of the settings that every command accepts.
func showsSetting(cmd *cobra.Command, setting string) bool {
	switch name := cmd.Name(); {
	case name == "serve", name == "config":
		return true
	case cmd.HasSubCommands(), cmd.GroupID == clientGroup, cmd.Parent().Name() == "completion",
		slices.Contains([]string{"version", "health", "help", "copy"}, name): // copy has URLs of its own
		return false
	default:
		return setting == "database-url" || setting == "database-migrate" && (name == "up" || name == "pastemyst")
	}
}

// configure completes cfg, which the command's flags set.
func configure(cmd *cobra.Command, cfg *config) error {
	flags := cmd.Flags()
	if err := complete(flags, cfg); err != nil {
		return err
	}
	cfg.Pastes.TokenRequired = !cfg.PasteAnonymous
	cfg.Accounts.Providers = cfg.SignIn.Providers(cfg.HTTP.PublicURL)
	if cfg.Passwords {
		cfg.Accounts.Passwords = passwords.New()
	}
	if cfg.Passkeys {
		keys, err := passkeys.New(cfg.HTTP.PublicURL, cmp.Or(cfg.Site.SiteName, "Gluepot"))
		if err != nil {
			cfg.Accounts.NoPasskeys = err.Error()
		} else {
			cfg.Accounts.Passkeys = keys
		}
	}
	for _, s := range settingsOf(flags) {
		switch s.flag.Name {
		case "database-url":
			cfg.Database.Reread = s.reread()
		case "database-read-url":
			cfg.RereadReadURL = s.reread()
		}
	}
	return nil
}

// opener opens the use cases for operators' commands. Few commands may create the database: a mistyped name must not
// create one.
func opener(cfg *config, stderr io.Writer) cli.Open {
	return func(cmd *cobra.Command, migrates bool) (cli.Modules, func(context.Context) error, error) {
		if err := configure(cmd, cfg); err != nil {
			return cli.Modules{}, nil, err
		}
		config, stopSender := cfg.commandConfig(migrates), func() {}
		if cfg.Webhook.URL != "" {
			sender := webhook.New(cfg.Webhook)
			config.Notify = sender.Notify
			sender.Start(zap.NewNop())
			stopSender = func() { // the command has succeeded, so this is not a failure
				if err := sender.Stop(); err != nil {
					printError(stderr, err.Error())
				}
			}
		}
		app, closeAll, err := bootstrap.Open(cmd.Context(), config)
		if err != nil {
			stopSender()
			return cli.Modules{}, nil, err
		}
		stop := func(ctx context.Context) error {
			stopSender()
			return closeAll(ctx)
		}
		return cli.Modules{
			PublicURL: cfg.HTTP.PublicURL, Accounts: app.Accounts,
			Users: app.Users, Tokens: app.Tokens, Pastes: app.Pastes, Imports: app.Imports, Stats: app.Stats,
			Moderation: app.Moderation,
			Search:     app.Search, Analyze: app.Analyze,
		}, stop, nil
	}
}

// copyOpener opens the use case of the copy command. The database settings other than the URL apply to both ends.
func copyOpener(cfg *config) cli.OpenCopy {
	return func(cmd *cobra.Command, from, to string, progress func(copies.Progress)) (*copies.Copy, func() error, error) {
		if err := configure(cmd, cfg); err != nil {
			return nil, nil, err
		}
		source, target := cfg.Database, cfg.Database
		source.URL, target.URL = from, to
		source.URLSetting, target.URLSetting = "--from", "--to"
		return bootstrap.OpenCopy(cmd.Context(), source, target, cfg.Migrate, progress)
	}
}

func serveCommand(cfg *config, stdout, stderr io.Writer) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Serve the API and the pages",
		Example: "  gluepot serve\n  gluepot serve --demo\n" +
			"  GLUEPOT_DATABASE_URL=postgres://gluepot:secret@localhost/gluepot gluepot serve --http-addr :80",
	}
	addSettings(cmd.Flags(), cfg, serveFlags)
	demo := cmd.Flags().Bool("demo", false, "store example data, and print requests to try")
	cmd.RunE = cli.Long(func(cmd *cobra.Command, _ []string) error {
		if err := configure(cmd, cfg); err != nil {
			return err
		}
		if _, isSocket := cfg.Server.Socket(); isSocket && *demo {
			return cli.Usage("--demo is for browsers: set GLUEPOT_HTTP_ADDR or --http-addr to HOST:PORT")
		}
		return serve(cmd.Context(), *cfg, *demo, stdout, stderr)
	})
	return cmd
}

func configCommand(cfg *config, commands *cli.Commands) *cobra.Command {
	cmd := commands.Settings(func(cmd *cobra.Command) (list []cli.Setting, err error) {
		if err := configure(cmd, cfg); err != nil {
			return nil, err
		}
		for _, s := range settingsOf(cmd.Flags()) {
			list = append(list, cli.Setting{Name: s.variable(), Value: s.String(), From: s.from, Path: s.path})
		}
		return list, nil
	})
	addSettings(cmd.Flags(), cfg, serveFlags)
	return cmd
}

func migrateCommand(cfg *config, stdout io.Writer) *cobra.Command {
	up := &cobra.Command{
		Use: "up", Short: "Create the database if it is missing, and apply pending migrations",
		Example: "  gluepot migrate up\n  GLUEPOT_DATABASE_MIGRATE=false gluepot migrate up --database-migrate",
		RunE: withStore(cfg, func(ctx context.Context, store *gormstore.Store, _ []string) error {
			if !cfg.Migrate {
				return fault.New(fault.Invalid,
					"GLUEPOT_DATABASE_MIGRATE is false. To migrate anyway, run 'gluepot migrate up --database-migrate'.")
			}
			if err := store.BringUpToDate(ctx); err != nil {
				return err
			}
			schema, err := store.Schema(ctx)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(stdout, "The database is up to date, at version %d.\n", schema.Version)
			return err
		})}
	status := &cobra.Command{
		Use: "status", Short: "List the migrations, and change nothing", Example: "  gluepot migrate status",
		RunE: withStore(cfg, func(ctx context.Context, store *gormstore.Store, _ []string) error {
			if err := store.Connect(ctx); err != nil {
				return err
			}
			schema, err := store.Schema(ctx)
			if err != nil {
				return err
			}
			return printSchema(stdout, schema)
		})}
	return cli.Group("migrate", "Update the database schema, or list its migrations", up, status)
}

func printSchema(w io.Writer, schema db.Schema) error {
	var text strings.Builder
	for _, m := range schema.Migrations {
		state := "pending"
		if !m.AppliedAt.IsZero() {
			state = "applied " + m.AppliedAt.UTC().Format("2006-01-02 15:04:05 MST")
		}
		fmt.Fprintf(&text, "%5d  %-34s  %s\n", m.Version, m.File, state)
	}
	fmt.Fprintf(&text, "The database is at version %d; this program knows versions up to %d.\n", schema.Version,
		schema.Latest)
	if schema.Oldest != 0 {
		fmt.Fprintf(&text, "Programs that know version %d or a later one can work with it.\n", schema.Oldest)
	}
	if err := schema.Usable(); err != nil {
		fmt.Fprintf(&text, "This program cannot: %s\n", fault.MessageOf(err))
	}
	_, err := io.WriteString(w, text.String())
	return err
}

// withStore runs a command on the store, which is not connected yet.
func withStore(cfg *config, run func(context.Context, *gormstore.Store, []string) error) cli.RunE {
	return func(cmd *cobra.Command, args []string) error {
		if err := configure(cmd, cfg); err != nil {
			return err
		}
		store, err := gormstore.New(cfg.Database)
		if err != nil {
			return err
		}
		defer store.Close() //nolint:errcheck // the process ends
		return run(cmd.Context(), store, args)
	}
}

func versionCommand(stdout io.Writer) *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version",
		RunE: func(*cobra.Command, []string) error {
			_, err := io.WriteString(stdout, versionLine())
			return err
		},
	}
}

func versionLine() string {
	revision := ""
	if commit != "" {
		revision = fmt.Sprintf(" (commit %s, %s)", commit, date)
	}
	return fmt.Sprintf("gluepot %s%s %s %s/%s\n", Version(), revision, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// The version, the commit and the commit's date are set by the linker in a release build.
var version, commit, date string

// Version returns the version of the program: that of the release, of the module, or of the commit.
func Version() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "unknown"
}
