// The packages of several images, and the number of digests, as published methods return them.
import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  ManifestMetadataFilter,
  ManifestMetadataFilterEntry,
  ManifestMetadataListSchema,
} from "../../../../gen/chainguard/platform/registry/v1/image_contents_pb.ts";
import { failedPrecondition, notFound } from "../../../aip/errors.ts";
import { findRow } from "../../../storage/collection/rows.ts";
import type { Database } from "../../../storage/database.ts";
import type { Session } from "../../../storage/engine/session.ts";
import { groupCollection } from "../../../storage/iam/collections.ts";
import { listPackagesOf } from "../../../storage/images/packages.ts";
import { countDigests } from "../../../storage/registry/manifests.ts";
import { repoCollection } from "../../../storage/registry/rows.ts";
import { contentLimits } from "../contents/limits.ts";
import { defaultArchitecture, type Platform, requirePlatform } from "./platform.ts";

/** The bytes of a package in a response besides its package URL. */
const packageOverhead = 6;

/** Returns the packages of images, without images that have no SBOM: of these nothing is known. */
export async function manifestMetadata(
  { database }: { readonly database: Pick<Database, "read"> },
  { repoId, items }: ManifestMetadataFilter,
): Promise<MessageInitShape<typeof ManifestMetadataListSchema>> {
  return await database.read(async (session) => {
    const found: { digest: string; pkgMetadata: { purl: string }[] }[] = [];
    let left: number = contentLimits.responseBytes;
    for (const { filter } of items) {
      const { digest, source } = await platformOf(session, repoId, filter);
      if (!source) continue;
      const { purls, bytes } = await purlsOf(session, source.no, left);
      left -= bytes;
      if (left < 0) throw tooLarge(digest);
      found.push({ digest, pkgMetadata: purls.map((purl) => ({ purl })) });
    }
    return { items: found };
  });
}

async function platformOf(
  session: Session,
  repoUid: string,
  filter: ManifestMetadataFilterEntry["filter"],
): Promise<Platform> {
  if (filter.case === "imageDigest") return await requirePlatform(session, repoUid, filter.value, "");
  const { digest = "", arch = "" } = filter.value ?? {};
  return await requirePlatform(session, repoUid, digest, arch || defaultArchitecture);
}

/** Returns the package URLs of an image and their size. Stops behind `mostBytes`. */
async function purlsOf(session: Session, image: number, mostBytes: number) {
  const { listedPackages: limit } = contentLimits;
  const purls: string[] = [];
  let bytes = 0;
  for (;;) {
    const page = await listPackagesOf(session, [image], purls.at(-1) ?? "", limit);
    for (const { purl } of page) bytes += Buffer.byteLength(purl) + packageOverhead;
    purls.push(...page.map(({ purl }) => purl));
    if (page.length < limit || bytes > mostBytes) return { purls, bytes };
  }
}

/** Returns how many digests a repo has, or all repos of a group and below. Throws NOT_FOUND if there is neither. */
export async function digestCount(
  { database }: { readonly database: Pick<Database, "read"> },
  parentUid: string,
): Promise<number> {
  return await database.read(async (session) => {
    for (const collection of [groupCollection, repoCollection])
      if (await findRow(session, collection as typeof groupCollection, parentUid))
        return await countDigests(session, parentUid);
    throw notFound("registry.gatehouse.dev/Parent", parentUid);
  });
}

function tooLarge(digest: string) {
  return failedPrecondition(
    "RESPONSE_TOO_LARGE",
    "the packages have more than 3.5 MiB: ListImagePackages of gatehouse.registry.v1.ImageContentsService has pages",
    digest,
  );
}
