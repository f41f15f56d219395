// The classes that the style sheet has for code, by what CodeMirror's parsers find.
import {tagHighlighter, tags} from "@lezer/highlight";

export const highlighter = tagHighlighter([
  {tag: [tags.keyword, tags.operatorKeyword, tags.modifier, tags.self], class: "k"},
  {tag: [tags.typeName, tags.className, tags.namespace], class: "t"},
  {tag: [tags.function(tags.variableName), tags.function(tags.propertyName), tags.standard(tags.name)], class: "f"},
  {tag: [tags.string, tags.regexp, tags.special(tags.string)], class: "s"},
  {tag: [tags.escape, tags.character], class: "e"},
  {tag: [tags.number, tags.bool, tags.null, tags.atom, tags.literal], class: "m"},
  {tag: tags.comment, class: "c"},
  {tag: [tags.meta, tags.processingInstruction, tags.annotation], class: "p"},
  {tag: [tags.attributeName, tags.propertyName, tags.labelName], class: "a"},
  {tag: tags.tagName, class: "k"},
  {tag: [tags.heading, tags.strong], class: "h"},
  {tag: tags.emphasis, class: "i"},
  {tag: tags.inserted, class: "n"},
  {tag: tags.deleted, class: "d"},
]);
