// Reads an SBOM: CycloneDX or SPDX, bare, in an in-toto statement, in a DSSE envelope or in a Sigstore bundle.
import { isUtf8 } from "node:buffer";
import { hash } from "node:crypto";
import { constants, gunzipSync, zstdCompressSync, zstdDecompressSync } from "node:zlib";
import { BadDocument } from "../advisories/document.ts";
import { attestationIn } from "../advisories/openvex/attestation.ts";
import { clip } from "../base/clip.ts";
import { isJsonObject, type JsonObject } from "../base/json.ts";
import { cycloneDxMembers, isCycloneDx, readCycloneDx } from "./cyclonedx.ts";
import { sbomLimits } from "./limits.ts";
import type { Sbom } from "./sbom.ts";
import { parseSparsely } from "./sparse-json.ts";
import { isSpdx, readSpdx, spdxMembers } from "./spdx.ts";

/** The compression of a document. */
export type Compression = "" | "gzip" | "zstd";

/** A document to read. */
export interface SbomDocument {
  readonly bytes: Uint8Array;
  readonly compression: Compression;
  /** The digest of the image. A statement must name it. */
  readonly digest: string;
  /** Whether the document is to be stored, and returned for that. */
  readonly isStored: boolean;
}

/** A document that was read. */
export interface ReadDocument {
  /** Undefined for a statement that is about something else, such as provenance. */
  readonly sbom: Sbom | undefined;
  /** The digest and the size of the document without compression. */
  readonly digest: string;
  readonly size: number;
  /** The document, compressed with zstd; empty unless it is to be stored. */
  readonly stored: Uint8Array;
}

/** Reads a document. Throws BadDocument if it is not an SBOM that can be read. */
export function readDocument(document: SbomDocument): ReadDocument {
  const bytes = decompressed(document.bytes, document.compression);
  const stored = document.isStored ? zstdCompressSync(bytes) : new Uint8Array();
  const read = { digest: `sha256:${hash("sha256", bytes)}`, size: bytes.length, stored };
  if (!isUtf8(bytes)) throw new BadDocument("is not UTF-8");
  return { sbom: readSbom(bytes, document.digest), ...read };
}

/** Predicates of in-toto statements that are SBOMs: https://github.com/in-toto/attestation/tree/main/spec/predicates. */
const sbomPredicates = /^https:\/\/(?:spdx\.dev\/Document|cyclonedx\.org\/(?:bom|specification\/overview))(?:\/|$)/;

function readSbom(bytes: Buffer, digest: string): Sbom | undefined {
  const document = parse(bytes);
  const attestation = attestationIn(document, parseBytes);
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

function decompressed({ buffer, byteOffset, byteLength }: Uint8Array, compression: Compression): Buffer {
  const bytes = Buffer.from(buffer, byteOffset, byteLength);
  const most = sbomLimits.documentBytes;
  const tooLarge = () => new BadDocument(`is larger than ${most / 1024 / 1024} MiB`);
  if (compression === "" && bytes.length > most) throw tooLarge();
  if (compression === "") return bytes;
  try {
    return compression === "gzip"
      ? gunzipSync(bytes, { maxOutputLength: most })
      : zstdDecompressSync(bytes, { maxOutputLength: most, params: { [constants.ZSTD_d_windowLogMax]: 25 } });
  } catch (error) {
    if ((error as { code?: unknown }).code === "ERR_BUFFER_TOO_LARGE") throw tooLarge();
    throw new BadDocument(`is not compressed with ${compression}`);
  }
}

function parse(bytes: Buffer): JsonObject {
  const value = parseBytes(bytes);
  if (!isJsonObject(value)) throw new BadDocument("must be a JSON object");
  return value;
}

/** The members of envelopes and statements that are read. */
const envelopeMembers = "payloadType payload dsseEnvelope _type predicateType predicate subject digest sha256".split(
  " ",
);

const members: ReadonlySet<string> = new Set(envelopeMembers.concat(cycloneDxMembers, spdxMembers));

/** A list with more items than a document may have packages would be made for nothing. */
const parsingLimits = { ...sbomLimits, items: sbomLimits.packages };

function parseBytes(bytes: Buffer): unknown {
  try {
    return parseSparsely(bytes, members, parsingLimits);
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
