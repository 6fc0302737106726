// Documents for tests: SBOMs in all formats and envelopes.

/** The digest of the image that the documents are about. */
export const imageDigest = `sha256:${"a".repeat(64)}`;

const library = (name: string, purl?: string) => ({ type: "library", name, ...(purl !== undefined && { purl }) });

/** Returns a CycloneDX document with components. */
export function cycloneDx(purls: readonly (string | undefined)[], changes: object = {}): object {
  const components = purls.map((purl, i) => library(`part-${i}`, purl));
  const tools = { components: [{ type: "application", name: "syft", version: "1.18.0" }] };
  return { bomFormat: "CycloneDX", specVersion: "1.6", version: 1, metadata: { tools }, components, ...changes };
}

/** Returns an SPDX document with packages. */
export function spdx(purls: readonly (string | undefined)[], changes: object = {}): object {
  const packages = purls.map((purl, i) => ({
    SPDXID: `SPDXRef-${i}`,
    name: `part-${i}`,
    ...(purl !== undefined && {
      externalRefs: [{ referenceCategory: "PACKAGE-MANAGER", referenceType: "purl", referenceLocator: purl }],
    }),
  }));
  const creationInfo = { created: "2026-11-01T00:00:00Z", creators: ["Organization: x", "Tool: syft-1.18.0"] };
  return { spdxVersion: "SPDX-2.3", SPDXID: "SPDXRef-DOCUMENT", name: "image", creationInfo, packages, ...changes };
}

/** Returns an in-toto statement about an image. */
export function statement(
  predicate: unknown,
  predicateType = "https://spdx.dev/Document",
  digest = imageDigest,
): object {
  const subject = [{ name: "registry.example/shop", digest: { sha256: digest.slice("sha256:".length) } }];
  return { _type: "https://in-toto.io/Statement/v1", subject, predicateType, predicate };
}

/** Returns the DSSE envelope of a statement. */
export function dsse(value: unknown): object {
  const payload = Buffer.from(JSON.stringify(value)).toString("base64");
  return { payloadType: "application/vnd.in-toto+json", payload, signatures: [{ sig: "c2ln" }] };
}

/** Returns the Sigstore bundle of a statement. */
export function bundle(value: unknown): object {
  return { mediaType: "application/vnd.dev.sigstore.bundle.v0.3+json", dsseEnvelope: dsse(value) };
}

/** Returns the bytes of a document. */
export function bytesOf(document: unknown): Buffer {
  return Buffer.from(typeof document === "string" ? document : JSON.stringify(document));
}
