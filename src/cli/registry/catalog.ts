// The side of the server: groups, repos, tags and images below one group.
import { GroupsService } from "../../../gen/chainguard/platform/iam/v2beta1/groups_pb.ts";
import { ReposService } from "../../../gen/chainguard/platform/registry/v2beta1/repos_pb.ts";
import { type Tag, TagsService } from "../../../gen/chainguard/platform/registry/v2beta1/tags_pb.ts";
import { ImageStoreService } from "../../../gen/gatehouse/registry/v1/image_store_pb.ts";
import type { ImagePlatform } from "../../registry/image.ts";
import { isUid, parentOf } from "../../uid.ts";
import type { Session } from "../client/session.ts";
import { CommandFailure } from "../failure.ts";

const pageSize = 200;
/** How many images are asked about, or put in, at once. */
const batchSize = 500;

/** What lies below a group, by the names that a registry has for it. */
export interface Catalog {
  /** Whether the name is one of this group: one of another organization is not. */
  covers(repository: string): boolean;
  /** The uids of all repos below the group. */
  repos(): string[];
  /** The uid of the repo; it is created when it is missing, and so are the groups above it. */
  openRepo(repository: string): Promise<{ readonly uid: string; readonly isNew: boolean }>;
  findRepo(repository: string): string | undefined;
  tagsOf(repoUid: string): Promise<Tag[]>;
  /** Sets a tag; what is not said about it stays as it is in `before`. */
  setTag(repoUid: string, name: string, digest: string, before: Tag | undefined): Promise<void>;
  removeTag(tag: Tag): Promise<void>;
  unknownImages(repoUid: string, digests: readonly string[]): Promise<string[]>;
  putImages(repoUid: string, images: ReadonlyMap<string, readonly ImagePlatform[]>): Promise<void>;
}

/** Reads what there is below the group. */
export async function openCatalog(session: Session, groupUid: string): Promise<Catalog> {
  const groups = await session.client(GroupsService);
  const repos = await session.client(ReposService);
  const tags = await session.client(TagsService);
  const store = await session.client(ImageStoreService);
  const top = await groups.getGroup({ uid: groupUid });
  const within = { uidp: { descendantsOf: groupUid }, pageSize };
  const paths = new Map([[groupUid, ""]]);
  const groupUids = new Map<string, string[]>([["", [groupUid]]]);
  const known = await all(
    (pageToken) => groups.listGroups({ ...within, orderBy: "uid", pageToken }),
    (r) => r.groups,
  );
  for (const { uid, name } of known) {
    // By uid, so that a group comes after the one above it.
    const path = join(paths.get(parentOf(uid)), name);
    paths.set(uid, path);
    groupUids.set(path, [...(groupUids.get(path) ?? []), uid]);
  }
  const repoUids = new Map<string, string>();
  const present = await all(
    (pageToken) => repos.listRepos({ ...within, pageToken }),
    (r) => r.repos,
  );
  for (const { uid, name } of present) repoUids.set(join(paths.get(parentOf(uid)), name), uid);
  const opening = new Map<string, Promise<string>>();

  /** The name below the group: an organization goes by its uid, or by its name once that is verified. */
  function pathOf(repository: string): string | undefined {
    const slash = repository.indexOf("/");
    if (slash < 0) return repository;
    const first = repository.slice(0, slash);
    if (first === groupUid || (top.verified && first === top.name)) return repository.slice(slash + 1);
    return isUid(first) ? undefined : repository;
  }

  function openGroup(path: string): Promise<string> {
    const [uid, second] = groupUids.get(path) ?? [];
    if (second !== undefined) throw new CommandFailure(`several groups are called ${JSON.stringify(path)}`);
    if (uid !== undefined) return Promise.resolve(uid);
    const started = opening.get(path) ?? createGroup(path);
    opening.set(path, started);
    return started;
  }

  async function createGroup(path: string): Promise<string> {
    const slash = path.lastIndexOf("/");
    const parent = await openGroup(slash < 0 ? "" : path.slice(0, slash));
    const { uid } = await groups.createGroup({ parent, group: { name: path.slice(slash + 1) } });
    groupUids.set(path, [uid]);
    return uid;
  }

  return {
    covers: (repository) => pathOf(repository) !== undefined,
    repos: () => [...repoUids.values()],
    findRepo: (repository) => repoUids.get(pathOf(repository) ?? ""),
    async openRepo(repository) {
      const path = pathOf(repository) ?? repository;
      const found = repoUids.get(path);
      if (found !== undefined) return { uid: found, isNew: false };
      const slash = path.lastIndexOf("/");
      const parent = await openGroup(slash < 0 ? "" : path.slice(0, slash));
      const { uid } = await repos.createRepo({ parent, repo: { name: path.slice(slash + 1) } });
      repoUids.set(path, uid);
      return { uid, isNew: true };
    },
    tagsOf(repoUid) {
      const everything = { includeReferrers: true, includeDates: true, includeEpochs: true };
      const request = { uidp: { childrenOf: repoUid }, pageSize, ...everything };
      return all(
        (pageToken) => tags.listTags({ ...request, pageToken }),
        (reply) => reply.tags,
      );
    },
    async setTag(parent, name, digest, before) {
      const { deprecated = false, bundles = [] } = before ?? {};
      await tags.createTag({ parent, tag: { name, digest, deprecated, bundles } });
    },
    async removeTag({ uid }) {
      await tags.deleteTag({ uid });
    },
    async unknownImages(repoUid, digests) {
      const unknown: string[] = [];
      for (const batch of batches(digests))
        unknown.push(...(await store.findUnknownImages({ repoUid, digests: batch })).digests);
      return unknown;
    },
    async putImages(repoUid, images) {
      const list = [...images].map(([digest, platforms]) => ({
        digest,
        platforms: platforms.map(({ architecture, size }) => ({ architecture, size: BigInt(size) })),
      }));
      for (const batch of batches(list)) await store.putImages({ repoUid, images: batch });
    },
  };
}

function join(path: string | undefined, name: string): string {
  return path ? `${path}/${name}` : name;
}

function batches<T>(items: readonly T[]): T[][] {
  return Array.from({ length: Math.ceil(items.length / batchSize) }, (_, i) =>
    items.slice(i * batchSize, (i + 1) * batchSize),
  );
}

async function all<R extends { nextPageToken: string }, T>(
  page: (pageToken: string) => Promise<R>,
  itemsOf: (reply: R) => readonly T[],
): Promise<T[]> {
  const found: T[] = [];
  let pageToken = "";
  do {
    const reply = await page(pageToken);
    found.push(...itemsOf(reply));
    pageToken = reply.nextPageToken;
  } while (pageToken !== "");
  return found;
}
