// The server side of a sync: groups, repos, tags and images below one group.
import { GroupsService } from "../../../gen/chainguard/platform/iam/v2beta1/groups_pb.ts";
import { ReposService } from "../../../gen/chainguard/platform/registry/v2beta1/repos_pb.ts";
import { type Tag, TagsService } from "../../../gen/chainguard/platform/registry/v2beta1/tags_pb.ts";
import { ImageContentsService } from "../../../gen/gatehouse/registry/v1/image_contents_pb.ts";
import { ImageStoreService } from "../../../gen/gatehouse/registry/v1/image_store_pb.ts";
import type { ImageDescription } from "../../storage/registry/manifests.ts";
import { pageSize, readPages } from "../client/pages.ts";
import type { Session } from "../client/session.ts";
import { CommandFailure } from "../failure.ts";
import { type CatalogTree, pathOf, readTree, splitPath } from "./catalog-tree.ts";

/** Batch size for reading and writing images. */
const batchSize = 500;

/** The content below a group, by the names of a registry. */
export interface Catalog {
  /** Reports whether the name belongs to this group, and not to another organization. */
  covers(repository: string): boolean;
  /** Returns the uids of all repos below the group. */
  repos(): string[];
  /** Returns the uid of the repo. Creates it, and the groups on its path, if needed. */
  openRepo(repository: string): Promise<{ readonly uid: string; readonly isNew: boolean }>;
  findRepo(repository: string): string | undefined;
  tagsOf(repoUid: string): Promise<Tag[]>;
  /** Sets a tag. Fields that the registry does not know keep their value from `before`. */
  setTag(repoUid: string, name: string, digest: string, before: Tag | undefined): Promise<void>;
  removeTag(tag: Tag): Promise<void>;
  unknownImages(repoUid: string, digests: readonly string[]): Promise<string[]>;
  /** Lets the server look for SBOMs of images. */
  queueImages(repoUid: string, digests: readonly string[]): Promise<void>;
  putImages(repoUid: string, images: ReadonlyMap<string, ImageDescription>): Promise<void>;
}

/** Opens the catalog of a group: reads existing resources, and creates missing ones on demand. */
export async function openCatalog(session: Session, groupUid: string): Promise<Catalog> {
  const tree = await readTree(session, groupUid);
  const tags = await session.client(TagsService);
  return {
    covers: (repository) => pathOf(tree.top, repository) !== undefined,
    repos: () => [...tree.repoUids.values()],
    findRepo: (repository) => tree.repoUids.get(pathOf(tree.top, repository) ?? ""),
    openRepo: await newRepoOpener(session, tree),
    tagsOf(repoUid) {
      const everything = { includeReferrers: true, includeDates: true, includeEpochs: true };
      const request = { uidp: { childrenOf: repoUid }, pageSize, ...everything };
      return readPages(
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
    ...(await newImageStore(session)),
  };
}

async function newRepoOpener(
  session: Session,
  { top, groupUids, repoUids }: CatalogTree,
): Promise<Catalog["openRepo"]> {
  const repos = await session.client(ReposService);
  const openGroup = await newGroupOpener(session, groupUids);
  return async (repository) => {
    const path = pathOf(top, repository) ?? repository;
    const found = repoUids.get(path);
    if (found !== undefined) return { uid: found, isNew: false };
    const { above, name } = splitPath(path);
    const { uid } = await repos.createRepo({ parent: await openGroup(above), repo: { name } });
    repoUids.set(path, uid);
    return { uid, isNew: true };
  };
}

/** Returns the uid of the group with a path. Creates it once, and the groups above it, if needed. */
async function newGroupOpener(session: Session, groupUids: CatalogTree["groupUids"]) {
  const groups = await session.client(GroupsService);
  const opening = new Map<string, Promise<string>>();

  async function create(path: string): Promise<string> {
    const { above, name } = splitPath(path);
    const { uid } = await groups.createGroup({ parent: await open(above), group: { name } });
    groupUids.set(path, [uid]);
    return uid;
  }

  function open(path: string): Promise<string> {
    const [uid, second] = groupUids.get(path) ?? [];
    if (second !== undefined) throw new CommandFailure(`several groups are called ${JSON.stringify(path)}`);
    if (uid !== undefined) return Promise.resolve(uid);
    const started = opening.get(path) ?? create(path);
    opening.set(path, started);
    return started;
  }

  return open;
}

async function newImageStore(session: Session): Promise<Pick<Catalog, "unknownImages" | "putImages" | "queueImages">> {
  const store = await session.client(ImageStoreService);
  const contents = await session.client(ImageContentsService);
  return {
    async unknownImages(repoUid, digests) {
      const unknown: string[] = [];
      for (const batch of batches(digests))
        unknown.push(...(await store.findUnknownImages({ repoUid, digests: batch })).digests);
      return unknown;
    },
    async queueImages(repoUid, digests) {
      for (const batch of batches(digests)) await contents.queueImages({ repoUid, digests: batch });
    },
    async putImages(repoUid, images) {
      const list = [...images].map(([digest, { platforms, children }]) => ({
        digest,
        childDigests: [...children],
        platforms: platforms.map(({ architecture, size }) => ({ architecture, size: BigInt(size) })),
      }));
      for (const batch of batches(list)) await store.putImages({ repoUid, images: batch });
    },
  };
}

function batches<T>(items: readonly T[]): T[][] {
  return Array.from({ length: Math.ceil(items.length / batchSize) }, (_, i) =>
    items.slice(i * batchSize, (i + 1) * batchSize),
  );
}
