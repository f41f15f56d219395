package wire

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/gluepot/gluepot/domain/fault"
)

const formType = "multipart/form-data; boundary=x"

func formOf(parts ...string) string {
	var body strings.Builder
	for _, part := range parts {
		fmt.Fprintf(&body, "--x\r\n%s\r\n\r\ny\r\n", part)
	}
	return body.String() + "--x--\r\n"
}

// TestMemoryOfForm decodes bodies of 2 MiB whose names, headers and parts could take much more memory.
func TestMemoryOfForm(t *testing.T) { // not parallel: it counts allocations
	const length, most = 2 << 20, 1000
	filePart := func(text string) string { return `Content-Disposition: form-data; name=f; filename="` + text + `"` }
	for name, body := range map[string]string{
		"files":           formOf(slices.Repeat([]string{filePart("a")}, length/80)...),
		"settings":        formOf(slices.Repeat([]string{"Content-Disposition: form-data; name=tags"}, length/80)...),
		"texts":           formOf(slices.Repeat([]string{"Content-Disposition: form-data; name=f"}, length/80)...),
		"a long name":     formOf(filePart(strings.Repeat("a", length))),
		"parameters":      formOf("Content-Disposition: form-data" + strings.Repeat("; a=b", length/5)),
		"pieces of names": formOf("Content-Disposition: form-data" + numberedParameters(length)),
		"headers":         formOf(filePart("a") + strings.Repeat("\r\nA:", length/4)),
		"one text":        "--x\r\n" + filePart("a") + "\r\n\r\n" + strings.Repeat("\r\n--", length/4) + "\r\n--x--\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			form, err := DecodeForm(formType, []byte(body), most)
			runtime.ReadMemStats(&after)
			if allocated := after.TotalAlloc - before.TotalAlloc; allocated > 8*uint64(len(body)) {
				t.Errorf("got %d bytes for %d, %d files and %v, want at most eight times as many",
					allocated, len(body), len(form.Files), err)
			}
			if len(form.Files) > most+1 {
				t.Errorf("got %d files, want to stop after %d", len(form.Files), most)
			}
		})
	}
}

func numberedParameters(length int) string {
	var all strings.Builder
	for i := 0; all.Len() < length; i++ {
		fmt.Fprintf(&all, "; filename*%d=a", i)
	}
	return all.String()
}

func FuzzDecodeForm(f *testing.F) {
	f.Add(formType, formOf(`Content-Disposition: form-data; name="file"; filename="a\"b.go"`))
	f.Add(formType, formOf("Content-Disposition: form-data; name=title", "Content-Disposition: form-data; name=f"))
	f.Add("multipart/form-data", "--\r\n\r\n--")
	f.Fuzz(func(t *testing.T, contentType, body string) {
		form, err := DecodeForm(contentType, []byte(body), 3)
		if err != nil && !fault.Is(err, fault.Invalid) {
			t.Errorf("got %v, want it refused as invalid", err)
		}
		length := len(form.Text)
		for _, file := range form.Files {
			length += len(file.Text)
		}
		if length > len(body) || len(form.Files) > 4 {
			t.Errorf("got %d bytes in %d files, want no more than were sent", length, len(form.Files))
		}
	})
}
