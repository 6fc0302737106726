// Limits of the files of an import.

/** The limits on the files of an import. */
export const sourceLimits = {
  /** The largest text: a file, also when it is unpacked, or a line of NDJSON. Databases of whole distributions have a tenth of it. */
  textBytes: 64 * 1024 * 1024,
  /** All that an archive or a compressed file unpacks to. */
  archiveBytes: 8 * 1024 * 1024 * 1024,
  /** The files of an archive. */
  archiveFiles: 1_000_000,
  /** How deep directories are nested. */
  depth: 32,
} as const;
