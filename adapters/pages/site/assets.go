package site

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"net/http"
	"path"
	"strings"
)

//go:embed assets
var assetFiles embed.FS

// asset is a file that pages load. Its path has a hash of its content, so that browsers can cache it forever.
type asset struct {
	contentType string
	content     []byte
	name        string
}

// contentTypes replaces the system's list, which differs between machines.
var contentTypes = map[string]string{
	".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml",
}

// newAssets returns the files by the names in their paths.
func newAssets() map[string]*asset {
	files, err := assetFiles.ReadDir("assets")
	if err != nil { // it is part of the program
		panic(err)
	}
	assets := make(map[string]*asset, len(files))
	for _, file := range files {
		content, err := assetFiles.ReadFile("assets/" + file.Name())
		if err != nil {
			panic(err)
		}
		hash := sha256.Sum256(content)
		extension := path.Ext(file.Name())
		name := strings.TrimSuffix(file.Name(), extension) + "-" + hex.EncodeToString(hash[:8]) + extension
		assets[name] = &asset{contentType: contentTypes[extension], content: content, name: file.Name()}
	}
	return assets
}

// AssetPath returns the path of a file.
func (s *Site) AssetPath(name string) string {
	for served, a := range s.assets {
		if a.name == name {
			return "/~/assets/" + served
		}
	}
	return ""
}

// Asset answers with a file.
func (s *Site) Asset(w http.ResponseWriter, r *Request) error {
	found, ok := s.assets[r.PathValue("name")]
	if !ok {
		return ErrNothing
	}
	w.Header().Set("Content-Type", found.contentType)
	w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	_, err := w.Write(found.content)
	return err
}
