import {
  type RepoReadme,
  RepoReadmeSchema,
  type RepoSchema,
} from "../../../../gen/chainguard/platform/registry/v2beta1/repos_pb.ts";
import { ImportOutcome } from "../../../../gen/gatehouse/organizations/v1/organizations_pb.ts";
import { clip } from "../../../base/clip.ts";
import { findRow, lockRow } from "../../../storage/collection/rows.ts";
import { findRepoByName, readReadme } from "../../../storage/registry/repos-and-tags.ts";
import { type RepoRow, repoCollection } from "../../../storage/registry/rows.ts";
import { inGroup, takenBy } from "../../kinds/import-checks.ts";
import {
  type Importer,
  importBy,
  importKind,
  missing,
  problemsIn,
  rejected,
  type Transfer,
} from "../../kinds/import-kind.ts";
import { readmeRules, requireSafe, setReadme } from "./readmes.ts";
import { repo } from "./repos.ts";

/** The import of repos. */
export const repoImport: Transfer = {
  name: "repo",
  declare: () =>
    importKind<typeof RepoSchema, RepoRow>({
      ...inGroup,
      resource: repo,
      isIndependent: () => true,
      toRow: (message, own) => ({ ...repo.toRow(message), ...own, parent: own.parent! }),
      check: async (session, { uid, parent, name }) =>
        takenBy(await findRepoByName(session, parent, name), uid, "name", "is the name of a repo of the group"),
    }),
};

/** Imports readmes, which are not resources of their own. */
const readmes: Importer<RepoReadme> = {
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

/** The import of readmes. */
export const repoReadmeImport: Transfer = { name: "repoReadme", declare: () => importBy(readmes) };
