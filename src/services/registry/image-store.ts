import {
  FindImagesRequestSchema,
  FindUnknownImagesRequestSchema,
  type Image,
  ImageSchema,
  ImageStoreService,
  PlatformSchema,
} from "../../../gen/gatehouse/registry/v1/image_store_pb.ts";
import { type FieldViolation, invalidArgument, notFound } from "../../aip/errors.ts";
import { type Implementation, implement } from "../../pipeline/handlers.ts";
import { type MessageRules, patternRule } from "../../pipeline/text-rules.ts";
import { type ServiceContext, writeContext } from "../../resource/service-context.ts";
import { findRow, lockRow } from "../../storage/collection/rows.ts";
import { findKnownDigests, findManifestsOf, storeImage } from "../../storage/registry/manifests.ts";
import { repoCollection } from "../../storage/registry/rows.ts";
import { repoType } from "./repos/repos.ts";
import { digestRule } from "./repos/text-rules.ts";

/** As many manifests of one index as are read from a registry. */
const maxChildren = 64;

/** Serves the upload of image metadata. */
export function imageStore({ database, clock }: ServiceContext): Implementation {
  return implement(
    ImageStoreService,
    {
      findImages: ({ repoUid, digests }) =>
        database.read(async (session) => {
          if (!(await findRow(session, repoCollection, repoUid))) throw notFound(repoType, repoUid);
          const found = Map.groupBy(await findManifestsOf(session, repoUid, digests), ({ digest }) => digest);
          const images = [...new Set(digests)].flatMap((digest) => {
            const platforms = found
              .get(digest)
              ?.map(({ architecture, size }) => ({ architecture, size: BigInt(size) }));
            return platforms ? [{ digest, platforms }] : [];
          });
          return { images };
        }),
      findUnknownImages: ({ repoUid, digests }) =>
        database.read(async (session) => {
          if (!(await findRow(session, repoCollection, repoUid))) throw notFound(repoType, repoUid);
          const known = new Set(await findKnownDigests(session, repoUid, digests));
          return { digests: digests.filter((digest) => !known.has(digest)) };
        }),
      async putImages({ repoUid, images }, call) {
        const violations = checkImages(images);
        if (violations.length > 0) throw invalidArgument(violations);
        await database.write(writeContext(call, clock), async (tx) => {
          if (!(await lockRow(tx, repoCollection, repoUid))) throw notFound(repoType, repoUid);
          for (const { digest, platforms, childDigests: children } of images) {
            const rows = platforms.map(({ architecture, size }) => ({ architecture, size: Number(size) }));
            await storeImage(tx, repoUid, digest, { platforms: rows, children });
          }
        });
        return {};
      },
    },
    rules,
  );
}

const rules: readonly MessageRules[] = [
  { schema: FindImagesRequestSchema, fields: { digests: digestRule } },
  { schema: FindUnknownImagesRequestSchema, fields: { digests: digestRule } },
  {
    schema: ImageSchema,
    fields: { digest: digestRule, child_digests: digestRule },
    bounds: { child_digests: { maxItems: maxChildren } },
  },
  {
    schema: PlatformSchema,
    fields: {
      architecture: patternRule("architecture", /^[a-z0-9_]{1,32}(?:\/v[0-9])?$/, "^[a-z0-9_]{1,32}(/v[0-9])?$"),
    },
  },
];

/** Checks that nothing is given twice, the manifests of indexes, and that sizes are safe integers in JavaScript. */
function checkImages(images: readonly Image[]): FieldViolation[] {
  const digests = images.map(({ digest }) => digest);
  return [
    ...onceEach(digests, (index) => `images[${index}].digest`),
    ...images.flatMap(({ platforms, childDigests }, i) => [
      ...checkChildren(childDigests, `images[${i}].child_digests`),
      ...onceEach(
        platforms.map(({ architecture }) => architecture),
        (index) => `images[${i}].platforms[${index}].architecture`,
      ),
      ...platforms.flatMap(({ size }, index) =>
        size >= 0n && size <= BigInt(Number.MAX_SAFE_INTEGER)
          ? []
          : [
              {
                field: `images[${i}].platforms[${index}].size`,
                description: `must be 0 to ${Number.MAX_SAFE_INTEGER}`,
              },
            ],
      ),
    ]),
  ];
}

function checkChildren(digests: readonly string[], field: string): FieldViolation[] {
  if (digests.length > maxChildren) return [{ field, description: `must not have more than ${maxChildren} items` }];
  return digests.includes("") ? [{ field, description: "must not have empty items" }] : [];
}

function onceEach(values: readonly string[], fieldAt: (index: number) => string): FieldViolation[] {
  return values.flatMap((value, index) =>
    values.indexOf(value) < index ? [{ field: fieldAt(index), description: "must not be given twice" }] : [],
  );
}
