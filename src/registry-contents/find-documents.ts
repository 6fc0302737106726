// Finds the documents about an image in a registry: referrers, attestations in its index, and tags named after its digest.
import type { FetchContent, RegistrySource } from "../registry-notifications/image.ts";
import { contentLimits } from "../services/registry/contents/limits.ts";
import { SbomSource } from "../storage/images/sboms.ts";
import { type Descriptor, fetchManifest, type Manifest, manifestsIn } from "./manifest.ts";

/** A document that may be an SBOM. */
export interface FoundDocument extends Pick<Descriptor, "digest" | "mediaType" | "size"> {
  /** A bit of `SbomSource`. */
  readonly source: number;
  /** Why it cannot count although it is there; empty if it may. */
  readonly problem: string;
}

/** The image whose documents are looked for. */
interface SoughtImage {
  readonly repository: string;
  readonly digest: string;
  /** The digests of the indexes that it belongs to. */
  readonly indexes: readonly string[];
}

/** Media types of SBOMs, and of envelopes that may have one. */
const documentTypes =
  /^(?:application\/(?:vnd\.cyclonedx\+json|spdx\+json|vnd\.in-toto\+json|vnd\.dsse\.envelope\.v1\+json|json)|text\/spdx\+json|application\/vnd\.dev\.sigstore\.bundle[\w.+-]*(?:;.*)?)$/;

/** Predicate types, by which a statement says what it is about. Provenance and scans need not be fetched. */
const sbomPredicate = /spdx|cyclonedx/i;

/** Finds the documents, each once for each place, 100 at most. */
export async function findDocuments(source: RegistrySource, image: SoughtImage): Promise<FoundDocument[]> {
  const found = new Map<string, FoundDocument>();
  const { content } = source;
  for (const search of [referrers(source, image), attestations(content, image), tagged(content, image)])
    for await (const document of search) {
      found.set(`${document.source} ${document.digest}`, document);
      if (found.size === contentLimits.sboms) return [...found.values()];
    }
  return [...found.values()];
}

async function* referrers(
  { content: fetch, referrers: fetchReferrers }: RegistrySource,
  { repository, digest }: SoughtImage,
): AsyncGenerator<FoundDocument> {
  const listed = await listReferrers(fetchReferrers(repository, digest));
  const descriptors = listed ?? (await fallbackReferrers(fetch, repository, digest));
  // The manifest of a referrer decides what it is about: an index of referrers may be anybody's, and its artifact types are hints only.
  for (const descriptor of descriptors.slice(0, contentLimits.sboms)) {
    if (descriptor.digest === digest) continue;
    const manifest = await fetchManifest(fetch, repository, descriptor.digest);
    if (!manifest) continue;
    const problem = manifest.subject === digest ? "" : "belongs to another image by its manifest";
    yield* documentsIn(manifest, SbomSource.referrer, problem);
  }
}

/** Returns the first manifests in the pages of an index; undefined without a page that is an index. */
async function listReferrers(pages: AsyncIterable<Buffer>): Promise<readonly Descriptor[] | undefined> {
  let listed: Descriptor[] | undefined;
  for await (const page of pages) {
    const manifests = manifestsIn(page);
    if (manifests) listed = [...(listed ?? []), ...manifests];
    if (!manifests || listed!.length >= contentLimits.sboms) break;
  }
  return listed;
}

/** A registry without the API has the referrers in the index of a tag. An image may have that tag, too. */
async function fallbackReferrers(
  fetch: FetchContent,
  repository: string,
  digest: string,
): Promise<readonly Descriptor[]> {
  const index = await fetchManifest(fetch, repository, digest.replace(":", "-"));
  return index?.isIndex && index.digest !== digest ? index.manifests : [];
}

/** BuildKit's attestations: manifests of the index that name the digest of the platform. */
async function* attestations(
  fetch: FetchContent,
  { repository, digest, indexes }: SoughtImage,
): AsyncGenerator<FoundDocument> {
  for (const parent of indexes) {
    const index = await fetchManifest(fetch, repository, parent);
    for (const descriptor of index?.manifests ?? []) {
      if (!isAttestation(descriptor) || descriptor.annotations["vnd.docker.reference.digest"] !== digest) continue;
      const manifest = await fetchManifest(fetch, repository, descriptor.digest);
      if (manifest) yield* documentsIn(manifest, SbomSource.attestation, "");
    }
  }
}

/** Returns whether a manifest of an index is an attestation about another one. */
export function isAttestation({ annotations }: Descriptor): boolean {
  return annotations["vnd.docker.reference.type"] === "attestation-manifest";
}

async function* tagged(fetch: FetchContent, { repository, digest }: SoughtImage): AsyncGenerator<FoundDocument> {
  for (const ending of [".att", ".sbom"]) {
    const manifest = await fetchManifest(fetch, repository, digest.replace(":", "-") + ending);
    if (manifest) yield* documentsIn(manifest, SbomSource.tag, "");
  }
}

function documentsIn({ layers }: Manifest, source: number, problem: string): FoundDocument[] {
  return layers
    .filter(({ mediaType, annotations }) => documentTypes.test(mediaType) && mayBeSbom(annotations))
    .map(({ digest, mediaType, size }) => ({ digest, mediaType, size, source, problem }));
}

function mayBeSbom(annotations: Descriptor["annotations"]): boolean {
  const stated = annotations["in-toto.io/predicate-type"] ?? annotations.predicateType;
  return typeof stated !== "string" || sbomPredicate.test(stated);
}
