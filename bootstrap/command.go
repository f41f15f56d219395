package bootstrap

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/gluepot/gluepot/adapters/gormstore"
	"github.com/gluepot/gluepot/domain/fault"
)

// The exit codes of the program.
const (
	exitOK     = 0
	exitFailed = 1
	exitUsage  = 2
)

// Run runs the program with the arguments after its name and returns its exit code: 0 when all went
// well, 1 when something failed, 2 when the arguments or the configuration are wrong.
func Run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	root := newCommand(stdout, stderr)
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return exitOK
	}
	if usage, ok := errors.AsType[*usageError](err); ok {
		_, _ = fmt.Fprintf(stderr, "gluepot: %s\n", strings.ReplaceAll(usage.Error(), "\n", "\ngluepot: "))
		return exitUsage
	}
	_, _ = fmt.Fprintf(stderr, "gluepot: %s\n", sentence(err))
	return exitFailed
}

// usageError is the caller's mistake rather than the program's failure.
type usageError struct{ error }

// sentence says what went wrong. An operator, unlike a client, may see the cause.
func sentence(err error) string {
	failure, ok := errors.AsType[*fault.Error](err)
	if !ok {
		return err.Error()
	}
	if cause := errors.Unwrap(failure); cause != nil && (failure.Kind == fault.Unavailable || failure.Kind == fault.Internal) {
		return fmt.Sprintf("%s (%v)", failure.Message, rootCause(cause))
	}
	return failure.Message
}

// rootCause leaves "connection refused" of all that drivers and the standard library put before it.
func rootCause(err error) error {
	for {
		switch wrapper := err.(type) { //nolint:errorlint // it walks the chain itself
		case interface{ Unwrap() []error }:
			err = wrapper.Unwrap()[0]
		case interface{ Unwrap() error }:
			if wrapper.Unwrap() == nil {
				return err
			}
			err = wrapper.Unwrap()
		default:
			return err
		}
	}
}

func newCommand(stdout, stderr io.Writer) *cobra.Command {
	root := &cobra.Command{
		Use:   "gluepot",
		Short: "The backend of a paste-sharing service, compatible with the PasteMyst v2 API",
		Long: `The backend of a paste-sharing service, compatible with the PasteMyst v2 API.

Every flag that sets something has an environment variable: --http-addr is GLUEPOT_HTTP_ADDR. A flag wins.`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          noArguments,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetOut(stdout)
	root.SetErr(stderr)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return &usageError{fmt.Errorf("%w. See '%s --help'", err, cmd.CommandPath())}
	})
	root.AddCommand(serveCommand(stdout, stderr), migrateCommand(stdout), versionCommand(stdout))
	return root
}

func noArguments(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return &usageError{fmt.Errorf("%q is not something that %s knows. See '%s --help'", args[0], cmd.CommandPath(), cmd.CommandPath())}
	}
	return nil
}

// configured returns a command's configuration, filled from flags and the environment, when it runs.
// The functions say which settings the command takes.
func configured(cmd *cobra.Command, settings ...func(*pflag.FlagSet, *Config)) func() (Config, error) {
	cfg := DefaultConfig()
	for _, add := range settings {
		add(cmd.Flags(), &cfg)
	}
	return func() (Config, error) {
		if err := errors.Join(fillFromEnvironment(cmd.Flags()), cfg.Validate()); err != nil {
			return Config{}, &usageError{err}
		}
		return cfg, nil
	}
}

func serveCommand(stdout, stderr io.Writer) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "serve",
		Short:   "Serve the API",
		Args:    noArguments,
		Example: "  gluepot serve\n  gluepot serve --demo\n  GLUEPOT_DATABASE_URL=postgres://gluepot:secret@localhost/gluepot gluepot serve --http-addr :80",
	}
	config := configured(cmd, serveFlags, databaseFlags, logFlags)
	demo := cmd.Flags().Bool("demo", false, "store demonstration data and print how to ask for it")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		cfg, err := config()
		if err != nil {
			return err
		}
		return serve(cmd.Context(), cfg, *demo, stdout, stderr)
	}
	return cmd
}

func migrateCommand(stdout io.Writer) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "migrate",
		Short: "Bring the database schema up to date, or see whether it is",
		Args:  noArguments,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	up := &cobra.Command{Use: "up", Short: "Apply every migration that the database lacks", Args: noArguments, Example: "  gluepot migrate up"}
	up.RunE = withStore(configured(up, databaseFlags), func(ctx context.Context, store *gormstore.Store) error {
		if err := store.Migrate(ctx); err != nil {
			return err
		}
		_, err := fmt.Fprintln(stdout, "The database is up to date.")
		return err
	})
	status := &cobra.Command{Use: "status", Short: "List the migrations", Args: noArguments, Example: "  gluepot migrate status"}
	status.RunE = withStore(configured(status, databaseFlags), func(ctx context.Context, store *gormstore.Store) error {
		migrations, err := store.Migrations(ctx)
		if err != nil {
			return err
		}
		for _, m := range migrations {
			state := "pending"
			if !m.AppliedAt.IsZero() {
				state = "applied " + m.AppliedAt.UTC().Format("2006-01-02 15:04:05 MST")
			}
			if _, err := fmt.Fprintf(stdout, "%5d  %-30s  %s\n", m.Version, m.File, state); err != nil {
				return err
			}
		}
		return nil
	})
	cmd.AddCommand(up, status)
	return cmd
}

// withStore runs a command on the bare database, whose schema may be anything.
func withStore(config func() (Config, error), run func(context.Context, *gormstore.Store) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, _ []string) error {
		cfg, err := config()
		if err != nil {
			return err
		}
		store, err := gormstore.New(cfg.Database)
		if err != nil {
			return err
		}
		defer store.Close() //nolint:errcheck // the process ends
		if err := store.Connect(cmd.Context()); err != nil {
			return err
		}
		return run(cmd.Context(), store)
	}
}

func versionCommand(stdout io.Writer) *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version", Args: noArguments,
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintf(stdout, "gluepot %s %s %s/%s\n", Version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return err
		},
	}
}

// version is set by the linker in a release build.
var version string

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
