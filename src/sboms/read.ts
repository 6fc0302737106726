// Reads an SBOM: CycloneDX or SPDX, bare, in an in-toto statement, in a DSSE envelope or in a Sigstore bundle.
import { createHash } from "node:crypto";
import { BadDocument } from "../advisories/document.ts";
import { attestationIn } from "../advisories/openvex/attestation.ts";
import { clip } from "../base/clip.ts";
import { isJsonObject, type JsonObject } from "../base/json.ts";
import { cycloneDxMembers, isCycloneDx, readCycloneDx } from "./cyclonedx.ts";
import { sbomLimits } from "./limits.ts";
import type { Sbom } from "./sbom.ts";
import { type NextBytes, parseSparsely, type SparseMembers } from "./sparse-json.ts";
import { isSpdx, readSpdx, spdxMembers } from "./spdx.ts";

/** A document that was read. */
export interface ReadDocument {
  /** Undefined for a statement that is about something else, such as provenance. */
  readonly sbom: Sbom | undefined;
  /** The digest of the document. */
  readonly digest: string;
  /** Its size in bytes. */
  readonly size: number;
}

/**
 * Reads a document about the image with a digest, which a statement must name. Throws BadDocument if it is not an SBOM that can be read. Only
 * the part that `next` returned last is in memory.
 */
export function readDocument(image: string, next: NextBytes): ReadDocument {
  const checked = new CheckedBytes(next);
  const sbom = readSbom(() => checked.next(), image);
  return { sbom, ...checked.found() };
}

/** Bytes of a document, which are counted and checked as they come. */
class CheckedBytes {
  readonly #next: NextBytes;
  readonly #hash = createHash("sha256");
  // A byte order mark would be skipped, and one that is cut in two parts rejected.
  readonly #decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  #size = 0;

  constructor(next: NextBytes) {
    this.#next = next;
  }

  /** Returns the next bytes. Throws a BadDocument if there are too many, or if they are not UTF-8. */
  next(): Buffer | undefined {
    const bytes = this.#next();
    this.#size += bytes?.length ?? 0;
    const most = sbomLimits.documentBytes;
    if (this.#size > most) throw new BadDocument(`is larger than ${most / 1024 / 1024} MiB`);
    if (bytes) this.#hash.update(bytes);
    try {
      this.#decoder.decode(bytes, { stream: bytes !== undefined });
    } catch {
      throw new BadDocument("is not UTF-8");
    }
    return bytes;
  }

  /** Returns the digest and the size of all bytes. */
  found(): { readonly digest: string; readonly size: number } {
    return { digest: `sha256:${this.#hash.digest("hex")}`, size: this.#size };
  }
}

/** Predicates of in-toto statements that are SBOMs: https://github.com/in-toto/attestation/tree/main/spec/predicates. */
const sbomPredicates = /^https:\/\/(?:spdx\.dev\/Document|cyclonedx\.org\/(?:bom|specification\/overview))(?:\/|$)/;

function readSbom(next: NextBytes, digest: string): Sbom | undefined {
  const document = parse(next);
  if (!isJsonObject(document)) throw new BadDocument("must be a JSON object");
  const attestation = attestationIn(document, (payload) => payload);
  if (!attestation) {
    if (isEnvelope(document)) throw new BadDocument("is an envelope without an in-toto statement");
    return { ...readBare(document), isSigned: false };
  }
  if (typeof attestation.predicateType !== "string" || !sbomPredicates.test(attestation.predicateType))
    return undefined;
  requireSubject(attestation, digest);
  if (!isJsonObject(attestation.predicate)) throw new BadDocument("has a predicate that is not an object");
  return { ...readBare(attestation.predicate), isSigned: attestation !== document };
}

/** The members of envelopes and statements that are read. */
const envelopeMembers = "payloadType payload dsseEnvelope _type predicateType predicate subject digest sha256".split(
  " ",
);

const members: SparseMembers = {
  kept: new Set(envelopeMembers.concat(cycloneDxMembers, spdxMembers)),
  embedded: new Set(["payload"]),
};

/** A list with more items than a document may have packages would be made for nothing. */
const parsingLimits = { ...sbomLimits, items: sbomLimits.packages };

function parse(next: NextBytes): unknown {
  try {
    return parseSparsely(next, members, parsingLimits);
  } catch (error) {
    throw error instanceof SyntaxError ? new BadDocument("is not JSON") : error;
  }
}

function isEnvelope(document: JsonObject): boolean {
  return "payloadType" in document || "dsseEnvelope" in document;
}

function readBare(document: JsonObject): Omit<Sbom, "isSigned"> {
  const read = isCycloneDx(document) ? readCycloneDx : isSpdx(document) ? readSpdx : undefined;
  if (!read) throw new BadDocument("is neither CycloneDX nor SPDX");
  const found = read(document);
  return { ...found, tool: clip(found.tool.replace(/\p{Cc}/gu, " "), sbomLimits.nameLength) };
}

function requireSubject({ subject }: JsonObject, digest: string): void {
  const subjects: readonly unknown[] = Array.isArray(subject) ? subject : [];
  const isNamed = subjects.some(
    (each) => isJsonObject(each) && isJsonObject(each.digest) && `sha256:${String(each.digest.sha256)}` === digest,
  );
  if (!isNamed) throw new BadDocument("is a statement about something else than the image");
}
