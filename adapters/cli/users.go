package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/gluepot/gluepot/adapters/internal/command"
	"github.com/gluepot/gluepot/application/users"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/user"
)

func userRecord(u user.User) record {
	return record{
		{"id", "ID", u.ID}, {"name", "NAME", u.Name}, {"avatarUrl", "", u.AvatarURL}, {"defaultLang", "", u.DefaultLanguage},
		{"publicProfile", "PUBLIC", u.PublicProfile}, {"showTags", "", u.ShowTags},
		{"supporterMonths", "SUPPORTER MONTHS", u.SupporterMonths}, {"contributor", "CONTRIBUTOR", u.Contributor},
		{"admin", "", u.Admin}, {"suspended", "", u.Suspended},
	}
}

func (c *Commands) user() *cobra.Command {
	return Group("user", "Create, show, update and delete users", c.userCreate(), c.userShow(), c.userList(),
		c.userUpdate(), c.userSuspend(), c.userUnsuspend(), c.userDelete(), c.userSessions(), c.userSignOut(),
		c.userIdentities(), c.userLink(), c.userUnlink())
}

type profileFlags struct {
	public, showTags       bool
	contributor            bool
	admin                  bool
	avatarURL, defaultLang string
	supporterMonths        int32
	services               map[string]string
}

func (p *profileFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.BoolVar(&p.public, "public", false, "let others see the profile")
	flags.BoolVar(&p.showTags, "show-tags", false, "let others see the tags of the user's public pastes")
	flags.StringVar(&p.avatarURL, "avatar-url", "", "address of the avatar")
	flags.StringVar(&p.defaultLang, "default-lang", user.DefaultLanguage, "language that new pastes start with")
	flags.Int32Var(&p.supporterMonths, "supporter-months", 0, "how long the user has supported the service")
	flags.BoolVar(&p.contributor, "contributor", false, "the user has contributed to the service")
	flags.StringToStringVar(&p.services, "service", map[string]string{},
		"a service the user signs in with and the user's id there, such as github=123")
}

func (c *Commands) userCreate() *cobra.Command {
	var profile profileFlags
	cmd := c.does("create NAME", "Create a user", "user create epoxy --public --service github=123 --service gitlab=456",
		func(ctx context.Context, m Modules, args []string) error {
			created, err := m.Users.Create.Do(ctx, users.CreateInput{
				Name: args[0], AvatarURL: profile.avatarURL, DefaultLanguage: profile.defaultLang, PublicProfile: profile.public,
				ShowTags: profile.showTags, SupporterMonths: profile.supporterMonths, Contributor: profile.contributor, Services: profile.services,
			})
			if err != nil {
				return err
			}
			shown := append(userRecord(created), field{"services", "", profile.services})
			return c.print(shown, "Created the user %s with the id %s.\n", created.Name, created.ID)
		})
	profile.add(cmd)
	return cmd
}

func (c *Commands) userShow() *cobra.Command {
	return ofUser(c.does("show USER", "Show a user", "user show epoxy",
		func(ctx context.Context, m Modules, args []string) error {
			account, err := m.Users.Show.Do(ctx, args[0])
			if err != nil {
				return err
			}
			usage, err := m.Moderation.ShowUsage.Do(ctx, account.ID)
			if err != nil {
				return err
			}
			return c.printRecord(append(userRecord(account.User), field{"services", "", account.Services}, field{"createdAt", "", account.CreatedAt},
				field{"pastes", "", usage.Pastes}, field{"bytes", "", usage.Bytes}, field{"tokens", "", usage.Tokens},
				field{"lastUsedAt", "", usage.LastUsed}))
		}))
}

func (c *Commands) userList() *cobra.Command {
	return c.does("list", "List all users", "user list --json",
		func(ctx context.Context, m Modules, _ []string) error {
			each := func(visit func(user.User) error) error { return m.Users.List.Do(ctx, visit) }
			return printList(c, each, userRecord)
		})
}

func (c *Commands) userUpdate() *cobra.Command {
	var profile profileFlags
	var cmd *cobra.Command
	cmd = ofUser(c.does("update USER", "Update a user; what has no flag stays as it is",
		"user update epoxy --public=false --supporter-months 25\nuser update epoxy --service github=    # removes it",
		func(ctx context.Context, m Modules, args []string) error {
			account, err := m.Users.Update.Do(ctx, args[0], users.UpdateInput{
				AvatarURL: given(cmd, "avatar-url", &profile.avatarURL), DefaultLanguage: given(cmd, "default-lang", &profile.defaultLang),
				PublicProfile: given(cmd, "public", &profile.public), ShowTags: given(cmd, "show-tags", &profile.showTags),
				SupporterMonths: given(cmd, "supporter-months", &profile.supporterMonths),
				Contributor:     given(cmd, "contributor", &profile.contributor), Admin: given(cmd, "admin", &profile.admin),
				Services: profile.services,
			})
			if err != nil {
				return err
			}
			return c.printRecord(append(userRecord(account.User), field{"services", "", account.Services}))
		}))
	profile.add(cmd)
	cmd.Flags().BoolVar(&profile.admin, "admin", false, "the user may moderate on the pages below /admin")
	return cmd
}

func (c *Commands) userDelete() *cobra.Command {
	var (
		yes    bool
		pastes string
	)
	cmd := ofUser(c.does("delete USER", "Delete a user with its tokens, stars and pastes",
		"user delete epoxy\nuser delete epoxy --yes --pastes anonymous",
		func(ctx context.Context, m Modules, args []string) error {
			account, err := m.Users.Show.Do(ctx, args[0])
			if err != nil {
				return err
			}
			anonymize := pastes == "anonymous"
			question := fmt.Sprintf("Delete %s with all its tokens, stars and pastes? This cannot be undone. [y/N] ", account.Name)
			if anonymize {
				question = fmt.Sprintf("Delete %s, and make its pastes anonymous but private ones? This cannot be undone. [y/N] ", account.Name)
			}
			if !yes && !command.Confirm(c.Stdin, c.Stderr, question) {
				return fault.New(fault.Invalid, "Nothing was deleted: answer y, or give --yes.")
			}
			if err := m.Users.Delete.Do(ctx, account.User, anonymize); err != nil {
				return err
			}
			return c.print(map[string]string{"deleted": string(account.ID)}, "Deleted the user %s.\n", account.Name)
		}))
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
	cmd.Flags().Func("pastes", "what becomes of the pastes: `delete`, as by default, or anonymous, which keeps all but private ones",
		parsed(&pastes, oneOf("delete", "anonymous")))
	return cmd
}
