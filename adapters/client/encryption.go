package client

import (
	"cmp"
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"

	"github.com/gluepot/gluepot/adapters/internal/command"
	"github.com/gluepot/gluepot/adapters/internal/filename"
)

// EnvPassword is the variable with the password of an encrypted paste. Without it, a terminal is asked.
const EnvPassword = "GLUEPOT_PASSWORD"

// The format of docs/encryption.md.
const (
	formatVersion = 1
	rounds        = 600_000
	saltLength    = 16
	keyLength     = 32
)

// withPassword is the fragment of a link to a paste with a password, because that link has no key. A link to an
// encrypted paste without a fragment was cut off.
const withPassword = "password"

var base64url = base64.RawURLEncoding.Strict()

// content is the plaintext, as JSON.
type content struct {
	Title   string  `json:"title"`
	Pasties pasties `json:"pasties"`
}

// sealed is an encrypted paste as a server stores it.
type sealed struct {
	Version   int    `json:"version"`
	Cipher    string `json:"cipher"`
	Salt      string `json:"salt,omitempty"` // for the password; empty: the key is in the link
	ExpiresIn string `json:"expiresIn,omitempty"`
	IsPrivate bool   `json:"isPrivate,omitempty"`
	Burn      bool   `json:"burn,omitempty"`
}

// header returns the additional data, which is authenticated with the ciphertext.
func header(salt string) []byte {
	text := "gluepot 1 AES-256-GCM"
	if salt != "" {
		text += fmt.Sprintf(" PBKDF2-SHA-256 %d %s", rounds, salt)
	}
	return []byte(text)
}

// newAEAD returns the cipher for a password, if there is a salt, or for a key. Its nonces are before the ciphertext.
func newAEAD(secret, salt string) (cipher.AEAD, error) {
	key, err := base64url.DecodeString(secret)
	if salt != "" {
		raw, saltErr := base64url.DecodeString(salt)
		if saltErr != nil {
			return nil, saltErr
		}
		key, err = pbkdf2.Key(sha256.New, secret, raw, rounds, keyLength)
	}
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCMWithRandomNonce(block)
}

func random(length int) string {
	bytes := make([]byte, length)
	_, _ = rand.Read(bytes) // never fails
	return base64url.EncodeToString(bytes)
}

// seal encrypts a paste with a password or, if that is empty, with a new key, which it returns.
func seal(plain content, password string) (s sealed, key string, err error) {
	s.Version = formatVersion
	if password == "" {
		key = random(keyLength)
	} else {
		s.Salt = random(saltLength)
	}
	aead, err := newAEAD(cmp.Or(password, key), s.Salt)
	if err != nil {
		return s, "", err
	}
	text, err := json.Marshal(plain)
	if err != nil {
		return s, "", err
	}
	s.Cipher = base64url.EncodeToString(aead.Seal(nil, nil, text, header(s.Salt))) //nolint:gosec // it makes a nonce
	return s, key, nil
}

var (
	errNoKey    = errors.New("part of the key after the # is missing: get the whole link, and put it in quotes")
	errKey      = errors.New("the key in the link does not fit the paste, or the paste was changed or truncated")
	errPassword = errors.New("the password is wrong, or the paste was changed or truncated")
	errCut      = errors.New("the paste was truncated: there is nothing left to decrypt")
	errContent  = errors.New("the decrypted content is not a paste: the program that encrypted it may have a bug")
)

var errNotEncrypted = errors.New("the link is to an encrypted paste, but the server sent text that is not encrypted, " +
	"which may be forged. To read it anyway, remove the # and everything after it from the link")

// isKey reports whether a secret is a complete key.
func isKey(secret string) bool {
	key, err := base64url.DecodeString(secret)
	return err == nil && len(key) == keyLength
}

// open decrypts a paste.
func (s *sealed) open(secret string) (plain content, err error) {
	if s.Salt == "" && !isKey(secret) {
		return plain, errNoKey
	}
	aead, err := newAEAD(secret, s.Salt)
	if err != nil {
		return plain, errKey
	}
	all, err := base64url.DecodeString(s.Cipher)
	if err != nil || len(all) <= aead.Overhead() {
		return plain, errCut
	}
	text, err := aead.Open(nil, nil, all, header(s.Salt))
	switch {
	case err != nil && s.Salt != "":
		return plain, errPassword
	case err != nil:
		return plain, errKey
	}
	return parseContent(text)
}

// maxSealed is how many pasties an encrypted paste may have.
const maxSealed = 1000

// parseContent parses a plaintext, which no server has checked.
func parseContent(text []byte) (plain content, err error) {
	if json.Unmarshal(text, &plain) != nil || plain.Pasties == nil || len(plain.Pasties) > maxSealed {
		return content{}, errContent
	}
	return plain, nil
}

// decrypt opens an encrypted paste with the key from its link, or with a password that it asks for.
func (c *Commands) decrypt(s sealed, key string) (content, error) {
	if s.Version != formatVersion {
		return content{}, fmt.Errorf("the paste has format %d: update gluepot to read it", s.Version)
	}
	if s.Salt == "" {
		return s.open(key)
	}
	for try := 1; ; try++ { // people mistype, and the server may have deleted the paste already
		password, err := c.password()
		if err != nil {
			return content{}, err
		}
		plain, err := s.open(password)
		if !errors.Is(err, errPassword) || !command.IsTerminal(c.Stderr) || os.Getenv(EnvPassword) != "" || try == 5 {
			return plain, err
		}
		_, _ = fmt.Fprintln(c.Stderr, "Wrong password.") // optional: the question follows
	}
}

func (c *Commands) password() (string, error) {
	if password := os.Getenv(EnvPassword); password != "" {
		return password, nil
	}
	password, err := c.ask("Password of the paste: ")
	if err == nil && password == "" {
		err = command.Usage("no password given: type one, or set %s", EnvPassword)
	}
	return password, err
}

// newPassword is like password, but asks twice on a terminal, where nobody sees what they type.
func (c *Commands) newPassword() (string, error) {
	password, err := c.password()
	if err != nil || os.Getenv(EnvPassword) != "" || !command.IsTerminal(c.Stdin) {
		return password, err
	}
	again, err := c.ask("Repeat the password: ")
	if err == nil && again != password {
		err = command.Usage("the passwords differ; nothing was sent")
	}
	return password, err
}

// inPage matches the fragment of a link to a place in a page: #3, #L3, #L3-L7 or #2-L3-L7. Any other fragment may be a
// key, or a part of one.
var inPage = regexp.MustCompile(`^(main|\d+|(\d+-)?L\d+(-L\d+)?)?$`)

// behindKey matches the lines that a link names behind its key: #KEY&L3-L7.
var behindKey = regexp.MustCompile(`^(.+)&(\d+-)?L\d+(-L\d+)?$`)

// fetch returns the pasties of a paste, and decrypts them if necessary. Opening a paste that burns after reading
// deletes it, so fetch asks first, and does not open it if the link lacks the key. fragment is that of the link: if it
// may be a key, or says that there is a password, fetch refuses plain text.
func (c *Commands) fetch(
	ctx context.Context, s *server, id, fragment, folder string, yes bool,
) (decrypted []pasty, opened bool, err error) {
	fragment = behindKey.ReplaceAllString(fragment, "$1")
	toEncrypted := !inPage.MatchString(fragment)
	if !toEncrypted {
		plain, err := s.read(ctx, id)
		if err == nil || !isNotFound(err) {
			return plain.Pasties, false, err
		}
		fragment = ""
	}
	var either struct {
		sealed

		Pasties pasties `json:"pasties"`
	}
	_, err = s.do(ctx, http.MethodGet, "/encrypted/"+url.PathEscape(id), &either)
	burns := isStatus(err, http.StatusConflict)
	if burns && !isKey(fragment) && fragment != withPassword {
		return nil, false, fmt.Errorf(
			"the paste burns after reading, and %w. If it has a password, add #%s to the link", errNoKey, withPassword)
	}
	if burns || isNotFound(err) && !toEncrypted {
		const question = "If the paste exists, it burns after reading: opening it deletes it. Open it? [y/N] "
		if !yes && !(command.IsTerminal(c.Stderr) && command.Confirm(c.Stdin, c.Stderr, question)) {
			return nil, false, &statusError{
				http.StatusNotFound, "There is no paste with that id. If it burns after reading, --yes opens and deletes it.",
			}
		}
		_, err = s.do(ctx, http.MethodPost, "/open/"+url.PathEscape(id), &either)
		opened = err == nil
	}
	switch {
	case isNotFound(err) && toEncrypted:
		return nil, opened, fmt.Errorf(
			"%w The link is for an encrypted paste: to read any other, remove the # and everything after it", err)
	case err != nil:
		return nil, opened, err
	case either.Version == 0 && len(either.Pasties) == 0:
		return nil, opened, s.noPaste()
	case either.Version == 0 && toEncrypted:
		return nil, opened, errNotEncrypted
	case either.Version == 0:
		return either.Pasties, opened, nil
	}
	plain, err := c.decrypt(either.sealed, fragment)
	if err != nil && opened {
		err = fmt.Errorf("%w. %s", err, keep(filepath.Join(folder, "gluepot-"+filename.Safe(id)+".json"), either.sealed))
	}
	return plain.Pasties, opened, err
}

// keep saves an encrypted paste that the server has deleted and that could not be decrypted. It returns a sentence that
// says where.
func keep(name string, s sealed) string {
	text, err := json.Marshal(s)
	var file *os.File
	if err == nil {
		file, err = os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600) //nolint:gosec // it is a new file
	}
	if err == nil {
		_, err = file.Write(text)
		err = errors.Join(err, file.Close())
	}
	if err != nil {
		return fmt.Sprintf("The server has deleted the paste: %s", text)
	}
	return fmt.Sprintf("The server has deleted the paste; it was saved, still encrypted, as %s", command.Quote(name))
}
