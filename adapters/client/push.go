package client

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"os"
	"slices"
	"strings"

	"github.com/atotto/clipboard"
	"github.com/cli/browser"
	"github.com/spf13/cobra"

	"github.com/gluepot/gluepot/adapters/internal/command"
	"github.com/gluepot/gluepot/domain/ident"
)

// newPaste is a paste to create.
type newPaste struct {
	Title, Language, ExpiresIn string
	IsPrivate, IsPublic, Burn  bool
	Tags                       []string
	Pasties                    []pasty
}

// form returns the form that POST /raw takes, which unlike JSON keeps every byte of the files.
func (n *newPaste) form() (body []byte, mediaType string, err error) {
	var text bytes.Buffer
	form := multipart.NewWriter(&text)
	flags := map[bool]string{true: "true"}
	for _, field := range [][2]string{
		{"title", n.Title}, {"language", n.Language}, {"expiresIn", n.ExpiresIn}, {"tags", strings.Join(n.Tags, ",")},
		{"isPrivate", flags[n.IsPrivate]}, {"isPublic", flags[n.IsPublic]}, {"burn", flags[n.Burn]},
	} {
		if field[1] != "" {
			err = errors.Join(err, form.WriteField(field[0], field[1]))
		}
	}
	for _, p := range n.Pasties {
		file, fileErr := form.CreateFormFile("file", p.Title)
		if fileErr == nil {
			_, fileErr = io.WriteString(file, p.Code)
		}
		err = errors.Join(err, fileErr)
	}
	err = errors.Join(err, form.Close())
	return text.Bytes(), form.FormDataContentType(), err
}

func (c *Commands) push() *cobra.Command {
	cmd := &cobra.Command{
		Use: "push [FILE...]", Short: "Create a paste from files or standard input, and print its link",
		Long: `Create a paste on a server from files or standard input, and print its link. Each file becomes a pasty,
titled with its path without the folders that all files share, or with its name alone if it is outside of the current
folder. Name - for standard input, which is also read if you name no file; --name gives it a name. Without a login,
the paste is anonymous, and 'gluepot drop' can delete it from this machine.`,
		Example: "  gluepot push main.go go.mod\n  git diff | gluepot push --name work.diff --expires-in 1w --copy\n" +
			"  gluepot push --encrypt --burn secrets.txt",
	}
	flags := cmd.Flags()
	address := serverFlag(cmd)
	var draft newPaste
	flags.StringVar(&draft.Title, "title", "", "title of the paste")
	flags.StringVar(&draft.Language, "language", "",
		"`NAME` of the language of all files (default: detected from names and content)")
	name := flags.String("name", "", "file `NAME` for standard input or the only file")
	flags.Var((*command.Lifetime)(&draft.ExpiresIn), "expires-in", command.LifetimeUsage)
	flags.BoolVar(&draft.IsPrivate, "private", false, "only you can read it")
	flags.BoolVar(&draft.IsPublic, "public", false, "show it on your profile")
	flags.StringSliceVar(&draft.Tags, "tags", nil, "tags, separated by commas")
	flags.BoolVar(&draft.Burn, "burn", false, "delete it once it has been read")
	encrypt := flags.Bool("encrypt", false, "encrypt it on this machine; the key is in the link")
	withPassword := flags.Bool("password", false,
		"with --encrypt: use a password, typed or in $"+EnvPassword+", instead of a key in the link")
	open := flags.Bool("open", false, "open the link in a browser")
	toClipboard := flags.Bool("copy", false, "copy the link to the clipboard")
	cmd.RunE = func(cmd *cobra.Command, files []string) error {
		if draft.IsPrivate && draft.IsPublic {
			return command.Usage("choose --private or --public, not both")
		}
		if *encrypt && (draft.IsPublic || len(draft.Tags) > 0) {
			return command.Usage("an encrypted paste cannot be public or tagged")
		}
		if *withPassword && !*encrypt {
			return command.Usage("--password requires --encrypt")
		}
		if len(files) == 0 {
			files = []string{command.StandardInput}
		}
		if err := command.CheckInputs(files); err != nil {
			return err
		}
		if err := command.NoneEmpty(cmd, "expires-in", "server", "name"); err != nil {
			return err
		}
		titles, err := command.Titles(files, *name)
		if err != nil {
			return err
		}
		s, err := c.server(*address)
		if err != nil {
			return err
		}
		if s.token == "" && (draft.IsPrivate || draft.IsPublic || len(draft.Tags) > 0) {
			return command.Usage("private, public and tagged pastes need an owner: run 'gluepot login %s' first", s)
		}
		password := ""
		if *withPassword {
			if slices.Contains(files, command.StandardInput) && os.Getenv(EnvPassword) == "" {
				return command.Usage("standard input is the paste: set %s to the password, or push files", EnvPassword)
			}
			if password, err = c.newPassword(); err != nil {
				return err
			}
		}
		texts, err := command.ReadNewTexts(cmd.Context(), c.Stdin, files, 64<<20) // more than servers accept; they say so
		if err != nil {
			return err
		}
		for i, text := range texts {
			draft.Pasties = append(draft.Pasties, pasty{Title: titles[i], Code: text})
		}
		link, err := s.push(cmd.Context(), &draft, *encrypt, password)
		if link != "" {
			_, printed := fmt.Fprintln(c.Stdout, command.Line(link))
			err = errors.Join(err, printed)
		}
		if err == nil && *toClipboard {
			if err = clipboard.WriteAll(link); err != nil {
				err = fmt.Errorf("cannot copy the link: %w", err)
			}
		}
		if err == nil && *open {
			browser.Stdout, browser.Stderr = c.Stderr, c.Stderr
			if err = browser.OpenURL(link); err != nil {
				err = fmt.Errorf("cannot open the link: %w", err)
			}
		}
		return err
	}
	return cmd
}

// push creates a paste, encrypted if encrypt is set, and returns its link. The fragment is the key, or withPassword.
func (s *server) push(ctx context.Context, draft *newPaste, encrypt bool, password string) (link string, err error) {
	if !encrypt {
		body, mediaType, err := draft.form()
		if err != nil {
			return "", err
		}
		return s.create(ctx, "/raw", mediaType, body)
	}
	for i := range draft.Pasties {
		draft.Pasties[i].Language = draft.Language // readers detect what is not named
	}
	sealed, key, err := seal(content{draft.Title, draft.Pasties}, password)
	if err != nil {
		return "", err
	}
	sealed.ExpiresIn, sealed.IsPrivate, sealed.Burn = draft.ExpiresIn, draft.IsPrivate, draft.Burn
	body, err := json.Marshal(sealed)
	if err != nil {
		return "", err
	}
	link, err = s.create(ctx, "/encrypted", "application/json", body)
	if link != "" {
		link += "#" + cmp.Or(key, withPassword)
	}
	return link, err
}

// create creates a paste, stores its delete key, and returns its link.
func (s *server) create(ctx context.Context, path, mediaType string, body []byte) (link string, err error) {
	var created paste
	header, err := s.send(ctx, http.MethodPost, path, mediaType, body, &created)
	if err != nil {
		return "", err
	}
	if !ident.Valid(created.ID) {
		return "", fmt.Errorf("%s did not answer with a paste", s)
	}
	location, err := s.base.Parse(cmp.Or(header.Get("Location"), "/"+created.ID))
	// For --open: other schemes would start other programs.
	if err != nil || location.Scheme != "http" && location.Scheme != "https" {
		return "", fmt.Errorf("%s answered with a link that is not a web address", s)
	}
	if key := header.Get(keyHeader); key != "" {
		path, err := s.pathOf("keys", created.ID)
		if err == nil {
			err = save(path, key)
		}
		if err != nil {
			return location.String(), fmt.Errorf("cannot store the delete key of the paste: %w", err)
		}
	}
	return location.String(), nil
}
