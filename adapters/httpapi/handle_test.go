package httpapi

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/gin-gonic/gin"
)

func TestPresentedToken(t *testing.T) {
	t.Parallel()
	for header, want := range map[string]string{
		"": "", "  ": "", "x": "x", " x ": "x", "Bearer x": "x", "bearer x": "x", "TOKEN x": "x", "Token  x+/=-_ ": "x+/=-_",
		"Bearer": "", "token ": "", "Basic x": "Basic x", "two words": "two words", "Bearerx": "Bearerx",
		"Bearer Bearer x": "Bearer x",
	} {
		c, _ := gin.CreateTestContext(httptest.NewRecorder())
		c.Request = httptest.NewRequest(http.MethodGet, "/", nil)
		c.Request.Header.Set("Authorization", header)
		if got := presentedToken(c); got != want {
			t.Errorf("%q: got %q, want %q", header, got, want)
		}
	}
}
