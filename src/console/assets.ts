// The files of the console, in memory: a later build does not change what a running server has.
import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { hasCode } from "../base/system-error.ts";
import type { Forms } from "../transport/pages/compressed-forms.ts";

/** A file with its compressed forms. */
export interface Asset extends Forms {
  readonly contentType: string;
  /** Whether the name contains a digest of the content. */
  readonly isHashed: boolean;
  /** The digest of the content. */
  readonly digest: string;
}

/** The files by their path below the folder. */
export type Assets = ReadonlyMap<string, Asset>;

const contentTypes: Readonly<Record<string, string>> = {
  ".css": "text/css; charset=utf-8",
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".json": "application/json",
  ".png": "image/png",
  ".svg": "image/svg+xml",
  ".woff2": "font/woff2",
};

/** Reads the files of a folder, without those below `except`. Returns undefined if the folder does not exist. */
export async function readAssets(folder: string, except?: string): Promise<Assets | undefined> {
  try {
    const names = await readdir(folder, { recursive: true });
    const isExcepted = (name: string) => except !== undefined && name.startsWith(except);
    const known = names.filter((name) => contentTypes[path.extname(name)] !== undefined && !isExcepted(name));
    const forms = new Set(names);
    const entries = known.map(
      async (name): Promise<[string, Asset]> => [name.replaceAll("\\", "/"), await readAsset(folder, name, forms)],
    );
    return new Map(await Promise.all(entries));
  } catch (error) {
    if (hasCode(error, "ENOENT")) return undefined;
    throw error;
  }
}

async function readAsset(folder: string, name: string, forms: ReadonlySet<string>): Promise<Asset> {
  const read = (suffix: string) => readFile(path.join(folder, name + suffix));
  const plain = await read("");
  return {
    contentType: contentTypes[path.extname(name)]!,
    isHashed: name.startsWith("assets"),
    digest: createHash("sha256").update(plain).digest("base64url"),
    plain,
    ...(forms.has(`${name}.br`) && { br: await read(".br") }),
    ...(forms.has(`${name}.gz`) && { gzip: await read(".gz") }),
  };
}
