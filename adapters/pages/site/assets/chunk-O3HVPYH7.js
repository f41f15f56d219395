import{o as ut}from"./chunk-MGFN4ILS.js";import{e as Ot,f as Pt}from"./chunk-ZESCPZT2.js";import{A as Lt,B as Ee,C as L,D as It,E as xt,F as Nt,G as yt,H as St,I as bt,J as Oe,K as kt,L as vt,M as At,N as Mt,O as ue,Y as Tt,Z as p,a as Re,b as E,c as ft,d as ht,da as fe,e as dt,fa as Ct,g as mt,ga as c,h as pt,ha as Y,i as m,ia as he,j,ja as K,k as le,ka as Pe,l as gt,la as qe,m as we,n as Be,o as _,p as ae,q as S,qa as Rt,r as $,s as X,ua as wt,v as Dt,va as Bt,w as ce,x as v,xa as W,ya as Et,z as b}from"./chunk-QNZJNX2B.js";var Yn=e=>{let{state:t}=e,n=t.doc.lineAt(t.selection.main.from),r=Ue(e.state,n.from);return r.line?Kn(e):r.block?er(e):!1};function $e(e,t){return({state:n,dispatch:r})=>{if(n.readOnly)return!1;let o=e(t,n);return o?(r(n.update(o)),!0):!1}}var Kn=$e(rr,0);var Zn=$e(Ht,0);var er=$e((e,t)=>Ht(e,t,nr(t)),0);function Ue(e,t){let n=e.languageDataAt("commentTokens",t,1);return n.length?n[0]:{}}var Z=50;function tr(e,{open:t,close:n},r,o){let i=e.sliceDoc(r-Z,r),s=e.sliceDoc(o,o+Z),l=/\s*$/.exec(i)[0].length,a=/^\s*/.exec(s)[0].length,f=i.length-l;if(i.slice(f-t.length,f)==t&&s.slice(a,a+n.length)==n)return{open:{pos:r-l,margin:l&&1},close:{pos:o+a,margin:a&&1}};let h,d;o-r<=2*Z?h=d=e.sliceDoc(r,o):(h=e.sliceDoc(r,r+Z),d=e.sliceDoc(o-Z,o));let D=/^\s*/.exec(h)[0].length,y=/\s*$/.exec(d)[0].length,g=d.length-y-n.length;return h.slice(D,D+t.length)==t&&d.slice(g,g+n.length)==n?{open:{pos:r+D+t.length,margin:/\s/.test(h.charAt(D+t.length))?1:0},close:{pos:o-y-n.length,margin:/\s/.test(d.charAt(g-1))?1:0}}:null}function nr(e){let t=[];for(let n of e.selection.ranges){let r=e.doc.lineAt(n.from),o=n.to<=r.to?r:e.doc.lineAt(n.to);o.from>r.from&&o.from==n.to&&(o=n.to==r.to+1?r:e.doc.lineAt(n.to-1));let i=t.length-1;i>=0&&t[i].to>r.from?t[i].to=o.to:t.push({from:r.from+/^\s*/.exec(r.text)[0].length,to:o.to})}return t}function Ht(e,t,n=t.selection.ranges){let r=n.map(i=>Ue(t,i.from).block);if(!r.every(i=>i))return null;let o=n.map((i,s)=>tr(t,r[s],i.from,i.to));if(e!=2&&!o.every(i=>i))return{changes:t.changes(n.map((i,s)=>o[s]?[]:[{from:i.from,insert:r[s].open+" "},{from:i.to,insert:" "+r[s].close}]))};if(e!=1&&o.some(i=>i)){let i=[];for(let s=0,l;s<o.length;s++)if(l=o[s]){let a=r[s],{open:f,close:h}=l;i.push({from:f.pos-a.open.length,to:f.pos+f.margin},{from:h.pos-h.margin,to:h.pos+a.close.length})}return{changes:i}}return null}function rr(e,t,n=t.selection.ranges){let r=[],o=-1;e:for(let{from:i,to:s}of n){let l=r.length,a=1e9,f;for(let h=i;h<=s;){let d=t.doc.lineAt(h);if(f==null&&(f=Ue(t,d.from).line,!f))continue e;if(d.from>o&&(i==s||s>d.from)){o=d.from;let D=/^\s*/.exec(d.text)[0].length,y=D==d.length,g=d.text.slice(D,D+f.length)==f?D:-1;D<d.text.length&&D<a&&(a=D),r.push({line:d,comment:g,token:f,indent:D,empty:y,single:!1})}h=d.to+1}if(a<1e9)for(let h=l;h<r.length;h++)r[h].indent<r[h].line.text.length&&(r[h].indent=a);r.length==l+1&&(r[l].single=!0)}if(e!=2&&r.some(i=>i.comment<0&&(!i.empty||i.single))){let i=[];for(let{line:l,token:a,indent:f,empty:h,single:d}of r)(d||!h)&&i.push({from:l.from+f,insert:a+" "});let s=t.changes(i);return{changes:s,selection:t.selection.map(s,1)}}else if(e!=1&&r.some(i=>i.comment>=0)){let i=[];for(let{line:s,comment:l,token:a}of r)if(l>=0){let f=s.from+l,h=f+a.length;s.text[h-s.from]==" "&&h++,i.push({from:f,to:h})}return{changes:i}}return null}var _e=Be.define(),or=Be.define(),ir=j.define(),Gt=j.define({combine(e){return X(e,{minDepth:100,newGroupDelay:500,joinToEvent:(t,n)=>n},{minDepth:Math.max,newGroupDelay:Math.min,joinToEvent:(t,n)=>(r,o)=>t(r,o)||n(r,o)})}}),zt=le.define({create(){return F.empty},update(e,t){let n=t.state.facet(Gt),r=t.annotation(_e);if(r){let a=R.fromTransaction(t,r.selection),f=r.side,h=f==0?e.undone:e.done;return a?h=me(h,h.length,n.minDepth,a):h=Yt(h,t.startState.selection),new F(f==0?r.rest:h,f==0?h:r.rest)}let o=t.annotation(or);if((o=="full"||o=="before")&&(e=e.isolate()),t.annotation(ae.addToHistory)===!1)return t.changes.empty?e:e.addMapping(t.changes.desc);let i=R.fromTransaction(t),s=t.annotation(ae.time),l=t.annotation(ae.userEvent);return i?e=e.addChanges(i,s,l,n,t):t.selection&&(e=e.addSelection(t.startState.selection,s,l,n.newGroupDelay)),(o=="full"||o=="after")&&(e=e.isolate()),e},toJSON(e){return{done:e.done.map(t=>t.toJSON()),undone:e.undone.map(t=>t.toJSON())}},fromJSON(e){return new F(e.done.map(R.fromJSON),e.undone.map(R.fromJSON))}});function Jt(e={}){return[zt,Gt.of(e),L.domEventHandlers({beforeinput(t,n){let r=t.inputType=="historyUndo"?Qt:t.inputType=="historyRedo"?We:null;return r?(t.preventDefault(),r(n)):!1}})]}function pe(e,t){return function({state:n,dispatch:r}){if(!t&&n.readOnly)return!1;let o=n.field(zt,!1);if(!o)return!1;let i=o.pop(e,n,t);return i?(r(i),!0):!1}}var Qt=pe(0,!1),We=pe(1,!1),sr=pe(0,!0),lr=pe(1,!0);var R=class e{constructor(t,n,r,o,i){this.changes=t,this.effects=n,this.mapped=r,this.startSelection=o,this.selectionsAfter=i}setSelAfter(t){return new e(this.changes,this.effects,this.mapped,this.startSelection,t)}toJSON(){var t,n,r;return{changes:(t=this.changes)===null||t===void 0?void 0:t.toJSON(),mapped:(n=this.mapped)===null||n===void 0?void 0:n.toJSON(),startSelection:(r=this.startSelection)===null||r===void 0?void 0:r.toJSON(),selectionsAfter:this.selectionsAfter.map(o=>o.toJSON())}}static fromJSON(t){return new e(t.changes&&pt.fromJSON(t.changes),[],t.mapped&&mt.fromJSON(t.mapped),t.startSelection&&m.fromJSON(t.startSelection),t.selectionsAfter.map(m.fromJSON))}static fromTransaction(t,n){let r=M;for(let o of t.startState.facet(ir)){let i=o(t);i.length&&(r=r.concat(i))}return!r.length&&t.changes.empty?null:new e(t.changes.invert(t.startState.doc),r,void 0,n||t.startState.selection,M)}static selection(t){return new e(void 0,M,void 0,void 0,t)}};function me(e,t,n,r){let o=t+1>n+20?t-n-1:0,i=e.slice(o,t);return i.push(r),i}function ar(e,t){let n=[],r=!1;return e.iterChangedRanges((o,i)=>n.push(o,i)),t.iterChangedRanges((o,i,s,l)=>{for(let a=0;a<n.length;){let f=n[a++],h=n[a++];l>=f&&s<=h&&(r=!0)}}),r}function cr(e,t){return e.ranges.length==t.ranges.length&&e.ranges.filter((n,r)=>n.empty!=t.ranges[r].empty).length===0}function Xt(e,t){return e.length?t.length?e.concat(t):e:t}var M=[],ur=200;function Yt(e,t){if(e.length){let n=e[e.length-1],r=n.selectionsAfter.slice(Math.max(0,n.selectionsAfter.length-ur));return r.length&&r[r.length-1].eq(t)?e:(r.push(t),me(e,e.length-1,1e9,n.setSelAfter(r)))}else return[R.selection([t])]}function fr(e){let t=e[e.length-1],n=e.slice();return n[e.length-1]=t.setSelAfter(t.selectionsAfter.slice(0,t.selectionsAfter.length-1)),n}function Ve(e,t){if(!e.length)return e;let n=e.length,r=M;for(;n;){let o=hr(e[n-1],t,r);if(o.changes&&!o.changes.empty||o.effects.length){let i=e.slice(0,n);return i[n-1]=o,i}else t=o.mapped,n--,r=o.selectionsAfter}return r.length?[R.selection(r)]:M}function hr(e,t,n){let r=Xt(e.selectionsAfter.length?e.selectionsAfter.map(l=>l.map(t)):M,n);if(!e.changes)return R.selection(r);let o=e.changes.map(t),i=t.mapDesc(e.changes,!0),s=e.mapped?e.mapped.composeDesc(i):i;return new R(o,_.mapEffects(e.effects,t),s,e.startSelection.map(i),r)}var dr=/^(input\.type|delete)($|\.)/,F=class e{constructor(t,n,r=0,o=void 0){this.done=t,this.undone=n,this.prevTime=r,this.prevUserEvent=o}isolate(){return this.prevTime?new e(this.done,this.undone):this}addChanges(t,n,r,o,i){let s=this.done,l=s[s.length-1];return l&&l.changes&&!l.changes.empty&&t.changes&&(!r||dr.test(r))&&(!l.selectionsAfter.length&&n-this.prevTime<o.newGroupDelay&&o.joinToEvent(i,ar(l.changes,t.changes))||r=="input.type.compose")?s=me(s,s.length-1,o.minDepth,new R(t.changes.compose(l.changes),Xt(_.mapEffects(t.effects,l.changes),l.effects),l.mapped,l.startSelection,M)):s=me(s,s.length,o.minDepth,t),new e(s,M,n,r)}addSelection(t,n,r,o){let i=this.done.length?this.done[this.done.length-1].selectionsAfter:M;return i.length>0&&n-this.prevTime<o&&r==this.prevUserEvent&&r&&/^select($|\.)/.test(r)&&cr(i[i.length-1],t)?this:new e(Yt(this.done,t),this.undone,n,r)}addMapping(t){return new e(Ve(this.done,t),Ve(this.undone,t),this.prevTime,this.prevUserEvent)}pop(t,n,r){let o=t==0?this.done:this.undone;if(o.length==0)return null;let i=o[o.length-1],s=i.selectionsAfter[0]||(i.startSelection?i.startSelection.map(i.changes.invertedDesc,1):n.selection);if(r&&i.selectionsAfter.length)return n.update({selection:i.selectionsAfter[i.selectionsAfter.length-1],annotations:_e.of({side:t,rest:fr(o),selection:s}),userEvent:t==0?"select.undo":"select.redo",scrollIntoView:!0});if(i.changes){let l=o.length==1?M:o.slice(0,o.length-1);return i.mapped&&(l=Ve(l,i.mapped)),n.update({changes:i.changes,selection:i.startSelection,effects:i.effects,annotations:_e.of({side:t,rest:l,selection:s}),filter:!1,userEvent:t==0?"undo":"redo",scrollIntoView:!0})}else return null}};F.empty=new F(M,M);var Kt=[{key:"Mod-z",run:Qt,preventDefault:!0},{key:"Mod-y",mac:"Mod-Shift-z",run:We,preventDefault:!0},{linux:"Ctrl-Shift-z",run:We,preventDefault:!0},{key:"Mod-u",run:sr,preventDefault:!0},{key:"Alt-u",mac:"Mod-Shift-u",run:lr,preventDefault:!0}];function U(e,t){return m.create(e.ranges.map(t),e.mainIndex)}function w(e,t){return e.update({selection:t,scrollIntoView:!0,userEvent:"select"})}function B({state:e,dispatch:t},n){let r=U(e.selection,n);return r.eq(e.selection,!0)?!1:(t(w(e,r)),!0)}function ge(e,t){return m.cursor(t?e.to:e.from)}function Zt(e,t){return B(e,n=>n.empty?e.moveByChar(n,t):ge(n,t))}function x(e){return e.textDirectionAt(e.state.selection.main.head)==Lt.LTR}var en=e=>Zt(e,!x(e)),tn=e=>Zt(e,x(e));function nn(e,t){return B(e,n=>n.empty?e.moveByGroup(n,t):ge(n,t))}var mr=e=>nn(e,!x(e)),pr=e=>nn(e,x(e));var pi=typeof Intl<"u"&&Intl.Segmenter?new Intl.Segmenter(void 0,{granularity:"word"}):null;function gr(e,t,n){if(t.type.prop(n))return!0;let r=t.to-t.from;return r&&(r>2||/[^\s,.;:]/.test(e.sliceDoc(t.from,t.to)))||t.firstChild}function De(e,t,n){let r=fe(e).resolveInner(t.head),o=n?ue.closedBy:ue.openedBy;for(let a=t.head;;){let f=n?r.childAfter(a):r.childBefore(a);if(!f)break;gr(e,f,o)?r=f:a=n?f.to:f.from}let i=r.type.prop(o),s,l;return i&&(s=n?W(e,r.from,1):W(e,r.to,-1))&&s.matched?l=n?s.end.to:s.end.from:l=n?r.to:r.from,m.cursor(l,n?-1:1)}var Dr=e=>B(e,t=>De(e.state,t,!x(e))),Lr=e=>B(e,t=>De(e.state,t,x(e)));function rn(e,t){return B(e,n=>{if(!n.empty)return ge(n,t);let r=e.moveVertically(n,t);return r.head!=n.head?r:e.moveToLineBoundary(n,t)})}var on=e=>rn(e,!1),sn=e=>rn(e,!0);function ln(e){let t=e.scrollDOM.clientHeight<e.scrollDOM.scrollHeight-2,n=0,r=0,o;if(t){for(let i of e.state.facet(L.scrollMargins)){let s=i(e);s?.top&&(n=Math.max(s?.top,n)),s?.bottom&&(r=Math.max(s?.bottom,r))}o=e.scrollDOM.clientHeight-n-r}else o=(e.dom.ownerDocument.defaultView||window).innerHeight;return{marginTop:n,marginBottom:r,selfScroll:t,height:Math.max(e.defaultLineHeight,o-5)}}function an(e,t){let n=ln(e),{state:r}=e,o=U(r.selection,s=>s.empty?e.moveVertically(s,t,n.height):ge(s,t));if(o.eq(r.selection))return!1;let i;if(n.selfScroll){let s=e.coordsAtPos(r.selection.main.head),l=e.scrollDOM.getBoundingClientRect(),a=l.top+n.marginTop,f=l.bottom-n.marginBottom;s&&s.top>a&&s.bottom<f&&(i=L.scrollIntoView(o.main.head,{y:"start",yMargin:s.top-a}))}return e.dispatch(w(r,o),{effects:i}),!0}var qt=e=>an(e,!1),Fe=e=>an(e,!0);function O(e,t,n){let r=e.lineBlockAt(t.head),o=e.moveToLineBoundary(t,n);if(o.head==t.head&&o.head!=(n?r.to:r.from)&&(o=e.moveToLineBoundary(t,n,!1)),!n&&o.head==r.from&&r.length){let i=/^\s*/.exec(e.state.sliceDoc(r.from,Math.min(r.from+100,r.to)))[0].length;i&&t.head!=r.from+i&&(o=m.cursor(r.from+i))}return o}var Ir=e=>B(e,t=>O(e,t,!0)),xr=e=>B(e,t=>O(e,t,!1)),Nr=e=>B(e,t=>O(e,t,!x(e))),yr=e=>B(e,t=>O(e,t,x(e))),Sr=e=>B(e,t=>e.moveToLineBoundary(t,!1,!1)),br=e=>B(e,t=>e.moveToLineBoundary(t,!0,!1));function kr(e,t,n){let r=!1,o=U(e.selection,i=>{let s=W(e,i.head,-1)||W(e,i.head,1)||i.head>0&&W(e,i.head-1,1)||i.head<e.doc.length&&W(e,i.head+1,-1);if(!s||!s.end)return i;r=!0;let l=s.start.from==i.head?s.end.to:s.end.from;return n?m.range(i.anchor,l):m.cursor(l)});return r?(t(w(e,o)),!0):!1}var vr=({state:e,dispatch:t})=>kr(e,t,!1);function T(e,t,n){let r=U(e.state.selection,o=>{o.undirectional&&o.head>=o.anchor!=t&&(o=m.range(o.head,o.anchor));let i=n(o);return m.range(o.anchor,i.head,i.goalColumn,i.bidiLevel||void 0,i.assoc)});return r.eq(e.state.selection)?!1:(e.dispatch(w(e.state,r)),!0)}function cn(e,t){return T(e,t,n=>e.moveByChar(n,t))}var un=e=>cn(e,!x(e)),fn=e=>cn(e,x(e));function hn(e,t){return T(e,t,n=>e.moveByGroup(n,t))}var Ar=e=>hn(e,!x(e)),Mr=e=>hn(e,x(e));var Tr=e=>{let t=!x(e);return T(e,t,n=>De(e.state,n,t))},Cr=e=>{let t=x(e);return T(e,t,n=>De(e.state,n,t))};function dn(e,t){return T(e,t,n=>e.moveVertically(n,t))}var mn=e=>dn(e,!1),pn=e=>dn(e,!0);function gn(e,t){return T(e,t,n=>e.moveVertically(n,t,ln(e).height))}var Vt=e=>gn(e,!1),_t=e=>gn(e,!0),Rr=e=>T(e,!0,t=>O(e,t,!0)),wr=e=>T(e,!1,t=>O(e,t,!1)),Br=e=>{let t=!x(e);return T(e,t,n=>O(e,n,t))},Er=e=>{let t=x(e);return T(e,t,n=>O(e,n,t))},Or=e=>T(e,!1,t=>m.cursor(e.lineBlockAt(t.head).from)),Pr=e=>T(e,!0,t=>m.cursor(e.lineBlockAt(t.head).to)),Wt=({state:e,dispatch:t})=>(t(w(e,{anchor:0})),!0),Ft=({state:e,dispatch:t})=>(t(w(e,{anchor:e.doc.length})),!0),jt=({state:e,dispatch:t})=>(t(w(e,{anchor:e.selection.main.anchor,head:0})),!0),$t=({state:e,dispatch:t})=>(t(w(e,{anchor:e.selection.main.anchor,head:e.doc.length})),!0),qr=({state:e,dispatch:t})=>(t(e.update({selection:{anchor:0,head:e.doc.length},userEvent:"select"})),!0),Vr=({state:e,dispatch:t})=>{let n=Le(e).map(({from:r,to:o})=>m.undirectionalRange(r,Math.min(o+1,e.doc.length)));return t(e.update({selection:m.create(n),userEvent:"select"})),!0},_r=({state:e,dispatch:t})=>{let n=U(e.selection,r=>{let o=fe(e),i=o.resolveStack(r.from,1);if(r.empty){let s=o.resolveStack(r.from,-1);s.node.from>=i.node.from&&s.node.to<=i.node.to&&(i=s)}for(let s=i;s;s=s.next){let{node:l}=s;if((l.from<r.from&&l.to>=r.to||l.to>r.to&&l.from<=r.from)&&s.next)return m.undirectionalRange(l.from,l.to)}return r});return n.eq(e.selection)?!1:(t(w(e,n)),!0)};function Dn(e,t){let{state:n}=e,r=n.selection,o=n.selection.ranges.slice();for(let i of n.selection.ranges){let s=n.doc.lineAt(i.head);if(t?s.to<e.state.doc.length:s.from>0)for(let l=i;;){let a=e.moveVertically(l,t);if(a.head<s.from||a.head>s.to){o.some(f=>f.head==a.head)||o.push(a);break}else{if(a.head==l.head)break;l=a}}}return o.length==r.ranges.length?!1:(e.dispatch(w(n,m.create(o,o.length-1))),!0)}var Wr=e=>Dn(e,!1),Fr=e=>Dn(e,!0),jr=({state:e,dispatch:t})=>{let n=e.selection,r=null;return n.ranges.length>1?r=m.create([n.main]):n.main.empty||(r=m.create([m.cursor(n.main.head)])),r?(t(w(e,r)),!0):!1};function ee(e,t){if(e.state.readOnly)return!1;let n="delete.selection",{state:r}=e,o=r.changeByRange(i=>{let{from:s,to:l}=i;if(s==l){let a=t(i);a<s?(n="delete.backward",a=de(e,a,!1)):a>s&&(n="delete.forward",a=de(e,a,!0)),s=Math.min(s,a),l=Math.max(l,a)}else s=de(e,s,!1),l=de(e,l,!0);return s==l?{range:i}:{changes:{from:s,to:l},range:m.cursor(s,s<i.head?-1:1)}});return o.changes.empty?!1:(e.dispatch(r.update(o,{scrollIntoView:!0,userEvent:n,effects:n=="delete.selection"?L.announce.of(r.phrase("Selection deleted")):void 0})),!0)}function de(e,t,n){if(e instanceof L)for(let r of e.state.facet(L.atomicRanges).map(o=>o(e)))r.between(t,t,(o,i)=>{o<t&&i>t&&(t=n?i:o)});return t}var Ln=(e,t,n)=>ee(e,r=>{let o=r.from,{state:i}=e,s=i.doc.lineAt(o),l,a;if(n&&!t&&o>s.from&&o<s.from+200&&!/[^ \t]/.test(l=s.text.slice(0,o-s.from))){if(l[l.length-1]=="	")return o-1;let f=ce(l,i.tabSize),h=f%he(i)||he(i);for(let d=0;d<h&&l[l.length-1-d]==" ";d++)o--;a=o}else a=E(s.text,o-s.from,t,t)+s.from,a==o&&s.number!=(t?i.doc.lines:1)?a+=t?1:-1:!t&&/[\ufe00-\ufe0f]/.test(s.text.slice(a-s.from,o-s.from))&&(a=E(s.text,a-s.from,!1,!1)+s.from);return a}),je=e=>Ln(e,!1,!0);var In=e=>Ln(e,!0,!1),xn=(e,t)=>ee(e,n=>{let r=n.head,{state:o}=e,i=o.doc.lineAt(r),s=o.charCategorizer(r);for(let l=null;;){if(r==(t?i.to:i.from)){r==n.head&&i.number!=(t?o.doc.lines:1)&&(r+=t?1:-1);break}let a=E(i.text,r-i.from,t)+i.from,f=i.text.slice(Math.min(r,a)-i.from,Math.max(r,a)-i.from),h=s(f);if(l!=null&&h!=l)break;(f!=" "||r!=n.head)&&(l=h),r=a}return r}),Nn=e=>xn(e,!1),$r=e=>xn(e,!0);var Ur=e=>ee(e,t=>{let n=e.lineBlockAt(t.head).to;return t.head<n?n:Math.min(e.state.doc.length,t.head+1)});var Hr=e=>ee(e,t=>{let n=e.moveToLineBoundary(t,!1).head;return t.head>n?n:Math.max(0,t.head-1)}),Gr=e=>ee(e,t=>{let n=e.moveToLineBoundary(t,!0).head;return t.head<n?n:Math.min(e.state.doc.length,t.head+1)});var zr=({state:e,dispatch:t})=>{if(e.readOnly)return!1;let n=e.changeByRange(r=>({changes:{from:r.from,to:r.to,insert:Re.of(["",""])},range:m.cursor(r.from)}));return t(e.update(n,{scrollIntoView:!0,userEvent:"input"})),!0},Jr=({state:e,dispatch:t})=>{if(e.readOnly)return!1;let n=e.changeByRange(r=>{if(!r.empty||r.from==0||r.from==e.doc.length)return{range:r};let o=r.from,i=e.doc.lineAt(o),s=o==i.from?o-1:E(i.text,o-i.from,!1)+i.from,l=o==i.to?o+1:E(i.text,o-i.from,!0)+i.from;return{changes:{from:s,to:l,insert:e.doc.slice(o,l).append(e.doc.slice(s,o))},range:m.cursor(l)}});return n.changes.empty?!1:(t(e.update(n,{scrollIntoView:!0,userEvent:"move.character"})),!0)};function Le(e){let t=[],n=-1;for(let r of e.selection.ranges){let o=e.doc.lineAt(r.from),i=e.doc.lineAt(r.to);if(!r.empty&&r.to==i.from&&(i=e.doc.lineAt(r.to-1)),n>=o.number){let s=t[t.length-1];s.to=i.to,s.ranges.push(r)}else t.push({from:o.from,to:i.to,ranges:[r]});n=i.number+1}return t}function yn(e,t,n){if(e.readOnly)return!1;let r=[],o=[];for(let i of Le(e)){if(n?i.to==e.doc.length:i.from==0)continue;let s=e.doc.lineAt(n?i.to+1:i.from-1),l=s.length+1;if(n){r.push({from:i.to,to:s.to},{from:i.from,insert:s.text+e.lineBreak});for(let a of i.ranges)o.push(m.range(Math.min(e.doc.length,a.anchor+l),Math.min(e.doc.length,a.head+l)))}else{r.push({from:s.from,to:i.from},{from:i.to,insert:e.lineBreak+s.text});for(let a of i.ranges)o.push(m.range(a.anchor-l,a.head-l))}}return r.length?(t(e.update({changes:r,scrollIntoView:!0,selection:m.create(o,e.selection.mainIndex),userEvent:"move.line"})),!0):!1}var Qr=({state:e,dispatch:t})=>yn(e,t,!1),Xr=({state:e,dispatch:t})=>yn(e,t,!0);function Sn(e,t,n){if(e.readOnly)return!1;let r=[];for(let i of Le(e))n?r.push({from:i.from,insert:e.doc.slice(i.from,i.to)+e.lineBreak}):r.push({from:i.to,insert:e.lineBreak+e.doc.slice(i.from,i.to)});let o=e.changes(r);return t(e.update({changes:o,selection:e.selection.map(o,n?1:-1),scrollIntoView:!0,userEvent:"input.copyline"})),!0}var Yr=({state:e,dispatch:t})=>Sn(e,t,!1),Kr=({state:e,dispatch:t})=>Sn(e,t,!0),Zr=e=>{if(e.state.readOnly)return!1;let{state:t}=e,n=t.changes(Le(t).map(({from:o,to:i})=>(o>0?o--:i<t.doc.length&&i++,{from:o,to:i}))),r=U(t.selection,o=>{let i;if(e.lineWrapping){let s=e.lineBlockAt(o.head),l=e.coordsAtPos(o.head,o.assoc||1);l&&(i=s.bottom+e.documentTop-l.bottom+e.defaultLineHeight/2)}return e.moveVertically(o,!0,i)}).map(n);return e.dispatch({changes:n,selection:r,scrollIntoView:!0,userEvent:"delete.line"}),!0};function eo(e,t){if(/\(\)|\[\]|\{\}/.test(e.sliceDoc(t-1,t+1)))return{from:t,to:t};let n=fe(e).resolveInner(t),r=n.childBefore(t),o=n.childAfter(t),i;return r&&o&&r.to<=t&&o.from>=t&&(i=r.type.prop(ue.closedBy))&&i.indexOf(o.name)>-1&&e.doc.lineAt(r.to).from==e.doc.lineAt(o.from).from&&!/\S/.test(e.sliceDoc(r.to,o.from))?{from:r.to,to:o.from}:null}var Ut=bn(!1),to=bn(!0);function bn(e){return({state:t,dispatch:n})=>{if(t.readOnly)return!1;let r=t.changeByRange(o=>{let{from:i,to:s}=o,l=t.doc.lineAt(i),a=!e&&i==s&&eo(t,i);e&&(i=s=(s<=l.to?l:t.doc.lineAt(s)).to);let f=new qe(t,{simulateBreak:i,simulateDoubleBreak:!!a}),h=Pe(f,i);for(h==null&&(h=ce(/^\s*/.exec(t.doc.lineAt(i).text)[0],t.tabSize));s<l.to&&/\s/.test(l.text[s-l.from]);)s++;a?{from:i,to:s}=a:i>l.from&&i<l.from+100&&!/\S/.test(l.text.slice(0,i))&&(i=l.from);let d=["",K(t,h)];return a&&d.push(K(t,f.lineIndent(l.from,-1))),{changes:{from:i,to:s,insert:Re.of(d)},range:m.cursor(i+1+d[1].length)}});return n(t.update(r,{scrollIntoView:!0,userEvent:"input"})),!0}}function He(e,t){let n=-1;return e.changeByRange(r=>{let o=[];for(let s=r.from;s<=r.to;){let l=e.doc.lineAt(s);l.number>n&&(r.empty||r.to>l.from)&&(t(l,o,r),n=l.number),s=l.to+1}let i=e.changes(o);return{changes:o,range:m.range(i.mapPos(r.anchor,1),i.mapPos(r.head,1))}})}var no=({state:e,dispatch:t})=>{if(e.readOnly)return!1;let n=Object.create(null),r=new qe(e,{overrideIndentation:i=>{let s=n[i];return s??-1}}),o=He(e,(i,s,l)=>{let a=Pe(r,i.from);if(a==null)return;/\S/.test(i.text)||(a=0);let f=/^\s*/.exec(i.text)[0],h=K(e,a);(f!=h||l.from<i.from+f.length)&&(n[i.from]=a,s.push({from:i.from,to:i.from+f.length,insert:h}))});return o.changes.empty||t(e.update(o,{userEvent:"indent"})),!0},Ge=({state:e,dispatch:t})=>e.readOnly?!1:(t(e.update(He(e,(n,r)=>{r.push({from:n.from,insert:e.facet(Y)})}),{userEvent:"input.indent"})),!0),ze=({state:e,dispatch:t})=>e.readOnly?!1:(t(e.update(He(e,(n,r)=>{let o=/^\s*/.exec(n.text)[0];if(!o)return;let i=ce(o,e.tabSize),s=0,l=K(e,Math.max(0,i-he(e)));for(;s<o.length&&s<l.length&&o.charCodeAt(s)==l.charCodeAt(s);)s++;r.push({from:n.from+s,to:n.from+o.length,insert:l.slice(s)})}),{userEvent:"delete.dedent"})),!0),ro=e=>(e.setTabFocusMode(),!0);var oo=[{key:"Ctrl-b",run:en,shift:un,preventDefault:!0},{key:"Ctrl-f",run:tn,shift:fn},{key:"Ctrl-p",run:on,shift:mn},{key:"Ctrl-n",run:sn,shift:pn},{key:"Ctrl-a",run:Sr,shift:Or},{key:"Ctrl-e",run:br,shift:Pr},{key:"Ctrl-d",run:In},{key:"Ctrl-h",run:je},{key:"Ctrl-k",run:Ur},{key:"Ctrl-Alt-h",run:Nn},{key:"Ctrl-o",run:zr},{key:"Ctrl-t",run:Jr},{key:"Ctrl-v",run:Fe}],io=[{key:"ArrowLeft",run:en,shift:un,preventDefault:!0},{key:"Mod-ArrowLeft",mac:"Alt-ArrowLeft",run:mr,shift:Ar,preventDefault:!0},{mac:"Cmd-ArrowLeft",run:Nr,shift:Br,preventDefault:!0},{key:"ArrowRight",run:tn,shift:fn,preventDefault:!0},{key:"Mod-ArrowRight",mac:"Alt-ArrowRight",run:pr,shift:Mr,preventDefault:!0},{mac:"Cmd-ArrowRight",run:yr,shift:Er,preventDefault:!0},{key:"ArrowUp",run:on,shift:mn,preventDefault:!0},{mac:"Cmd-ArrowUp",run:Wt,shift:jt},{mac:"Ctrl-ArrowUp",run:qt,shift:Vt},{key:"ArrowDown",run:sn,shift:pn,preventDefault:!0},{mac:"Cmd-ArrowDown",run:Ft,shift:$t},{mac:"Ctrl-ArrowDown",run:Fe,shift:_t},{key:"PageUp",run:qt,shift:Vt},{key:"PageDown",run:Fe,shift:_t},{key:"Home",run:xr,shift:wr,preventDefault:!0},{key:"Mod-Home",run:Wt,shift:jt},{key:"End",run:Ir,shift:Rr,preventDefault:!0},{key:"Mod-End",run:Ft,shift:$t},{key:"Enter",run:Ut,shift:Ut},{key:"Mod-a",run:qr},{key:"Backspace",run:je,shift:je,preventDefault:!0},{key:"Delete",run:In,preventDefault:!0},{key:"Mod-Backspace",mac:"Alt-Backspace",run:Nn,preventDefault:!0},{key:"Mod-Delete",mac:"Alt-Delete",run:$r,preventDefault:!0},{mac:"Mod-Backspace",run:Hr,preventDefault:!0},{mac:"Mod-Delete",run:Gr,preventDefault:!0}].concat(oo.map(e=>({mac:e.key,run:e.run,shift:e.shift}))),kn=[{key:"Alt-ArrowLeft",mac:"Ctrl-ArrowLeft",run:Dr,shift:Tr},{key:"Alt-ArrowRight",mac:"Ctrl-ArrowRight",run:Lr,shift:Cr},{key:"Alt-ArrowUp",run:Qr},{key:"Shift-Alt-ArrowUp",run:Yr},{key:"Alt-ArrowDown",run:Xr},{key:"Shift-Alt-ArrowDown",run:Kr},{key:"Mod-Alt-ArrowUp",run:Wr},{key:"Mod-Alt-ArrowDown",run:Fr},{key:"Escape",run:jr},{key:"Mod-Enter",run:to},{key:"Alt-l",mac:"Ctrl-l",run:Vr},{key:"Mod-i",run:_r,preventDefault:!0},{key:"Mod-[",run:ze},{key:"Mod-]",run:Ge},{key:"Mod-Alt-\\",run:no},{key:"Shift-Mod-k",run:Zr},{key:"Shift-Mod-\\",run:vr},{key:"Mod-/",run:Yn},{key:"Alt-A",mac:"Ctrl-A",run:Zn},{key:"Ctrl-m",mac:"Shift-Alt-m",run:ro}].concat(io);var vn=typeof String.prototype.normalize=="function"?e=>e.normalize("NFKD"):e=>e,q=class{constructor(t,n,r=0,o=t.length,i,s){this.test=s,this.value={from:0,to:0,precise:!1},this.done=!1,this.matches=[],this.buffer="",this.bufferPos=0,this.iter=t.iterRange(r,o),this.bufferStart=r,this.normalize=i?l=>i(vn(l)):vn,this.query=this.normalize(n)}peek(){if(this.bufferPos==this.buffer.length){if(this.bufferStart+=this.buffer.length,this.iter.next(),this.iter.done)return-1;this.bufferPos=0,this.buffer=this.iter.value}return ft(this.buffer,this.bufferPos)}next(){for(;this.matches.length;)this.matches.pop();return this.nextOverlapping()}nextOverlapping(){for(;;){let t=this.peek();if(t<0)return this.done=!0,this;let n=ht(t),r=this.bufferStart+this.bufferPos;this.bufferPos+=dt(t);let o=this.normalize(n);if(o.length)for(let i=0,s=r,l=!0;;i++){let a=o.charCodeAt(i),f=this.match(a,s,l,this.bufferPos+this.bufferStart,i==o.length-1);if(f)return this.value=f,this;if(i==o.length-1)break;l&&i<n.length&&n.charCodeAt(i)==a?s++:l=!1}}}match(t,n,r,o,i){let s=null;for(let l=0;l<this.matches.length;){let a=this.matches[l],f=!1;this.query.charCodeAt(a.index)==t&&(a.index==this.query.length-1?s={from:a.from,to:o,precise:i&&a.precise}:(a.index++,f=!0)),f?l++:this.matches.splice(l,1)}return this.query.charCodeAt(0)==t&&(this.query.length==1?s={from:n,to:o,precise:r&&i}:this.matches.push({from:n,index:1,precise:r})),s&&this.test&&!this.test(s.from,s.to,this.buffer,this.bufferStart)&&(s=null),s}};typeof Symbol<"u"&&(q.prototype[Symbol.iterator]=function(){return this});var Tn={from:-1,to:-1,match:/.*/.exec(""),precise:!0},Ze="gm"+(/x/.unicode==null?"":"u"),Ne=class{constructor(t,n,r,o=0,i=t.length){if(this.text=t,this.to=i,this.curLine="",this.done=!1,this.value=Tn,/\\[sWDnr]|\n|\r|\[\^/.test(n))return new Se(t,n,r,o,i);this.re=new RegExp(n,Ze+(r?.ignoreCase?"i":"")),this.test=r?.test,this.iter=t.iter();let s=t.lineAt(o);this.curLineStart=s.from,this.matchPos=be(t,o),this.getLine(this.curLineStart)}getLine(t){this.iter.next(t),this.iter.lineBreak?this.curLine="":(this.curLine=this.iter.value,this.curLineStart+this.curLine.length>this.to&&(this.curLine=this.curLine.slice(0,this.to-this.curLineStart)),this.iter.next())}nextLine(){this.curLineStart=this.curLineStart+this.curLine.length+1,this.curLineStart>this.to?this.curLine="":this.getLine(0)}next(){for(let t=this.matchPos-this.curLineStart;;){this.re.lastIndex=t;let n=this.matchPos<=this.to&&this.re.exec(this.curLine);if(n){let r=this.curLineStart+n.index,o=r+n[0].length;if(this.matchPos=be(this.text,o+(r==o?1:0)),r==this.curLineStart+this.curLine.length&&this.nextLine(),(r<o||r>this.value.to)&&(!this.test||this.test(r,o,n)))return this.value={from:r,to:o,precise:!0,match:n},this;t=this.matchPos-this.curLineStart}else if(this.curLineStart+this.curLine.length<this.to)this.nextLine(),t=0;else return this.done=!0,this}}},Je=new WeakMap,ye=class e{constructor(t,n){this.from=t,this.text=n}get to(){return this.from+this.text.length}static get(t,n,r){let o=Je.get(t);if(!o||o.from>=r||o.to<=n){let l=new e(n,t.sliceString(n,r));return Je.set(t,l),l}if(o.from==n&&o.to==r)return o;let{text:i,from:s}=o;return s>n&&(i=t.sliceString(n,s)+i,s=n),o.to<r&&(i+=t.sliceString(o.to,r)),Je.set(t,new e(s,i)),new e(n,i.slice(n-s,r-s))}},Se=class{constructor(t,n,r,o,i){this.text=t,this.to=i,this.done=!1,this.value=Tn,this.matchPos=be(t,o),this.re=new RegExp(n,Ze+(r?.ignoreCase?"i":"")),this.test=r?.test,this.flat=ye.get(t,o,this.chunkEnd(o+5e3))}chunkEnd(t){return t>=this.to?this.to:this.text.lineAt(t).to}next(){for(;;){let t=this.re.lastIndex=this.matchPos-this.flat.from,n=this.re.exec(this.flat.text);if(n&&!n[0]&&n.index==t&&(this.re.lastIndex=t+1,n=this.re.exec(this.flat.text)),n){let r=this.flat.from+n.index,o=r+n[0].length;if((this.flat.to>=this.to||n.index+n[0].length<=this.flat.text.length-10)&&(!this.test||this.test(r,o,n)))return this.value={from:r,to:o,precise:!0,match:n},this.matchPos=be(this.text,o+(r==o?1:0)),this}if(this.flat.to==this.to)return this.done=!0,this;this.flat=ye.get(this.text,this.flat.from,this.chunkEnd(this.flat.from+this.flat.text.length*2))}}};typeof Symbol<"u"&&(Ne.prototype[Symbol.iterator]=Se.prototype[Symbol.iterator]=function(){return this});function so(e){try{return new RegExp(e,Ze),!0}catch{return!1}}function be(e,t){if(t>=e.length)return t;let n=e.lineAt(t),r;for(;t<n.to&&(r=n.text.charCodeAt(t-n.from))>=56320&&r<57344;)t++;return t}var lo=e=>{let t=At(e,"cm-goto-line");if(t){let s=t.dom.querySelector("input[type=text]");return s&&s.select(),!0}let{state:n}=e,r=String(n.doc.lineAt(e.state.selection.main.head).number),{close:o,result:i}=vt(e,{class:"cm-goto-line",label:n.phrase("Go to line"),input:{type:"text",name:"line",value:r},focus:!0,submitLabel:n.phrase("go")});return i.then(s=>{let l=s&&/^([+-])?(\d+)?(:\d+)?(%)?$/.exec(s.elements.line.value);if(!l){e.dispatch({effects:o});return}let a=n.doc.lineAt(n.selection.main.head),[,f,h,d,D]=l,y=d?+d.slice(1):0,g=h?+h:a.number;if(h&&D){let N=g/100;f&&(N=N*(f=="-"?-1:1)+a.number/n.doc.lines),g=Math.round(n.doc.lines*N)}else h&&f&&(g=g*(f=="-"?-1:1)+a.number);let k=n.doc.line(Math.max(1,Math.min(n.doc.lines,g))),I=m.cursor(k.from+Math.max(0,Math.min(y,k.length)));e.dispatch({effects:[o,L.scrollIntoView(I.from,{y:"center"})],selection:I})}),!0},ao={highlightWordAroundCursor:!1,minSelectionLength:1,maxMatches:100,wholeWords:!1},Cn=j.define({combine(e){return X(e,ao,{highlightWordAroundCursor:(t,n)=>t||n,minSelectionLength:Math.min,maxMatches:Math.min})}});function Rn(e){let t=[mo,ho];return e&&t.push(Cn.of(e)),t}var co=b.mark({class:"cm-selectionMatch"}),uo=b.mark({class:"cm-selectionMatch cm-selectionMatch-main"});function An(e,t,n,r){return(n==0||e(t.sliceDoc(n-1,n))!=S.Word)&&(r==t.doc.length||e(t.sliceDoc(r,r+1))!=S.Word)}function fo(e,t,n,r){return e(t.sliceDoc(n,n+1))==S.Word&&e(t.sliceDoc(r-1,r))==S.Word}var ho=Ee.fromClass(class{constructor(e){this.decorations=this.getDeco(e)}update(e){(e.selectionSet||e.docChanged||e.viewportChanged)&&(this.decorations=this.getDeco(e.view))}getDeco(e){let t=e.state.facet(Cn),{state:n}=e,r=n.selection;if(r.ranges.length>1)return b.none;let o=r.main,i,s=null;if(o.empty){if(!t.highlightWordAroundCursor)return b.none;let a=n.wordAt(o.head);if(!a)return b.none;s=n.charCategorizer(o.head),i=n.sliceDoc(a.from,a.to)}else{let a=o.to-o.from;if(a<t.minSelectionLength||a>200)return b.none;if(t.wholeWords){if(i=n.sliceDoc(o.from,o.to),s=n.charCategorizer(o.head),!(An(s,n,o.from,o.to)&&fo(s,n,o.from,o.to)))return b.none}else if(i=n.sliceDoc(o.from,o.to),!i)return b.none}let l=[];for(let a of e.visibleRanges){let f=new q(n.doc,i,a.from,a.to);for(;!f.next().done;){let{from:h,to:d}=f.value;if((!s||An(s,n,h,d))&&(o.empty&&h<=o.from&&d>=o.to?l.push(uo.range(h,d)):(h>=o.to||d<=o.from)&&l.push(co.range(h,d)),l.length>t.maxMatches))return b.none}}return b.set(l)}},{decorations:e=>e.decorations}),mo=L.baseTheme({".cm-selectionMatch":{backgroundColor:"#99ff7780"},".cm-searchMatch .cm-selectionMatch":{backgroundColor:"transparent"}}),po=({state:e,dispatch:t})=>{let{selection:n}=e,r=m.create(n.ranges.map(o=>e.wordAt(o.head)||m.cursor(o.head)),n.mainIndex);return r.eq(n)?!1:(t(e.update({selection:r})),!0)};function go(e,t){let{main:n,ranges:r}=e.selection,o=e.wordAt(n.head),i=o&&o.from==n.from&&o.to==n.to;for(let s=!1,l=new q(e.doc,t,r[r.length-1].to);;)if(l.next(),l.done){if(s)return null;l=new q(e.doc,t,0,Math.max(0,r[r.length-1].from-1)),s=!0}else{if(s&&r.some(a=>a.from==l.value.from))continue;if(i){let a=e.wordAt(l.value.from);if(!a||a.from!=l.value.from||a.to!=l.value.to)continue}return l.value}}var Do=({state:e,dispatch:t})=>{let{ranges:n}=e.selection;if(n.some(i=>i.from===i.to))return po({state:e,dispatch:t});let r=e.sliceDoc(n[0].from,n[0].to);if(e.selection.ranges.some(i=>e.sliceDoc(i.from,i.to)!=r))return!1;let o=go(e,r);return o?(t(e.update({selection:e.selection.addRange(m.range(o.from,o.to),!1),effects:L.scrollIntoView(o.to)})),!0):!1},z=j.define({combine(e){return X(e,{top:!1,caseSensitive:!1,literal:!1,regexp:!1,wholeWord:!1,createPanel:t=>new Ke(t),scrollToMatch:t=>L.scrollIntoView(t)})}});var ke=class{constructor(t){this.search=t.search,this.caseSensitive=!!t.caseSensitive,this.literal=!!t.literal,this.regexp=!!t.regexp,this.replace=t.replace||"",this.valid=!!this.search&&(!this.regexp||so(this.search)),this.unquoted=this.unquote(this.search),this.wholeWord=!!t.wholeWord,this.test=t.test}unquote(t){return this.literal?t:t.replace(/\\([nrt\\])/g,(n,r)=>r=="n"?`
`:r=="r"?"\r":r=="t"?"	":"\\")}eq(t){return this.search==t.search&&this.replace==t.replace&&this.caseSensitive==t.caseSensitive&&this.regexp==t.regexp&&this.wholeWord==t.wholeWord&&this.test==t.test}create(){return this.regexp?new Xe(this):new Qe(this)}getCursor(t,n=0,r){let o=t.doc?t:$.create({doc:t});return r==null&&(r=o.doc.length),this.regexp?G(this,o,n,r):H(this,o,n,r)}},ve=class{constructor(t){this.spec=t}};function Lo(e,t,n){return(r,o,i,s)=>{if(n&&!n(r,o,i,s))return!1;let l=r>=s&&o<=s+i.length?i.slice(r-s,o-s):t.doc.sliceString(r,o);return e(l,t,r,o)}}function H(e,t,n,r){let o;return e.wholeWord&&(o=Io(t.doc,t.charCategorizer(t.selection.main.head))),e.test&&(o=Lo(e.test,t,o)),new q(t.doc,e.unquoted,n,r,e.caseSensitive?void 0:i=>i.toLowerCase(),o)}function Io(e,t){return(n,r,o,i)=>((i>n||i+o.length<r)&&(i=Math.max(0,n-2),o=e.sliceString(i,Math.min(e.length,r+2))),(t(Ae(o,n-i))!=S.Word||t(Me(o,n-i))!=S.Word)&&(t(Me(o,r-i))!=S.Word||t(Ae(o,r-i))!=S.Word))}var Qe=class extends ve{constructor(t){super(t)}nextMatch(t,n,r){let o=H(this.spec,t,r,t.doc.length).nextOverlapping();if(o.done){let i=Math.min(t.doc.length,n+this.spec.unquoted.length);o=H(this.spec,t,0,i).nextOverlapping()}return o.done||o.value.from==n&&o.value.to==r?null:o.value}prevMatchInRange(t,n,r){for(let o=r;;){let i=Math.max(n,o-1e4-this.spec.unquoted.length),s=H(this.spec,t,i,o),l=null;for(;!s.nextOverlapping().done;)l=s.value;if(l)return l;if(i==n)return null;o-=1e4}}prevMatch(t,n,r){let o=this.prevMatchInRange(t,0,n);return o||(o=this.prevMatchInRange(t,Math.max(0,r-this.spec.unquoted.length),t.doc.length)),o&&(o.from!=n||o.to!=r)?o:null}getReplacement(t){return this.spec.unquote(this.spec.replace)}matchAll(t,n){let r=H(this.spec,t,0,t.doc.length),o=[];for(;!r.next().done;){if(o.length>=n)return null;o.push(r.value)}return o}highlight(t,n,r,o){let i=H(this.spec,t,Math.max(0,n-this.spec.unquoted.length),Math.min(r+this.spec.unquoted.length,t.doc.length));for(;!i.next().done;)o(i.value.from,i.value.to)}};function xo(e,t,n){return(r,o,i)=>(!n||n(r,o,i))&&e(i[0],t,r,o)}function G(e,t,n,r){let o;return e.wholeWord&&(o=No(t.charCategorizer(t.selection.main.head))),e.test&&(o=xo(e.test,t,o)),new Ne(t.doc,e.search,{ignoreCase:!e.caseSensitive,test:o},n,r)}function Ae(e,t){return e.slice(E(e,t,!1),t)}function Me(e,t){return e.slice(t,E(e,t))}function No(e){return(t,n,r)=>!r[0].length||(e(Ae(r.input,r.index))!=S.Word||e(Me(r.input,r.index))!=S.Word)&&(e(Me(r.input,r.index+r[0].length))!=S.Word||e(Ae(r.input,r.index+r[0].length))!=S.Word)}var Xe=class extends ve{nextMatch(t,n,r){let o=G(this.spec,t,r,t.doc.length).next();return o.done&&(o=G(this.spec,t,0,n).next()),o.done?null:o.value}prevMatchInRange(t,n,r){for(let o=1;;o++){let i=Math.max(n,r-o*1e4),s=G(this.spec,t,i,r),l=null;for(;!s.next().done;)l=s.value;if(l&&(i==n||l.from>i+10))return l;if(i==n)return null}}prevMatch(t,n,r){return this.prevMatchInRange(t,0,n)||this.prevMatchInRange(t,r,t.doc.length)}getReplacement(t){return this.spec.unquote(this.spec.replace).replace(/\$([$&]|\d+)/g,(n,r)=>{if(r=="&")return t.match[0];if(r=="$")return"$";for(let o=r.length;o>0;o--){let i=+r.slice(0,o);if(i>0&&i<t.match.length)return t.match[i]+r.slice(o)}return n})}matchAll(t,n){let r=G(this.spec,t,0,t.doc.length),o=[];for(;!r.next().done;){if(o.length>=n)return null;o.push(r.value)}return o}highlight(t,n,r,o){let i=G(this.spec,t,Math.max(0,n-250),Math.min(r+250,t.doc.length));for(;!i.next().done;)o(i.value.from,i.value.to)}},ne=_.define(),et=_.define(),P=le.define({create(e){return new te(Ye(e).create(),null)},update(e,t){for(let n of t.effects)n.is(ne)?e=new te(n.value.create(),e.panel):n.is(et)&&(e=new te(e.query,n.value?tt:null));return e},provide:e=>kt.from(e,t=>t.panel)});var te=class{constructor(t,n){this.query=t,this.panel=n}},yo=b.mark({class:"cm-searchMatch"}),So=b.mark({class:"cm-searchMatch cm-searchMatch-selected"}),bo=Ee.fromClass(class{constructor(e){this.view=e,this.decorations=this.highlight(e.state.field(P))}update(e){let t=e.state.field(P);(t!=e.startState.field(P)||e.docChanged||e.selectionSet||e.viewportChanged)&&(this.decorations=this.highlight(t))}highlight({query:e,panel:t}){if(!t||!e.spec.valid)return b.none;let{view:n}=this,r=new Dt;for(let o=0,i=n.visibleRanges,s=i.length;o<s;o++){let{from:l,to:a}=i[o];for(;o<s-1&&a>i[o+1].from-500;)a=i[++o].to;e.highlight(n.state,l,a,(f,h)=>{let d=n.state.selection.ranges.some(D=>D.from==f&&D.to==h);r.add(f,h,d?So:yo)})}return r.finish()}},{decorations:e=>e.decorations});function re(e){return t=>{let n=t.state.field(P,!1);return n&&n.query.spec.valid?e(t,n):En(t)}}var Te=re((e,{query:t})=>{let{to:n}=e.state.selection.main,r=t.nextMatch(e.state,n,n);if(!r)return!1;let o=m.single(r.from,r.to),i=e.state.facet(z);return e.dispatch({selection:o,effects:[nt(e,r),i.scrollToMatch(o.main,e)],userEvent:"select.search"}),Bn(e),!0}),Ce=re((e,{query:t})=>{let{state:n}=e,{from:r}=n.selection.main,o=t.prevMatch(n,r,r);if(!o)return!1;let i=m.single(o.from,o.to),s=e.state.facet(z);return e.dispatch({selection:i,effects:[nt(e,o),s.scrollToMatch(i.main,e)],userEvent:"select.search"}),Bn(e),!0}),ko=re((e,{query:t})=>{let n=t.matchAll(e.state,1e3);return!n||!n.length?!1:(e.dispatch({selection:m.create(n.map(r=>m.range(r.from,r.to))),userEvent:"select.search.matches"}),!0)}),vo=({state:e,dispatch:t})=>{let n=e.selection;if(n.ranges.length>1||n.main.empty)return!1;let{from:r,to:o}=n.main,i=[],s=0;for(let l=new q(e.doc,e.sliceDoc(r,o));!l.next().done;){if(i.length>1e3)return!1;l.value.from==r&&(s=i.length),i.push(m.range(l.value.from,l.value.to))}return t(e.update({selection:m.create(i,s),userEvent:"select.search.matches"})),!0},Mn=re((e,{query:t})=>{let{state:n}=e,{from:r,to:o}=n.selection.main;if(n.readOnly)return!1;let i=t.nextMatch(n,r,r);if(!i)return!1;let s=i,l=[],a,f,h=[];s.precise?s.from==r&&s.to==o&&(f=n.toText(t.getReplacement(s)),l.push({from:s.from,to:s.to,insert:f}),s=t.nextMatch(n,s.from,s.to),h.push(L.announce.of(n.phrase("replaced match on line $",n.doc.lineAt(r).number)+"."))):s=t.nextMatch(n,s.from,s.to);let d=e.state.changes(l);return s&&(a=m.single(s.from,s.to).map(d),h.push(nt(e,s)),h.push(n.facet(z).scrollToMatch(a.main,e))),e.dispatch({changes:d,selection:a,effects:h,userEvent:"input.replace"}),!0}),Ao=re((e,{query:t})=>{if(e.state.readOnly)return!1;let n=[];for(let o of t.matchAll(e.state,1e9)){let{from:i,to:s,precise:l}=o;l&&n.push({from:i,to:s,insert:t.getReplacement(o)})}if(!n.length)return!1;let r=e.state.phrase("replaced $ matches",n.length)+".";return e.dispatch({changes:n,effects:L.announce.of(r),userEvent:"input.replace.all"}),!0});function tt(e){return e.state.facet(z).createPanel(e)}function Ye(e,t){var n,r,o,i,s;let l=e.selection.main,a=l.empty||l.to>l.from+100?"":e.sliceDoc(l.from,l.to);if(t&&!a)return t;let f=e.facet(z);return new ke({search:((n=t?.literal)!==null&&n!==void 0?n:f.literal)?a:a.replace(/\n/g,"\\n"),caseSensitive:(r=t?.caseSensitive)!==null&&r!==void 0?r:f.caseSensitive,literal:(o=t?.literal)!==null&&o!==void 0?o:f.literal,regexp:(i=t?.regexp)!==null&&i!==void 0?i:f.regexp,wholeWord:(s=t?.wholeWord)!==null&&s!==void 0?s:f.wholeWord})}function wn(e){let t=Oe(e,tt);return t&&t.dom.querySelector("[main-field]")}function Bn(e){let t=wn(e);t&&t==e.root.activeElement&&t.select()}var En=e=>{let t=e.state.field(P,!1);if(t&&t.panel){let n=wn(e);if(n&&n!=e.root.activeElement){let r=Ye(e.state,t.query.spec);r.valid&&e.dispatch({effects:ne.of(r)}),n.focus(),n.select()}}else e.dispatch({effects:[et.of(!0),t?ne.of(Ye(e.state,t.query.spec)):_.appendConfig.of(To)]});return!0},On=e=>{let t=e.state.field(P,!1);if(!t||!t.panel)return!1;let n=Oe(e,tt);return n&&n.dom.contains(e.root.activeElement)&&e.focus(),e.dispatch({effects:et.of(!1)}),!0},Pn=[{key:"Mod-f",run:En,scope:"editor search-panel"},{key:"F3",run:Te,shift:Ce,scope:"editor search-panel",preventDefault:!0},{key:"Mod-g",run:Te,shift:Ce,scope:"editor search-panel",preventDefault:!0},{key:"Escape",run:On,scope:"editor search-panel"},{key:"Mod-Shift-l",run:vo},{key:"Mod-Alt-g",run:lo},{key:"Mod-d",run:Do,preventDefault:!0}],Ke=class{constructor(t){this.view=t;let n=this.query=t.state.field(P).query.spec;this.commit=this.commit.bind(this),this.searchField=v("input",{value:n.search,placeholder:A(t,"Find"),"aria-label":A(t,"Find"),class:"cm-textfield",name:"search",form:"","main-field":"true",onchange:this.commit,onkeyup:this.commit}),this.replaceField=v("input",{value:n.replace,placeholder:A(t,"Replace"),"aria-label":A(t,"Replace"),class:"cm-textfield",name:"replace",form:"",onchange:this.commit,onkeyup:this.commit}),this.caseField=v("input",{type:"checkbox",name:"case",form:"",checked:n.caseSensitive,onchange:this.commit}),this.reField=v("input",{type:"checkbox",name:"re",form:"",checked:n.regexp,onchange:this.commit}),this.wordField=v("input",{type:"checkbox",name:"word",form:"",checked:n.wholeWord,onchange:this.commit});function r(o,i,s){return v("button",{class:"cm-button",name:o,onclick:i,type:"button"},s)}this.dom=v("div",{onkeydown:o=>this.keydown(o),class:"cm-search"},[this.searchField,r("next",()=>Te(t),[A(t,"next")]),r("prev",()=>Ce(t),[A(t,"previous")]),r("select",()=>ko(t),[A(t,"all")]),v("label",null,[this.caseField,A(t,"match case")]),v("label",null,[this.reField,A(t,"regexp")]),v("label",null,[this.wordField,A(t,"by word")]),...t.state.readOnly?[]:[v("br"),this.replaceField,r("replace",()=>Mn(t),[A(t,"replace")]),r("replaceAll",()=>Ao(t),[A(t,"replace all")])],v("button",{name:"close",onclick:()=>On(t),"aria-label":A(t,"close"),type:"button"},["×"])])}commit(){let t=new ke({search:this.searchField.value,caseSensitive:this.caseField.checked,regexp:this.reField.checked,wholeWord:this.wordField.checked,replace:this.replaceField.value});t.eq(this.query)||(this.query=t,this.view.dispatch({effects:ne.of(t)}))}keydown(t){xt(this.view,t,"search-panel")?t.preventDefault():t.keyCode==13&&t.target==this.searchField?(t.preventDefault(),(t.shiftKey?Ce:Te)(this.view)):t.keyCode==13&&t.target==this.replaceField&&(t.preventDefault(),Mn(this.view))}update(t){for(let n of t.transactions)for(let r of n.effects)r.is(ne)&&!r.value.eq(this.query)&&this.setQuery(r.value)}setQuery(t){this.query=t,this.searchField.value=t.search,this.replaceField.value=t.replace,this.caseField.checked=t.caseSensitive,this.reField.checked=t.regexp,this.wordField.checked=t.wholeWord}mount(){this.searchField.select()}get pos(){return 80}get top(){return this.view.state.facet(z).top}};function A(e,t){return e.state.phrase(t)}var Ie=30,xe=/[\s\.,:;?!]/;function nt(e,{from:t,to:n}){let r=e.state.doc.lineAt(t),o=e.state.doc.lineAt(n).to,i=Math.max(r.from,t-Ie),s=Math.min(o,n+Ie),l=e.state.sliceDoc(i,s);if(i!=r.from){for(let a=0;a<Ie;a++)if(!xe.test(l[a+1])&&xe.test(l[a])){l=l.slice(a);break}}if(s!=o){for(let a=l.length-1;a>l.length-Ie;a--)if(!xe.test(l[a-1])&&xe.test(l[a])){l=l.slice(0,a);break}}return L.announce.of(`${e.state.phrase("current match")}. ${l} ${e.state.phrase("on line")} ${r.number}.`)}var Mo=L.baseTheme({".cm-panel.cm-search":{padding:"2px 6px 4px",position:"relative","& [name=close]":{position:"absolute",top:"0",right:"4px",backgroundColor:"inherit",border:"none",font:"inherit",padding:0,margin:0},"& input, & button, & label":{margin:".2em .6em .2em 0"},"& input[type=checkbox]":{marginRight:".2em"},"& label":{fontSize:"80%",whiteSpace:"pre"}},"&light .cm-searchMatch":{backgroundColor:"#ffff0054"},"&dark .cm-searchMatch":{backgroundColor:"#00ffff8a"},"&light .cm-searchMatch-selected":{backgroundColor:"#ff6a0054"},"&dark .cm-searchMatch-selected":{backgroundColor:"#ff00ff8a"}}),To=[P,gt.low(bo),Mo];var qn=`# What texts in a language are made of, and how much each find weighs. A find counts once.
#
# Tokens stand for themselves, with a space between them; signs of !%&*+-./:<=>?|~ that stand together are one. ID is any identifier, STR a
# string in double quotes, CHR one in single quotes, RAW one in backquotes, NUM a number, VAR a name with a dollar sign, ATT one with an at
# sign, HASH one with #, SYM one with a colon, TXT a comment behind its sign, NL the end of a line (of several), START the start of the text.
# "[X < Y]" gives X all that Y has. Of two languages with the same score the first one wins.

[JavaScript]
4 START NL module . exports =
3 NL module . exports =
4 Object . defineProperty ( exports
3 NL exports . ID =
3 NL export const
3 const ID =
3 const { ID
3 let ID =
2 var ID =
2 function ID (
2 function (
3 ) => {
2 ID => ID
2 => {
3 ===
3 !==
4 console . log
3 document .
3 window .
3 require ( CHR )
3 require ( STR )
3 module . exports
3 export default
3 export const
3 export function
2 NL import ID from
3 import { ID
2 } from CHR
2 } from STR
3 async function
2 async (
2 await ID
2 . then (
2 new Promise (
2 JSON . stringify
2 JSON . parse
2 typeof
2 undefined
1 RAW
1 null
2 . addEventListener (
2 . map (
1 . length
2 . forEach (
2 process . env
1 this . ID
2 of ID )
2 setTimeout (
1 } ) ;
1 ) ; NL
1 return
1 extends ID {
1 constructor (

[TypeScript < JavaScript]
4 NL export declare
3 NL declare
3 export declare function
3 export declare const
3 export declare class
3 export declare enum
3 NL declare module
3 NL declare namespace
3 : string
3 : number
3 : boolean
2 : any
3 : void
3 : unknown
3 : never
3 Promise < ID >
2 Record < string
2 Partial <
4 NL interface ID {
4 export interface
3 NL type ID =
4 export type
3 import type
3 export enum
3 NL enum ID {
3 readonly ID :
3 private ID :
3 public ID :
3 private readonly
3 ID ?: string
3 ID ?: number
2 ?: ID ;
3 as const
2 as ID
3 keyof
3 Array < string >
2 string [ ]
2 number [ ]
3 ) : ID {
2 : ID [ ]
2 < T >
3 implements ID {
3 declare module
3 namespace ID {

[Python]
1 : NL
4 int ( input (
4 NL def ID (
4 ) : NL
4 def ID ( self
2 self . ID
4 NL class ID :
3 NL class ID ( ID ) :
4 NL from ID import
3 NL import ID NL
3 NL import ID as
4 elif
4 NL if __name__ ==
4 __init__
2 print (
3 print ( f STR
2 f STR
2 f CHR
2 None
2 True
2 False
3 NL if ID not in
2 not in
2 is not None
3 NL except ID :
3 except ID as ID
3 NL try :
3 NL else :
3 NL with ID (
3 NL for ID in ID :
4 in range (
3 NL for ID in
2 for ID in
3 lambda ID :
2 len (
2 NL pass
2 NL raise ID
2 NL yield
3 async def
2 ATT NL
4 "" "
3 ) -> ID :
2 : ID = None
2 [ ID for ID
2 NL assert
2 NL global ID
2 NL return
2 open (
2 input (
2 NL # TXT
2 NL while ID :
2 NL while True :
2 NL if ID :
2 **
1 and ID
1 or ID
1 . append (
1 . join (
-3 ; NL
-3 { NL
-4 NL end NL

[Java]
4 public class ID
4 public static void main
4 String [ ] args
4 System . out . println
4 NL import java
3 import ID . ID . ID ;
4 NL package ID . ID ;
3 private final
3 private static
3 public static
2 public void
3 public interface
3 public enum
3 public record
3 record ID (
3 public ID (
2 private ID ID ;
3 extends ID
2 implements ID
4 ATT NL public
3 throws ID
2 new ArrayList <
3 List < ID >
3 Map < ID , ID >
2 new ID (
2 String ID =
2 String ID
2 int ID =
2 boolean ID
2 final ID
2 catch ( ID ID )
2 for ( ID ID : ID )
2 . stream ( )
2 . get (
2 ID -> ID
1 return
1 ; NL
1 null
1 this . ID
2 super (
2 instanceof
1 for ( int ID =
2 . equals (
2 @Override
2 var ID = new

[C]
3 int ID ( int ID
1 NL { NL
1 return ID ;
4 #include < ID
3 #include STR
3 #define ID
3 #ifndef ID
3 #ifdef
3 #endif
4 int main ( void )
3 int main ( int argc
3 int main ( )
4 printf (
3 malloc (
3 free (
3 sizeof (
3 struct ID {
3 struct ID *
3 typedef struct
2 typedef
2 char *
3 const char *
3 void * ID
2 int * ID
2 ID -> ID
2 unsigned int
2 static int
2 static void
3 NULL
2 uint8_t
2 uint32_t
2 size_t
1 return 0 ;
1 return NUM ;
1 int ID =
1 for ( int ID =
1 ; NL
1 void ID (
2 scanf (
2 strlen (
2 fprintf (
1 & ID
2 int ID ;
1 int ID [
2 extern
2 unsigned

[C++ < C]
6 std ::
5 #include < iostream >
5 #include < vector >
5 #include < string >
5 #include < memory >
5 #include < map >
5 #include < algorithm >
6 using namespace std
5 using namespace
4 cout <<
4 cin >>
3 << endl
4 template <
3 NL namespace ID {
3 class ID {
3 public : NL
3 private : NL
3 virtual
3 const ID &
3 ID :: ID
2 auto ID =
3 const auto &
4 nullptr
4 constexpr
3 static_cast <
4 unique_ptr <
3 make_unique <
3 noexcept
3 operator ID
3 operator ==
3 ~ ID (
3 vector < int >
3 string ID
2 throw ID
2 override
2 new ID
2 delete ID
2 bool ID
-3 malloc (

[C#]
5 NL using System
5 using System ;
4 NL using ID . ID ;
5 Console . WriteLine
4 Console . ReadLine
5 static void Main
4 NL namespace ID
4 { get ; set ;
4 { get ;
3 public class ID
2 public class ID : ID
3 public string
2 public int
3 public async Task
3 async Task
4 Task < ID >
3 private readonly
3 public override
3 public virtual
2 string ID
2 string ID =
2 var ID = new
3 foreach ( var
3 foreach ( ID ID in
3 $ STR
2 => ID . ID
2 List < ID >
2 List < string >
2 List < int >
2 IEnumerable <
3 . Where (
3 . Select (
3 . ToList (
2 public static
2 internal
2 sealed
2 get ;
2 string [ ] args
2 await ID
2 out var
2 ?? ID
1 new ID (
1 ; NL
1 null
1 return
1 this . ID
2 [ ID ] NL
1 public record
2 public record ID
3 record ID ( string
2 nameof (
2 bool ID
2 NL using var

[Go]
5 NL package ID NL
5 START NL package ID NL
3 NL const (
3 NL var (
2 NL const ID
2 NL var ID
2 NL type ID
4 NL func ID (
4 NL func main ( ) {
5 func ( ID ID )
5 func ( ID * ID )
4 NL import ( NL
4 NL import STR
4 :=
4 fmt . Println
4 fmt . Printf
3 fmt . ID
4 if err != nil
3 err != nil
3 NL type ID struct
4 type ID struct {
4 type ID interface {
3 ) error {
3 ID , error )
3 , err :=
3 [ ] string
3 [ ] byte
3 [ ] int
2 [ ] ID
3 map [ string ]
3 chan ID
3 <- ID
2 go func (
3 make ( chan
2 make ( [ ]
2 defer ID
3 range ID {
3 := range
2 nil
2 return nil
1 struct {
2 interface { }
2 NL var ID ID
2 ctx context . Context
2 * ID ) ID (
1 return
1 RAW NL

[PHP]
12 <? php
8 <? php
6 <?=
4 VAR =
3 VAR ->
4 VAR [ CHR ]
4 echo VAR
4 echo STR
4 echo CHR
4 VAR = new
4 VAR = array (
3 function ID ( VAR
4 public function
4 private function
4 protected function
3 foreach ( VAR as VAR
4 as VAR => VAR
3 => VAR
3 VAR = [
4 VAR this ->
3 isset ( VAR
3 namespace ID \\ ID
3 use ID \\ ID
3 $_POST
3 $_GET
3 $_SERVER
2 __construct (
2 . VAR
2 VAR )
2 VAR ;
2 : string
2 ?>
2 CHR =>
1 ; NL

[Ruby]
4 NL end NL
3 NL end
4 NL def ID NL
3 def ID (
2 NL require CHR
3 require_relative
4 puts STR
3 puts ID
3 puts
4 do | ID |
3 { | ID |
3 . each do
3 . each
3 . map {
3 . map ( &
4 attr_accessor SYM
4 attr_reader SYM
2 attr_reader
3 NL module ID NL
3 NL class ID NL
4 NL class ID < ID NL
3 ATT
2 ATT =
3 SYM =>
2 SYM
2 => SYM
3 NL elsif
4 NL unless
3 unless ID
3 NL rescue ID
2 NL begin NL
3 . nil ?
2 ID ? NL
2 nil
3 def initialize
2 do NL
2 NL if ID
2 raise ID
2 NL # TXT
3 . new NL
2 . new (
2 gem CHR
2 has_many SYM
2 validates SYM
2 yield
2 self .
-3 ; NL

[Rust]
5 NL fn main ( )
5 fn ID (
4 let mut ID
4 println !
4 ID ! (
4 NL use ID ::
4 NL use std ::
3 -> ID {
3 -> Result <
4 -> Option <
4 impl ID for ID
4 NL impl ID {
3 impl <
4 pub fn
4 pub struct
3 pub enum
3 NL mod ID
4 & mut
3 & self
3 & str
3 String :: from
3 ID :: new (
2 Vec <
3 vec !
3 match ID {
3 => ID ,
3 Some ( ID )
3 Ok (
3 Err (
3 . unwrap (
2 . iter (
3 . collect (
3 # [
4 # [ derive
3 : i32
3 : u32
3 : u64
3 : usize
3 i32
2 usize
2 let ID :
2 let ID =
2 NL use
2 struct ID {
2 trait ID
2 async fn
1 ; NL

[Kotlin]
5 fun main (
5 fun ID (
3 fun ID . ID
4 val ID =
4 val ID :
3 var ID =
3 var ID :
4 data class
4 println (
2 : String
2 : Int
2 : ID ?
3 NL import kotlin
3 override fun
4 when ( ID ) {
3 when {
3 companion object
3 NL object ID
3 sealed class
3 lateinit var
4 suspend fun
3 listOf (
3 mutableListOf (
3 mapOf (
2 ?. ID
2 ?:
2 !!
2 { it
2 it . ID
2 in NUM ..
2 private val
3 private val ID
2 ID -> ID
2 class ID ( val
3 ( val ID :
-3 ; NL

[Swift]
5 NL import Foundation
5 NL import UIKit
5 NL import SwiftUI
4 NL func ID (
3 func ID ( _
4 ) -> ID {
4 let ID : ID
4 var ID : ID
3 let ID =
3 var ID =
5 guard let
5 if let
3 print (
3 NL struct ID : ID {
4 : View {
4 var body : some
4 NL extension ID
3 NL protocol ID
3 NL enum ID : ID
3 NL case ID
3 \\ (
3 override func
3 private func
3 init (
3 self . ID
3 ID ? =
3 ID !
2 nil
3 in NUM ...
4 ..<
3 as ?
3 try ?
3 fatalError (
3 ATT State
3 @State
3 @Published
3 @main
2 weak var
-2 ; NL
-4 NL package
-4 :=

[Scala]
5 NL object ID extends
5 NL object ID {
5 case class
4 def ID (
4 def ID :
4 ) : ID =
4 def main ( args : Array
4 Array [ String ]
3 val ID =
3 val ID :
2 var ID =
3 NL import scala
4 extends App
3 NL trait ID
3 case ID =>
4 match {
4 match NL
3 List [ ID ]
3 Option [ ID ]
3 Seq [ ID ]
3 Future [
3 : String
3 : Int
3 implicit
3 override def
4 => ID
3 println (
2 yield
2 <- ID
3 sealed trait
3 s STR
2 given
2 Some (
-3 ; NL

[Dart]
6 NL import CHR ;
5 void main ( )
3 String ID
4 Widget build (
4 extends StatelessWidget
4 extends StatefulWidget
4 BuildContext
3 @override
3 final ID ID ;
3 final String
2 print (
3 Future <
3 required this .
3 this . ID )
3 this . ID ,
2 ID ? ID
3 async {
2 await ID
2 late ID
2 => ID
2 List < ID >
2 var ID =
1 const ID (
1 ; NL
2 int ID
2 double ID

[Shell]
3 sudo apt
3 sudo systemctl
3 apt - get
5 local ID = STR
2 = STR NL
5 NL if [
5 if [ [
4 ] ; then
4 ] ] ; then
4 NL then NL
5 NL fi
4 ; then NL
5 NL done
4 ; do NL
4 NL do NL
4 for ID in VAR
3 for ID in
4 for ID in STR
4 NL echo STR
3 NL echo VAR
2 NL echo
3 echo ID
4 NL export ID =
4 NL set - ID
3 NL ID =
3 VAR
2 $ {
3 $ (
3 NL sudo ID
3 NL cd
3 NL mkdir
3 NL rm -
3 | ID
3 | grep
3 | awk
3 | sed
4 NL apt - get
3 NL apt
3 NL curl
3 NL git ID
3 NL docker
3 NL npm
3 NL pip
4 NL case STR in
4 ; ;
5 NL esac
4 ID ( ) {
4 NL local ID =
3 >&
3 > / dev / null
3 2 >& 1
3 && NL
3 && ID
3 \\ NL
2 $ ?
2 $ @
2 - - ID
1 NL # TXT
3 NL source
3 NL chmod
3 NL exit NUM
2 NL sleep
3 NL read -
-3 ; NL }
-4 VAR =
-3 VAR ->

[PowerShell]
5 Write - Host
5 Write - Output
4 Get - ID
5 New - Object
4 VAR = Get - ID
4 VAR =
4 VAR .
3 param (
4 - eq
4 - eq
4 - ne
4 - Path
4 - Name
3 | Where - Object
4 | ForEach - Object
5 | ID - ID
5 Where - Object
5 ForEach - Object
5 VAR _
5 $_
4 [ string ]
4 [ CmdletBinding
4 foreach ( VAR in
3 NL function ID - ID
4 function ID - ID
4 Import - Module
4 @ {
3 @ (
3 [ Parameter
3 $true
3 $false
3 $null
3 VAR |

[SQL]
4 create extension
3 alter function
3 alter operator
3 grant execute on
3 create function
5 select * from
5 select ID from
4 NL select
4 START NL select
3 select ID ,
4 NL from ID
3 from ID
4 where ID =
3 NL where
5 insert into ID
5 insert into
5 create table
5 create table ID (
5 alter table
4 drop table
4 drop table if exists
5 delete from
5 update ID set
4 inner join
4 left join
4 NL join
3 join ID on
4 group by
4 order by
3 primary key
3 not null
3 varchar (
3 foreign key
3 create index
3 create or replace
3 begin ;
3 values (
2 and ID =
2 count ( * )
2 as ID
2 -- TXT
2 having
2 limit NUM
2 desc
2 references ID
2 integer
2 serial
2 union all
2 null
2 with ID as (
5 create function
4 drop function
5 create view
4 create type
4 create trigger
5 create unique index
5 create extension
4 alter extension
3 language c
3 language sql
5 language plpgsql
4 grant ID on
4 revoke all on
2 returns ID
2 if exists
2 if not exists
3 on conflict
2 returning ID

[HTML]
12 START NL <! doctype html
12 <! doctype html
8 START NL < html
6 < html
5 < head >
5 < body
4 < div
4 </ div >
4 < p >
4 </ p >
4 < a href =
3 < span
4 < img
4 < ul
4 < li >
4 < h1
4 < h2
3 < script
3 < style
5 < meta
4 < link rel
4 < form
4 < input
4 < button
4 < table
4 < tr >
4 < td
3 < br
3 class = STR
2 href = STR
2 id = STR
3 <!--
2 < nav
2 < section
2 < footer
2 < title >
2 < label
2 < option

[XML]
15 START NL <? xml
8 <? xml
4 xmlns
4 xmlns : ID =
3 </ ID >
2 < ID >
2 < ID ID =
3 / > NL
3 </ ID : ID >
3 < ID : ID
2 ID = STR >
2 <! [ CDATA
3 <!--
-6 < div
-6 < html
-6 < p >
-4 < body
-4 < span
-5 < a href
-5 ; NL
-6 < script

[CSS]
4 { NL ID : ID
4 { NL ID - ID :
3 ID : ID ; NL
4 : NUM px
4 NUM px
4 px ;
4 px
3 NUM em
3 rem
3 color :
3 background :
4 background - color :
4 background - color :
4 font - size :
4 font - size :
3 font - family
3 margin :
3 margin
3 padding :
3 padding
3 display :
4 display : flex
4 display : block
3 display : none
4 border - radius
3 border :
3 width :
3 height :
4 NL . ID {
4 START NL . ID {
3 . ID {
4 : hover
3 : root
3 NL body {
3 START NL body {
2 NL # ID {
3 HASH {
4 @media
3 @import
3 @keyframes
3 @font - face
3 ! important
3 ! important
3 ; NL }
2 position :
3 - webkit - ID
3 text - align
4 grid - template - columns
3 var ( --
2 rgba (
3 justify - content
3 align - items
-5 function
-5 const
-4 ( ) {

[SCSS < CSS]
5 NL VAR :
4 : VAR ;
-8 my VAR
-8 my (
5 @mixin
5 @include
4 & : ID
4 & . ID
4 & :
3 @extend
3 @use
3 # {

[LESS < CSS]
5 ATT :
5 ATT :
4 ATT ;
4 . ID ( ) ;
4 & : ID
3 & : hover
-8 @media :

[Lua]
-6 ( ) {
-6 NL fi
-6 NL done
5 local ID =
4 local function
5 NL local
4 function ID (
3 then NL
4 NL end
3 NL end NL
4 end )
4 ..
3 ~=
4 NL for ID = NUM ,
4 in pairs (
4 in ipairs (
3 NL elseif
3 print (
2 nil
3 -- TXT
3 require (
3 ID : ID (
4 NL if ID then
3 not ID
3 . . ID
3 self . ID
3 function ( )
3 table . insert
4 string . format
3 game :
3 setmetatable (
-3 :=
-3 ; NL
-3 NL def

[Perl]
6 use strict
5 use warnings
5 my VAR =
5 my VAR
5 my (
5 my ATT
5 my %
4 sub ID {
4 NL sub
4 print STR
4 VAR =~
5 =~
4 $_
4 @_
5 shift ;
3 VAR ->
3 VAR -> {
3 foreach my
4 unless (
3 elsif (
3 NL use ID :: ID
3 ID :: ID
3 NL package ID ;
3 die STR
3 push ATT
3 qw (
3 bless
4 while ( <
3 chomp
3 1 ;
-6 <? php
-4 function

[R]
6 <- function (
4 ID <- ID
5 <- c (
4 <-
5 library (
4 data . frame (
4 data . frame (
4 %>%
3 ggplot (
4 TRUE
4 FALSE
3 NA
3 print (
2 paste (
2 function ( ID )
3 VAR
3 NL # TXT
3 read . csv
3 c ( NUM
3 NULL
2 [ ,
-4 :=
-4 go func
-4 func
-4 chan
-6 ; NL
-4 ::

[Haskell]
5 NL module ID where
5 NL module
5 :: ID -> ID
5 ID :: ID
3 :: [
4 -> ID ->
4 NL import qualified
4 NL import ID . ID
5 main :: IO
5 NL main = do
5 = do NL
4 IO ( )
4 putStrLn
3 where NL
3 NL where
4 NL data ID =
3 deriving (
3 NL instance ID
3 NL class ID ID where
3 NL newtype
4 < $ >
4 >>=
3 <- ID
4 => ID
3 -- TXT
3 case ID of
4 \\ ID ->
3 let ID =
2 $ ID
3 Maybe ID
3 foldr
3 mapM_
2 | ID
2 NL | ID
2 otherwise =
-6 ; NL
-6 { NL
-6 std ::

[Elixir]
7 defmodule ID
6 defmodule
5 NL def ID (
4 ) do NL
5 do NL
5 |>
4 NL defp
5 IO . puts
4 IO . inspect
4 NL end
4 % {
4 : ok
3 { SYM
3 SYM
4 fn ID ->
4 -> NL
3 @doc
4 @moduledoc
4 Enum . ID
4 String . ID
3 NL use ID
3 NL alias ID
3 <>
3 NL case ID do
3 do :
-6 ; NL
-4 NL class

[Erlang]
7 - module (
7 - module (
6 - export (
6 - export (
6 - export
5 ) -> NL
5 -> NL
4 io : format
3 ID : ID (
4 . NL NL
4 receive NL
4 end .
3 ok .
3 =:=
4 case ID of
3 <<
-6 ; NL }

[Clojure]
6 ( defn
6 ( ns ID
6 ( ns
5 ( def ID
4 ( let [
4 [ ID ]
4 ( fn [
5 ( println
4 :require
4 ( : require
4 ( :require
4 ( map
3 ( ->
4 ( ->>
4 ->>
3 # (
3 ( if (
3 ( str
3 :as
3 SYM
-5 :=
-4 ( defun

[Common Lisp]
7 ( defun
6 ( setq
5 ( setf
6 ( defvar
6 ( defparameter
5 ( defmacro
4 ( let ( (
4 ( format t
4 ( if (
3 ( cond
4 ( loop for
3 ( lambda (
3 nil )
3 ) ) )
2 ( car
3 ( cdr
-5 ( defn

[Pascal]
6 NL begin NL
6 program ID ;
5 :=
4 NL var NL
4 : integer ;
5 writeln (
5 readln (
4 end ; NL
5 end .
4 then NL
3 procedure ID
3 function ID ( ID :
3 : string ;
3 uses ID
3 NL const NL
4 do NL
4 to NUM do
4 NL unit
4 NL interface
3 NL implementation
3 NL type NL
3 array [
-6 func
-6 { NL
-4 NL package
-6 nil {

[Objective-C < C]
8 #import <
8 #import STR
8 @interface
8 @implementation
8 @property
6 @end
5 @ STR
5 NSString *
6 NSLog (
5 [ [ ID
5 [ ID ID ]
6 NL - ( void )
5 NL + (
4 nonatomic
4 nil
4 alloc ]
4 [ self

[VB.NET]
6 end sub
6 end function
5 NL dim ID as
6 dim ID as
5 NL module ID
6 end module
6 end class
5 end if
4 NL imports
5 console . writeline
3 then NL
4 private sub
5 public sub
5 sub ID (
5 sub main (
4 byval
4 as string
4 as integer
4 NL next
3 NL loop
3 NL else
-6 ; NL
-6 { NL

[Batchfile]
7 @echo off
7 @ echo off
6 START NL @echo
5 NL set ID =
4 set / p
6 % ID %
5 NL rem
5 if exist
5 NL goto
4 NL pause
4 NL echo
4 %%
4 if not exist
4 errorlevel
4 setlocal
4 endlocal
-6 NL fi
-6 NL done
-5 ; then

[Dockerfile]
8 START NL from ID : ID
7 NL from ID : ID
5 START NL from ID
5 NL from ID as
6 NL workdir
6 NL run ID
6 NL copy
5 NL copy .
5 NL add
6 NL cmd [
6 NL entrypoint [
6 NL expose NUM
5 NL env ID
4 NL user
4 NL arg ID
5 NL healthcheck
5 NL volume
-8 select
-8 def
-8 import
-6 ; NL

[Makefile]
7 . phony :
7 . PHONY :
5 NL $ (
4 $ ( ID )
5 VAR <
5 $ @
4 NL ID : ID
4 NL all :
4 NL clean :
4 :=
4 ?=
4 +=
4 NL ATT echo
3 NL CC =
3 CFLAGS
3 NL include
3 NL ID :=
3 NL ID =
-5 func
-5 package
-5 { NL
-5 begin
-5 ; NL }
-5 end ;

[CMake]
8 cmake_minimum_required (
7 project (
7 add_executable (
7 target_link_libraries (
5 set ( ID
5 find_package (
5 include_directories (
5 add_library (
4 $ { ID }
4 endif (
4 add_subdirectory (
4 message ( STATUS
5 find_path (
5 find_library (
5 mark_as_advanced (
5 endforeach (
5 endfunction (
5 endmacro (
5 list ( APPEND
6 set_target_properties (
7 target_include_directories (
7 target_compile_definitions (
6 install ( TARGETS
5 configure_file (
5 set_property (
6 get_filename_component (
5 string ( REGEX
6 execute_process (
5 file ( GLOB
3 if ( NOT
3 option ( ID STR

[Gas]
6 NL mov
6 mov eax
6 mov ID ,
5 NL push
5 NL pop
5 NL call
5 NL ret
6 section . text
6 . text
6 . text
6 . globl
6 . globl
6 . global
6 . global
5 global _start
5 NL jmp
5 NL je
5 NL lea
5 NL add ID ,
5 NL sub ID ,
5 NL cmp
5 int NUM
5 % rax
5 % rax
4 eax
4 rax
4 rdi
4 NL xor
4 syscall
4 % eax
-6 ( ) {
-6 ; NL }

[LaTeX]
10 \\ documentclass
8 \\ begin {
7 \\ end {
7 \\ usepackage
6 \\ section {
6 \\ subsection
5 \\ textbf {
5 \\ item
5 \\ frac {
5 \\ label {
4 \\ ref {
4 \\ cite {
4 $ ID
4 \\ title {
4 \\ newcommand
4 \\ ID {
-6 ; NL

[Nginx]
7 server {
6 NL listen NUM
6 server_name
6 location /
6 proxy_pass
5 NL location
5 upstream ID {
5 root /
5 try_files
5 return NUM
5 proxy_set_header
5 worker_processes
5 ssl_certificate
5 worker_connections
-8 =

[GraphQL]
7 NL query ID
7 NL mutation ID
7 START NL query
7 START NL mutation
7 NL type Query
6 NL type ID {
6 NL input ID {
5 : ID !
6 : [ ID
5 ] !
6 NL schema {
5 NL scalar
5 NL fragment ID on
5 NL interface ID {
4 ( ID : ID !
-6 ; NL
-6 =>
-6 const

[ProtoBuf]
10 syntax = STR ;
9 NL message ID {
9 NL service ID {
6 rpc ID (
6 returns (
6 = NUM ;
5 repeated ID
5 string ID =
5 int32 ID =
5 NL package ID ;
5 optional ID

[Julia]
6 NL using ID
5 NL end
5 NL function ID (
4 println (
5 NL struct ID NL
6 :: Int
6 :: Float64
6 :: String
5 NL for ID in NUM :
5 NL mutable struct
4 NL if ID
4 elseif
4 end NL
3 NL # TXT
3 . + ID
4 . ^
5 $ (
-6 ; NL
-6 { NL
-5 then
-5 local
-5 def
-5 SYM

[OCaml]
5 let rec
6 let rec ID
5 let ( ) =
5 let ID =
4 let ID ID =
6 match ID with
5 NL | ID
4 -> ID
5 | [ ]
5 | _ ->
6 ; ;
5 Printf . printf
5 print_endline
5 fun ID ->
4 in NL
4 :: ID
4 NL type ID =
4 NL open ID
5 List . map
4 NL module ID = struct
3 of ID
-6 ; NL
-6 { NL
-6 = do

[F#]
6 let ID =
4 let rec
6 printfn STR
6 printfn
6 NL open System
6 |> ID
6 |>
6 [ < EntryPoint
5 match ID with
5 NL | ID
5 fun ID ->
6 List . map
5 Seq . ID
4 let mutable
5 NL module ID =
4 NL type ID =
5 let ID ID =
4 | _ ->
-8 ; ;
-6 IO .
-8 defmodule
-6 { NL
-6 ; NL
-6 let ( )
-6 end

[Groovy]
6 NL def ID =
6 def ID =
5 println STR
5 println CHR
5 { ID ->
5 { it
4 NL implementation CHR
4 NL implementation STR
5 NL plugins {
5 NL dependencies {
5 apply plugin :
5 id CHR
4 . each {
4 NL pipeline {
4 NL agent
4 stage ( CHR )
4 sh CHR
4 repositories {
-6 ; NL
-6 NL end
-5 ) : NL

[Zig]
8 ATT import ( STR )
8 @import ( STR )
7 const std =
6 pub fn main
4 pub fn
5 ! void
5 : u8
5 try ID
4 const ID =
5 : usize
5 std . debug
4 [ ] const
4 defer ID
5 comptime
5 | ID |
-6 =>
-6 let

[Nim]
5 NL proc ID (
6 proc ID (
6 proc ID * (
5 echo STR
5 echo ID
5 NL import ID , ID
5 let ID =
4 var ID =
6 : seq [
5 ID : int
4 NL for ID in
4 ) : ID =
4 NL type NL
4 NL when
4 & ID
4 discard
-6 ; NL
-6 { NL
-6 NL end
-6 fi

[Solidity]
10 pragma solidity
8 contract ID {
8 contract ID is
6 uint256
7 address ID
6 mapping (
6 msg . sender
5 function ID (
5 public view
5 external
4 returns (
5 require (
5 emit ID
4 modifier ID
4 event ID
`;var Ro=[["hunk",/^@@ -.* @@/],["fence",/^\s*```/],["heading",/^#+ /],["comment",/^\s*[#;]/],["section",/^\s*\[.*\]$/],["item",/^\s*(- |-$|---$)/],["markup",/^\s*(\* |\d+\. |> |!\[|\*\*|\|.*\|$)|\]\(/],["quoted",/^\s*(?:[\p{L}\d_."/$\-]+\s*=\s*["'\[\{]|"[^"]*"\s*=)/u],["setting",/^\s*[\p{L}\d_./$\-]+\s*=/u],["code",/[{;]$/],["column",/^\s*[^:]+:(\t| {2,})\S/],["pair",/^\s*["']?[\p{L}_./$][\p{L}\d_./$\-]*["']?:( |$)/u],["nested",/^\s/],["sentence",/^(\p{L}\S*\s+){3}\p{L}/u]],wo=/^\s*[\w."-]+\s*=\s*(\[[^\]]*|"""(?:[^"]|"[^"])*)$/,Bo=/^(?:(?:#.*|ARG .*|)\n)*FROM (?:--platform=\S+ )?[\w./:@${}-]+(?: (?:AS|as) \S+)? *\n/,Eo=/^(?:RUN|CMD|COPY|ADD|ENTRYPOINT|ENV|WORKDIR|EXPOSE|USER|LABEL|VOLUME) \S/m,Oo=/^ *(?:export )?[\w.-]+\s*[:?+!]{1,2}=|^ *[A-Za-z_][\w.-]*\s*=.*\$\(\w/,Po=/^[\w.%/$(){} -]+:(?:[^=]|$)/,qo=/^-?(?:include|ifeq|ifneq|ifdef|ifndef|else|endif|define|endef|export|vpath)\b|\\$|^#|^[\w.-]+\s*=|^\s+\S/,Vo=/[{;]$|^\s*[})\]]/;var Vn=e=>e.length<=400?e:e.slice(0,200)+e.slice(-200);function _n(e,t){let n=e.length;for(;n>0&&t.includes(e[n-1]);)n--;return e.slice(0,n)}var Wn=e=>e.split(`
`).slice(0,e.endsWith(`
`)?-1:void 0);function _o(e){let[t,n,r,o,i]=[0,0,0,0,0],s=!1;for(let l of Wn(e)){let a=Vn(_n(l," \r")),f=s;if(s=!1,!!a)if(t++,a.startsWith("	")&&!a.endsWith("{")&&!a.trim().startsWith("}"))n++,f&&o++;else{if(Vo.test(a))continue;Oo.test(a)?(r++,n++):Po.test(a)?(s=!0,n++):qo.test(a)&&(n++,!a.startsWith("#")&&!a.startsWith(" ")&&i++)}}return 10*n>=9*t&&(o>0&&r>0||o>1&&i+r>0||r>0&&r+i>1)}var rt=new RegExp(String.raw`\s*(?:([[\]{},:])|("[^"\\\x00-\x1f]*(?:\\["\\/bfnrtu][^"\\\x00-\x1f]*)*")|`+String.raw`-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)`,"y"),Wo=/^\s*(?:"[^"\\\x00-\x1f]*(?:\\["\\/bfnrtu][^"\\\x00-\x1f]*)*\\?|-|tr?u?|fa?l?s?|nu?l?)?$/;function Fo(e){if(!/^[[{]/.test(e))return!1;let t=[],n="value",r=0;for(let o=0;;o++){rt.lastIndex=r;let i=rt.exec(e);if(!i)return o>1&&Wo.test(e.slice(r));r=rt.lastIndex;let[,s,l]=i,a=t.at(-1),f=()=>{n=t.length?"comma":"value"};if(s==="}"||s==="]"){if(a!==(s==="}"?"{":"[")||n!=="comma"&&n!=="first")return!1;t.pop(),f()}else if(s===","){if(n!=="comma")return!1;n=a==="{"?"key":"value"}else if(s===":"){if(n!=="colon")return!1;n="value"}else if(n==="key"||n==="first"&&a==="{"){if(!l)return!1;n="colon"}else{if(n!=="value"&&n!=="first")return!1;s?(t.push(s),n="first"):f()}}}var ot=class{plausible=!1;scalar=0;keys=new Set;block=0;read(t,n,r){let o=/^ */.exec(t)[0].length;if(this.block>0&&o>=this.block){n==="nested"&&this.scalar++;return}this.block=/[|>][+-]?$/.test(t)?o+1:0,r&&(this.plausible=["pair","item","comment","heading"].includes(n)||t.startsWith("%YAML")),t.startsWith("---")&&this.keys.clear();let i=/^[^\s#:-][^:]*:/.exec(t)?.[0];i&&(this.plausible&&=!this.keys.has(i),this.keys.add(i))}};function Fn(e){let t=e.trim();if(Fo(t))return"JSON";if(/^<(!doctype html|html)/i.test(t))return t.includes("<?php")?"PHP":"HTML";if(/^<\?xml/i.test(t))return"XML";let n=Bo.exec(t);if(n&&Eo.test(t.slice(n[0].length)))return"Dockerfile";if(_o(t))return"Makefile";let r={},o=y=>r[y]??0,[i,s,l]=[0,"",""],a=new ot;for(let y of Wn(t)){let g=Vn(_n(y," 	\r")),k=s==="";if(s=g,!g)continue;if(i++,l){r.quoted=o("quoted")+1,g.includes(l)&&(l="");continue}let I=wo.exec(g)?.[1];I&&(l=I.startsWith('"')?'"""':"]");let N=Ro.find(([J,C])=>C.test(g)&&(J!=="heading"||k))?.[0];N&&(r[N]=o(N)+1,a.read(g,N,i===1))}let f=o("setting")+o("quoted"),h=o("pair"),d=o("comment")+o("heading"),D=o("heading")+o("fence")+o("item")+o("markup")+o("sentence");return o("hunk")&&(!o("fence")||!o("heading"))?"diff":o("fence")&&(o("fence")%2===0||o("heading"))||o("heading")&&2*D>i&&10*(f+h+o("code"))<=i?"Markdown":o("section")&&f+o("section")+d===i?o("quoted")?"TOML":"Properties files":h&&i-d>1&&!o("code")&&a.plausible&&10*(h+o("item")+a.scalar+d)>=9*i&&2*o("column")<h?"YAML":""}var st=16384,lt={points:6,features:2},jn=()=>({next:new Map,features:[]});function jo(e){let t={languages:[],root:jn(),weights:[]},n=new Map,r=i=>{let[s,...l]=i.split(/\s+/),a=t.root;for(let f of l){let h=a.next.get(f);h||a.next.set(f,h=jn()),a=h}a.features.push(t.weights.length),t.weights.push({language:t.languages.length-1,points:Number(s)})},o=[];for(let i of e.split(`
`).map(s=>s.trim())){if(!i||i.startsWith("#"))continue;let s=/^\[(.*?)(?: < (.*))?\]$/.exec(i);s?(o=[...n.get(s[2]??"")??[]],t.languages.push(s[1]),n.set(s[1],o),o.forEach(r)):(o.push(i),r(i))}return t}var $o=(()=>{let e;return()=>e??=jo(qn)})(),Uo=/^(\/\/|##? |#!|-- )/,it=/^[\p{L}\p{N}_\u0080-\uffff]+/u,$n=/^[a-z_\u0080-\uffff]/i,Un={'"':"STR","'":"CHR","`":"RAW"},Hn={$:"VAR","@":"ATT","#":"HASH",":":"SYM"};function Ho(e){let t=e[0];if(t===`
`)return[/^[\n \t\r\v\f]+/.exec(e)[0].length,"NL"];if($n.test(e))return[it.exec(e)?.[0].length??1,"ID"];if(/^\d/.test(e))return[it.exec(e)[0].length,"NUM"];if(Un[t]){let n=e.slice(1,512).split(`
`,1)[0].indexOf(t);if(n>=0)return[n+2,Un[t]]}else if(Hn[t]&&$n.test(e.slice(1)))return[1+(it.exec(e.slice(1))?.[0].length??1),Hn[t]];return[/^[!%&*+\-./:<=>?|~]+/.exec(e)?.[0].length??1,""]}function Go(e,t){t("","START"),t("","NL");for(let n=e.trim();n;){let[r,o]=Ho(n);if(t(n.slice(0,r),o),Uo.test(n)){let i=n.split(`
`,1)[0];t(i.slice(r),"TXT"),r=i.length}n=n.slice(r).replace(/^[ \t\r\v\f]+/,"")}t("","NL")}var zo=/[{}();]|[=<>!+*/-]=|=>|->|::|<[/a-zA-Z!]|^[#@]\w|^(end|else|do)$/,Jo=/^(\/\/|\/\*|\*|# |#$|--|;)/,Qo=["Shell","Dockerfile","Makefile","SQL","PowerShell","Batchfile","Ruby"],Xo=/^[ \t]*select\s/im,Yo=new RegExp(String.raw`\sfrom\s+[^\s;)]+(?:[;)]|\s*$|\s+(?:\w+\s+)?(?:[;)]|$|where|(?:\w+\s+)?join|`+String.raw`order\s+by|group\s+by|limit|as\s))`,"i"),Ko=new RegExp(String.raw`^[ \t]*(?:select\s[^\n]*;$|insert\s+into|update\s+\S+\s+set|delete\s+from|`+String.raw`with\s+\w+\s+as|grant\s[^\n]*\son\s|(?:create|alter|drop)\s+(?:or\s+replace\s+)?(?:temp\w*\s+|unique\s+)?`+String.raw`(?:table|index|view|database|function|procedure|trigger|schema|user|role|type|sequence|extension|operator|`+String.raw`domain|policy)\b)`,"im"),Zo=e=>Ko.test(e)||e.split(/(?<=;)/).some(t=>{let n=Xo.exec(t);return n!==null&&Yo.test(t.slice(n.index))}),ei=/^\s*Traceback \(most recent call last\)/;function ti(e,t){if(e==="SQL"&&!Zo(t)||ei.test(t))return 1/0;let n=t.split(`
`).map(o=>o.trim()).filter(o=>o&&!Jo.test(o)),r=n.filter(o=>zo.test(o)).length/Math.max(1,n.length);return r>=.5?lt.points:r>=.3||Qo.includes(e)?9:r>=.12?13:20}function ni(e){if(!e.startsWith("#!"))return"";let t=e.slice(2).split(`
`,1)[0].split(/[ \t\r]+/).filter(Boolean),n=r=>r?.slice(r.lastIndexOf("/")+1)??"";if(n(t[0])==="env"&&t.length>1)for(t.shift();t[0]&&/^-|^[^=]+=/.test(t[0]);)t.shift();return n(t[0])}function ri(e){let t=e.slice(0,st).split(`
`).slice(0,5),n=e.slice(-st).trimEnd().split(`
`).slice(-5);for(let r of[...t,...n]){let o=r.slice(0,400),[,i]=o.split("-*-",3),s=i!==void 0&&o.includes("-*-",o.indexOf("-*-")+3)&&(/(?:^|[ ;])mode: *([^ ;:]+)/i.exec(i)??/^ *([^ ;:]+) *(?:;.*)?$/.exec(i)),l=/(?:^|\s)(?:vim?|ex):(?:.*[: \t])?(?:ft|filetype|syntax)=([^:\s]+)/.exec(o),a=(s||l)?.[1];if(a)return a}return""}function oi(e){let{languages:t,root:n,weights:r}=$o(),o=new Set,i=t.map(()=>({points:0,features:0})),s=[];Go(e,(f,h)=>{let d=[f,h];h==="ID"&&f.toLowerCase()!==f&&d.push(f.toLowerCase());let D=[];for(let y of[...s,n])for(let g of d){let k=y.next.get(g);if(k){D.push(k);for(let I of k.features){if(o.has(I))continue;o.add(I);let N=i[r[I].language];N.points+=r[I].points,N.features++}}}s=D});let[l,a]=["",0];return i.forEach(({points:f,features:h},d)=>{h>=lt.features&&f>=lt.points&&f>a&&([l,a]=[t[d],f])}),a>=ti(l,e)?l:""}function Gn(e,t){let n=e.replace(/^\ufeff/,""),r=n.slice(0,st).replace(/\r\n/g,`
`),o=ni(r.replace(/^[\r\n]+/,"")).slice(0,64);return t.ofProgram(o)||t.ofProgram(o.replace(/[\d.-]+$/,""))||t.ofLanguage(ri(n))||Fn(r)||oi(r)}var zn=Tt([{tag:[p.keyword,p.operatorKeyword,p.modifier,p.self],class:"k"},{tag:[p.typeName,p.className,p.namespace],class:"t"},{tag:[p.function(p.variableName),p.function(p.propertyName),p.standard(p.name)],class:"f"},{tag:[p.string,p.regexp,p.special(p.string)],class:"s"},{tag:[p.escape,p.character],class:"e"},{tag:[p.number,p.bool,p.null,p.atom,p.literal],class:"m"},{tag:p.comment,class:"c"},{tag:[p.meta,p.processingInstruction,p.annotation],class:"p"},{tag:[p.attributeName,p.propertyName,p.labelName],class:"a"},{tag:p.tagName,class:"k"},{tag:[p.heading,p.strong],class:"h"},{tag:p.emphasis,class:"i"},{tag:p.inserted,class:"n"},{tag:p.deleted,class:"d"}]);function u(e){return new Ct(Et.define(e))}function V(e){return import("./chunk-YXSPZNR4.js").then(t=>t.sql({dialect:t[e]}))}var oe=[c.of({name:"C",extensions:["c","h","ino"],load(){return import("./chunk-YYIL36UF.js").then(e=>e.cpp())}}),c.of({name:"C++",alias:["cpp"],extensions:["cpp","c++","cc","cxx","hpp","h++","hh","hxx"],load(){return import("./chunk-YYIL36UF.js").then(e=>e.cpp())}}),c.of({name:"CQL",alias:["cassandra"],extensions:["cql"],load(){return V("Cassandra")}}),c.of({name:"CSS",extensions:["css"],load(){return import("./chunk-6FT5U3VB.js").then(e=>e.css())}}),c.of({name:"Go",extensions:["go"],load(){return import("./chunk-DSZSXAXL.js").then(e=>e.go())}}),c.of({name:"HTML",alias:["xhtml"],extensions:["html","htm","handlebars","hbs"],load(){return import("./chunk-V4CJ2E26.js").then(e=>e.html())}}),c.of({name:"Java",extensions:["java"],load(){return import("./chunk-4RDMR7VE.js").then(e=>e.java())}}),c.of({name:"JavaScript",alias:["ecmascript","js","node"],extensions:["js","mjs","cjs"],load(){return import("./chunk-JIGBWD4I.js").then(e=>e.javascript())}}),c.of({name:"Jinja",extensions:["j2","jinja","jinja2"],load(){return import("./chunk-Y2YVTJRK.js").then(e=>e.jinja())}}),c.of({name:"JSON",alias:["json5"],extensions:["json","map"],load(){return import("./chunk-4QFCQQZE.js").then(e=>e.json())}}),c.of({name:"JSX",extensions:["jsx"],load(){return import("./chunk-JIGBWD4I.js").then(e=>e.javascript({jsx:!0}))}}),c.of({name:"LESS",extensions:["less"],load(){return import("./chunk-IYOG2S3B.js").then(e=>e.less())}}),c.of({name:"Liquid",extensions:["liquid"],load(){return import("./chunk-DRLJZUEC.js").then(e=>e.liquid())}}),c.of({name:"MariaDB SQL",load(){return V("MariaSQL")}}),c.of({name:"Markdown",extensions:["md","markdown","mkd"],load(){return import("./chunk-6HL3RZQY.js").then(e=>e.markdown())}}),c.of({name:"MS SQL",load(){return V("MSSQL")}}),c.of({name:"MySQL",load(){return V("MySQL")}}),c.of({name:"PHP",extensions:["php","php3","php4","php5","php7","phtml"],load(){return import("./chunk-43DJEJIC.js").then(e=>e.php())}}),c.of({name:"PLSQL",extensions:["pls"],load(){return V("PLSQL")}}),c.of({name:"PostgreSQL",load(){return V("PostgreSQL")}}),c.of({name:"Python",extensions:["BUILD","bzl","py","pyw"],filename:/^(BUCK|BUILD)$/,load(){return import("./chunk-OEIEHWI3.js").then(e=>e.python())}}),c.of({name:"Rust",extensions:["rs"],load(){return import("./chunk-LZIYTKKP.js").then(e=>e.rust())}}),c.of({name:"Sass",extensions:["sass"],load(){return import("./chunk-HTKNOMF5.js").then(e=>e.sass({indented:!0}))}}),c.of({name:"SCSS",extensions:["scss"],load(){return import("./chunk-HTKNOMF5.js").then(e=>e.sass())}}),c.of({name:"SQL",extensions:["sql"],load(){return V("StandardSQL")}}),c.of({name:"SQLite",load(){return V("SQLite")}}),c.of({name:"TSX",extensions:["tsx"],load(){return import("./chunk-JIGBWD4I.js").then(e=>e.javascript({jsx:!0,typescript:!0}))}}),c.of({name:"TypeScript",alias:["ts"],extensions:["ts","mts","cts"],load(){return import("./chunk-JIGBWD4I.js").then(e=>e.javascript({typescript:!0}))}}),c.of({name:"WebAssembly",extensions:["wat","wast"],load(){return import("./chunk-MSKT44UX.js").then(e=>e.wast())}}),c.of({name:"XML",alias:["rss","wsdl","xsd"],extensions:["xml","xsl","xsd","svg"],load(){return import("./chunk-4ZWKDFYC.js").then(e=>e.xml())}}),c.of({name:"YAML",alias:["yml"],extensions:["yaml","yml"],load(){return import("./chunk-AJKTKGCB.js").then(e=>e.yaml())}}),c.of({name:"APL",extensions:["dyalog","apl"],load(){return import("./chunk-KFUIF62I.js").then(e=>u(e.apl))}}),c.of({name:"PGP",alias:["asciiarmor"],extensions:["asc","pgp","sig"],load(){return import("./chunk-SNFZUS7T.js").then(e=>u(e.asciiArmor))}}),c.of({name:"ASN.1",extensions:["asn","asn1"],load(){return import("./chunk-MR7AHCQG.js").then(e=>u(e.asn1({})))}}),c.of({name:"Asterisk",filename:/^extensions\.conf$/i,load(){return import("./chunk-XOK6QLEB.js").then(e=>u(e.asterisk))}}),c.of({name:"Brainfuck",extensions:["b","bf"],load(){return import("./chunk-B6NDLM3K.js").then(e=>u(e.brainfuck))}}),c.of({name:"Cobol",extensions:["cob","cpy"],load(){return import("./chunk-TQJF6HOZ.js").then(e=>u(e.cobol))}}),c.of({name:"C#",alias:["csharp","cs"],extensions:["cs"],load(){return import("./chunk-62RCFYAX.js").then(e=>u(e.csharp))}}),c.of({name:"Clojure",extensions:["clj","cljc","cljx"],load(){return import("./chunk-OH3GNAWP.js").then(e=>u(e.clojure))}}),c.of({name:"ClojureScript",extensions:["cljs"],load(){return import("./chunk-OH3GNAWP.js").then(e=>u(e.clojure))}}),c.of({name:"Closure Stylesheets (GSS)",extensions:["gss"],load(){return import("./chunk-XY3RGQJW.js").then(e=>u(e.gss))}}),c.of({name:"CMake",extensions:["cmake","cmake.in"],filename:/^CMakeLists\.txt$/,load(){return import("./chunk-6OZZ6FIH.js").then(e=>u(e.cmake))}}),c.of({name:"CoffeeScript",alias:["coffee","coffee-script"],extensions:["coffee"],load(){return import("./chunk-CNAYJTIP.js").then(e=>u(e.coffeeScript))}}),c.of({name:"Common Lisp",alias:["lisp"],extensions:["cl","lisp","el"],load(){return import("./chunk-LYFMG6FE.js").then(e=>u(e.commonLisp))}}),c.of({name:"Cypher",extensions:["cyp","cypher"],load(){return import("./chunk-HQDVRKGI.js").then(e=>u(e.cypher))}}),c.of({name:"Cython",extensions:["pyx","pxd","pxi"],load(){return import("./chunk-L7Y64CEI.js").then(e=>u(e.cython))}}),c.of({name:"Crystal",extensions:["cr"],load(){return import("./chunk-VGZNQHI4.js").then(e=>u(e.crystal))}}),c.of({name:"D",extensions:["d"],load(){return import("./chunk-VMXHT7BZ.js").then(e=>u(e.d))}}),c.of({name:"Dart",extensions:["dart"],load(){return import("./chunk-62RCFYAX.js").then(e=>u(e.dart))}}),c.of({name:"diff",extensions:["diff","patch"],load(){return import("./chunk-DKOJTUEW.js").then(e=>u(e.diff))}}),c.of({name:"Dockerfile",filename:/^Dockerfile$/,load(){return import("./chunk-B4ZMPWD4.js").then(e=>u(e.dockerFile))}}),c.of({name:"DTD",extensions:["dtd"],load(){return import("./chunk-5HOIMFVQ.js").then(e=>u(e.dtd))}}),c.of({name:"Dylan",extensions:["dylan","dyl","intr"],load(){return import("./chunk-U6AI54NQ.js").then(e=>u(e.dylan))}}),c.of({name:"EBNF",load(){return import("./chunk-X54JFIJF.js").then(e=>u(e.ebnf))}}),c.of({name:"ECL",extensions:["ecl"],load(){return import("./chunk-6D2AJ5ED.js").then(e=>u(e.ecl))}}),c.of({name:"edn",extensions:["edn"],load(){return import("./chunk-OH3GNAWP.js").then(e=>u(e.clojure))}}),c.of({name:"Eiffel",extensions:["e"],load(){return import("./chunk-QRPXQPZE.js").then(e=>u(e.eiffel))}}),c.of({name:"Elm",extensions:["elm"],load(){return import("./chunk-MKYSNFSE.js").then(e=>u(e.elm))}}),c.of({name:"Erlang",extensions:["erl"],load(){return import("./chunk-HFCZCXTJ.js").then(e=>u(e.erlang))}}),c.of({name:"Esper",load(){return import("./chunk-DGGESE6C.js").then(e=>u(e.esper))}}),c.of({name:"Factor",extensions:["factor"],load(){return import("./chunk-QMFZDDQJ.js").then(e=>u(e.factor))}}),c.of({name:"FCL",load(){return import("./chunk-7EEP37YB.js").then(e=>u(e.fcl))}}),c.of({name:"Forth",extensions:["forth","fth","4th"],load(){return import("./chunk-N2VNFOWB.js").then(e=>u(e.forth))}}),c.of({name:"Fortran",extensions:["f","for","f77","f90","f95"],load(){return import("./chunk-UNDWENXZ.js").then(e=>u(e.fortran))}}),c.of({name:"F#",alias:["fsharp"],extensions:["fs"],load(){return import("./chunk-2B7RD5OQ.js").then(e=>u(e.fSharp))}}),c.of({name:"Gas",extensions:["s"],load(){return import("./chunk-M3ASMBC5.js").then(e=>u(e.gas))}}),c.of({name:"Gherkin",extensions:["feature"],load(){return import("./chunk-H5WIXVJ7.js").then(e=>u(e.gherkin))}}),c.of({name:"Groovy",extensions:["groovy","gradle"],filename:/^Jenkinsfile$/,load(){return import("./chunk-C5KJFUGM.js").then(e=>u(e.groovy))}}),c.of({name:"Haskell",extensions:["hs"],load(){return import("./chunk-XWYLE4S6.js").then(e=>u(e.haskell))}}),c.of({name:"Haxe",extensions:["hx"],load(){return import("./chunk-7N37GU4E.js").then(e=>u(e.haxe))}}),c.of({name:"HXML",extensions:["hxml"],load(){return import("./chunk-7N37GU4E.js").then(e=>u(e.hxml))}}),c.of({name:"HTTP",load(){return import("./chunk-UGE3LD3J.js").then(e=>u(e.http))}}),c.of({name:"IDL",extensions:["pro"],load(){return import("./chunk-2VMZFMN5.js").then(e=>u(e.idl))}}),c.of({name:"JSON-LD",alias:["jsonld"],extensions:["jsonld"],load(){return import("./chunk-RFDB4HKV.js").then(e=>u(e.jsonld))}}),c.of({name:"Julia",extensions:["jl"],load(){return import("./chunk-I7FPVHLR.js").then(e=>u(e.julia))}}),c.of({name:"Kotlin",extensions:["kt","kts"],load(){return import("./chunk-62RCFYAX.js").then(e=>u(e.kotlin))}}),c.of({name:"LiveScript",alias:["ls"],extensions:["ls"],load(){return import("./chunk-BG25PY6O.js").then(e=>u(e.liveScript))}}),c.of({name:"Lua",extensions:["lua"],load(){return import("./chunk-X5JVGEQ3.js").then(e=>u(e.lua))}}),c.of({name:"mIRC",extensions:["mrc"],load(){return import("./chunk-GXRCQHEV.js").then(e=>u(e.mirc))}}),c.of({name:"Mathematica",extensions:["m","nb","wl","wls"],load(){return import("./chunk-QTWXDYVM.js").then(e=>u(e.mathematica))}}),c.of({name:"Modelica",extensions:["mo"],load(){return import("./chunk-AK2ZZPLI.js").then(e=>u(e.modelica))}}),c.of({name:"MUMPS",extensions:["mps"],load(){return import("./chunk-RM6ASMV5.js").then(e=>u(e.mumps))}}),c.of({name:"Mbox",extensions:["mbox"],load(){return import("./chunk-TTZ7HI5M.js").then(e=>u(e.mbox))}}),c.of({name:"Nginx",filename:/nginx.*\.conf$/i,load(){return import("./chunk-MM4NJJEP.js").then(e=>u(e.nginx))}}),c.of({name:"NSIS",extensions:["nsh","nsi"],load(){return import("./chunk-S474AAHP.js").then(e=>u(e.nsis))}}),c.of({name:"NTriples",extensions:["nt","nq"],load(){return import("./chunk-GGJJELVM.js").then(e=>u(e.ntriples))}}),c.of({name:"Objective-C",alias:["objective-c","objc"],extensions:["m"],load(){return import("./chunk-62RCFYAX.js").then(e=>u(e.objectiveC))}}),c.of({name:"Objective-C++",alias:["objective-c++","objc++"],extensions:["mm"],load(){return import("./chunk-62RCFYAX.js").then(e=>u(e.objectiveCpp))}}),c.of({name:"OCaml",extensions:["ml","mli","mll","mly"],load(){return import("./chunk-2B7RD5OQ.js").then(e=>u(e.oCaml))}}),c.of({name:"Octave",extensions:["m"],load(){return import("./chunk-532TUGRO.js").then(e=>u(e.octave))}}),c.of({name:"Oz",extensions:["oz"],load(){return import("./chunk-CUKTYGJ6.js").then(e=>u(e.oz))}}),c.of({name:"Pascal",extensions:["p","pas"],load(){return import("./chunk-VBVFHQIC.js").then(e=>u(e.pascal))}}),c.of({name:"Perl",extensions:["pl","pm"],load(){return import("./chunk-AYTVTHTE.js").then(e=>u(e.perl))}}),c.of({name:"Pig",extensions:["pig"],load(){return import("./chunk-F7SGCXZR.js").then(e=>u(e.pig))}}),c.of({name:"PowerShell",extensions:["ps1","psd1","psm1"],load(){return import("./chunk-5P3Z2MUU.js").then(e=>u(e.powerShell))}}),c.of({name:"Properties files",alias:["ini","properties"],extensions:["properties","ini","in"],load(){return import("./chunk-OANIITBC.js").then(e=>u(e.properties))}}),c.of({name:"ProtoBuf",extensions:["proto"],load(){return import("./chunk-PXXOS352.js").then(e=>u(e.protobuf))}}),c.of({name:"Pug",alias:["jade"],extensions:["pug","jade"],load(){return import("./chunk-IAZCTECC.js").then(e=>u(e.pug))}}),c.of({name:"Puppet",extensions:["pp"],load(){return import("./chunk-QUZEBAUA.js").then(e=>u(e.puppet))}}),c.of({name:"Q",extensions:["q"],load(){return import("./chunk-Q45NFWYV.js").then(e=>u(e.q))}}),c.of({name:"R",alias:["rscript"],extensions:["r","R"],load(){return import("./chunk-PK5QGDPN.js").then(e=>u(e.r))}}),c.of({name:"RPM Changes",load(){return import("./chunk-IPRO5OTF.js").then(e=>u(e.rpmChanges))}}),c.of({name:"RPM Spec",extensions:["spec"],load(){return import("./chunk-IPRO5OTF.js").then(e=>u(e.rpmSpec))}}),c.of({name:"Ruby",alias:["jruby","macruby","rake","rb","rbx"],extensions:["rb"],filename:/^(Gemfile|Rakefile)$/,load(){return import("./chunk-PNCMHUNY.js").then(e=>u(e.ruby))}}),c.of({name:"SAS",extensions:["sas"],load(){return import("./chunk-3VHGRAYW.js").then(e=>u(e.sas))}}),c.of({name:"Scala",extensions:["scala"],load(){return import("./chunk-62RCFYAX.js").then(e=>u(e.scala))}}),c.of({name:"Scheme",extensions:["scm","ss"],load(){return import("./chunk-JCPNXJB7.js").then(e=>u(e.scheme))}}),c.of({name:"Shell",alias:["bash","sh","zsh"],extensions:["sh","ksh","bash"],filename:/^PKGBUILD$/,load(){return import("./chunk-OW3IZHQW.js").then(e=>u(e.shell))}}),c.of({name:"Sieve",extensions:["siv","sieve"],load(){return import("./chunk-RUI4G5CQ.js").then(e=>u(e.sieve))}}),c.of({name:"Smalltalk",extensions:["st"],load(){return import("./chunk-3YCS75NR.js").then(e=>u(e.smalltalk))}}),c.of({name:"Solr",load(){return import("./chunk-XHRTXX3P.js").then(e=>u(e.solr))}}),c.of({name:"SML",extensions:["sml","sig","fun","smackspec"],load(){return import("./chunk-2B7RD5OQ.js").then(e=>u(e.sml))}}),c.of({name:"SPARQL",alias:["sparul"],extensions:["rq","sparql"],load(){return import("./chunk-5NLDB333.js").then(e=>u(e.sparql))}}),c.of({name:"Spreadsheet",alias:["excel","formula"],load(){return import("./chunk-KEHNEPWJ.js").then(e=>u(e.spreadsheet))}}),c.of({name:"Squirrel",extensions:["nut"],load(){return import("./chunk-62RCFYAX.js").then(e=>u(e.squirrel))}}),c.of({name:"Stylus",extensions:["styl"],load(){return import("./chunk-O3EPGOBC.js").then(e=>u(e.stylus))}}),c.of({name:"Swift",extensions:["swift"],load(){return import("./chunk-UFSZB3VJ.js").then(e=>u(e.swift))}}),c.of({name:"sTeX",load(){return import("./chunk-6TDYQPXV.js").then(e=>u(e.stex))}}),c.of({name:"LaTeX",alias:["tex"],extensions:["text","ltx","tex"],load(){return import("./chunk-6TDYQPXV.js").then(e=>u(e.stex))}}),c.of({name:"SystemVerilog",extensions:["v","sv","svh"],load(){return import("./chunk-G4G5NDGN.js").then(e=>u(e.verilog))}}),c.of({name:"Tcl",extensions:["tcl"],load(){return import("./chunk-ZBY5FDPX.js").then(e=>u(e.tcl))}}),c.of({name:"Textile",extensions:["textile"],load(){return import("./chunk-T2H2676O.js").then(e=>u(e.textile))}}),c.of({name:"TiddlyWiki",load(){return import("./chunk-TVMEL53D.js").then(e=>u(e.tiddlyWiki))}}),c.of({name:"Tiki wiki",load(){return import("./chunk-F26AV7TR.js").then(e=>u(e.tiki))}}),c.of({name:"TOML",extensions:["toml"],load(){return import("./chunk-UISTNVDO.js").then(e=>u(e.toml))}}),c.of({name:"Troff",extensions:["1","2","3","4","5","6","7","8","9"],load(){return import("./chunk-B4TN66FE.js").then(e=>u(e.troff))}}),c.of({name:"TTCN",extensions:["ttcn","ttcn3","ttcnpp"],load(){return import("./chunk-3WNCRD57.js").then(e=>u(e.ttcn))}}),c.of({name:"TTCN_CFG",extensions:["cfg"],load(){return import("./chunk-D5I3AEDB.js").then(e=>u(e.ttcnCfg))}}),c.of({name:"Turtle",extensions:["ttl"],load(){return import("./chunk-V4BB4HFD.js").then(e=>u(e.turtle))}}),c.of({name:"Web IDL",extensions:["webidl"],load(){return import("./chunk-KTI7I6FG.js").then(e=>u(e.webIDL))}}),c.of({name:"VB.NET",extensions:["vb"],load(){return import("./chunk-7FJRZJR2.js").then(e=>u(e.vb))}}),c.of({name:"VBScript",extensions:["vbs"],load(){return import("./chunk-K2S4IYJI.js").then(e=>u(e.vbScript))}}),c.of({name:"Velocity",extensions:["vtl"],load(){return import("./chunk-HMHXLR2X.js").then(e=>u(e.velocity))}}),c.of({name:"Verilog",extensions:["v"],load(){return import("./chunk-G4G5NDGN.js").then(e=>u(e.verilog))}}),c.of({name:"VHDL",extensions:["vhd","vhdl"],load(){return import("./chunk-RH6HH4JE.js").then(e=>u(e.vhdl))}}),c.of({name:"XQuery",extensions:["xy","xquery","xq","xqm","xqy"],load(){return import("./chunk-MD4QVM2J.js").then(e=>u(e.xQuery))}}),c.of({name:"Yacas",extensions:["ys"],load(){return import("./chunk-T624RTTC.js").then(e=>u(e.yacas))}}),c.of({name:"Z80",extensions:["z80"],load(){return import("./chunk-56VQEYZI.js").then(e=>u(e.z80))}}),c.of({name:"MscGen",extensions:["mscgen","mscin","msc"],load(){return import("./chunk-ZV6Y66NJ.js").then(e=>u(e.mscgen))}}),c.of({name:"Xù",extensions:["xu"],load(){return import("./chunk-ZV6Y66NJ.js").then(e=>u(e.xu))}}),c.of({name:"MsGenny",extensions:["msgenny"],load(){return import("./chunk-ZV6Y66NJ.js").then(e=>u(e.msgenny))}}),c.of({name:"Vue",extensions:["vue"],load(){return import("./chunk-TWSFKBST.js").then(e=>e.vue())}}),c.of({name:"Angular Template",load(){return import("./chunk-AMTQXMIA.js").then(e=>e.angular())}})];var ii=()=>document.getElementById("paste-form").dataset.base;async function Jn(e){let t=await fetch(ii()+e,{credentials:"omit"}).catch(()=>null);return t?.ok?await t.json():null}async function at(e,t){if(e&&e.toLowerCase()!=="autodetect")return Jn("data/language?name="+encodeURIComponent(e));let n=/\.([^.\s]+)$/.exec(t)?.[1];return n?Jn("data/languageExt?extension="+encodeURIComponent(n)):null}async function Qn(e,t){let n=c.matchLanguageName(oe,e.name,!1)??c.matchFilename(oe,t)??c.matchFilename(oe,"x."+(e.ext[0]??""))??c.matchLanguageName(oe,e.mode,!1);return!n||e.mode==="null"?null:n.load().catch(()=>null)}var si=L.theme({"&":{border:"1px solid var(--field)",borderRadius:"6px",background:"var(--surface)",color:"var(--text)"},"&.cm-focused":{outline:"3px solid var(--accent)",outlineOffset:"2px"},".cm-scroller":{font:".875rem/1.55 var(--mono)",minHeight:"var(--editor-height, 18rem)",maxHeight:"70vh"},".cm-gutters":{background:"var(--surface)",color:"var(--quiet)",borderRight:"1px solid var(--line)"},".cm-content":{caretColor:"var(--text)"},".cm-cursor":{borderLeftColor:"var(--text)"},"&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground":{background:"var(--selected)"},"&.cm-focused .cm-matchingBracket":{background:"var(--selected)",outline:"1px solid var(--accent)"},".cm-selectionMatch, .cm-searchMatch":{background:"var(--selected)"},".cm-panels":{background:"var(--raised)",color:"var(--text)"},".cm-panel.cm-search input, .cm-panel.cm-search button":{width:"auto",height:"auto"}});function li(e){if(e.state.selection.ranges.some(r=>!r.empty))return Ge(e);let t=e.state.sliceDoc(0,1e4),n=/^\t/m.test(t)?"	":e.state.facet(Y);return e.dispatch(e.state.update(e.state.replaceSelection(n),{scrollIntoView:!0,userEvent:"input"})),!0}var ai=new Map([["bash","Shell"],["sh","Shell"],["zsh","Shell"],["node","JavaScript"],["nodejs","JavaScript"],["python","Python"],["perl","Perl"],["ruby","Ruby"],["php","PHP"],["lua","Lua"],["luajit","Lua"],["Rscript","R"]]),ci={ofProgram:e=>ai.get(e)??"",ofLanguage:()=>""};function Ji(e,t,n){let{name:r,language:o,code:i}=e,s=0,l=new we,a=new we,f={"aria-label":"Code","aria-describedby":"editor-hint"};i.getAttribute("aria-invalid")&&(f["aria-invalid"]="true",f["aria-describedby"]="editor-hint "+(i.getAttribute("aria-describedby")??""));let h=[L.cspNonce.of(t),si,Mt(),St(),Jt(),Nt(),yt(),$.allowMultipleSelections.of(!0),$.tabSize.of(4),Y.of("    "),Rt(),wt(zn),Bt(),Ot(),bt(),Rn(),l.of([]),a.of(L.contentAttributes.of(f)),L.contentAttributes.of({autocapitalize:"off",autocorrect:"off",spellcheck:"false"}),It.of([...Pt,...kn.filter(C=>C.key!=="Mod-Enter"),...Pn,...Kt,{key:"Tab",run:li,shift:ze}]),L.updateListener.of(C=>{C.docChanged&&(n(),clearTimeout(s),s=setTimeout(()=>{J(!0)},500))}),matchMedia("(max-width: 40rem)").matches?L.lineWrapping:[]],d=document.activeElement===i,[D,y]=[i.selectionStart,i.selectionEnd],g=new L({state:$.create({doc:i.value,extensions:h})});i.before(g.dom),i.hidden=!0,i.labels[0]?.addEventListener("click",()=>g.focus()),d&&(g.focus(),g.dispatch({selection:{anchor:Math.min(D,g.state.doc.length),head:Math.min(y,g.state.doc.length)}}));let k="",I=null,N="",J=async C=>{if(ut())return;let ie=o.value+`
`+r.value,ct=ie!==k;if(ct&&(k=ie,I=await at(o.value,r.value),k!==ie))return;let Q=!I&&(!o.value||o.value.toLowerCase()==="autodetect")?Gn(g.state.sliceDoc(0,2e4),ci):"";if(C&&!ct&&Q===N)return;N=Q;let se=I??(Q?await at(Q,""):null),Xn=se&&await Qn(se,I?r.value:"");k!==ie||N!==Q||(o.value||(o.placeholder=se?se.name+(I?" (from the name)":" (from the text)"):"Autodetect"),g.dispatch({effects:l.reconfigure(Xn??[])}))};for(let C of[r,o])C.addEventListener("change",()=>{J(!1)});return J(!1),{keep(){i.value=g.state.doc.toString()},write(C){g.dispatch({changes:{from:0,to:g.state.doc.length,insert:C}})},focus(){g.focus()}}}export{Ji as mount};
