package cli

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gluepot/gluepot/adapters/internal/command"
	"github.com/gluepot/gluepot/adapters/internal/view"
	"github.com/gluepot/gluepot/domain/audit"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/paste"
)

func (c *Commands) paste() *cobra.Command {
	deletion := c.newCommand("delete ID...", "Delete pastes for good", "paste delete k3j2h1g0 p4q5r6s7",
		func(ctx context.Context, m Modules, ids []string) (output, error) {
			return nil, c.each("paste", "deleted", ids, false, func(id string) error {
				return m.Pastes.Delete.Do(ctx, audit.Operator(), id)
			})
		})
	return Group("paste", "Create, show, edit, find, remove and delete pastes",
		c.pasteCreate(), c.pasteShow(), c.pasteEdit(), c.pasteList(), c.pasteRemove(), c.pasteRestore(), deletion)
}

// documentView is a paste in JSON, as its owner sees it.
type documentView struct{ paste.Document }

// MarshalJSON implements json.Marshaler.
func (v documentView) MarshalJSON() ([]byte, error) {
	var text bytes.Buffer
	err := view.WritePaste(&text, &v.Document)
	return text.Bytes(), err
}

func (c *Commands) pasteShow() *cobra.Command {
	var raw, origin bool
	cmd := c.newCommand("show ID [PASTY]", "Show a paste, or with --raw the code of one of its pasties",
		"paste show k3j2h1g0\npaste show k3j2h1g0 --raw > main.go\n"+
			"paste show k3j2h1g0 --raw p4q5r6s7\npaste show k3j2h1g0 --origin",
		func(ctx context.Context, m Modules, args []string) (output, error) {
			if origin {
				address, err := m.Moderation.Origin.Do(ctx, audit.Operator(), args[0])
				return textOutput(map[string]string{"id": args[0], "origin": address.String()}, "%s\n", address), err
			}
			document, err := m.Pastes.Show.Do(ctx, audit.Operator(), args[0])
			switch {
			case err != nil:
				return nil, err
			case raw:
				return nil, c.printRaw(document, args[1:])
			case c.json:
				return nil, c.printJSON(documentView{document})
			}
			owner, err := ownerOf(ctx, m, document.Paste)
			return func(c *Commands) error { return c.printDocument(document, owner) }, err
		})
	cmd.Flags().BoolVar(&raw, "raw", false,
		"write exactly the code of PASTY, or of the first one; control characters are escaped on a terminal")
	cmd.Flags().BoolVar(&origin, "origin", false,
		"write only the address that created it, which is kept for GLUEPOT_ORIGIN_RETENTION")
	cmd.MarkFlagsMutuallyExclusive("raw", "json")
	cmd.MarkFlagsMutuallyExclusive("raw", "origin")
	cmd.PreRunE = func(cmd *cobra.Command, args []string) error {
		if len(args) > 1 && !raw {
			return Usage("name a pasty only with --raw. See '%s --help'", cmd.CommandPath())
		}
		return nil
	}
	return cmd
}

// printRaw writes only the code of one pasty, by default the first. On a terminal, it escapes control characters.
func (c *Commands) printRaw(d paste.Document, ids []string) error {
	switch {
	case d.Encrypted():
		return fault.New(fault.Invalid, "The paste is encrypted: its code cannot be shown.")
	case len(d.Pasties) == 0:
		return fault.New(fault.NotFound, "The paste has no pasties.")
	}
	pasty := d.Pasties[0]
	if len(ids) > 0 {
		var err error
		if pasty, err = d.Pasty(ids[0]); err != nil {
			return fault.New(fault.NotFound, "The paste has no pasty with that id.")
		}
	}
	return command.Write(c.Stdout, c.terminal, pasty.Code)
}

// ownerOf returns the name and the id of a paste's owner.
func ownerOf(ctx context.Context, m Modules, p paste.Paste) (string, error) {
	if p.Owner == "" {
		return "none", nil
	}
	owner, err := m.Users.Show.Do(ctx, audit.Operator(), "id:"+string(p.Owner))
	if fault.Is(err, fault.NotFound) { // the owner was deleted after the paste was read
		return string(p.Owner), nil
	}
	return fmt.Sprintf("%s (%s)", owner.Name, p.Owner), err
}

// printDocument writes a paste for people.
func (c *Commands) printDocument(d paste.Document, owner string) error {
	err := recordOutput(record{
		{"id", "", d.ID}, {"title", "", d.Title}, {"owner", "", owner},
		{"createdAt", "", d.CreatedAt}, {"expiresAt", "", d.ExpiresAt}, {"visibility", "", d.Visibility},
		{"tags", "", strings.Join(d.Tags, ", ")}, {"stars", "", d.Stars}, {"edits", "", len(d.Edits)},
		{"encrypted", "", d.Encrypted()},
	})(c)
	if err != nil {
		return err
	}
	for _, p := range d.Pasties {
		code := command.Visible(p.Code)
		if code != "" && !strings.HasSuffix(code, "\n") {
			code += "\n"
		}
		if _, err := fmt.Fprintf(c.Stdout, "\n--- %s (%s) %s\n%s", p.ID, command.Line(p.Language),
			command.Line(p.Title), code); err != nil {
			return err
		}
	}
	return nil
}
