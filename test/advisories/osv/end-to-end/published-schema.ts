// The JSON Schema that OSV publishes, from the Go module proxy. It is nobody's here to copy: it is fetched once, and kept
// in a folder that git ignores.
import { hash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import path from "node:path";
import { buffer } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { fromBufferPromise } from "yauzl";
import { schemaVersion } from "../../../../src/advisories/osv/names.ts";

const sha256 = "cdb8292f72945cfdf06d3e044280d7c0867105a3a1ae6d4547c983eba20810a2";
const source = `https://proxy.golang.org/github.com/ossf/osv-schema/@v/v${schemaVersion}.zip`;
const member = `github.com/ossf/osv-schema@v${schemaVersion}/validation/schema.json`;
const cached = fileURLToPath(new URL(`../../../../.cache/osv-schema-${schemaVersion}.json`, import.meta.url));

const patienceMs = 30_000;
/** The archive has some 300 kB. */
const largest = 4 * 2 ** 20;

/** Returns the schema of the version that records are written by. Throws a sentence when it cannot be had, or is another one. */
export async function publishedSchema(): Promise<Record<string, unknown>> {
  const known = existsSync(cached) ? readFileSync(cached) : undefined;
  const content = known && isGenuine(known) ? known : await download();
  if (!isGenuine(content)) throw new Error(`${member} of ${source} is not the file that was pinned by its SHA-256`);
  if (content !== known) keep(content);
  return JSON.parse(content.toString("utf8"));
}

function isGenuine(content: Buffer): boolean {
  return hash("sha256", content) === sha256;
}

/** Another run sees the whole file or none. */
function keep(content: Buffer): void {
  mkdirSync(path.dirname(cached), { recursive: true });
  writeFileSync(`${cached}.${process.pid}`, content);
  renameSync(`${cached}.${process.pid}`, cached);
}

async function download(): Promise<Buffer> {
  try {
    return await unzip(await fetchAll());
  } catch (error) {
    const { message, cause } = error as Error;
    const reason = cause instanceof Error ? `${message}: ${cause.message}` : message;
    throw new Error(`the schema of OSV could not be fetched, which takes a network once: ${source}: ${reason}`);
  }
}

async function fetchAll(): Promise<Buffer> {
  const reply = await fetch(source, { signal: AbortSignal.timeout(patienceMs) });
  if (!reply.ok || !reply.body) throw new Error(`the proxy answers ${reply.status}`);
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of reply.body) {
    size += chunk.length;
    if (size > largest) throw new Error(`it is larger than ${largest} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

async function unzip(archive: Buffer): Promise<Buffer> {
  const zip = await fromBufferPromise(archive, { validateEntrySizes: true });
  for await (const entry of zip.eachEntry()) {
    if (entry.fileName !== member) continue;
    if (entry.uncompressedSize > largest) throw new Error(`${member} is larger than ${largest} bytes`);
    return await buffer(await zip.openReadStreamPromise(entry));
  }
  throw new Error(`it has no ${member}`);
}
