// In-toto attestations that hold an OpenVEX document (https://github.com/in-toto/attestation/tree/main/spec/v1).
import { isJsonObject, type JsonObject, parseExactly } from "../../base/json.ts";

/**
 * Returns the predicate of an attestation (in a DSSE envelope, in a Sigstore bundle, or bare), and any other document unchanged.
 * Signatures are not verified. OpenVEX statements without products get the subjects of the attestation.
 */
export function unwrap(document: unknown): unknown {
  const attestation = attestationIn(document);
  if (!attestation) return document;
  const { predicate, subject } = attestation;
  const products = Array.isArray(subject) ? subject.flatMap(productOf) : [];
  if (!isJsonObject(predicate) || !Array.isArray(predicate.statements) || products.length === 0) return predicate;
  const inherit = (statement: unknown) =>
    isJsonObject(statement) && statement.products === undefined ? { ...statement, products } : statement;
  return { ...predicate, statements: predicate.statements.map(inherit) };
}

/** Returns the attestation that a document is or holds; undefined for none. `parse` parses the payload of an envelope. */
export function attestationIn(
  document: unknown,
  parse: (payload: unknown) => unknown = parsePayload,
): JsonObject | undefined {
  if (!isJsonObject(document)) return undefined;
  if (typeof document._type === "string" && "predicateType" in document) return document;
  const envelope = isJsonObject(document.dsseEnvelope) ? document.dsseEnvelope : document;
  const { payloadType, payload } = envelope;
  if (payloadType !== "application/vnd.in-toto+json") return undefined;
  const found = parse(payload);
  return isJsonObject(found) && typeof found._type === "string" ? found : undefined;
}

function parsePayload(payload: unknown): unknown {
  if (typeof payload !== "string") return undefined;
  try {
    return parseExactly(Buffer.from(payload, "base64").toString("utf8"));
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Returns the subject of an attestation as a product. Only the author of the attestation understands a name that is not an IRI. */
function productOf(subject: unknown): JsonObject[] {
  if (!isJsonObject(subject)) return [];
  const { name, digest } = subject;
  const hashes = isJsonObject(digest) ? Object.entries(digest).map(([kind, hash]) => [hashName(kind), hash]) : [];
  const id = typeof name === "string" && URL.canParse(name) ? { "@id": name } : {};
  const product = { ...id, ...(hashes.length > 0 ? { hashes: Object.fromEntries(hashes) } : {}) };
  return Object.keys(product).length > 0 ? [product] : [];
}

/** Returns the name of a hash in OpenVEX: `sha256` of in-toto is `sha-256`, `sha3_256` is `sha3-256`. */
function hashName(kind: string): string {
  return kind.replace(/^sha(?=256|384|512)/, "sha-").replace("_", "-");
}
