import type { Columns } from "../columns.postgres.ts";
import { isNotNull } from "../drizzle.ts";

/** A reason why components of an SBOM cannot be checked, as it is stored. */
export interface StoredReason {
  readonly reason: number;
  readonly count: number;
  readonly example: string;
}

/**
 * The contents of images and what advisories say about them. Rows refer to each other by numbers, which keeps them small and which nobody
 * outside sees. There are no foreign keys: the release before deletes repos without these rows, which are swept.
 */
export function defineImageTables(columns: Columns) {
  const { table, text, integer, boolean, json, sequence, index, uniqueIndex, primaryKey } = columns;
  return {
    /** Manifests and indexes of repos. */
    images: table(
      "images",
      {
        no: sequence(),
        repoUid: text().notNull(),
        digest: text().notNull(),
        /** As images name it; empty for an index, or if it is unknown. */
        architecture: text().notNull(),
        /** The knowledge about its packages: a value of `Contents`. */
        contents: integer().notNull(),
        createTime: integer().notNull(),
        /** When it was pushed last, by the clock of the registry, or imported; null if that is unknown. */
        pushTime: integer(),
        /** When its SBOMs were read last; null if never. */
        readTime: integer(),
        /** When the digest or its repo was deleted; null while it exists. */
        goneTime: integer(),
      },
      (t) => [
        uniqueIndex("images_once").on(t.repoUid, t.digest),
        index("images_gone").on(t.goneTime).where(isNotNull(t.goneTime)),
      ],
    ),

    /** The platforms of an index. */
    imageChildren: table("image_children", { parent: integer().notNull(), child: integer().notNull() }, (t) => [
      primaryKey({ columns: [t.parent, t.child] }),
      index("image_children_child").on(t.child, t.parent),
    ]),

    /** The packages that images of an organization have. */
    packages: table(
      "packages",
      {
        no: sequence(),
        organization: text().notNull(),
        purl: text().notNull(),
        /** The version of the evaluator by which its findings were made; 0 if there are none yet. */
        evaluator: integer().notNull(),
      },
      (t) => [
        uniqueIndex("packages_once").on(t.organization, t.purl),
        index("packages_evaluator").on(t.evaluator, t.no),
      ],
    ),

    /** The hashes of an organization and a key by which advisories name a package. A collision causes an evaluation without result. */
    packageKeys: table("package_keys", { key: integer().notNull(), package: integer().notNull() }, (t) => [
      primaryKey({ columns: [t.key, t.package] }),
      index("package_keys_package").on(t.package, t.key),
    ]),

    /** The packages of images. */
    imagePackages: table(
      "image_packages",
      {
        image: integer().notNull(),
        package: integer().notNull(),
        /** The kinds of SBOMs that name it: bits of `SbomSource`. */
        sources: integer().notNull(),
      },
      (t) => [primaryKey({ columns: [t.image, t.package] }), index("image_packages_package").on(t.package, t.image)],
    ),

    /** The SBOMs of images. Those in a registry are read again by their digest, so only uploaded ones have a content. */
    imageSboms: table(
      "image_sboms",
      {
        image: integer().notNull(),
        /** The source and the digest of the document: unique for the image. */
        name: text().notNull(),
        /** One bit of `SbomSource`. */
        source: integer().notNull(),
        digest: text().notNull(),
        mediaType: text().notNull(),
        /** Such as "CycloneDX 1.6"; empty if it could not be read. */
        format: text().notNull(),
        /** The name of the program that made it; empty if the document does not say. */
        tool: text().notNull(),
        size: integer().notNull(),
        signed: boolean().notNull(),
        /** How many packages it names. */
        packages: integer().notNull(),
        /** The components that cannot be checked. */
        reasons: json<StoredReason[]>().notNull(),
        /** Why it could not be read; empty if it was. */
        error: text().notNull(),
        /** Compressed with zstd, in Base64; null unless it was uploaded. */
        content: text(),
        createTime: integer().notNull(),
      },
      (t) => [primaryKey({ columns: [t.image, t.name] })],
    ),

    /** The statements of advisories about packages. */
    packageFindings: table(
      "package_findings",
      {
        package: integer().notNull(),
        advisoryUid: text().notNull(),
        /** The group of the advisory. */
        groupUid: text().notNull(),
        status: integer().notNull(),
        vulnerability: text().notNull(),
        fixedVersions: json<string[]>().notNull(),
        uncertain: boolean().notNull(),
        justification: text().notNull(),
        /** When it was first known by the clock of the server. */
        firstKnownTime: integer().notNull(),
      },
      (t) => [
        primaryKey({ columns: [t.package, t.advisoryUid] }),
        index("package_findings_advisory").on(t.advisoryUid, t.package),
      ],
    ),

    /** The images whose SBOMs are to be read. */
    imageQueue: table(
      "image_queue",
      {
        image: integer().primaryKey(),
        /** The earliest time of the next attempt; null after the last one. */
        dueTime: integer(),
        attempts: integer().notNull(),
        /** Why the last attempt failed; empty if there was none. */
        error: text().notNull(),
      },
      (t) => [index("image_queue_due").on(t.dueTime)],
    ),
  };
}
