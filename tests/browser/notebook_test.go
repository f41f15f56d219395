package browser

import (
	"testing"
)

// TestNotebook opens a notebook: its picture is drawn, and its hostile parts do nothing.
func TestNotebook(t *testing.T) {
	t.Parallel()
	origin := serveDemonstration(t)
	const picture = "iVBORw0KGgoAAAANSUhEUgAAAAMAAAACCAAAAAC4HznGAAAAEklEQVR4nGJiYGAAYUAAAAD//wAgAAWURUErAAAAAElFTkSuQmCC"
	const notebook = "Jupyter Notebook"
	id := create(t, origin, "A notebook", pasty{Title: "a.ipynb", Language: notebook, Code: `{"nbformat":4,"cells":[
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
			tab.prefer(scheme)
			tab.show("/" + id)
			tab.wait(`document.querySelector(".notebook img").naturalWidth === 3`)
			if title := evaluate[string](tab, "document.title"); title == "taken over" {
				t.Error("got the title changed by the notebook, want it shown")
			}
			tab.wantUsable("a notebook")
			tab.wantFit()
			tab.wholePicture("notebook")
			tab.phone()
			tab.wantFit()
		})
	}
}
