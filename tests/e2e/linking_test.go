package e2e

import (
	"bytes"
	"os"
	"testing"

	"github.com/gluepot/gluepot/tests/program"
)

// TestUnusedMethodsAreLeftOut holds that the linker can tell which methods nobody calls. Were one looked up by a name that only the running
// program knows, it would keep all of them, and what they need: a fifth of the program (decision 0059).
func TestUnusedMethodsAreLeftOut(t *testing.T) {
	t.Parallel()
	content, err := os.ReadFile(program.Binary(t))
	if err != nil {
		t.Fatal(err)
	}
	for method, want := range map[string]bool{"gin.(*Engine).ServeHTTP": true, "gin.(*Engine).RunQUIC": false} {
		if got := bytes.Contains(content, []byte("github.com/gin-gonic/"+method)); got != want {
			t.Errorf("%s: got linked %v, want %v; -ldflags=-dumpdep shows <ReflectMethod> where methods are looked up", method, got, want)
		}
	}
}
