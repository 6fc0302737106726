// The registry methods of repos. In version 1 a readme is part of its repo.
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { FieldMaskSchema } from "@bufbuild/protobuf/wkt";
import { Capability } from "../../gen/chainguard/capabilities/capabilities_pb.ts";
import {
  Registry,
  type Repo as V1Repo,
  RepoSchema as V1RepoSchema,
} from "../../gen/chainguard/platform/registry/v1/registry_pb.ts";
import { type Repo, RepoSchema, ReposService } from "../../gen/chainguard/platform/registry/v2beta1/repos_pb.ts";
import { ApiError, Code, type FieldViolation, notFound, resourceExhausted } from "../aip/errors.ts";
import { nextSlice } from "../base/slices.ts";
import { requireCapability } from "../pipeline/authorize.ts";
import type { Call } from "../pipeline/call.ts";
import { expensive } from "../pipeline/expensive.ts";
import type { ServiceContext } from "../resource/service-context.ts";
import { displayableReadme, requireSafe, setReadme } from "../services/registry/repos/readmes.ts";
import { type InTransaction, repoType, repoWriter } from "../services/registry/repos/repos.ts";
import { canManageCatalog } from "../services/registry/repos/text-rules.ts";
import { findRow } from "../storage/collection/rows.ts";
import type { Session } from "../storage/engine/session.ts";
import { findReadmes, findRepoByName, readReadme } from "../storage/registry/repos-and-tags.ts";
import { repoCollection } from "../storage/registry/rows.ts";
import { handwritten, passThrough, type V1Methods } from "./adapter.ts";
import type { CurrentApi } from "./current-api.ts";
import { type FieldNames, fieldsOf, mapMessages } from "./fields.ts";
import { v1Limits } from "./limits.ts";
import { list } from "./lists.ts";
import { renamer } from "./violations.ts";

const [v1, current] = [Registry.method, ReposService.method];

const names: FieldNames = {
  // A resource of its own in the current API.
  readme: "",
  "SyncConfig.expiration": "expiration_time",
  "SyncConfig.sync_apks": "",
  // The current API rejects it with any content.
  custom_overlay: { current: "custom_overlay", toCurrent: () => ({}) },
};

const fields = mapMessages(V1RepoSchema, RepoSchema, names);
const rename = renamer([...fields.renamed, ["parent", "parent_id"], ["content", "readme"]]);
const everything = create(FieldMaskSchema, { paths: ["*"] });

/** How many readmes are read at once. That many of maximum length fit into a response. */
const readmeBatch = 200;

type RepoMethods = "createRepo" | "updateRepo" | "listRepos" | "getRepoCountBySource" | "deleteRepo";

type RepoHandlers = Pick<V1Methods<typeof Registry>, RepoMethods>;

/** Serves repos in version 1. */
export function repoMethods(api: CurrentApi, context: ServiceContext): RepoHandlers {
  const write = repoWriter(context);
  const createOrUpdate = repoCreator(context);

  return {
    createRepo: handwritten(current.createRepo, rename, {
      event: { of: current.createRepo, toV1Event: fields.toV1 },
      check: ({ parentId, repo }) => [
        ...api.check(current.createRepo, { parent: parentId, ...(repo && { repo: fields.toCurrent(repo) }) }),
        ...readmeViolations(api, repo?.readme ?? ""),
      ],
      respond: ({ parentId, repo, preventExisting }, call) =>
        withReadme(repo!.readme, parentId, call, (dependent) =>
          createOrUpdate(parentId, fields.toCurrent(repo!), preventExisting, call, dependent),
        ),
    }),

    updateRepo: handwritten(current.updateRepo, rename, {
      event: { of: current.updateRepo, toV1Event: fields.toV1 },
      check: (repo) => [
        ...api.check(current.updateRepo, { repo: fields.toCurrent(repo), updateMask: everything }),
        ...readmeViolations(api, repo.readme),
      ],
      respond: (repo, call) =>
        withReadme(repo.readme, repo.id, call, (dependent) =>
          write.update(fields.toCurrent(repo), everything, call, dependent),
        ),
    }),

    listRepos: listWithReadmes(api),

    getRepoCountBySource: handwritten(current.getRepo, rename, {
      check: ({ id }) => api.check(current.getRepo, { uid: id }),
      async respond({ id }) {
        if (!(await findRow(context.database.session, repoCollection, id))) throw notFound(repoType, id);
        // Repos that are copies cannot be created.
        return { count: 0n };
      },
    }),

    deleteRepo: passThrough(api, v1.deleteRepo, current.deleteRepo),
  };
}

/** Writes a repo with its readme, and returns both. Only callers who may manage the catalog can set the readme. */
async function withReadme(
  readme: string,
  uid: string,
  call: Call,
  body: (dependent: InTransaction) => Promise<MessageInitShape<typeof RepoSchema>>,
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

function readmeViolations(api: CurrentApi, content: string): FieldViolation[] {
  return api.check(current.updateRepoReadme, { repoReadme: { content } }).filter(({ field }) => field === "content");
}

/** Returns the function that creates a repo, or updates the repo of that name unless the caller prevents it. */
function repoCreator(context: ServiceContext) {
  const write = repoWriter(context);
  return async (parent: string, value: Repo, preventExisting: boolean, call: Call, dependent: InTransaction) => {
    /** Updates the repo of the name; undefined if there is none, or it may not be updated. */
    async function updateExisting() {
      const existing = preventExisting ? undefined : await findRepoByName(context.database.session, parent, value.name);
      if (!existing) return undefined;
      requireCapability(call, Capability.CAP_REPO_UPDATE, existing.uid);
      return await write.update({ ...value, uid: existing.uid }, everything, call, dependent);
    }

    // Looked for first: a call with an idempotency key is one transaction, which PostgreSQL ends when the name is taken.
    const updated = await updateExisting();
    if (updated) return updated;
    try {
      return await write.create(parent, value, call, dependent);
    } catch (error) {
      // A concurrent call has created it.
      const isTaken = error instanceof ApiError && error.code === Code.ALREADY_EXISTS;
      const late = isTaken ? await updateExisting() : undefined;
      if (!late) throw error;
      return late;
    }
  };
}

function listWithReadmes(api: CurrentApi): RepoHandlers["listRepos"] {
  const listed = list(api, v1.listRepos, current.listRepos, { itemNames: names });
  return {
    ...listed,
    handle: expensive(async (filter: Parameters<typeof listed.handle>[0], call: Call) => {
      const items = await api.readTogether(call, async (together, session) => {
        const { items: found = [] } = (await listed.handle(filter, together)) as { items?: V1Repo[] };
        await addReadmes(session, found);
        return found;
      });
      for (const repo of items) {
        await nextSlice();
        repo.readme = await displayableReadme(repo.readme);
      }
      return { items };
    }),
  };
}

/** Adds the readmes to the repos of a list. Throws if they are too long for one response. */
async function addReadmes(session: Session, items: readonly V1Repo[]): Promise<void> {
  let length = 0;
  for (let i = 0; i < items.length; i += readmeBatch) {
    const portion = items.slice(i, i + readmeBatch);
    const found = await findReadmes(
      session,
      portion.map(({ id }) => id),
    );
    for (const repo of portion) {
      repo.readme = found.get(repo.id) ?? "";
      length += repo.readme.length;
    }
    if (length > v1Limits.v1ListReadmes) throw tooMuch();
  }
}

function tooMuch() {
  return resourceExhausted(
    "the readmes of the list are too long for one response; filter it, or list one repo by its id",
  );
}
