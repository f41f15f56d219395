import{a,b,c,d}from"./chunk-AAXYSD7A.js";import"./chunk-XTRKXRK7.js";import"./chunk-QNZJNX2B.js";export{d as css,b as cssCompletionSource,c as cssLanguage,a as defineCSSCompletionSource};
