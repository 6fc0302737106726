/** Reads the content of a repo from its registry, as a service needs it. */
export interface RegistryContent {
  /**
   * Returns a manifest or blob by its digest; undefined if the registry does not have it. Throws UNAVAILABLE if the registry cannot be
   * read.
   */
  read(repoUid: string, kind: "manifests" | "blobs", digest: string): Promise<Buffer | undefined>;
}
