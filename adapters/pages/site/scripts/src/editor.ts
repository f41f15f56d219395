// The editor in the place of a textarea. The textarea stays what is sent.
import {closeBrackets, closeBracketsKeymap} from "@codemirror/autocomplete";
import {defaultKeymap, history, historyKeymap, indentLess, indentMore} from "@codemirror/commands";
import {bracketMatching, indentOnInput, indentUnit, syntaxHighlighting} from "@codemirror/language";
import {highlightSelectionMatches, searchKeymap} from "@codemirror/search";
import {Compartment, EditorState, Extension} from "@codemirror/state";
import {
  drawSelection, dropCursor, EditorView, highlightSpecialChars, keymap, lineNumbers, rectangularSelection,
} from "@codemirror/view";
import {detect} from "./detect";
import {encrypts} from "./encryption";
import {highlighter} from "./highlighter";
import {Language, languageOf, modeOf} from "./languages";
import {Fields} from "./snippets";

const look = EditorView.theme({
  "&": {border: "1px solid var(--field)", borderRadius: "6px", background: "var(--surface)", color: "var(--text)"},
  "&.cm-focused": {outline: "3px solid var(--accent)", outlineOffset: "2px"},
  ".cm-scroller": {font: ".875rem/1.55 var(--mono)", minHeight: "var(--editor-height, 18rem)", maxHeight: "70vh"},
  ".cm-gutters": {background: "var(--surface)", color: "var(--quiet)", borderRight: "1px solid var(--line)"},
  ".cm-content": {caretColor: "var(--text)"},
  ".cm-cursor": {borderLeftColor: "var(--text)"},
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground":
    {background: "var(--selected)"},
  "&.cm-focused .cm-matchingBracket": {background: "var(--selected)", outline: "1px solid var(--accent)"},
  ".cm-selectionMatch, .cm-searchMatch": {background: "var(--selected)"},
  ".cm-panels": {background: "var(--raised)", color: "var(--text)"},
  ".cm-panel.cm-search input, .cm-panel.cm-search button": {width: "auto", height: "auto"},
});

// indent inserts what the text is indented with, or indents the selected lines.
function indent(view: EditorView): boolean {
  if (view.state.selection.ranges.some(range => !range.empty)) return indentMore(view);
  const text = view.state.sliceDoc(0, 10000);
  const unit = /^\t/m.test(text) ? "\t" : view.state.facet(indentUnit);
  view.dispatch(view.state.update(view.state.replaceSelection(unit), {scrollIntoView: true, userEvent: "input"}));
  return true;
}

// The server is asked about the language that is detected, so only names from this list may come of a shebang: other words
// of the text stay in the browser.
const programs = new Map([
  ["bash", "Shell"], ["sh", "Shell"], ["zsh", "Shell"], ["node", "JavaScript"], ["nodejs", "JavaScript"], ["python", "Python"],
  ["perl", "Perl"], ["ruby", "Ruby"], ["php", "PHP"], ["lua", "Lua"], ["luajit", "Lua"], ["Rscript", "R"],
]);
const meanings = {ofProgram: (name: string) => programs.get(name) ?? "", ofLanguage: () => ""};

/** Editor shows the code of a snippet. */
export interface Editor {
  /** keep puts the text into the textarea. */
  keep(): void;
  write(text: string): void;
  focus(): void;
}

/** mount puts an editor in the place of a snippet's textarea, with the text, the focus and the selection that it has. */
export function mount(fields: Fields, nonce: string, onInput: () => void): Editor {
  const {name, language, code} = fields;
  let guessing = 0;
  const mode = new Compartment();
  const label = new Compartment();
  const attributes: Record<string, string> = {"aria-label": "Code", "aria-describedby": "editor-hint"};
  if (code.getAttribute("aria-invalid")) {
    attributes["aria-invalid"] = "true";
    attributes["aria-describedby"] = "editor-hint " + (code.getAttribute("aria-describedby") ?? "");
  }
  const extensions: Extension[] = [
    EditorView.cspNonce.of(nonce), look, lineNumbers(), highlightSpecialChars(), history(), drawSelection(), dropCursor(),
    EditorState.allowMultipleSelections.of(true), EditorState.tabSize.of(4), indentUnit.of("    "), indentOnInput(),
    syntaxHighlighting(highlighter as never), bracketMatching(), closeBrackets(), rectangularSelection(),
    highlightSelectionMatches(), mode.of([]), label.of(EditorView.contentAttributes.of(attributes)),
    EditorView.contentAttributes.of({autocapitalize: "off", autocorrect: "off", spellcheck: "false"}),
    keymap.of([...closeBracketsKeymap, ...defaultKeymap.filter(key => key.key !== "Mod-Enter"), ...searchKeymap, ...historyKeymap,
      {key: "Tab", run: indent, shift: indentLess}]),
    EditorView.updateListener.of(update => {
      if (!update.docChanged) return;
      onInput();
      clearTimeout(guessing);
      guessing = setTimeout(() => void choose(true), 500);
    }),
    matchMedia("(max-width: 40rem)").matches ? EditorView.lineWrapping : [],
  ];
  const focused = document.activeElement === code;
  const [anchor, head] = [code.selectionStart, code.selectionEnd];
  const view = new EditorView({state: EditorState.create({doc: code.value, extensions})});
  code.before(view.dom);
  code.hidden = true;
  code.labels[0]?.addEventListener("click", () => view.focus());
  if (focused) {
    view.focus();
    view.dispatch({selection: {anchor: Math.min(anchor, view.state.doc.length), head: Math.min(head, view.state.doc.length)}});
  }

  let asked = ""; // what was chosen, and the name
  let named: Language | null = null; // what these mean
  let guessed = ""; // from the text, where they mean nothing
  const choose = async (typing: boolean) => {
    if (encrypts()) return; // the server must not learn what a name ends in
    const wanted = language.value + "\n" + name.value;
    const changed = wanted !== asked;
    if (changed) {
      asked = wanted;
      named = await languageOf(language.value, name.value);
      if (asked !== wanted) return; // something else was chosen since
    }
    const detects = !named && (!language.value || language.value.toLowerCase() === "autodetect");
    const guess = detects ? detect(view.state.sliceDoc(0, 20000), meanings) : "";
    if (typing && !changed && guess === guessed) return;
    guessed = guess;
    const meant = named ?? (guess ? await languageOf(guess, "") : null);
    const support = meant && await modeOf(meant, named ? name.value : "");
    if (asked !== wanted || guessed !== guess) return;
    if (!language.value) language.placeholder = meant ? meant.name + (named ? " (from the name)" : " (from the text)") : "Autodetect";
    view.dispatch({effects: mode.reconfigure(support ?? [])});
  };
  for (const field of [name, language]) field.addEventListener("change", () => void choose(false));
  void choose(false);
  return {
    keep() { code.value = view.state.doc.toString(); },
    write(text) { view.dispatch({changes: {from: 0, to: view.state.doc.length, insert: text}}); },
    focus() { view.focus(); },
  };
}
