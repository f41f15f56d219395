package cli

import (
	"bufio"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gluepot/gluepot/application/users"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/user"
)

// userView is a user in JSON.
type userView struct {
	ID              string            `json:"id"`
	Name            string            `json:"name"`
	AvatarURL       string            `json:"avatarUrl"`
	DefaultLanguage string            `json:"defaultLang"`
	PublicProfile   bool              `json:"publicProfile"`
	SupporterMonths int32             `json:"supporterMonths"`
	Contributor     bool              `json:"contributor"`
	Services        map[string]string `json:"services,omitempty"`
}

func newUserView(u user.User, services map[string]string) userView {
	return userView{
		ID: string(u.ID), Name: u.Name.String(), AvatarURL: u.AvatarURL, DefaultLanguage: u.DefaultLanguage,
		PublicProfile: u.PublicProfile, SupporterMonths: u.SupporterMonths, Contributor: u.Contributor, Services: services,
	}
}

func (c *Commands) user() *cobra.Command {
	return Group("user", "Create, show, update and delete users", c.userCreate(), c.userShow(), c.userList(),
		c.userUpdate(), c.userDelete())
}

// profileFlags are the fields of a profile that can be set.
type profileFlags struct {
	public, contributor    bool
	avatarURL, defaultLang string
	supporterMonths        int32
	services               map[string]string
}

func (p *profileFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.BoolVar(&p.public, "public", false, "let others see the profile")
	flags.StringVar(&p.avatarURL, "avatar-url", "", "address of the avatar")
	flags.StringVar(&p.defaultLang, "default-lang", user.DefaultLanguage, "language that new pastes start with")
	flags.Int32Var(&p.supporterMonths, "supporter-months", 0, "how long the user has supported the service")
	flags.BoolVar(&p.contributor, "contributor", false, "the user has contributed to the service")
	flags.StringToStringVar(&p.services, "service", nil, "a service the user signs in with and the user's id there, such as github=123")
}

func (c *Commands) userCreate() *cobra.Command {
	var profile profileFlags
	cmd := &cobra.Command{
		Use: "create NAME", Short: "Create a user", Args: Arguments("NAME"),
		Example: "  gluepot user create epoxy --public --service github=123 --service gitlab=456",
	}
	profile.add(cmd)
	asJSON := jsonFlag(cmd)
	cmd.RunE = c.run(func(ctx context.Context, m Modules, args []string) error {
		created, err := m.Users.Create.Do(ctx, users.CreateInput{
			Name: args[0], AvatarURL: profile.avatarURL, DefaultLanguage: profile.defaultLang, PublicProfile: profile.public,
			SupporterMonths: profile.supporterMonths, Contributor: profile.contributor, Services: profile.services,
		})
		if err != nil {
			return err
		}
		return c.print(*asJSON, newUserView(created, profile.services), "Created the user %s with the id %s.\n", created.Name, created.ID)
	})
	return cmd
}

func (c *Commands) userShow() *cobra.Command {
	cmd := &cobra.Command{Use: "show NAME", Short: "Show a user", Args: Arguments("NAME"), Example: "  gluepot user show epoxy"}
	asJSON := jsonFlag(cmd)
	cmd.RunE = c.run(func(ctx context.Context, m Modules, args []string) error {
		account, err := m.Users.Show.Do(ctx, args[0])
		if err != nil {
			return err
		}
		return c.printAccount(*asJSON, account)
	})
	return cmd
}

func (c *Commands) printAccount(asJSON bool, account users.Account) error {
	if asJSON {
		return c.printJSON(newUserView(account.User, account.Services))
	}
	row, flush := c.table("Name", account.Name.String())
	row("Id", string(account.ID))
	row("Created", moment(account.CreatedAt))
	row("Profile", visibility(account.User))
	row("Avatar", account.AvatarURL)
	row("Default language", account.DefaultLanguage)
	row("Supporter months", strconv.Itoa(int(account.SupporterMonths)))
	row("Contributor", yesNo(account.Contributor))
	for _, service := range slices.Sorted(maps.Keys(account.Services)) {
		row("Service "+service, account.Services[service])
	}
	return flush()
}

func (c *Commands) userList() *cobra.Command {
	cmd := &cobra.Command{Use: "list", Short: "List all users", Args: Arguments(), Example: "  gluepot user list --json"}
	asJSON := jsonFlag(cmd)
	cmd.RunE = c.run(func(ctx context.Context, m Modules, _ []string) error {
		if *asJSON { // one a line, so that a list of any length streams
			return m.Users.List.Do(ctx, func(found user.User) error { return c.printJSON(newUserView(found, nil)) })
		}
		row, flush := c.table("NAME", "ID", "PROFILE", "SUPPORTER", "CONTRIBUTOR")
		err := m.Users.List.Do(ctx, func(found user.User) error {
			row(found.Name.String(), string(found.ID), visibility(found), fmt.Sprintf("%d months", found.SupporterMonths),
				yesNo(found.Contributor))
			return nil
		})
		if err != nil {
			return err
		}
		return flush()
	})
	return cmd
}

func (c *Commands) userUpdate() *cobra.Command {
	var profile profileFlags
	cmd := &cobra.Command{
		Use: "update NAME", Short: "Update a user: what no flag names stays as it is", Args: Arguments("NAME"),
		Example: "  gluepot user update epoxy --public=false --supporter-months 25\n" +
			"  gluepot user update epoxy --service github=    # removes it",
	}
	profile.add(cmd)
	asJSON := jsonFlag(cmd)
	cmd.RunE = c.run(func(ctx context.Context, m Modules, args []string) error {
		changed := cmd.Flags().Changed
		change := users.UpdateInput{Services: profile.services}
		if changed("avatar-url") {
			change.AvatarURL = &profile.avatarURL
		}
		if changed("default-lang") {
			change.DefaultLanguage = &profile.defaultLang
		}
		if changed("public") {
			change.PublicProfile = &profile.public
		}
		if changed("supporter-months") {
			change.SupporterMonths = &profile.supporterMonths
		}
		if changed("contributor") {
			change.Contributor = &profile.contributor
		}
		account, err := m.Users.Update.Do(ctx, args[0], change)
		if err != nil {
			return err
		}
		return c.printAccount(*asJSON, account)
	})
	return cmd
}

func (c *Commands) userDelete() *cobra.Command {
	cmd := &cobra.Command{
		Use: "delete NAME", Short: "Delete a user with its tokens, stars and pastes", Args: Arguments("NAME"),
		Example: "  gluepot user delete epoxy\n  gluepot user delete epoxy --yes",
	}
	yes := cmd.Flags().Bool("yes", false, "do not ask")
	asJSON := jsonFlag(cmd)
	cmd.RunE = c.run(func(ctx context.Context, m Modules, args []string) error {
		account, err := m.Users.Show.Do(ctx, args[0])
		if err != nil {
			return err
		}
		question := fmt.Sprintf("Delete %s with all its tokens, stars and pastes? This cannot be undone. [y/N] ", account.Name)
		if !*yes && !c.confirm(question) {
			return fault.New(fault.Invalid, "Nothing was deleted: answer y, or give --yes.")
		}
		deleted, err := m.Users.Delete.Do(ctx, args[0])
		if err != nil {
			return err
		}
		return c.print(*asJSON, map[string]string{"deleted": string(deleted)}, "Deleted the user %s.\n", account.Name)
	})
	return cmd
}

func (c *Commands) confirm(question string) bool {
	_, _ = fmt.Fprint(c.stderr, question)
	answer, _ := bufio.NewReader(c.stdin).ReadString('\n') // without an answer it is empty
	return strings.EqualFold(strings.TrimSpace(answer), "y") || strings.EqualFold(strings.TrimSpace(answer), "yes")
}

func visibility(u user.User) string {
	if u.PublicProfile {
		return "public"
	}
	return "private"
}
