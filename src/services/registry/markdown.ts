// Whether Markdown can be shown to people other than its author (security case F10).
import MarkdownIt from "markdown-it";
import sanitizeHtml, { type IOptions } from "sanitize-html";

/** What users may write: text, its structure, links and pictures. Nothing that runs, frames, styles or asks for input. */
const allowed: IOptions = {
  allowedTags: [
    ..."h1 h2 h3 h4 h5 h6 p br hr div span blockquote pre code kbd samp var tt".split(" "),
    ..."b strong i em u s del ins strike sub sup small mark q cite abbr dfn".split(" "),
    ..."ul ol li dl dt dd table caption thead tbody tfoot tr th td".split(" "),
    ..."a img figure figcaption picture details summary".split(" "),
  ],
  allowedAttributes: {
    "*": ["id", "title", "align", "dir", "lang"],
    a: ["href", "name"],
    img: ["src", "alt", "width", "height"],
    ol: ["start", "type"],
    th: ["colspan", "rowspan", "scope", "style"],
    td: ["colspan", "rowspan", "style"],
    details: ["open"],
    q: ["cite"],
    blockquote: ["cite"],
  },
  allowedClasses: { code: [/^language-[\w+#.-]+$/] },
  // What columns are aligned by.
  allowedStyles: { "*": { "text-align": [/^(?:left|right|center)$/] } },
  allowedSchemes: ["http", "https", "mailto"],
  allowProtocolRelative: false,
};

/** Makes links of whatever it is told to, so that the sanitizer sees them all. Deep nesting does not slow it down. */
const markdown = new MarkdownIt({ html: true, linkify: false });
markdown.validateLink = () => true;

/** Leaves everything as it is, in the sanitizer's own way of writing. */
const everything: IOptions = {
  allowedTags: false,
  allowedAttributes: false,
  allowedSchemesAppliedToAttributes: [],
  allowVulnerableTags: true,
  parseStyleAttributes: false,
};

/** Whether nothing of the HTML that the text becomes has to be taken out for readers to be safe. Comments are harmless. */
export function isSafeMarkdown(text: string): boolean {
  const html = markdown.render(text);
  return sanitizeHtml(html, allowed) === sanitizeHtml(html, everything);
}
