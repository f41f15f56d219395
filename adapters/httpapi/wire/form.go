package wire

import (
	"bytes"
	"io"
	"mime"
	"mime/multipart"
	"slices"
	"strings"
)

// Form is a multipart/form-data body from a program: files or one text, and settings of the paste.
type Form struct {
	Files    []File
	Text     string            // of the one field that is neither a file nor a setting
	Settings map[string]string // by the names of the parameters of POST /raw
}

// File is a file of a form.
type File struct{ Name, Text string }

// settings are the names of the fields that are settings.
var settings = []string{"title", "language", "expiresIn", "isPrivate", "isPublic", "burn", "tags"}

// maxDisposition bounds the Content-Disposition header of a part: parameters take many times their length in memory.
const maxDisposition = 32 << 10

var (
	errBrokenForm = Invalid("The form in the body is incomplete or malformed.")
	errNoFile     = Invalid("The form has neither a file nor a text. Send one, as curl -F file=@NAME does.")
	errTexts      = Invalid("The form has more than one text. Send several as files, as curl -F file=@NAME does.")
	errMixed      = Invalid("The form has files, and a field that is neither a file nor one of these: %s. Remove that "+
		"field.",
		strings.Join(settings, ", "))
)

// DecodeForm decodes a form. It stops at the first file beyond most: a part takes many times its length in memory. It
// fails with fault.Invalid.
func DecodeForm(contentType string, body []byte, most int) (form Form, err error) {
	_, parameters, err := mime.ParseMediaType(contentType)
	if err != nil || parameters["boundary"] == "" {
		return form, errBrokenForm
	}
	form.Settings = make(map[string]string)
	parts, hasText := multipart.NewReader(bytes.NewReader(body), parameters["boundary"]), false
	var content bytes.Buffer
	for len(form.Files) <= most {
		part, err := parts.NextRawPart()
		if err == io.EOF { //nolint:errorlint // the reader wraps it where the form is cut off
			break
		}
		if err != nil {
			return form, errBrokenForm
		}
		disposition := part.Header.Get("Content-Disposition")
		if len(disposition) > maxDisposition {
			return form, errBrokenForm
		}
		_, names, err := mime.ParseMediaType(disposition)
		if err != nil {
			return form, errBrokenForm
		}
		content.Reset()
		if _, err := content.ReadFrom(part); err != nil {
			return form, errBrokenForm
		}
		file, isFile := names["filename"]
		switch key := names["name"]; {
		case isFile:
			form.Files = append(form.Files, File{Name: file, Text: content.String()})
		case !slices.Contains(settings, key):
			if hasText {
				return form, errTexts
			}
			hasText, form.Text = true, content.String()
		default:
			if _, twice := form.Settings[key]; twice {
				return form, Invalid("%s: the form has this field twice. Send it once.", key)
			}
			form.Settings[key] = content.String()
		}
	}
	switch {
	case hasText && len(form.Files) > 0: // the text may be a misspelt setting, such as isPrivate
		return form, errMixed
	case !hasText && len(form.Files) == 0:
		return form, errNoFile
	}
	return form, nil
}
