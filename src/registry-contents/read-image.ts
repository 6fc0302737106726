// Reads the SBOMs of an image from the registry, and stores the packages in them.
import type { RegistrySource } from "../registry-notifications/image.ts";
import { sbomLimits } from "../sboms/limits.ts";
import type { SbomReader } from "../sboms/reader.ts";
import { contentLimits } from "../services/registry/contents/limits.ts";
import { contentsOf, rereadUploads, type UploadContext, uploadsIn } from "../services/registry/contents/uploads.ts";
import { writePackages } from "../services/registry/contents/write-packages.ts";
import { registryNamesOf } from "../services/registry/repos/registry-names.ts";
import type { Transaction, WriteContext } from "../storage/engine/session.ts";
import {
  addChildren,
  findImageByNumber,
  findParents,
  type ImageRow,
  lockImage,
  markImageGone,
  openImages,
  setArchitecture,
  setContents,
} from "../storage/images/images.ts";
import { type QueuedImage, queueImage, unqueueImage } from "../storage/images/queue.ts";
import { deleteSbomRow, findSboms, putSbomRow, registrySources, type SbomInfo } from "../storage/images/sboms.ts";
import type { NameRules } from "../storage/registry/repository-name.ts";
import { type FoundDocument, findDocuments, isAttestation } from "./find-documents.ts";
import { fetchManifest, type Manifest } from "./manifest.ts";

/** Dependencies of reading. */
export interface ReadingContext extends UploadContext {
  /** Undefined if no registry is read: then only uploads are. */
  readonly source: RegistrySource | undefined;
  /** Reads the documents of the registry. It has a thread of its own: uploads must not wait for a slow registry. */
  readonly documents: SbomReader;
  readonly names: NameRules;
  readonly newWrite: () => WriteContext;
}

/** Reads the SBOMs of a queued image. Rejects with an OutboundError if the registry cannot be read now. */
export async function readImage(context: ReadingContext, queued: QueuedImage): Promise<void> {
  const { database, newWrite } = context;
  const image = await findImageByNumber(database.session, queued.image);
  if (!image || image.goneTime !== null) {
    await database.write(newWrite(), (tx) => unqueueImage(tx, queued));
    return;
  }
  const isThere = context.source === undefined || (await readRegistry({ ...context, source: context.source }, image));
  if (uploadsIn(await findSboms(database.session, [image.no])).length > 0)
    await rereadUploads(context, newWrite, { image, dueTime: queued.dueTime });
  else await database.write(newWrite(), (tx) => finish(tx, image, queued, isThere));
}

/** The same with a registry. */
interface RegistryContext extends ReadingContext {
  readonly source: RegistrySource;
}

/** Reads the SBOMs that the registry has. Returns whether it has the image. */
async function readRegistry(context: RegistryContext, image: ImageRow): Promise<boolean> {
  const { database, newWrite } = context;
  const place = await findInRegistry(context, image);
  if (place?.manifest.subject) await queueSubject(context, image, place.manifest.subject);
  if (place?.manifest.isIndex) await storeIndex(context, image, place.manifest);
  const { sboms, packages } = place ? await readDocuments(context, image, place.repository) : nothing();
  await writePackages(database, newWrite, image, { kinds: registrySources, packages });
  await database.write(newWrite(), (tx) => replaceSboms(tx, image, sboms));
  return place !== undefined;
}

const nothing = () => ({ sboms: [] as SbomInfo[], packages: new Map<string, number>() });

async function finish(tx: Transaction, image: ImageRow, queued: QueuedImage, isThere: boolean): Promise<void> {
  await setContents(tx, image.no, contentsOf(await findSboms(tx, [image.no])));
  await unqueueImage(tx, queued);
  // A tag or a referrer named a digest that was never pushed.
  if (!isThere && image.pushTime === null) await markImageGone(tx, image.repoUid, image.digest);
}

/** Returns the manifest of an image, and the name of the repository that has it; undefined if none has. */
async function findInRegistry({ database, source, names }: RegistryContext, { repoUid, digest }: ImageRow) {
  for (const repository of await registryNamesOf(database.session, repoUid, names)) {
    const manifest = await fetchManifest(source.content, repository, digest);
    if (manifest) return { repository, manifest };
  }
  return undefined;
}

/** Queues the image that an artifact belongs to. */
async function queueSubject({ database, newWrite }: ReadingContext, { repoUid }: ImageRow, subject: string) {
  await database.write(newWrite(), async (tx) => {
    for (const no of (await openImages(tx, repoUid, [subject])).values()) await queueImage(tx, no, tx.context.time);
  });
}

/** Stores the platforms of an index, and queues them: an attestation may be about each. */
async function storeIndex({ database, newWrite }: ReadingContext, index: ImageRow, { manifests }: Manifest) {
  const platforms = manifests.filter((each) => !isAttestation(each)).slice(0, contentLimits.platforms);
  await database.write(newWrite(), async (tx) => {
    if (!(await lockImage(tx, index.no))) return;
    const numbers = await openImages(
      tx,
      index.repoUid,
      platforms.map(({ digest }) => digest),
    );
    await addChildren(tx, index.no, [...numbers.values()]);
    for (const { digest, architecture } of platforms)
      if (architecture !== "") await setArchitecture(tx, numbers.get(digest)!, architecture);
    for (const no of [...numbers.values()].sort((a, b) => a - b)) await queueImage(tx, no, tx.context.time);
  });
}

async function readDocuments(context: RegistryContext, image: ImageRow, repository: string) {
  const indexes = (await findParents(context.database.session, image.no)).map(({ digest }) => digest);
  const found = await findDocuments(context.source, { repository, digest: image.digest, indexes });
  const read = nothing();
  for (const document of found) {
    const { sbom, purls } = await readDocument(context, image, repository, document);
    if (sbom) read.sboms.push(sbom);
    for (const purl of purls) read.packages.set(purl, (read.packages.get(purl) ?? 0) | document.source);
  }
  return read;
}

interface Read {
  /** Undefined for a document that is not an SBOM. */
  readonly sbom: SbomInfo | undefined;
  readonly purls: readonly string[];
}

async function readDocument(
  context: RegistryContext,
  image: ImageRow,
  repository: string,
  document: FoundDocument,
): Promise<Read> {
  const { digest, size, problem } = document;
  const failed = (error: string): Read => ({ sbom: infoOf(context, image, document, { error }), purls: [] });
  if (problem !== "") return failed(problem);
  if (size > sbomLimits.documentBytes) return failed(`is larger than ${sbomLimits.documentBytes / 1024 / 1024} MiB`);
  const read = await readBlob(context, repository, digest, image.digest);
  if (!read) return failed("is not in the registry");
  if ("problem" in read) return failed(read.problem);
  if (read.digest !== digest) return failed("has another digest than its manifest says");
  if (!read.sbom) return { sbom: undefined, purls: [] };
  const { format, tool, isSigned: signed, purls, unchecked } = read.sbom;
  const known = { format, tool, signed, packages: purls.length, reasons: [...unchecked], size: read.size };
  return { sbom: infoOf(context, image, document, known), purls };
}

/** Returns undefined if the registry does not have the blob. */
async function readBlob({ source, documents }: RegistryContext, repository: string, digest: string, image: string) {
  return await source.blob(repository, digest, (bytes) => documents.read(image, bytes));
}

const sourceNames: Readonly<Record<number, string>> = { 1: "referrer", 2: "attestation", 4: "tag" };

function infoOf(
  { clock }: ReadingContext,
  { no }: ImageRow,
  { source, digest, mediaType, size }: FoundDocument,
  known: Partial<SbomInfo>,
): SbomInfo {
  const name = `${sourceNames[source]}:${digest}`;
  const unread = { format: "", tool: "", signed: false, packages: 0, reasons: [], error: "" };
  return { image: no, name, source, digest, mediaType, size, ...unread, ...known, createTime: clock() };
}

/** Stores the SBOMs that were found, and deletes those that are not in the registry any more. */
async function replaceSboms(tx: Transaction, { no }: ImageRow, found: readonly SbomInfo[]): Promise<void> {
  if (!(await lockImage(tx, no))) return;
  const names = new Set(found.map(({ name }) => name));
  const known = await findSboms(tx, [no]);
  for (const { name, source } of known)
    if ((source & registrySources) !== 0 && !names.has(name)) await deleteSbomRow(tx, no, name);
  for (const sbom of found) await putSbomRow(tx, { ...sbom, content: null });
}
