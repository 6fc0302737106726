// Stores uploaded SBOMs, and the packages that they name.
import { SbomCompression } from "../../../../gen/gatehouse/registry/v1/image_contents_pb.ts";
import { failedPrecondition, invalidField, notFound } from "../../../aip/errors.ts";
import { parentOf } from "../../../model/uid.ts";
import type { Call } from "../../../pipeline/call.ts";
import { type ServiceContext, writeContext } from "../../../resource/service-context.ts";
import { type Compression, compressed, decompressed } from "../../../sboms/compression.ts";
import type { ReadDocument } from "../../../sboms/read.ts";
import type { SbomReader } from "../../../sboms/reader.ts";
import { lockRow } from "../../../storage/collection/rows.ts";
import type { Transaction, WriteContext } from "../../../storage/engine/session.ts";
import { Contents, findImage, type ImageRow, openImage, setContents } from "../../../storage/images/images.ts";
import { findQueued, queueImage, unqueueImage } from "../../../storage/images/queue.ts";
import {
  deleteSbomRow,
  findSbom,
  findSboms,
  putSbomRow,
  type SbomInfo,
  SbomSource,
} from "../../../storage/images/sboms.ts";
import { repoCollection } from "../../../storage/registry/rows.ts";
import { repoType } from "../repos/repos.ts";
import { imageType, requireDigest } from "./family.ts";
import { contentLimits } from "./limits.ts";
import { writePackages } from "./write-packages.ts";

/** The kind of SBOMs in the change log. A change has the uid of the repo. */
export const sbomKind = "image_sboms";

/** The type of SBOMs in errors. */
export const sbomType = "registry.gatehouse.dev/Sbom";

/** Dependencies of uploads. */
export interface UploadContext extends Pick<ServiceContext, "database" | "clock"> {
  readonly sboms: SbomReader;
}

/** Identifies an image. */
interface ImageName {
  readonly repoUid: string;
  readonly digest: string;
}

/** An upload. */
export interface Upload extends ImageName {
  readonly content: Uint8Array;
  readonly compression: SbomCompression;
  /** Of an upload that moves with its organization: when it was made. Its digest may not be known here yet. */
  readonly moved?: { readonly createTime: number | undefined };
}

/** The uploaded SBOM and its image, and when another server may go on with it; undefined if there is nothing to do. */
interface Stored {
  readonly image: Pick<ImageRow, "no" | "repoUid" | "digest">;
  readonly sbom: SbomInfo;
  readonly dueTime: number | undefined;
}

/** Stores an uploaded SBOM. Returns it, and whether it is new. */
export async function putUpload(
  context: UploadContext,
  upload: Upload,
  call: Call,
): Promise<{ readonly sbom: SbomInfo; readonly isNew: boolean }> {
  const { database, clock, sboms } = context;
  const read = await readUpload(sboms, upload);
  const content = (await compressed(partsOf(upload), read.size)).toString("base64");
  const stored = await database.write(writeContext(call, clock), (tx) => store(tx, upload, { ...read, content }));
  if (stored.dueTime === undefined) return { sbom: stored.sbom, isNew: false };
  const packages = new Map(read.sbom.purls.map((purl) => [purl, SbomSource.upload]));
  await writePackages(database, () => writeContext(call, clock), stored.image, { kinds: 0, packages });
  await database.write(writeContext(call, clock), (tx) => finish(tx, stored));
  return { sbom: stored.sbom, isNew: true };
}

/** A document that has an SBOM. */
type ReadSbom = ReadDocument & { readonly sbom: NonNullable<ReadDocument["sbom"]> };

/** Reads the document of an upload. Throws INVALID_ARGUMENT if it is not an SBOM that can be read. */
export async function readUpload(sboms: SbomReader, upload: Upload): Promise<ReadSbom> {
  const read = await sboms.read(upload.digest, partsOf(upload));
  if ("problem" in read) throw invalidField("content", read.problem);
  const { sbom } = read;
  if (!sbom) throw invalidField("content", "is a statement about something else than packages");
  return { ...read, sbom };
}

function partsOf({ content, compression: given }: Upload): AsyncIterable<Buffer> {
  const compression = compressions[given];
  if (compression === undefined) throw invalidField("compression", "is not a known compression");
  return decompressed(content, compression);
}

const compressions: Readonly<Record<number, Compression | undefined>> = {
  [SbomCompression.UNSPECIFIED]: "",
  [SbomCompression.GZIP]: "gzip",
  [SbomCompression.ZSTD]: "zstd",
};

/** Returns the name of an uploaded SBOM among those of its image. */
export function uploadName({ digest }: Pick<ReadDocument, "digest">): string {
  return `upload:${digest}`;
}

async function store(
  tx: Transaction,
  { repoUid, digest, moved }: Upload,
  { content, ...read }: ReadSbom & { readonly content: string },
): Promise<Stored> {
  if (!(await lockRow(tx, repoCollection, repoUid))) throw notFound(repoType, repoUid);
  if (!moved) await requireDigest(tx, repoUid, digest);
  const no = await openImage(tx, repoUid, digest);
  const image = { no, repoUid, digest };
  const name = uploadName(read);
  const known = await findSboms(tx, [no]);
  const same = known.find((each) => each.name === name);
  if (same) return { image, sbom: same, dueTime: undefined };
  if (known.length >= contentLimits.sboms)
    throw failedPrecondition("TOO_MANY_SBOMS", `the image has ${contentLimits.sboms} SBOMs, which is the most`, digest);
  const sbom = infoOf(no, name, read, moved?.createTime ?? tx.context.time);
  await putSbomRow(tx, { ...sbom, content });
  logSbom(tx, repoUid, null, { digest, name, format: sbom.format, packages: sbom.packages });
  return { image, sbom, dueTime: await queueForLater(tx, no) };
}

function infoOf(image: number, name: string, { sbom, digest, size }: ReadSbom, createTime: number): SbomInfo {
  const { format, tool, isSigned: signed, purls, unchecked } = sbom;
  const read = { format, tool, signed, packages: purls.length, reasons: [...unchecked], error: "" };
  return { image, name, source: SbomSource.upload, digest, mediaType: "", size, ...read, createTime };
}

/** Lets another server go on if this one ends before the packages are written. Returns the time. */
async function queueForLater(tx: Transaction, image: number): Promise<number> {
  const { dueTime: known = null, attempts = 0 } = (await findQueued(tx, image)) ?? {};
  // Another upload that is being written would otherwise take the image out of the queue for both.
  const dueTime = Math.max(tx.context.time + contentLimits.interruptionMs, (known ?? 0) + 1);
  const isOfUpload = known !== null && attempts === 0 && known > tx.context.time;
  if (known === null || isOfUpload) await queueImage(tx, image, dueTime);
  return dueTime;
}

async function finish(
  tx: Transaction,
  { image: { no }, dueTime }: Pick<Stored, "image"> & { readonly dueTime: number | null | undefined },
): Promise<void> {
  await setContents(tx, no, contentsOf(await findSboms(tx, [no])));
  await unqueueImage(tx, { image: no, dueTime: dueTime ?? null, attempts: 0, error: "" });
}

/** Returns what is known of an image by its SBOMs. */
export function contentsOf(sboms: readonly Pick<SbomInfo, "error">[]): Contents {
  if (sboms.length === 0) return Contents.none;
  return sboms.some(({ error }) => error !== "") ? Contents.partial : Contents.complete;
}

/** Deletes an uploaded SBOM, with the packages that no other one names. */
export async function deleteUpload(
  context: UploadContext,
  { repoUid, digest, name }: ImageName & { readonly name: string },
  call: Call,
): Promise<void> {
  const { database, clock } = context;
  const deleted = await database.write(writeContext(call, clock), async (tx): Promise<Stored> => {
    if (!(await lockRow(tx, repoCollection, repoUid))) throw notFound(repoType, repoUid);
    const image = await findImage(tx, repoUid, digest);
    if (!image) throw notFound(imageType, `${digest} in ${repoUid}`);
    const sbom = (await findSboms(tx, [image.no])).find((each) => each.name === name);
    if (!sbom) throw notFound(sbomType, `${name} of ${digest}`);
    if (sbom.source !== SbomSource.upload)
      throw failedPrecondition("SBOM_IN_REGISTRY", "the SBOM is in the registry: delete it there", name);
    await deleteSbomRow(tx, image.no, name);
    logSbom(tx, repoUid, { digest, name, format: sbom.format, packages: sbom.packages }, null);
    return { image, sbom, dueTime: await queueForLater(tx, image.no) };
  });
  await rereadUploads(context, () => writeContext(call, clock), deleted);
}

/** Makes the packages of uploads those of the uploaded SBOMs that are there, and says that the image was read. */
export async function rereadUploads(
  context: UploadContext,
  newContext: () => WriteContext,
  stored: Pick<Stored, "image"> & { readonly dueTime: number | null | undefined },
): Promise<void> {
  const { database } = context;
  const { image } = stored;
  for (;;) {
    const { names, packages } = await packagesOfUploads(context, image);
    await writePackages(database, newContext, image, { kinds: SbomSource.upload, packages });
    const isDone = await database.write(newContext(), async (tx) => {
      const now = uploadsIn(await findSboms(tx, [image.no])).map(({ name }) => name);
      // Another upload came while these were read.
      if (now.join(" ") !== names.join(" ")) return false;
      await finish(tx, stored);
      return true;
    });
    if (isDone) return;
  }
}

/** Returns the names of the uploaded SBOMs of an image, and the packages that they name, with the bit of uploads. */
async function packagesOfUploads(
  { database, sboms }: Pick<UploadContext, "database" | "sboms">,
  { no: image, digest }: Pick<ImageRow, "no" | "digest">,
): Promise<{ readonly names: string[]; readonly packages: Map<string, number> }> {
  const names = uploadsIn(await findSboms(database.session, [image])).map(({ name }) => name);
  const packages = new Map<string, number>();
  for (const name of names) {
    const content = (await findSbom(database.session, image, name))?.content ?? "";
    const bytes = Buffer.from(content, "base64");
    const read = await sboms.read(digest, decompressed(bytes, "zstd"));
    const purls = "problem" in read ? [] : (read.sbom?.purls ?? []);
    for (const purl of purls) packages.set(purl, SbomSource.upload);
  }
  return { names, packages };
}

/** Returns those of SBOMs that were uploaded. */
export function uploadsIn(sboms: readonly SbomInfo[]): SbomInfo[] {
  return sboms.filter(({ source }) => source === SbomSource.upload);
}

/** An SBOM in the change log. */
export interface LoggedSbom {
  /** That of the image. */
  readonly digest: string;
  readonly name: string;
  readonly format: string;
  readonly packages: number;
}

function logSbom(tx: Transaction, repoUid: string, before: LoggedSbom | null, after: LoggedSbom | null): void {
  tx.logChange({ kind: sbomKind, uid: repoUid, groupUid: parentOf(repoUid), before, after });
}
