// How registry clients pull from a repo.
import { useQuery } from "@connectrpc/connect-query";
import { TagsService } from "../../../gen/chainguard/platform/registry/v2beta1/tags_pb.ts";
import { RepositoriesService } from "../../../gen/gatehouse/registry/v1/repositories_pb.ts";
import { may, useMe } from "../api/access.ts";

const { getRepository } = RepositoriesService.method;
const { listTags } = TagsService.method;

/** Reads the name of a repo in the registry, and why there is none. */
export function useRepository(uid: string) {
  const { data, error } = useQuery(getRepository, { repoUid: uid }, { staleTime: 300_000 });
  const { host = "", name = "", problem } = data ?? {};
  return { host, reference: name === "" ? "" : `${host}/${name}`, problem, error };
}

/** How many tags are looked through for `latest`. */
const lookedAt = 50;

/**
 * Returns the tag that a client pulls unless it wants another one: `latest`, or the one that was set last. A command without a tag pulls
 * `latest`, which need not exist. Null if the repo has no tags; undefined while they are read, and for callers who may not list them.
 */
export function usePulledTag(uid: string): string | null | undefined {
  const { data: me } = useMe();
  const request = {
    uidp: { childrenOf: uid },
    orderBy: "update_time desc",
    includeDates: true,
    includeEpochs: true,
    pageSize: lookedAt,
  };
  const { data } = useQuery(listTags, request, { enabled: may(me, listTags, uid) });
  if (!data) return undefined;
  const names = data.tags.map(({ name }) => name);
  return names.includes("latest") ? "latest" : (names[0] ?? null);
}

/** Returns the command that pulls an image; without a tag it pulls `latest`. */
export function pullCommand(reference: string, tag: string | null | undefined): string {
  return `docker pull ${reference}${tag ? `:${tag}` : ""}`;
}

/** Returns the command that signs in to a registry with the caller's own sign-in. */
export function loginCommand(host: string): string {
  return `gatehouse auth token --audience ${host} | docker login ${host} -u _token --password-stdin`;
}
