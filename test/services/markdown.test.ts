// Security case F10, as far as readmes are concerned.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { isSafeMarkdown } from "../../src/services/registry/markdown.ts";

const safe: Readonly<Record<string, string>> = {
  nothing: "",
  "plain text with characters that HTML escapes": 'a < b && c > d "quoted"',
  "headings, lists and emphasis": "# One\n\nTwo\n---\n\n- *a*\n- **b**\n\n1. c\n4. d\n",
  "a table with alignment": "| a | b |\n|:--|--:|\n| 1 | 2 |\n",
  "a code block of a language": "```c++\nint a = 1 < 2;\n```\n",
  "script in a code block": "```html\n<script>alert(1)</script>\n```\n",
  links: '[a](https://example.org/?a=b&c=d "title") <https://example.org> [b](#part) [c](../other.md) <a@example.org>',
  "a picture with a size": '<img src="https://example.org/a.png" alt="a" width="10" height="20">',
  comments: "<!-- a note -->\n\ntext <!-- another -->",
  "a folded part": "<details><summary>More</summary>\n\ntext\n\n</details>",
};

const unsafe: Readonly<Record<string, string>> = {
  "a script": "<script>alert(1)</script>",
  "a script in upper case": "<SCRIPT SRC=//example.org/x></SCRIPT>",
  "a script that is not closed": "text <script>",
  "a handler": '<img src="x" onerror="alert(1)">',
  "a handler without quotes": "<img src=x onerror=alert(1)>",
  "a javascript link": "[a](javascript:alert(1))",
  "a javascript link in disguise": '<a href="java&#10;script:alert(1)">a</a>',
  "a data link": '<a href="data:text/html,x">a</a>',
  "a picture by another scheme": "![a](vbscript:x)",
  "a style": '<p style="position:fixed">a</p>',
  "a style sheet": "<style>p { color: red }</style>",
  "a class that is not of a language": '<p class="overlay">a</p>',
  "a class of code that is not of a language": '<code class="overlay">a</code>',
  "a frame": '<iframe src="https://example.org"></iframe>',
  "an object": "<object data=x></object>",
  "a form": "<form action=https://example.org><button>a</button></form>",
  "a base": "<base href=https://example.org>",
  "a refresh": '<meta http-equiv="refresh" content="0;url=https://example.org">',
  "SVG with a script": "<svg><script>alert(1)</script></svg>",
  "MathML in disguise": '<math><mi xlink:href="javascript:alert(1)">a</mi></math>',
  "a link without a scheme of its own": '<a href="//example.org">a</a>',
};

describe("safe Markdown", () => {
  for (const [rule, text] of Object.entries(safe)) it(`F10: ${rule} may stay`, () => assert.ok(isSafeMarkdown(text)));
  for (const [rule, text] of Object.entries(unsafe)) {
    it(`F10: ${rule} may not`, () => assert.equal(isSafeMarkdown(text), false));
  }
});
