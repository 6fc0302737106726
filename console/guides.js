// Renders the pages of `docs/` as pages of the server, below /docs/ (docs/decisions/0075). Their frame is guide.html, as Vite built it.
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import markdownIt from "markdown-it";

const docs = path.resolve(import.meta.dirname, "../docs");
const home = "README.md";
const markdown = markdownIt({ html: false });

/** Writes the guides into `docs/` of the folder with the built console. */
export function buildGuides(outDir) {
  const frameFile = path.join(outDir, "guide.html");
  const frame = readFileSync(frameFile, "utf8");
  rmSync(frameFile);
  const files = readdirSync(docs, { recursive: true }).map((name) => name.replaceAll("\\", "/"));
  const sections = sectionsOf(home);
  const images = new Set();
  const index = [];
  for (const file of files.filter((name) => name.endsWith(".md"))) {
    const { title, html, headings } = renderGuide(file, images);
    // Records of decisions are history: who looks for how to do something is not helped by them.
    if (!file.startsWith("decisions/")) index.push(...passagesOf(file, title));
    const page = fill(frame, {
      title: escapeHtml(title),
      navigation: navigation(sections, file),
      content: html + neighbours(sections, file),
      toc: contents(headings),
    });
    const target = path.join(outDir, "docs", file.replace(/README\.md$/, "index.md").replace(/\.md$/, ".html"));
    mkdirSync(path.dirname(target), { recursive: true });
    writeFileSync(target, page);
  }
  writeFileSync(path.join(outDir, "docs", "search.json"), JSON.stringify(index));
  for (const image of images)
    if (existsSync(path.join(docs, image))) cpSync(path.join(docs, image), path.join(outDir, "docs", image));
}

function parse(file) {
  return markdown.parse(readFileSync(path.join(docs, file), "utf8"), {});
}

/** Returns the headings of a page with the guides that it links to below them: the navigation of all pages. */
function sectionsOf(file) {
  const sections = [];
  for (const token of parse(file)) {
    if (token.type === "heading_open" && token.tag === "h2") sections.push({ title: "", links: [] });
    if (token.type !== "inline" || sections.length === 0) continue;
    const section = sections.at(-1);
    if (section.title === "") section.title = token.content;
    else section.links.push(...linksOf(token, file));
  }
  return sections;
}

/** Returns the links of a text to other guides. */
function linksOf({ children }, file) {
  return children.flatMap((child, i) => {
    const target = child.type === "link_open" && targetOf(child.attrGet("href"), file);
    return target?.isGuide ? [{ file: target.file, title: children[i + 1].content }] : [];
  });
}

/** Renders a page. Adds the images that it shows to `images`. */
function renderGuide(file, images) {
  const tokens = parse(file);
  const headings = [];
  const anchors = new Map();
  for (const [i, token] of tokens.entries()) {
    if (token.type === "heading_open") {
      const text = plainText(tokens[i + 1]);
      const anchor = anchorOf(text, anchors);
      token.attrSet("id", anchor);
      headings.push({ level: Number(token.tag.slice(1)), text, anchor });
    }
    // Wide tables and code scroll by themselves, also by keyboard.
    if (token.type === "fence") token.attrSet("tabindex", "0");
    if (token.type === "inline") relate(token, file, images);
  }
  const html = markdown.renderer
    .render(tokens, markdown.options, {})
    // A table without headings: axe-core, empty-table-header.
    .replaceAll("<th></th>", "<td></td>")
    .replaceAll("<table>", '<div class="scrolls" tabindex="0" role="group"><table>')
    .replaceAll("</table>", "</table></div>")
    .replaceAll(/<pre><code([^>]*) tabindex="0"/g, '<pre tabindex="0"><code$1');
  return { title: headings[0]?.text ?? file, html, headings };
}

/**
 * Returns the texts of a page below each of its headings, for the search of the guides: the address of the heading, the title of the
 * page, the heading, and the text without markup.
 */
function passagesOf(file, title) {
  const passages = [];
  const anchors = new Map();
  let isHeading = false;
  for (const token of parse(file)) {
    if (token.type === "heading_open") isHeading = true;
    else if (token.type === "inline" && isHeading) {
      isHeading = false;
      const heading = plainText(token);
      const anchor = anchorOf(heading, anchors);
      const address = passages.length === 0 ? addressOf(file) : `${addressOf(file)}#${anchor}`;
      passages.push({ address, title, heading, text: "" });
    } else if ((token.type === "inline" || token.type === "fence") && passages.length > 0) {
      const text = token.type === "fence" ? token.content : plainText(token);
      passages.at(-1).text += ` ${text.replaceAll(/\s+/g, " ").trim()}`;
    }
  }
  return passages;
}

/** Makes links and images of a page lead to where the server has their targets. Those of files that it does not have become texts. */
function relate({ children }, file, images) {
  let isText = false;
  for (const child of children) {
    if (child.type === "link_close" && isText) Object.assign(child, { type: "text", content: "" });
    if (child.type === "image" || child.type === "link_open") {
      const name = child.type === "image" ? "src" : "href";
      const target = targetOf(child.attrGet(name), file);
      if (child.type === "link_open") isText = target === undefined;
      if (target === undefined) Object.assign(child, { type: "text", content: "", children: null });
      else child.attrSet(name, target.address);
      if (target?.isImage) images.add(target.file);
    }
  }
}

/** Returns where the server has what a page links to; undefined if it does not have it. */
function targetOf(href, from) {
  if (/^[a-z]+:/.test(href) || href.startsWith("#")) return { address: href };
  const [name, anchor] = href.split("#");
  const file = path.posix.join(path.posix.dirname(from), name);
  if (file.startsWith("..") || !/\.(md|png|svg)$/.test(file)) return undefined;
  if (!file.endsWith(".md")) return { address: `/docs/${file}`, isImage: true, file };
  return { address: addressOf(file) + (anchor === undefined ? "" : `#${anchor}`), isGuide: true, file };
}

function addressOf(file) {
  return `/docs/${file.replace(/README\.md$/, "").replace(/\.md$/, "")}`;
}

function plainText({ children }) {
  return children.map(({ type, content }) => (type === "softbreak" ? " " : content)).join("");
}

/** Returns the anchor that GitHub gives to a heading, which links in the pages use. */
function anchorOf(text, taken) {
  const base = text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, "")
    .replaceAll(" ", "-");
  const count = taken.get(base) ?? 0;
  taken.set(base, count + 1);
  return count === 0 ? base : `${base}-${count}`;
}

function navigation(sections, current) {
  const item = ({ file, title }) =>
    `<li><a href="${addressOf(file)}"${file === current ? ' aria-current="page"' : ""}>${escapeHtml(title)}</a></li>`;
  const all = sections
    .map(({ title, links }) => `<h2>${escapeHtml(title)}</h2><ul>${links.map(item).join("")}</ul>`)
    .join("");
  return `<details class="all-guides"><summary>All guides</summary>${all}</details><div class="wide-only">${all}</div>`;
}

/** Links to the pages before and after a page, in the order of the navigation. */
function neighbours(sections, current) {
  const all = sections.flatMap(({ links }) => links);
  const at = all.findIndex(({ file }) => file === current);
  const link = (one, label) =>
    one ? `<a href="${addressOf(one.file)}"><span>${label}</span>${escapeHtml(one.title)}</a>` : "<span></span>";
  if (at < 0) return "";
  return `<nav class="neighbours" aria-label="Next guides">${link(all[at - 1], "Previous")}${link(all[at + 1], "Next")}</nav>`;
}

function contents(headings) {
  const shown = headings.filter(({ level }) => level === 2);
  if (shown.length < 2) return "";
  const items = shown.map(({ text, anchor }) => `<li><a href="#${anchor}">${escapeHtml(text)}</a></li>`);
  return `<h2>On this page</h2><ul>${items.join("")}</ul>`;
}

function fill(frame, values) {
  return frame.replaceAll(/\{\{(\w+)\}\}/g, (_match, name) => values[name]);
}

function escapeHtml(text) {
  return markdown.utils.escapeHtml(text);
}
