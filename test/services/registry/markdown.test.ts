// Security case F10, as far as readmes are concerned. test/browser/readmes.browser.ts shows what is accepted in a real browser.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { isSafeMarkdown } from "../../../src/services/registry/repos/markdown.ts";
import { goodReadmes } from "./readme-texts.ts";

const unsafe: Readonly<Record<string, string>> = {
  "a script": "<script>alert(1)</script>",
  "a script in upper case": "<SCRIPT SRC=//example.org/x></SCRIPT>",
  "a script that is not closed": "text <script>",
  "a script in a comment, which older renderers end sooner": "<!-- -- <script>alert(1)</script> -->",
  "a handler": '<img src="x" onerror="alert(1)">',
  "a handler without quotes": "<img src=x onerror=alert(1)>",
  "a handler after what browsers read as a comment": "<![CDATA[ > <img src=x onerror=alert(1)> ]]>",
  "a handler in the text of an attribute": "<p title='</p><img src=x onerror=alert(1)>'>",
  "a handler of the body": "<body onload=alert(1)>",
  "a handler of a cell without a table": "<td onclick=alert(1)>",
  "a handler nested deeper than renderers look": `${">".repeat(150)} <img src=x onerror=alert(1)>`,
  "nesting without an end": ">".repeat(60_000),
  "a tag that ends in what the renderer writes": '<div title="\n\n[x](onmouseover=alert(1)//)',
  "a tag in a cell that not all renderers show": "| a |\n|-|\n| x | <iframe> |",
  "a tag in code that a table would split": "`x | <iframe>`",
  "a tag in a footnote": "[^1]: <img src=x onerror=alert(1)>",
  "a tag in the second part of a footnote": "[^1]: a\n\n    <script>alert(1)</script>",
  "a javascript link": "[a](javascript:alert(1))",
  "a javascript link in disguise": '<a href="java&#10;script:alert(1)">a</a>',
  "a javascript link behind a control character": '<a href="&#1; javascript:alert(1)">a</a>',
  "a javascript link that no parser of addresses reads": "<a href='javascript://[/%0aalert(1)'>x</a>",
  "a javascript link by a definition that nothing uses": "[a]: javascript:alert(1)",
  "a link with two addresses, of which a renderer may take the second":
    '<a href="https://a.example" href="javascript:alert(1)">a</a>',
  "an element with one attribute twice": '<p title="a" TITLE="b">a</p>',
  "a data link": '<a href="data:text/html,x">a</a>',
  "a picture by another scheme": "![a](vbscript:x)",
  "a picture by another scheme in a set": '<img srcset="https://example.org/a 1x, data:image/svg+xml,x 2x">',
  "a style": '<p style="position:fixed">a</p>',
  "a style of a cell that is more than its alignment": '<td style="text-align:left;position:fixed">a</td>',
  "a style sheet": "<style>p { color: red }</style>",
  "a class that is not of a language": '<p class="overlay">a</p>',
  "a class of code that is not of a language": '<code class="overlay">a</code>',
  "a second class of code": '<code class="language-a overlay">a</code>',
  "a frame": '<iframe src="https://example.org"></iframe>',
  "an object": "<object data=x></object>",
  "a form": "<form action=https://example.org><button>a</button></form>",
  "a box to write in": "<input>",
  "a box to tick": "<input type=checkbox>",
  "a base": "<base href=https://example.org>",
  "a refresh": '<meta http-equiv="refresh" content="0;url=https://example.org">',
  "SVG with a script": "<svg><script>alert(1)</script></svg>",
  "MathML in disguise": '<math><mi xlink:href="javascript:alert(1)">a</mi></math>',
  "a custom element": "<x-widget>a</x-widget>",
  "a link without a scheme of its own": '<a href="//example.org">a</a>',
  "a link without a scheme of its own, by other slashes": '<a href="/\\example.org">a</a>',
  "a link to the page that opened it": '<a href="https://example.org" target="_blank" rel="opener">a</a>',
};

describe("safe Markdown", () => {
  for (const [rule, text] of Object.entries(goodReadmes)) {
    it(`F10: ${rule} may stay`, () => assert.ok(isSafeMarkdown(text)));
  }
  for (const [rule, text] of Object.entries(unsafe)) {
    it(`F10: ${rule} may not`, () => assert.equal(isSafeMarkdown(text), false));
  }
});
