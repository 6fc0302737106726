/** Limits of the contents of images. Times are in milliseconds. */
export const contentLimits = {
  /** SBOMs of one image. */
  sboms: 100,
  /** Platforms of an index that are read. */
  platforms: 64,
  /** Packages that one transaction writes: nothing else runs in the meantime on SQLite. */
  portion: 500,
  /** Packages that are compared before what was found is stored, and findings that are stored before more are compared. */
  evaluatedPackages: 50,
  writtenFindings: 100,
  /** Changed advisories that are followed at a time. */
  changes: 200,
  /** Rows that one page of affected images reads, and advisories of one name. */
  affectedRows: 2_000,
  /** Images that one page of affected images looks for tags of. */
  examinedImages: 250,
  namedAdvisories: 1_000,
  /** Tags of an affected image that are shown, and its packages and vulnerabilities. */
  shownTags: 20,
  shownPackages: 100,
  /** Events of findings in one organization and hour, images that one is made from, and digests that one names. */
  findingEvents: 1_000,
  eventRows: 20_000,
  eventDigests: 100,
  /** Rows that one look for orphans reads. */
  scanned: 1_000,
  /** The size of an SBOM in a response, compressed where that is possible, and of published responses: clients accept 4 MiB. */
  responseBytes: 3.5 * 1024 * 1024,
  /** Findings of a vulnerability report: more do not fit into a response. */
  reportFindings: 20_000,
  /** Images of which one call lists the packages, and packages that it reads at a time. */
  listedImages: 100,
  listedPackages: 5_000,
  /** How long the writing of an uploaded SBOM may be interrupted before another server goes on. */
  interruptionMs: 60_000,
} as const;
