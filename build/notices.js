// The licences of the packages whose code is in the program.
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";

/** Returns the names, versions and licence texts of the packages that the modules belong to, in the order of their names. */
export function noticesOf(modules) {
  const packages = new Map();
  for (const folder of new Set(modules.map(folderOf))) {
    if (folder === undefined) continue;
    const { name, version, license } = JSON.parse(readFileSync(path.join(folder, "package.json"), "utf8"));
    packages.set(`${name} ${version}`, { license: textOf(license), texts: licenceTexts(folder) });
  }
  const names = [...packages.keys()].sort();
  const sections = names.map((name) => {
    const { license, texts } = packages.get(name);
    return [`${name} (${license})`, ...texts].join("\n\n");
  });
  return `${sections.join(`\n\n${"-".repeat(80)}\n\n`)}\n`;
}

/** Returns the folder of a module's package, undefined for modules of this repository and of the bundler. */
function folderOf(module) {
  return /^\0?(.*[\\/]node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+)[\\/]/.exec(module)?.[1];
}

function textOf(license) {
  return (typeof license === "string" ? license : license?.type) ?? "see below";
}

function licenceTexts(folder) {
  const names = readdirSync(folder).filter(
    (name) => /^(licen[cs]e|notice|copying)/i.test(name) && !/\.[jt]s$/.test(name),
  );
  return names.sort().map((name) => readFileSync(path.join(folder, name), "utf8").trim());
}
