import type { FieldMask } from "@bufbuild/protobuf/wkt";
import {
  type CatalogTier,
  type Repo,
  RepoSchema,
  ReposService,
} from "../../../../gen/chainguard/platform/registry/v2beta1/repos_pb.ts";
import { alreadyExists, type FieldViolation } from "../../../aip/errors.ts";
import { toTimestamp } from "../../../aip/timestamps.ts";
import type { Call } from "../../../pipeline/call.ts";
import { type Implementation, implement } from "../../../pipeline/handlers.ts";
import { descriptionRule, nameRule, patternRule } from "../../../pipeline/text-rules.ts";
import { mapUniqueViolation } from "../../../resource/already-exists.ts";
import { commonOrders, defineResource } from "../../../resource/resource.ts";
import { type ServiceContext, writeContext } from "../../../resource/service-context.ts";
import { standardMethods } from "../../../resource/standard-methods.ts";
import { deleteRow } from "../../../storage/collection/rows.ts";
import type { Transaction } from "../../../storage/engine/session.ts";
import { clearRepo, findTagsOf } from "../../../storage/registry/repos-and-tags.ts";
import { type RepoRow, repoCollection, tagCollection } from "../../../storage/registry/rows.ts";
import { groupParents } from "../../iam/groups/groups.ts";
import { readmeRules, repoReadmes } from "./readmes.ts";
import { bundleRule, canManageCatalog, tagRule } from "./text-rules.ts";

/** How many tags of a deleted repo are read at once. */
const tagBatch = 500;

export const repo = defineResource<typeof RepoSchema, RepoRow>({
  schema: RepoSchema,
  plural: "repos",
  collection: repoCollection,
  orderable: commonOrders,
  rules: {
    name: nameRule,
    description: descriptionRule,
    bundles: bundleRule,
    aliases: patternRule(
      "each alias",
      /^[a-zA-Z0-9_.\-/]*[a-zA-Z0-9_.-]:[a-zA-Z0-9_.-]+$/,
      "^[a-zA-Z0-9_.\\\\-/]*[a-zA-Z0-9_.\\\\-]:[a-zA-Z0-9_.\\\\-]+$",
      // The maximum lengths of repo names and tags in registries.
      255 + ":".length + 128,
    ),
    active_tags: tagRule,
  },
  check: checkRepo,
  toMessage: (row): Repo => ({
    $typeName: "chainguard.platform.registry.v2beta1.Repo",
    uid: row.uid,
    name: row.name,
    description: row.description,
    catalogTier: row.catalogTier as CatalogTier,
    bundles: row.bundles,
    aliases: row.aliases,
    activeTags: row.activeTags,
    createTime: toTimestamp(row.createTime),
    updateTime: toTimestamp(row.updateTime),
  }),
  toRow: ({ name, description, ...value }) => ({ name, description, ...catalogFields(value) }),
});

/** Converts a stored repo to its message. */
export const repoMessage = repo.toMessage;

/** The type of repos in errors. */
export const repoType = repo.type;

/**
 * Prepares a write that belongs to that of a repo and runs after it, in the same transaction. All writers take the locks in this
 * order. Returns undefined if nothing would change.
 */
export type InTransaction = (tx: Transaction, row: RepoRow) => Promise<(() => Promise<void>) | undefined>;

const nothing: InTransaction = async () => undefined;

/** Returns the functions that write repos, for all versions of the API. */
export function repoWriter(context: ServiceContext) {
  const standard = standardMethods(repo, groupParents, context);
  return {
    create(parent: string, value: Repo, call: Call, dependent = nothing) {
      const allowed = canManageCatalog(call, parent) ? value : { ...value, ...noCatalogFields };
      return mapTakenName(value.name, () =>
        context.database.write(writeContext(call, context.clock), async (tx) => {
          const row = await standard.insert(tx, parent, allowed, {});
          await (await dependent(tx, row))?.();
          return repo.toMessage(row);
        }),
      );
    },

    update(value: Repo, updateMask: FieldMask | undefined, call: Call, dependent = nothing) {
      return mapTakenName(value.name, () =>
        context.database.write(writeContext(call, context.clock), async (tx) => {
          const writeDependent = await dependent(tx, await standard.find(tx, value.uid));
          const guard = async (before: RepoRow, after: RepoRow) =>
            canManageCatalog(call, before.uid) ? after : { ...after, ...catalogFields(before) };
          const options = { changesDependents: writeDependent !== undefined };
          const row = await standard.change(tx, value, updateMask, guard, options);
          await writeDependent?.();
          return repo.toMessage(row);
        }),
      );
    },
  };
}

/** Serves repos. */
export function repos(context: ServiceContext): Implementation {
  const standard = standardMethods(repo, groupParents, context);
  const write = repoWriter(context);
  return implement(
    ReposService,
    {
      getRepo: standard.get,
      listRepos: (request, call) => standard.list(request, call, { name: request.name ?? "" }),
      createRepo: ({ parent, repo: value }, call) => write.create(parent, value!, call),
      updateRepo: ({ repo: value, updateMask }, call) => write.update(value!, updateMask, call),
      deleteRepo: (request, call) => standard.delete(request, call, emptyOut),
      ...repoReadmes(context, standard.find),
    },
    [...repo.messageRules, readmeRules],
  );
}

type CatalogFields = Pick<Repo, "catalogTier" | "bundles" | "aliases" | "activeTags">;

const noCatalogFields: CatalogFields = { catalogTier: 0, bundles: [], aliases: [], activeTags: [] };

/** Returns the fields that only callers who may manage the catalog can set. */
function catalogFields({ catalogTier, bundles, aliases, activeTags }: Pick<RepoRow, keyof CatalogFields>) {
  return { catalogTier, bundles, aliases, activeTags };
}

/** Rejects fields that would have no effect. */
function checkRepo({ syncConfig, customOverlay }: Repo): FieldViolation[] {
  const refused = { sync_config: syncConfig, custom_overlay: customOverlay };
  return Object.entries(refused)
    .filter(([, value]) => value !== undefined)
    .map(([field]) => ({ field, description: "is not supported by this server" }));
}

function mapTakenName<T>(name: string, write: () => Promise<T>): Promise<T> {
  return mapUniqueViolation(() => alreadyExists(repo.type, name, `the group has a repo named ${name}`), write);
}

/** Deletes everything in a repo, in the same transaction. */
async function emptyOut(tx: Transaction, { uid }: RepoRow): Promise<void> {
  for (;;) {
    const tags = await findTagsOf(tx, uid, tagBatch);
    for (const tag of tags) await deleteRow(tx, tagCollection, tag);
    if (tags.length < tagBatch) break;
  }
  await clearRepo(tx, uid);
}
