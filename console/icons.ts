// The icons of the console: the shapes of the named Octicons in one module, without the markup around them.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import type { Plugin } from "vite";
import { iconNames } from "./src/shell/icon-names.ts";

const file = "virtual:icons";
const folder = path.join(
  path.dirname(createRequire(import.meta.url).resolve("@primer/octicons/package.json")),
  "build/svg",
);

/** Returns the plugin that makes the module `virtual:icons`: the path of each icon in a box of 16 by 16, by its name. */
export function icons(): Plugin {
  return {
    name: "icons",
    resolveId: (id) => (id === file ? file : null),
    load(id) {
      if (id !== file) return null;
      return `export default ${JSON.stringify(Object.fromEntries(iconNames.map((name) => [name, shapeOf(name)])))}`;
    },
  };
}

/** Returns the path of an icon. One with a part that is not a path would be drawn without it. */
function shapeOf(name: string): string {
  const markup = readFileSync(path.join(folder, `${name}-16.svg`), "utf8");
  const shapes = [...markup.matchAll(/<path d="([^"]+)"/g)].map(([, shape]) => shape);
  const others = markup.replace(/<\/?svg[^>]*>|<path d="[^"]+"\s*(?:\/>|><\/path>)/g, "");
  if (shapes.length === 0 || others !== "") throw new Error(`the icon ${name} has more than paths: ${others}`);
  return shapes.join("");
}
