/** Limits of the registry. Times are in milliseconds. */
export const registryLimits = {
  /** The time for reading from the registry during a notification: the registry gives up after a second. */
  notificationFetchMs: 900,
  /** The retention of notifications: longer than a registry repeats one. */
  notificationMemoryMs: 7 * 24 * 60 * 60 * 1000,
  /** The interval in which uses of images are stored, and how many different ones may wait. */
  useStoreMs: 1_000,
  waitingUses: 20_000,
  /** The size of a manifest, or of the configuration of an image. OCI distribution-spec requires 4 MiB of registries. */
  manifestBytes: 4 * 1024 * 1024,
  /** Pages of the referrers of one image. */
  referrerPages: 100,
} as const;
