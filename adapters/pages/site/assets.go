package site

import (
	"crypto/sha256"
	"embed"
	"fmt"
	"net/http"
	"path"
	"sync"
)

// The sources of form.js, encrypted.js, page.js, passkeys.js and what they load are in scripts.
//
//go:generate sh -c "cd scripts && npm ci --ignore-scripts --no-audit --no-fund && npm run check && npm run build"

//go:embed assets
var assetFiles embed.FS

// assetsVersion is a hash of all files that pages load. It is in their paths, so that browsers can cache them forever.
var assetsVersion = sync.OnceValue(func() string {
	hash := sha256.New()
	files, _ := assetFiles.ReadDir("assets") // embedded, so it never fails
	for _, file := range files {
		content, _ := assetFiles.ReadFile("assets/" + file.Name())
		_, _ = hash.Write(content) // never fails
	}
	return fmt.Sprintf("%x", hash.Sum(nil)[:8])
})

// contentTypes replaces the system's list, which differs between machines.
var contentTypes = map[string]string{
	".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml",
}

// AssetPath returns the path of a file.
func AssetPath(name string) string { return "/~/assets/" + assetsVersion() + "/" + name }

// Asset answers with a file.
func Asset(w http.ResponseWriter, r *Request) error {
	name := r.PathValue("name")
	content, err := assetFiles.ReadFile("assets/" + name)
	if err != nil || r.PathValue("version") != assetsVersion() {
		return ErrNothing
	}
	w.Header().Set("Content-Type", contentTypes[path.Ext(name)])
	w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	_, err = w.Write(content)
	return err
}
