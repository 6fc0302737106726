// Checks whether Markdown is safe to show to people other than its author (security case F10, decision 0043).
import MarkdownIt, { type Options } from "markdown-it";
import footnotes from "markdown-it-footnote";
import { isInertHtml, isSafeHtml, isSafeUrl } from "./safe-html.ts";

// markdown-it drops what is nested deeper than this, but other renderers show it.
const options: Options & { maxNesting: number } = { html: true, maxNesting: Number.POSITIVE_INFINITY };

type Token = ReturnType<MarkdownIt["parse"]>[number];

/**
 * Renderers that follow a specification. Plain CommonMark shows the surplus cells of a table row, which GitHub's dialect drops. With
 * footnotes, text that CommonMark reads as the address of a link definition, or as code, is the text of a footnote.
 */
const strictRenderers = [newRenderer("default"), newRenderer("commonmark"), withFootnotes(newRenderer("default"))];

/**
 * Renderers that find HTML where others may find it: in link definitions, in code whose end depends on what stands around it, in text
 * that holds no complete tag, and in links.
 */
const looseRenderers = [
  withLessCode(newRenderer("default")),
  withoutEscaping(withLessCode(newRenderer("default"))),
  withoutLinks(withoutEscaping(withLessCode(newRenderer("default")))),
];

/** Reports whether no part of the text can act on its readers, in any common Markdown renderer that lets HTML through. */
export function isSafeMarkdown(text: string): boolean {
  try {
    return isSafeInStrict(text) && isInertInLoose(text);
  } catch (error) {
    // Nested deeper than the stack: no text for people.
    if (error instanceof RangeError) return false;
    throw error;
  }
}

function isSafeInStrict(text: string): boolean {
  const found: { references?: Readonly<Record<string, { readonly href: string }>> } = {};
  const rendered = new Set(strictRenderers.map((renderer) => renderer.render(text, found)));
  // Renderers disagree about which links refer to a definition, so every definition counts.
  const addresses = Object.values(found.references ?? {}).map(({ href }) => href);
  return addresses.every(isSafeUrl) && [...rendered].every(isSafeHtml);
}

function isInertInLoose(text: string): boolean {
  const plain = withPlainAddresses(text);
  const lines = plain.split(/\r\n?|\n/);
  return [...new Set(looseRenderers.map((renderer) => renderer.render(plain, { lines })))].every(isInertHtml);
}

function newRenderer(preset: "default" | "commonmark"): MarkdownIt {
  const renderer = new MarkdownIt(preset, options);
  // Links to unsafe addresses stay links, because the later check must find them.
  renderer.validateLink = () => true;
  return renderer;
}

/** Shows footnotes where they stand, including those that no text refers to. */
function withFootnotes(renderer: MarkdownIt): MarkdownIt {
  // The types of the plugin belong to an older version of markdown-it.
  renderer.use(footnotes as never);
  renderer.inline.ruler.disable(["footnote_inline", "footnote_ref"]);
  renderer.core.ruler.disable("footnote_tail");
  for (const name of ["footnote_reference_open", "footnote_reference_close"]) renderer.renderer.rules[name] = () => "";
  return renderer;
}

/** Reads no link definitions, and shows as Markdown what another renderer may not read as code. */
function withLessCode(renderer: MarkdownIt): MarkdownIt {
  const { rules } = renderer.renderer;
  const [block, inline] = [rules.code_block!, rules.code_inline!];
  renderer.block.ruler.disable("reference");
  rules.code_block = (tokens, i, settings, env, self) =>
    isCertainBlock(tokens[i]!, env.lines)
      ? block(tokens, i, settings, env, self)
      : renderer.render(tokens[i]!.content.replace(/^[ \t]+/gm, ""), { lines: [] });
  rules.code_inline = (tokens, i, settings, env, self) =>
    isCertainSpan(tokens[i]!, env.lines)
      ? inline(tokens, i, settings, env, self)
      : renderer.renderInline(tokens[i]!.content, { lines: [] });
  return renderer;
}

/** Renderers agree about code that is indented by spaces, outside of lists and quotations, after an empty line. */
function isCertainBlock({ level, map }: Token, lines: readonly string[]): boolean {
  return level === 0 && !lines[map![0] - 1]?.trim() && !lines[map![0]]?.includes("\t");
}

/** Renderers agree about code in one line, unless a table may split it into cells. */
function isCertainSpan({ content }: Token, lines: readonly string[]): boolean {
  if (!/[<\]]/.test(content)) return true;
  return !content.includes("|") && lines.some((line) => line.includes(content));
}

/** Leaves text as it is, except code and characters that the author escaped, which `text_join` would mix with the rest. */
function withoutEscaping(renderer: MarkdownIt): MarkdownIt {
  renderer.core.ruler.disable("text_join");
  renderer.renderer.rules.text_special = renderer.renderer.rules.text!;
  renderer.renderer.rules.text = (tokens, i) => tokens[i]!.content;
  return renderer;
}

function withoutLinks(renderer: MarkdownIt): MarkdownIt {
  renderer.inline.ruler.disable(["link", "image"]);
  return renderer;
}

/** GitHub's dialect makes links of bare addresses, whose backslashes and backticks then neither escape nor quote. */
function withPlainAddresses(text: string): string {
  return text.replace(/(?:www\.|:\/\/)[^\s<]*/gi, (address) => address.replace(/[\\`]/g, ""));
}
