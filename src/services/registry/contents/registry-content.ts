/** How containers of an image run (OCI image-spec 1.1, "Image Configuration"). Members that are absent are empty. */
export interface ImageConfiguration {
  readonly user: string;
  readonly exposedPorts: readonly string[];
  readonly env: readonly string[];
  readonly entrypoint: readonly string[];
  readonly cmd: readonly string[];
  readonly volumes: readonly string[];
  readonly workingDir: string;
  readonly labels: ReadonlyMap<string, string>;
  readonly stopSignal: string;
}

/** Reads the content of a repo from its registry, as a service needs it. */
export interface RegistryContent {
  /**
   * Returns a blob by its digest; undefined if the registry does not have it. Throws UNAVAILABLE if the registry cannot be read, and
   * RESOURCE_EXHAUSTED if too much is being read.
   */
  readBlob(repoUid: string, digest: string): Promise<Buffer | undefined>;
  /**
   * Returns the configuration of an image, of an index that for an architecture; undefined if the registry does not have it. Throws as
   * above, and FAILED_PRECONDITION if it cannot be read.
   */
  readConfiguration(repoUid: string, digest: string, architecture: string): Promise<ImageConfiguration | undefined>;
}
