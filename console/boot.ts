// The first picture of the console: a frame in index.html, with a sheet of its own that is a twentieth of the other one. That one moves to
// the end of the body: in the head it would keep the page white until it is there.
import { readFileSync } from "node:fs";
import type { Plugin } from "vite";

const source = (name: string) => readFileSync(new URL(`src/${name}`, import.meta.url), "utf8");

/** Makes the sheet of the frame, and links both sheets in index.html. */
export function boot(): Plugin {
  return {
    name: "boot",
    apply: "build",
    buildStart() {
      this.emitFile({ type: "asset", name: "boot.css", source: bootSheet() });
    },
    transformIndexHtml: {
      order: "post",
      handler(html, { filename, bundle }) {
        const sheet = Object.keys(bundle ?? {}).find((file) => /\/boot-[\w-]+\.css$/.test(file));
        if (!filename.endsWith("/index.html") || sheet === undefined) return html;
        const links = html.match(/ *<link rel="stylesheet".*\n/g) ?? [];
        return links
          .reduce((rest, link) => rest.replace(link, ""), html)
          .replace("<title>", `<link rel="stylesheet" href="/console/${sheet}" />\n    <title>`)
          .replace("  </body>", `${links.join("")}  </body>`);
      },
    },
  };
}

/** Returns the sheet, with the colours that it uses and without spaces that nobody reads. */
function bootSheet(): string {
  const frame = source("boot.css");
  const used = new Set(frame.match(/--[\w-]+/g));
  const colors = source("tokens.css").replace(/\s*(--[\w-]+):[^;]*;/g, (line, name) => (used.has(name) ? line : ""));
  return `${colors}${frame}`
    .replace(/\/\*[\s\S]*?\*\//g, "")
    .replace(/\s*([{};:,])\s+/g, "$1")
    .trim();
}
