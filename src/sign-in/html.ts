// The HTML pages: small, without scripts, readable in any browser and screen reader.
import { createHash } from "node:crypto";
import { html, type PageReply } from "../transport/pages/pages.ts";

const style = `body { font: 1.1rem/1.5 system-ui, sans-serif; max-width: 32rem; margin: 4rem auto; padding: 0 1rem; color: #1a1a1a; background: #fff }
@media (prefers-color-scheme: dark) { body { color: #e8e8e8; background: #1a1a1a } }
code { font-size: 1.2rem; overflow-wrap: anywhere }
a.action, button { display: inline-block; font: inherit; padding: .5rem 1rem; margin: .25rem 0; border: 2px solid #0b4f9e; border-radius: .25rem; background: #0b4f9e; color: #fff; text-decoration: none; cursor: pointer }
a.action:focus, button:focus, input:focus { outline: 3px solid #b86800; outline-offset: 2px }
label { display: block; margin-top: 1rem } input { font: inherit; padding: .4rem; width: 100%; box-sizing: border-box }`;

const styleHash = `sha256-${createHash("sha256").update(style).digest("base64")}`;

/** A piece of HTML, created by `markup`, which escapes every value. */
export interface Markup {
  readonly markup: string;
}

/** A template whose values are texts, which are escaped, or markup. */
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
export function page(status: number, title: string, body: Markup): PageReply {
  const document = markup`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} - Gatehouse</title>
<style>${{ markup: style }}</style>
</head>
<body>
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
