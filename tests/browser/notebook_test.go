package browser

import (
	"testing"
)

// TestNotebook checks that the page of a notebook shows its picture, and does not run its scripts.
func TestNotebook(t *testing.T) {
	t.Parallel()
	origin := serveDemonstration(t)
	const picture = "iVBORw0KGgoAAAANSUhEUgAAAAMAAAACCAAAAAC4HznGAAAAEklEQVR4nGJiYGAAYUAAAAD//wAgAAWURUErAAAAAElFTkSuQmCC"
	const notebook = "Jupyter Notebook"
	id := createPaste(t, origin, "A notebook", pasty{Title: "a.ipynb", Language: notebook, Code: `{"nbformat":4,"cells":[
		{"cell_type":"markdown",
			"source":"# Head\n\n<script>document.title='taken over'</script>\n\n[b](https://example.com)"},
		{"cell_type":"code","execution_count":1,"source":"for i in range(3):\n    print(i)","outputs":[
			{"output_type":"stream","text":["0\n","1\n","2\n"]},
			{"output_type":"display_data","data":{"image/png":"` + picture + `"}},
			{"output_type":"display_data","data":{"text/html":"<img src=x onerror=\"document.title='taken over'\">"}}]}]}`})
	for _, scheme := range []string{"light", "dark"} {
		t.Run(scheme, func(t *testing.T) {
			t.Parallel()
			tab := open(t, origin)
			tab.setColourScheme(scheme)
			tab.show("/" + id)
			tab.waitFor(`document.querySelector(".notebook img").naturalWidth === 3`)
			if title := evaluate[string](tab, "document.title"); title == "taken over" {
				t.Error("got the title that the notebook's script sets, want the script not to run")
			}
			tab.wantAccessible("a notebook")
			tab.wantFit()
			tab.fullScreenshot("notebook")
			tab.useNarrowWindow()
			tab.wantFit()
		})
	}
}
