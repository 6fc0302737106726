import type { Repo } from "../../../../gen/chainguard/platform/registry/v2beta1/repos_pb.ts";

/** The image of a page. */
export interface ShownImage {
  readonly repo: Repo;
  readonly digest: string;
  /** A tag of it; undefined without one, and for callers who may not list tags. */
  readonly tag: string | undefined;
}
