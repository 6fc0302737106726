// Lists identities by filters that the published list does not have.
import type { MessageInitShape } from "@bufbuild/protobuf";
import { Capability } from "../../../../gen/chainguard/capabilities/capabilities_pb.ts";
import { RelationshipType } from "../../../../gen/chainguard/platform/iam/v2beta1/identities_pb.ts";
import {
  IdentitySearchService,
  type SearchIdentitiesRequest,
  SearchIdentitiesRequestSchema,
  type SearchIdentitiesResponseSchema,
} from "../../../../gen/gatehouse/iam/v1/identities_pb.ts";
import { failedPrecondition } from "../../../aip/errors.ts";
import { fromTimestamp } from "../../../aip/timestamps.ts";
import { accessOf, scopeOf } from "../../../pipeline/authorize.ts";
import type { Call } from "../../../pipeline/call.ts";
import { allExpensive } from "../../../pipeline/expensive.ts";
import { type Implementation, implement } from "../../../pipeline/handlers.ts";
import { type TextRule, uidRule } from "../../../pipeline/text-rules.ts";
import { listPage, rowsThatFit } from "../../../resource/list-page.ts";
import { selectSources } from "../../../resource/selection.ts";
import type { ServiceContext } from "../../../resource/service-context.ts";
import type { Session } from "../../../storage/engine/session.ts";
import { identityCollection } from "../../../storage/iam/collections.ts";
import { countBindingsOf, identityCondition } from "../../../storage/iam/identity-search.ts";
import type { IdentityRow } from "../../../storage/iam/rows.ts";
import { countRows, type Source } from "../../../storage/list/list-rows.ts";
import { maxStaticKeysAge } from "../../../sts/static-keys-expiry.ts";
import { identityMessage, identityResource } from "./identities.ts";

/** How many identities one call compares with its filters: they are in no index, and a comparison of a million took a second. */
const maxCompared = 100_000;

const searchedText: TextRule = { test: () => true, description: "", maxLength: 256 };

/** Serves the search for identities. */
export function identitySearch(context: ServiceContext): Implementation {
  const resource = identityResource(context);
  const { database } = context;

  async function search(
    request: SearchIdentitiesRequest,
    call: Call,
  ): Promise<MessageInitShape<typeof SearchIdentitiesResponseSchema>> {
    const { parent, relationshipType } = request;
    const place = { ancestorsOf: "", descendantsOf: parent, childrenOf: "", inRoot: false, ids: [] };
    const sources = selectSources(scopeOf(call), place, { includesGranted: false, includesRoots: false });
    const condition = conditionOf(request);
    if (condition) await requireFew(database.session, sources, parent);
    const selection = { sources, filters: { relationshipType }, condition };
    const page = await listPage(resource, context, { call, request, selection, makeItems: rowsThatFit<IdentityRow> });
    const { items, ...envelope } = page;
    const mayCount = parent !== "" && accessOf(call).has(Capability.CAP_IAM_ROLE_BINDINGS_LIST, parent);
    return {
      identities: items.map(identityMessage),
      ...envelope,
      roleBindingCounts: mayCount ? await database.read((session) => countsOf(session, items, parent)) : {},
    };
  }

  return implement(IdentitySearchService, allExpensive({ searchIdentities: search }), [
    { schema: SearchIdentitiesRequestSchema, fields: { parent: uidRule, query: searchedText, issuer: searchedText } },
  ]);
}

/** Throws TOO_MANY_IDENTITIES if a search would compare too many. */
async function requireFew(session: Session, sources: readonly Source[], parent: string): Promise<void> {
  if ((await countRows(session, identityCollection, { sources, filters: {}, condition: undefined })) <= maxCompared)
    return;
  const rule = `a search compares at most ${maxCompared} identities; name a smaller group in parent`;
  throw failedPrecondition("TOO_MANY_IDENTITIES", rule, parent);
}

function conditionOf({ query, issuer, neverUsed, lastSeenEndTime, keysEndTime, unpinned }: SearchIdentitiesRequest) {
  const keysEnd = keysEndTime && fromTimestamp(keysEndTime);
  return identityCondition({
    query,
    issuer,
    neverUsed,
    // The list has its own filter for it.
    relationshipType: undefined,
    hasRefusedNames: false,
    hasUnpinnedNames: false,
    unpinned: unpinned ? [RelationshipType.CLAIM_MATCH, RelationshipType.AWS_IDENTITY] : undefined,
    seenBefore: lastSeenEndTime && fromTimestamp(lastSeenEndTime),
    keysEnd:
      keysEnd === undefined
        ? undefined
        : {
            relationshipType: RelationshipType.STATIC,
            before: keysEnd,
            createdBefore: keysEnd - maxStaticKeysAge,
          },
  });
}

async function countsOf(session: Session, rows: readonly IdentityRow[], groupUid: string) {
  const uids = rows.map(({ uid }) => uid);
  const counts = await countBindingsOf(session, uids, groupUid);
  return Object.fromEntries(uids.map((uid) => [uid, BigInt(counts.get(uid) ?? 0)]));
}
