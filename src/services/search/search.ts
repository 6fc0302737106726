// Finds resources by the beginning of their name, or by their uid (docs/design/api.md).
import type { MessageInitShape } from "@bufbuild/protobuf";
import { Capability } from "../../../gen/chainguard/capabilities/capabilities_pb.ts";
import {
  type FoundResourceSchema,
  ResourceKind,
  type SearchRequest,
  SearchRequestSchema,
  type SearchResponseSchema,
  SearchService,
} from "../../../gen/gatehouse/search/v1/search_pb.ts";
import { invalidField } from "../../aip/errors.ts";
import type { MaybePromise } from "../../base/maybe-promise.ts";
import { isUid, isWithin } from "../../model/uid.ts";
import { accessOf, subtreesWithin } from "../../pipeline/authorize.ts";
import type { Call } from "../../pipeline/call.ts";
import { expensive } from "../../pipeline/expensive.ts";
import { type Implementation, implement } from "../../pipeline/handlers.ts";
import { plainTextRule, type TextRule } from "../../pipeline/text-rules.ts";
import type { ServiceContext } from "../../resource/service-context.ts";
import type { Collection, ResourceRow } from "../../storage/collection/collection.ts";
import { findRow } from "../../storage/collection/rows.ts";
import type { Session } from "../../storage/engine/session.ts";
import {
  groupCollection,
  identityCollection,
  identityProviderCollection,
  roleCollection,
} from "../../storage/iam/collections.ts";
import { readNamed } from "../../storage/list/named-rows.ts";
import type { RangeSource } from "../../storage/list/source.ts";
import { repoCollection } from "../../storage/registry/rows.ts";

type Found = MessageInitShape<typeof FoundResourceSchema>;
type NamedRow = ResourceRow & { readonly name: string; readonly description?: string };

/** A kind, who may list it, and how its rows are read. */
interface SearchedKind {
  readonly kind: ResourceKind;
  readonly capability: Capability;
  /** Whether rows without a parent are shown wherever the caller may list the kind: built-in roles. */
  readonly hasBuiltIn: boolean;
  findOne(session: Session, uid: string): MaybePromise<NamedRow | undefined>;
  findNamed(session: Session, sources: readonly RangeSource[], prefix: string, limit: number): Promise<NamedRow[]>;
}

function searched<R extends NamedRow>(
  kind: ResourceKind,
  capability: Capability,
  collection: Collection<R>,
  hasBuiltIn = false,
): SearchedKind {
  return {
    kind,
    capability,
    hasBuiltIn,
    findOne: (session, uid) => findRow(session, collection, uid),
    findNamed: (session, sources, prefix, limit) => readNamed(session, collection, sources, prefix, limit),
  };
}

const searchedKinds: readonly SearchedKind[] = [
  searched(ResourceKind.GROUP, Capability.CAP_IAM_GROUPS_LIST, groupCollection),
  searched(ResourceKind.IDENTITY, Capability.CAP_IAM_IDENTITY_LIST, identityCollection),
  searched(ResourceKind.ROLE, Capability.CAP_IAM_ROLES_LIST, roleCollection, true),
  searched(ResourceKind.IDENTITY_PROVIDER, Capability.CAP_IAM_IDENTITY_PROVIDERS_LIST, identityProviderCollection),
  searched(ResourceKind.REPO, Capability.CAP_REPO_LIST, repoCollection),
];

/** Results of each kind: by default, and at most. */
const pageSizes = { default: 10, max: 50 };

/** How many subtrees one call searches for each kind: one for each group where a caller may list it. */
const maxSubtrees = 100;

/** How long a query may be: longer than any name that is worth typing, and as long as a deep uid. */
const queryRule: TextRule = { ...plainTextRule, maxLength: 1024 };

/** Serves the search. */
export function search({ database }: Pick<ServiceContext, "database">): Implementation {
  return implement(
    SearchService,
    {
      search: expensive(
        async (request: SearchRequest, call: Call): Promise<MessageInitShape<typeof SearchResponseSchema>> => {
          if (request.pageSize < 0) throw invalidField("page_size", "must not be negative");
          const query = request.query.trim().toLowerCase();
          if (query === "") throw invalidField("query", "is required");
          const wanted = searchedKinds.filter(({ kind }) => request.kinds.length === 0 || request.kinds.includes(kind));
          return await database.read(async (session) => {
            if (isUid(query)) return { resources: await findByUid(session, wanted, query, request.parent, call) };
            return await findByName(session, wanted, { ...request, query }, call);
          });
        },
      ),
    },
    [{ schema: SearchRequestSchema, fields: { query: queryRule } }],
  );
}

async function findByUid(
  session: Session,
  kinds: readonly SearchedKind[],
  uid: string,
  parent: string,
  call: Call,
): Promise<Found[]> {
  const found: Found[] = [];
  for (const { kind, capability, hasBuiltIn, findOne } of kinds) {
    const isBuiltIn = hasBuiltIn && !uid.includes("/") && subtreesWithin(call, capability, parent).length > 0;
    if (!isBuiltIn && !(isWithin(uid, parent) && accessOf(call).has(capability, uid))) continue;
    const row = await findOne(session, uid);
    if (row) found.push(shown(kind, row));
  }
  return found;
}

async function findByName(
  session: Session,
  kinds: readonly SearchedKind[],
  { query, parent, pageSize }: { readonly query: string; readonly parent: string; readonly pageSize: number },
  call: Call,
): Promise<{ resources: Found[]; truncated: boolean }> {
  const limit = Math.min(pageSize === 0 ? pageSizes.default : pageSize, pageSizes.max);
  const resources: Found[] = [];
  let truncated = false;
  for (const { kind, capability, hasBuiltIn, findNamed } of kinds) {
    const subtrees = subtreesWithin(call, capability, parent);
    if (subtrees.length === 0) continue;
    const sources: RangeSource[] = subtrees.slice(0, maxSubtrees).map((uid) => ({ type: "subtree", uid }));
    if (hasBuiltIn) sources.push({ type: "children", uid: null });
    const rows = await findNamed(session, sources, query, limit + 1);
    truncated ||= rows.length > limit || subtrees.length > maxSubtrees;
    resources.push(...rows.slice(0, limit).map((row) => shown(kind, row)));
  }
  const isExact = ({ name }: Found) => name === query;
  return { resources: [...resources.filter(isExact), ...resources.filter((one) => !isExact(one))], truncated };
}

function shown(kind: ResourceKind, { uid, name, description = "" }: NamedRow): Found {
  return { kind, uid, name, description };
}
