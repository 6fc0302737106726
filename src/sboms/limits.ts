/** Limits of SBOMs. They come from registries, whose content anyone with `manifest.create` decides. */
export const sbomLimits = {
  /** The size of a document, after decompression. */
  documentBytes: 32 * 1024 * 1024,
  /** The packages of a document, with those that cannot be checked. */
  packages: 100_000,
  /** The depth of its objects and lists. */
  depth: 100,
  /** The values that reading it needs, and the members of one of its objects. */
  values: 1_000_000,
  members: 10_000,
  /** The length of a package URL, in UTF-16 units: an index entry of PostgreSQL has less than 2704 bytes. */
  purlLength: 700,
  /** The length of names from documents that are shown. */
  nameLength: 200,
  /** The memory of the thread that reads documents, in MiB. */
  threadMiB: 96,
  /** The time to read one document, in milliseconds. */
  readMs: 120_000,
} as const;
