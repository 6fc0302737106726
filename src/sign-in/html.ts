// The HTML pages: small, without scripts, readable in any browser and screen reader.
import { createHash } from "node:crypto";
import { html, type PageReply } from "../transport/pages/pages.ts";

/** The looks of the console (console/src/tokens.css): the same names and colours, and no more than these pages need. */
const style = `:root { --canvas: #f6f7f9; --page: #ffffff; --surface: #f1f3f6; --text: #171a21; --muted: #5a6372; --accent: #3d4ecb; --accent-strong: #3342ad; --on-accent: #ffffff; --line: #e2e6ec; --input-line: #828b99 }
@media (prefers-color-scheme: dark) { :root { --canvas: #0d1015; --page: #14181f; --surface: #1b2029; --text: #e9ecf1; --muted: #9ea8b7; --accent: #9aa9ff; --accent-strong: #b9c4ff; --on-accent: #0d1015; --line: #272d37; --input-line: #6f7a8a } }
* { box-sizing: border-box }
body { font: 15px/24px system-ui, sans-serif; margin: 0; padding: 12vh 16px 48px; color: var(--text); background: var(--canvas) }
header, main { max-width: 440px; margin: 0 auto }
header { display: flex; align-items: center; gap: 8px; padding: 0 0 16px; font-weight: 650 }
header svg { width: 20px; height: 20px; fill: var(--accent) }
main { padding: 24px; border: 1px solid var(--line); border-radius: 10px; background: var(--page); overflow-wrap: anywhere }
h1 { font-size: 22px; line-height: 28px; font-weight: 650; letter-spacing: -0.015em; margin: 0 0 16px }
p { margin: 0 0 16px } ul { list-style: none; padding: 0; margin: 0 0 16px }
a { color: var(--accent) } code { font: 15px/24px ui-monospace, monospace }
a.action, button { display: inline-block; font: inherit; font-weight: 600; padding: 8px 16px; margin: 4px 0; border: 0; border-radius: 8px; background: var(--accent); color: var(--on-accent); text-decoration: none; cursor: pointer }
a.action:hover, button:hover { background: var(--accent-strong) }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px }
button.quiet { background: none; color: var(--text); border: 1px solid var(--input-line); padding: 7px 15px }
button.quiet:hover { background: var(--surface) }
form.answers { display: flex; flex-wrap: wrap; gap: 8px; margin: 0 0 16px }
section { padding: 0 0 16px; margin: 0 0 16px; border-bottom: 1px solid var(--line) }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 4px 16px; margin: 0 } dt { color: var(--muted) } dd { margin: 0 }
label { display: block; margin: 16px 0 4px }
input { font: inherit; color: inherit; background: var(--page); border: 1px solid var(--input-line); border-radius: 8px; padding: 7px 12px; width: 100%; margin-bottom: 8px }`;

/** The mark: a gate of two bars and a lintel. */
const mark = `<svg viewBox="0 0 16 16" aria-hidden="true"><path d="M1 2h14v3H1zM3 6h3v8H3zM10 6h3v8h-3z"/></svg>`;

const styleHash = `sha256-${createHash("sha256").update(style).digest("base64")}`;

/** A piece of HTML, created by `markup`, which escapes every value. */
export interface Markup {
  readonly markup: string;
}

/** Returns a template whose values are texts, which are escaped, or markup. */
export function markup(
  parts: TemplateStringsArray,
  ...values: readonly (string | Markup | readonly Markup[])[]
): Markup {
  const texts = values.map((value) => {
    if (typeof value === "string") return escapeHtml(value);
    return "markup" in value ? value.markup : value.map((one) => one.markup).join("\n");
  });
  return { markup: String.raw({ raw: parts }, ...texts) };
}

/** The advice after a failed sign-in: go back to the program that started it. */
export const goBack = markup`<p>Go back to the program that sent you here, and try again.</p>`;

/** Creates a whole page. */
export function page(status: number, title: string, body: Markup, language = "en"): PageReply {
  const document = markup`<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} - Gatehouse</title>
<style>${{ markup: style }}</style>
</head>
<body>
<header>${{ markup: mark }} Gatehouse</header>
<main>
<h1>${title}</h1>
${body}
</main>
</body>
</html>
`;
  return html(status, document.markup, styleHash);
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`);
}
