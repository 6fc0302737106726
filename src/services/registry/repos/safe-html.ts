// Checks whether HTML is safe to show to people other than its author, parsed as browsers do (security case F10).
import { type Token, type TokenHandler, Tokenizer } from "parse5";

/** Tests the value of an attribute. */
type ValueRule = (value: string) => boolean;
type AttributeRules = Readonly<Record<string, ValueRule>>;

const anyValue: ValueRule = () => true;
const any = (attributes: string): AttributeRules =>
  Object.fromEntries(attributes.split(" ").map((name) => [name, anyValue]));

/** Schemes whose addresses run nothing in the page that links to them. */
const schemes = ["http", "https", "mailto", "ftp"];

/** Text, its structure, links and pictures. Nothing that runs, frames, styles or asks for input, and nothing foreign. */
const elements: ReadonlySet<string> = new Set(
  [
    "h1 h2 h3 h4 h5 h6 p br wbr hr div span center blockquote pre code kbd samp var tt",
    "b strong i em u s del ins strike sub sup small big mark q cite abbr dfn bdi bdo ruby rt rp time",
    "ul ol li dl dt dd table caption colgroup col thead tbody tfoot tr th td",
    "a img picture source figure figcaption details summary input",
    "section article header footer aside main nav",
  ].flatMap((line) => line.split(" ")),
);

const everywhere = any("id title align valign dir lang width height aria-label aria-hidden");

const cell: AttributeRules = { ...any("colspan rowspan scope nowrap"), style: isAlignment };

/** Attributes that single elements may have, besides those of every element. */
const attributesOf: Readonly<Record<string, AttributeRules | undefined>> = {
  a: { ...any("name"), href: isSafeUrl, target: isOneOf("_blank"), rel: isOneOf("nofollow", "noopener", "noreferrer") },
  img: { ...any("alt border hspace vspace sizes loading"), src: isSafeUrl, srcset: isSafeUrlList },
  source: { ...any("media type sizes"), srcset: isSafeUrlList },
  br: any("clear"),
  hr: any("size noshade"),
  ol: any("start type reversed"),
  ul: any("type"),
  li: any("value type"),
  table: any("border cellpadding cellspacing"),
  col: any("span"),
  colgroup: any("span"),
  th: cell,
  td: cell,
  details: any("open"),
  time: any("datetime"),
  q: { cite: isSafeUrl },
  blockquote: { cite: isSafeUrl },
  del: { cite: isSafeUrl },
  ins: { cite: isSafeUrl },
  // The language of a block of code, under any name.
  code: { class: (value) => /^language-[^\t\n\f\r ]*$/.test(value) },
  // The box of a task; it takes no input.
  input: { type: isOneOf("checkbox"), ...any("disabled checked") },
};

/** Elements that run, load, style or ask for something, or change how the parser reads their content. */
const active: ReadonlySet<string> = new Set(
  [
    "script style link base meta title template noscript iframe frame frameset noframes object embed applet param",
    "html head body",
    "form button select textarea keygen isindex dialog portal fencedframe",
    "audio video track bgsound canvas marquee xmp plaintext noembed listing svg math",
  ].flatMap((line) => line.split(" ")),
);

/** Attributes that are safe only where `attributesOf` has a rule for them. */
const activeAttribute =
  /^(?:on.*|style|href|src|srcset|srcdoc|action|formaction|data|cite|poster|background|ping|manifest|is|.*:href)$/;

/**
 * Mistakes after which renderers and browsers disagree about where a tag or a comment ends. Browsers read CDATA, `<!X>`, `<?x>` and
 * `</ x>` as comments that end with the first `>`.
 */
const repeated = "duplicate-attribute";

const ambiguous: ReadonlySet<string> = new Set([
  repeated,
  "eof-in-tag",
  "eof-in-comment",
  "unexpected-character-in-attribute-name",
  "unexpected-character-in-unquoted-attribute-value",
  "missing-whitespace-between-attributes",
  "unexpected-equals-sign-before-attribute-name",
  "abrupt-closing-of-empty-comment",
  "incorrectly-opened-comment",
  "incorrectly-closed-comment",
  "nested-comment",
  "cdata-in-html-content",
  "unexpected-question-mark-instead-of-tag-name",
]);

/** Reports whether everything in the HTML is known to be harmless. */
export function isSafeHtml(html: string): boolean {
  if (!html.includes("<")) return true;
  const { tags, comments, mistakes } = read(html);
  // Renderers disagree about where a comment ends, so what it holds must be safe as well.
  return !mistakes.some((code) => ambiguous.has(code)) && tags.every(isSafeTag) && comments.every(isSafeHtml);
}

/** Reports whether nothing in the HTML is known to act; elements and attributes that browsers do not know are harmless here. */
export function isInertHtml(html: string): boolean {
  if (!html.includes("<")) return true;
  const { tags, comments, mistakes } = read(html);
  // Browsers take the first of two attributes with one name, and the tokenizer leaves the second out; a renderer may take it.
  return !mistakes.includes(repeated) && tags.every(isInertTag) && comments.every(isInertHtml);
}

interface Contents {
  readonly tags: readonly Token.TagToken[];
  readonly comments: readonly string[];
  readonly mistakes: readonly string[];
}

/**
 * Reads HTML as browsers do (HTML §13.2.5), wherever it stands: in a document, a table, a frame set. What stands before a tag can
 * change how it is read, or whether it counts, by an element that is not allowed. That element is then found first.
 */
function read(html: string): Contents {
  const found = { tags: [] as Token.TagToken[], comments: [] as string[], mistakes: [] as string[] };
  const ignore = () => {};
  const handler: TokenHandler = {
    onStartTag: (tag) => found.tags.push(tag),
    onComment: ({ data }) => found.comments.push(data),
    onParseError: ({ code }) => found.mistakes.push(code),
    onDoctype: () => found.mistakes.push("incorrectly-opened-comment"),
    onEndTag: ignore,
    onEof: ignore,
    onCharacter: ignore,
    onNullCharacter: ignore,
    onWhitespaceCharacter: ignore,
  };
  new Tokenizer({}, handler).write(html, true);
  return found;
}

function isSafeTag({ tagName, attrs }: Token.TagToken): boolean {
  if (!elements.has(tagName)) return false;
  if (tagName === "input" && !isTaskBox(attrs)) return false;
  return attrs.every(({ name, value }) => {
    const rule = ruleIn(attributesOf[tagName], name) ?? ruleIn(everywhere, name);
    // Renderers disagree about where an attribute ends, too.
    return rule?.(value) && isSafeHtml(value);
  });
}

function isInertTag({ tagName, attrs }: Token.TagToken): boolean {
  if (active.has(tagName)) return false;
  if (tagName === "input" && !isTaskBox(attrs)) return false;
  return attrs.every(({ name, value }) => ruleIn(attributesOf[tagName], name)?.(value) ?? !activeAttribute.test(name));
}

function ruleIn(rules: AttributeRules | undefined, attribute: string): ValueRule | undefined {
  return rules && Object.hasOwn(rules, attribute) ? rules[attribute] : undefined;
}

function isTaskBox(attrs: Token.TagToken["attrs"]): boolean {
  return ["type", "disabled"].every((name) => attrs.some((each) => each.name === name));
}

function isOneOf(...values: readonly string[]): ValueRule {
  return (value) =>
    value
      .toLowerCase()
      .split(/[\t\n\f\r ]+/)
      .every((word) => values.includes(word));
}

/** Returns whether a style is the `text-align` of a table's cell. */
function isAlignment(style: string): boolean {
  return /^text-align: ?(?:left|right|center);?$/.test(style);
}

/** Whether an address is relative to its page or of a known scheme, found as browsers find it (WHATWG URL §4.4). */
export function isSafeUrl(value: string): boolean {
  const url = value.replace(/^[\0- ]+/, "").replace(/[\t\n\r]/g, "");
  const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(url)?.[1];
  if (scheme !== undefined) return schemes.includes(scheme.toLowerCase());
  // Without a scheme, two slashes of either kind lead to another host.
  return !/^[/\\]{2}/.test(url);
}

/** Whether each address of a `srcset` is safe; its other words are sizes, which have no scheme. */
export function isSafeUrlList(value: string): boolean {
  return value.split(/[\t\n\f\r ,]+/).every(isSafeUrl);
}
