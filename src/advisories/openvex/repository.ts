// Writes a VEX repository (https://github.com/aquasecurity/vex-repo-spec, 0.1): a document for each package, and an index of them.
import { hash } from "node:crypto";
import type { TarEntry } from "../../base/tar-writer.ts";
import { type Purl, readPurl, writePurl } from "../purl.ts";
import { timeText } from "../times.ts";
import type { Losses, WriteOptions } from "../writing.ts";
import { type AdvisoriesByPackage, groupByPackage, type PackageSource } from "./by-package.ts";
import { writeOpenvex } from "./write.ts";

/** The limits of a repository. */
export interface RepositoryLimits {
  readonly repositoryAdvisories: number;
  /** The size of a document. */
  readonly vexDocumentBytes: number;
  /** The advisories of a document that are on the same vulnerability as another one. */
  readonly vexDocumentAdvisories: number;
}

/** Yields the files of a repository: the documents, and at last `index.json`, which names those that were written. */
export async function* repositoryFiles(
  source: PackageSource,
  options: Omit<WriteOptions, "onKept">,
  limits: RepositoryLimits,
  losses: Losses,
): AsyncGenerator<TarEntry> {
  const all = await groupByPackage(source, (product) => packageIdOf(product, losses), limits.repositoryAdvisories);
  const written: string[] = [];
  let indexBytes = 0;
  for (const each of all.packages()) {
    const text = await documentOf(each, options, limits, losses);
    if (text === undefined) continue;
    indexBytes += Buffer.byteLength(indexEntry(each.id, written.length === 0));
    written.push(each.id);
    const content = Buffer.from(text);
    yield { name: locationOf(each.id), size: content.length, content: [content] };
  }
  const [head, tail] = [`{\n  "updated_at": ${JSON.stringify(timeText(options.time))},\n  "packages": [`, "\n  ]\n}\n"];
  yield { name: "index.json", size: head.length + indexBytes + tail.length, content: indexParts(head, written, tail) };
}

/**
 * Returns the package URL by which clients find the document of a product: without version, qualifiers and subpath, and of images with the
 * `repository_url` (§3.2). Undefined if the product has none.
 */
function packageIdOf(product: string, losses: Losses): string | undefined {
  const purl = readPurl(product);
  if (!purl) {
    losses.add("an advisory on a product without a package URL", product);
    return undefined;
  }
  const repository = purl.type === "oci" ? purl.qualifiers.get("repository_url") : undefined;
  if (purl.type === "oci" && repository === undefined) {
    losses.add("an advisory on an image without a repository_url", product);
    return undefined;
  }
  const qualifiers = new Map(repository === undefined ? [] : [["repository_url", repository]]);
  return writePurl({ ...purl, ...nameOf(purl), version: "", subpath: "", qualifiers });
}

/** Returns namespace and name. Those of Go are in lower case by the specification of package URLs, and sources write both. */
function nameOf({ type, namespace, name }: Purl): Pick<Purl, "namespace" | "name"> {
  if (type !== "golang") return { namespace, name };
  return { namespace: namespace.toLowerCase(), name: name.toLowerCase() };
}

/** The end of a document without statements. */
const noStatements = `"statements": []\n}\n`;

/** Ends the writing of a document. */
class TooLarge extends Error {}

/** Returns the document of a package; undefined if it has no statements, or if it is too large. */
async function documentOf(
  { id, advisories }: AdvisoriesByPackage,
  options: Omit<WriteOptions, "onKept">,
  { vexDocumentBytes, vexDocumentAdvisories }: RepositoryLimits,
  losses: Losses,
): Promise<string | undefined> {
  const [addBytes, addKept] = [newMeter(vexDocumentBytes), newMeter(vexDocumentAdvisories)];
  const documentOptions = { ...options, id: `${options.id} ${id}`, onKept: () => addKept(1) };
  let text = "";
  try {
    for await (const part of writeOpenvex(advisories, documentOptions, losses)) {
      addBytes(Buffer.byteLength(part));
      text += part;
    }
  } catch (error) {
    if (!(error instanceof TooLarge)) throw error;
    losses.add(`the document of ${id}, which is too large`, id);
    return undefined;
  }
  return text.endsWith(noStatements) ? undefined : text;
}

/** Returns a function that adds numbers, and throws TooLarge once the sum is above a limit. */
function newMeter(most: number): (count: number) => void {
  let sum = 0;
  return (count) => {
    sum += count;
    if (sum > most) throw new TooLarge();
  };
}

/**
 * Returns the path of a document, such as `pkg/npm/lodash-0a1b…/vex.json`. The digest tells names apart that a file system would not, such as
 * those that differ in their case only.
 */
function locationOf(id: string): string {
  const { type, name } = readPurl(id)!;
  return `pkg/${clean(type, 20)}/${clean(name, 30)}-${hash("sha256", id).slice(0, 32)}/vex.json`;
}

function clean(text: string, length: number): string {
  return text
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .slice(0, length);
}

function indexEntry(id: string, isFirst: boolean): string {
  return `${isFirst ? "" : ","}\n    ${JSON.stringify({ id, location: locationOf(id), format: "openvex" })}`;
}

/** The entries of the index that are written at once. */
const portion = 500;

function* indexParts(head: string, ids: readonly string[], tail: string): Generator<Buffer> {
  yield Buffer.from(head);
  for (let i = 0; i < ids.length; i += portion) {
    const entries = ids.slice(i, i + portion).map((id, j) => indexEntry(id, i + j === 0));
    yield Buffer.from(entries.join(""));
  }
  yield Buffer.from(tail);
}
