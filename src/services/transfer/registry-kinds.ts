// How repos, readmes and tags are imported.
import {
  type RepoReadme,
  RepoReadmeSchema,
  type RepoSchema,
} from "../../../gen/chainguard/platform/registry/v2beta1/repos_pb.ts";
import type { TagSchema } from "../../../gen/chainguard/platform/registry/v2beta1/tags_pb.ts";
import { ImportOutcome } from "../../../gen/gatehouse/organizations/v1/organizations_pb.ts";
import { clip } from "../../base/clip.ts";
import { findRow, lockRow } from "../../storage/collection/rows.ts";
import { findRepoByName, findTagByName, readReadme } from "../../storage/registry/repos-and-tags.ts";
import { type RepoRow, repoCollection, type TagRow } from "../../storage/registry/rows.ts";
import { readmeRules, requireSafe, setReadme } from "../registry/repos/readmes.ts";
import { repo } from "../registry/repos/repos.ts";
import { tag } from "../registry/tags/tags.ts";
import { inGroup, takenBy } from "./import-checks.ts";
import { type Importer, missing } from "./import-kind.ts";
import { importerOf, problemsIn, rejected } from "./import-resource.ts";

/** Imports repos. */
export const repoImporter = importerOf<typeof RepoSchema, RepoRow>({
  ...inGroup,
  resource: repo,
  isIndependent: () => true,
  toRow: (message, own) => ({ ...repo.toRow(message), ...own, parent: own.parent! }),
  check: async (session, { uid, parent, name }) =>
    takenBy(await findRepoByName(session, parent, name), uid, "name", "is the name of a repo of the group"),
});

/** Imports tags. */
export const tagImporter = importerOf<typeof TagSchema, TagRow>({
  parents: repoCollection,
  parentOf: inGroup.parentOf,
  resource: tag,
  isIndependent: () => true,
  // The message has no creation time.
  toRow: (message, own, before) => ({
    ...tag.toRow(message),
    ...own,
    ...(before && { createTime: before.createTime }),
    parent: own.parent!,
  }),
  check: async (session, { uid, parent, name }) =>
    takenBy(await findTagByName(session, parent, name), uid, "name", "is the name of a tag of the repo"),
});

/** Imports readmes, which are not resources of their own. */
export const readmeImporter: Importer<RepoReadme> = {
  schema: RepoReadmeSchema,
  messageRules: [readmeRules],
  references: ({ uid }) => [uid],
  async check({ content }) {
    try {
      await requireSafe(content);
      return [];
    } catch (error) {
      return problemsIn(error);
    }
  },
  async run(session, { uid, content }, { tx, isShared }) {
    if (isShared) return undefined;
    const row = await (tx ? lockRow(tx, repoCollection, uid) : findRow(session, repoCollection, uid));
    if (!row) return rejected([missing("uid", "a repo", uid)]);
    const before = await readReadme(session, uid);
    if (before === content) return { outcome: ImportOutcome.UNCHANGED };
    if (tx) await setReadme(tx, row, before, content);
    if (before === "") return { outcome: ImportOutcome.CREATED };
    const [oldValue, newValue] = [before, content].map((text) => clip(JSON.stringify(text)));
    return {
      outcome: ImportOutcome.UPDATED,
      changes: [{ field: "content", oldValue: oldValue!, newValue: newValue! }],
    };
  },
};
