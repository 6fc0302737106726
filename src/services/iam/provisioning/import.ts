// Lists and imports the people whom an identity provider has deactivated or deleted (docs/design/sign-in.md): an organization that moves
// neither gives them access nor loses what a reactivation brings back.
import type { MessageInitShape } from "@bufbuild/protobuf";
import { IdentityProviderSchema } from "../../../../gen/chainguard/platform/iam/v2beta1/identity_providers_pb.ts";
import {
  ImportOutcome,
  type ListSuspendedPeopleRequest,
  type ListSuspendedPeopleResponseSchema,
  type SuspendedPeople,
  SuspendedPeopleSchema,
} from "../../../../gen/gatehouse/organizations/v1/organizations_pb.ts";
import { notFound } from "../../../aip/errors.ts";
import { formatPageToken } from "../../../aip/page-token.ts";
import { effectivePageSize, effectiveSkip } from "../../../aip/pagination.ts";
import { resourceType } from "../../../aip/resource-type.ts";
import { newViolations } from "../../../aip/violations.ts";
import type { Call } from "../../../pipeline/call.ts";
import { uidRule } from "../../../pipeline/text-rules.ts";
import { queryDigest, readToken } from "../../../resource/bound-page-token.ts";
import type { ServiceContext } from "../../../resource/service-context.ts";
import { rowExists } from "../../../storage/collection/rows.ts";
import type { Session } from "../../../storage/engine/session.ts";
import { identityProviderCollection } from "../../../storage/iam/collections.ts";
import { countSuspensions, findSuspendedAmong, listSuspensions } from "../../../storage/iam/scim-suspensions.ts";
import { findScimUsersByIdentity } from "../../../storage/iam/scim-users.ts";
import { type Importer, importBy, missing, type Problem, rejected, type Transfer } from "../../kinds/import-kind.ts";
import { isUserUid } from "../users/user-uid.ts";
import { suspend } from "./suspensions.ts";

/** The maximum number of people in one imported resource. */
const maxPeople = 500;

/** Returns the method that lists them. */
export function listSuspendedPeople(context: ServiceContext) {
  return async (
    request: ListSuspendedPeopleRequest,
    call: Call,
  ): Promise<MessageInitShape<typeof ListSuspendedPeopleResponseSchema>> => {
    const { parent: providerUid, pageSize, pageToken } = request;
    const violations = newViolations();
    const size = effectivePageSize(pageSize, violations);
    const skip = effectiveSkip(request.skip, violations);
    violations.throwIfAny();
    const query = queryDigest(call, request);
    const after = readToken(context, call, pageToken, query)?.uid ?? "";
    return await context.database.read(async (session) => {
      if (!(await rowExists(session, identityProviderCollection, providerUid)))
        throw notFound(resourceType(IdentityProviderSchema), providerUid);
      const found = await listSuspensions(session, { providerUid, after, skip, limit: size + 1 });
      const shown = found.slice(0, size);
      const next = { issuedAt: context.clock(), query, order: "", value: "", uid: shown.at(-1) ?? "" };
      return {
        identityUids: shown,
        nextPageToken: found.length > size ? formatPageToken(context.pageTokenKey, next) : "",
        totalCount: BigInt(await countSuspensions(session, providerUid)),
        skipped: skip,
      };
    });
  };
}

/** Imports them. An import ends no suspension, and suspends nobody whom the identity provider has provisioned here as active. */
const suspendedPeople: Importer<SuspendedPeople> = {
  schema: SuspendedPeopleSchema,
  messageRules: [
    {
      schema: SuspendedPeopleSchema,
      fields: { uid: uidRule, identity_uids: uidRule },
      bounds: { identity_uids: { maxItems: maxPeople } },
    },
  ],
  references: () => [],
  check: async ({ identityUids }) => identityUids.flatMap(checkPerson),
  async run(session, { uid, identityUids }, { tx, isShared }) {
    if (!(await rowExists(session, identityProviderCollection, uid)))
      return rejected([missing("uid", "an identity provider", uid)]);
    const known = await findSuspendedAmong(session, uid, identityUids);
    const others: string[] = [];
    for (const each of new Set(identityUids))
      if (!known.has(each) && !(await isActiveHere(session, uid, each))) others.push(each);
    if (others.length === 0) return { outcome: ImportOutcome.UNCHANGED };
    // The last owner cannot be suspended, which depends on other rows.
    if (isShared) return undefined;
    if (tx) {
      for (const each of others) await suspend(tx, uid, each);
      tx.changeAccess();
    }
    return { outcome: known.size === 0 ? ImportOutcome.CREATED : ImportOutcome.UPDATED };
  },
};

/** The import of suspended people. */
export const suspendedPeopleImport: Transfer = { name: "suspendedPeople", declare: () => importBy(suspendedPeople) };

/** Whether the identity provider has activated the person here: it knows better than an older file. */
async function isActiveHere(session: Session, providerUid: string, identityUid: string): Promise<boolean> {
  const users = await findScimUsersByIdentity(session, identityUid);
  return users.some((user) => user.providerUid === providerUid && user.isActive);
}

function checkPerson(uid: string, i: number): Problem[] {
  if (isUserUid(uid)) return [];
  return [{ field: `identity_uids[${i}]`, description: "must be the uid of a user, which has no parent" }];
}
