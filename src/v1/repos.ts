// The methods of the registry that are about repos. In version 1 a readme is part of its repo.
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { FieldMaskSchema } from "@bufbuild/protobuf/wkt";
import { Capability } from "../../gen/chainguard/capabilities/capabilities_pb.ts";
import {
  Registry,
  type Repo as V1Repo,
  RepoSchema as V1RepoSchema,
} from "../../gen/chainguard/platform/registry/v1/registry_pb.ts";
import { RepoSchema, ReposService } from "../../gen/chainguard/platform/registry/v2beta1/repos_pb.ts";
import { ApiError, Code, type FieldViolation, notFound, resourceExhausted } from "../aip/errors.ts";
import { limits } from "../config/limits.ts";
import { requireCapability } from "../pipeline/authorize.ts";
import type { Call } from "../pipeline/call.ts";
import type { ServiceContext } from "../resource/service-context.ts";
import { displayableReadme, requireSafe, setReadme } from "../services/registry/readmes.ts";
import { type Along, repoType, repoWriter } from "../services/registry/repos.ts";
import { canManageCatalog } from "../services/registry/text-rules.ts";
import { findRow } from "../storage/collection/rows.ts";
import type { Session } from "../storage/engine/session.ts";
import { findReadmes, findRepoByName, readReadme } from "../storage/registry/repos-and-tags.ts";
import { repoCollection } from "../storage/registry/rows.ts";
import { handwritten, same, type V1Methods } from "./adapter.ts";
import type { Today } from "./current-api.ts";
import { correspond, fieldsOf, type Names } from "./fields.ts";
import { list } from "./lists.ts";
import { renamer } from "./violations.ts";

const [v1, now] = [Registry.method, ReposService.method];

const names: Names = {
  // Today it is a resource of its own.
  readme: "",
  "SyncConfig.expiration": "expiration_time",
  "SyncConfig.sync_apks": "",
  // Today refuses it, whatever it holds.
  custom_overlay: { now: "custom_overlay", toNow: () => ({}) },
};

const fields = correspond(V1RepoSchema, RepoSchema, names);
const rename = renamer([...fields.renamed, ["parent", "parent_id"], ["content", "readme"]]);
const everything = create(FieldMaskSchema, { paths: ["*"] });

/** Readmes that are read at once. That many of the longest still fit into a reply. */
const readmePortion = 200;

type RepoMethods = "createRepo" | "updateRepo" | "listRepos" | "getRepoCountBySource" | "deleteRepo";

/** Serves repos as version 1 has them. */
export function repoMethods(today: Today, context: ServiceContext): Pick<V1Methods<typeof Registry>, RepoMethods> {
  const { database } = context;
  const write = repoWriter(context);
  const listed = list(today, v1.listRepos, now.listRepos, { itemNames: names });

  /** Writes a repo together with its readme, which only those who keep the catalog there may set, and shows both. */
  async function withReadme(
    readme: string,
    uid: string,
    call: Call,
    body: (along: Along) => Promise<MessageInitShape<typeof RepoSchema>>,
  ) {
    const isSet = canManageCatalog(call, uid);
    if (isSet && readme !== "") await requireSafe(readme);
    let stored = "";
    const repo = await body(async (tx, row) => {
      const before = await readReadme(tx, row.uid);
      stored = isSet ? readme : before;
      return before === stored ? undefined : () => setReadme(tx, row, before, stored);
    });
    const displayable = await displayableReadme(stored);
    return { ...fieldsOf(fields.toV1(create(RepoSchema, repo))), readme: displayable };
  }

  function readmeViolations(content: string): FieldViolation[] {
    return today.check(now.updateRepoReadme, { repoReadme: { content } }).filter(({ field }) => field === "content");
  }

  return {
    createRepo: handwritten(now.createRepo, rename, {
      event: { of: now.createRepo, told: fields.toV1 },
      check: ({ parentId, repo }) => [
        ...today.check(now.createRepo, { parent: parentId, ...(repo && { repo: fields.toNow(repo) }) }),
        ...readmeViolations(repo?.readme ?? ""),
      ],
      answer: ({ parentId, repo, preventExisting }, call) =>
        withReadme(repo!.readme, parentId, call, async (along) => {
          const value = fields.toNow(repo!);
          try {
            return await write.create(parentId, value, call, along);
          } catch (error) {
            const isTaken = error instanceof ApiError && error.code === Code.ALREADY_EXISTS;
            const existing =
              isTaken && !preventExisting && (await findRepoByName(database.session, parentId, value.name));
            if (!existing) throw error;
            requireCapability(call, Capability.CAP_REPO_UPDATE, existing.uid);
            return await write.update({ ...value, uid: existing.uid }, everything, call, along);
          }
        }),
    }),

    updateRepo: handwritten(now.updateRepo, rename, {
      event: { of: now.updateRepo, told: fields.toV1 },
      check: (repo) => [
        ...today.check(now.updateRepo, { repo: fields.toNow(repo), updateMask: everything }),
        ...readmeViolations(repo.readme),
      ],
      answer: (repo, call) =>
        withReadme(repo.readme, repo.id, call, (along) => write.update(fields.toNow(repo), everything, call, along)),
    }),

    listRepos: {
      ...listed,
      async handle(filter, call) {
        const items = await today.readTogether(call, async (together, session) => {
          const { items: found = [] } = (await listed.handle(filter, together)) as { items?: V1Repo[] };
          await addReadmes(session, found);
          return found;
        });
        for (const repo of items) repo.readme = await displayableReadme(repo.readme);
        return { items };
      },
    },

    getRepoCountBySource: handwritten(now.getRepo, rename, {
      check: ({ id }) => today.check(now.getRepo, { uid: id }),
      async answer({ id }) {
        if (!(await findRow(database.session, repoCollection, id))) throw notFound(repoType, id);
        // What is copied from elsewhere is refused when it is created.
        return { count: 0n };
      },
    }),

    deleteRepo: same(today, v1.deleteRepo, now.deleteRepo),
  };
}

/** Reads the readmes of a list. Throws as soon as they are too much for a reply. */
async function addReadmes(session: Session, items: readonly V1Repo[]): Promise<void> {
  let length = 0;
  for (let i = 0; i < items.length; i += readmePortion) {
    const portion = items.slice(i, i + readmePortion);
    const found = await findReadmes(
      session,
      portion.map(({ id }) => id),
    );
    for (const repo of portion) {
      repo.readme = found.get(repo.id) ?? "";
      length += repo.readme.length;
    }
    if (length > limits.v1ListReadmes) throw tooMuch();
  }
}

function tooMuch() {
  return resourceExhausted("the readmes of the list are too much for one reply; narrow it, or list one repo by its id");
}
