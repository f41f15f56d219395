package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/gluepot/gluepot/application/users"
	"github.com/gluepot/gluepot/domain/audit"
	"github.com/gluepot/gluepot/domain/identity"
	"github.com/gluepot/gluepot/domain/user"
)

func userRecord(u user.User) record {
	return record{
		{"id", "ID", u.ID}, {"name", "NAME", u.Name},
		{"avatarUrl", "", u.AvatarURL}, {"defaultLang", "", u.DefaultLanguage},
		{"publicProfile", "PUBLIC", u.PublicProfile}, {"showTags", "", u.ShowTags},
		{"supporterMonths", "SUPPORTER MONTHS", u.SupporterMonths}, {"contributor", "CONTRIBUTOR", u.Contributor},
		{"admin", "ADMIN", u.Admin}, {"suspended", "SUSPENDED", u.Suspended},
	}
}

func (c *Commands) user() *cobra.Command {
	list := c.newCommand("list", "List all users", "user list --json",
		func(ctx context.Context, m Modules, _ []string) (output, error) {
			each := func(visit func(user.User) error) error { return m.Users.List.Do(ctx, audit.Operator(), visit) }
			return listOutput(each, userRecord), nil
		})
	show := withUser(c.newCommand("show USER", "Show a user", "user show epoxy",
		func(ctx context.Context, m Modules, args []string) (output, error) {
			account, err := m.Users.Show.Do(ctx, audit.Operator(), args[0])
			if err != nil {
				return nil, err
			}
			usage, err := m.Moderation.ShowAccount.Do(ctx, audit.Operator(), account.ID)
			return recordOutput(append(userRecord(account.User),
				field{"services", "", account.Identities}, field{"createdAt", "", account.CreatedAt},
				field{"pastes", "", usage.Pastes}, field{"bytes", "", usage.Bytes}, field{"tokens", "", usage.Tokens},
				field{"lastUsedAt", "", usage.LastUsed})), err
		}))
	own := []*cobra.Command{c.userCreate(), show, list, c.userUpdate(), c.userReset(), c.userDelete()}
	return Group("user", "Create, show, update and delete users",
		slices.Concat(own, c.suspensions(), c.sessions(), c.identities())...)
}

func profileFlags(flags *pflag.FlagSet, profile *users.CreateInput) {
	flags.BoolVar(&profile.PublicProfile, "public", false, "let others see the profile")
	flags.BoolVar(&profile.ShowTags, "show-tags", false, "let others see the tags of the user's public pastes")
	flags.StringVar(&profile.AvatarURL, "avatar-url", "", "address of the avatar")
	flags.StringVar(&profile.DefaultLanguage, "default-lang", user.DefaultLanguage, "language of new pastes")
	flags.Int32Var(&profile.SupporterMonths, "supporter-months", 0, "how long the user has supported the service")
	flags.BoolVar(&profile.Contributor, "contributor", false, "the user has contributed to the service")
	flags.StringToStringVar(&profile.Identities, "service", map[string]string{},
		"a provider that the user signs in with, and the user's id there, such as github=123")
}

const adminUsage = "the user may moderate on the pages below /admin"

func (c *Commands) userCreate() *cobra.Command {
	var (
		profile      users.CreateInput
		withPassword bool
	)
	cmd := c.newCommand("create NAME", "Create a user",
		"user create epoxy --public --service github=123 --service gitlab=456\n"+
			"user create mia --admin --password-stdin < password.txt",
		func(ctx context.Context, m Modules, args []string) (output, error) {
			profile.Name = args[0]
			if withPassword {
				var err error
				if profile.Password, err = c.newPassword(ctx, m, profile.Name); err != nil {
					return nil, err
				}
			}
			created, err := m.Users.Create.Do(ctx, audit.Operator(), profile)
			fields := append(userRecord(created), field{"services", "", profile.Identities})
			return textOutput(fields, "Created the user %s with the id %s.\n", created.Name, created.ID), err
		})
	profileFlags(cmd.Flags(), &profile)
	cmd.Flags().BoolVar(&profile.Admin, "admin", false, adminUsage)
	cmd.Flags().BoolVar(&withPassword, "password-stdin", false, "read the user's password, one line, from standard input")
	return cmd
}

// newPassword reads a password for the user of that name from standard input.
func (c *Commands) newPassword(ctx context.Context, m Modules, name string) (identity.PasswordHash, error) {
	username, err := user.ParseName(name)
	if err != nil {
		return "", err
	}
	line, err := bufio.NewReader(io.LimitReader(c.Stdin, identity.MaxPasswordBytes+2)).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return "", fmt.Errorf("read the password: %w", err)
	}
	return m.Accounts.Passwords.Hash(ctx, username, strings.TrimRight(line, "\r\n"))
}

func (c *Commands) userReset() *cobra.Command {
	return withUser(c.newCommand("reset USER", "Print a link with which a user can choose a new password or passkey, once",
		"user reset epoxy",
		func(ctx context.Context, m Modules, args []string) (output, error) {
			owner, reset, code, err := m.Accounts.Reset.Offer(ctx, audit.Operator(), args[0])
			link := c.link(m, "/reset/"+code, err)
			fields := record{
				{"id", "", owner.ID}, {"expiresAt", "", reset.ExpiresAt}, {"code", "", code}, {"link", "", link},
			}
			return textOutput(fields,
				"With this link, %s can choose a new password or passkey, once, until %s. It is not shown again:\n%s\n",
				owner.Name, moment(reset.ExpiresAt), link), err
		}))
}

func (c *Commands) userUpdate() *cobra.Command {
	var (
		cmd     *cobra.Command
		profile users.CreateInput
		admin   bool
	)
	cmd = withUser(c.newCommand("update USER", "Update a user, but only what a flag names",
		"user update epoxy --public=false --supporter-months 25\nuser update epoxy --service github=    # removes it",
		func(ctx context.Context, m Modules, args []string) (output, error) {
			account, err := m.Users.Update.Do(ctx, audit.Operator(), args[0], users.UpdateInput{
				AvatarURL:       optional(cmd, "avatar-url", &profile.AvatarURL),
				DefaultLanguage: optional(cmd, "default-lang", &profile.DefaultLanguage),
				PublicProfile:   optional(cmd, "public", &profile.PublicProfile),
				ShowTags:        optional(cmd, "show-tags", &profile.ShowTags),
				SupporterMonths: optional(cmd, "supporter-months", &profile.SupporterMonths),
				Contributor:     optional(cmd, "contributor", &profile.Contributor),
				Admin:           optional(cmd, "admin", &admin),
				Identities:      profile.Identities,
			})
			return recordOutput(append(userRecord(account.User), field{"services", "", account.Identities})), err
		}))
	profileFlags(cmd.Flags(), &profile)
	cmd.Flags().BoolVar(&admin, "admin", false, adminUsage)
	return cmd
}

func (c *Commands) userDelete() *cobra.Command {
	var yes, anonymize bool
	cmd := withUser(c.newCommand("delete USER", "Delete a user with all tokens, stars and pastes",
		"user delete epoxy\nuser delete epoxy --yes --pastes anonymous",
		func(ctx context.Context, m Modules, args []string) (output, error) {
			account, err := m.Users.Show.Do(ctx, audit.Operator(), args[0])
			if err != nil {
				return nil, err
			}
			question := "Delete %s with all tokens, stars and pastes? This cannot be undone."
			if anonymize {
				question = "Delete %s with all private pastes, and make the other pastes anonymous? This cannot be undone."
			}
			if err := c.confirm(yes, fmt.Sprintf(question, account.Name), "deleted"); err != nil {
				return nil, err
			}
			err = m.Users.Delete.Do(ctx, audit.Operator(), account.User, anonymize)
			return textOutput(map[string]string{"deleted": string(account.ID)}, "Deleted the user %s.\n", account.Name), err
		}))
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
	cmd.Flags().Func("pastes",
		"what to do with the pastes: `delete` (default), or anonymous, which keeps all but private ones",
		setter(&anonymize, orAnonymous("delete")))
	return cmd
}
