import { isDeepStrictEqual } from "node:util";
import { fromTimestamp } from "../../../aip/timestamps.ts";
import { callerOf } from "../../../pipeline/authorize.ts";
import { inGroup, isOperatorIdentity } from "../../kinds/import-checks.ts";
import { type ImportKind, importKind, type Transfer } from "../../kinds/import-kind.ts";
import { refuseUnreachable } from "../rules/last-owner.ts";
import { identityResource } from "./identities.ts";
import { trustAfter } from "./stored-trust.ts";

/** The import of identities. */
export const identityImport: Transfer = {
  name: "identity",
  declare(context) {
    const identity = identityResource(context);
    return importKind({
      ...inGroup,
      resource: identity,
      isIndependent: () => true,
      toRow: (message, own, before) => ({
        ...identity.toRow(message),
        trust: before ? trustAfter(before.trust, before.relationship, identity.toRow(message).relationship) : null,
        // Only sign-ins of users set these, and users belong to no organization.
        email: before?.email ?? "",
        emailUnverified: before?.emailUnverified ?? "",
        metadata: before?.metadata ?? {},
        lastSeenTime:
          before?.lastSeenTime ?? (message.lastSeenTime ? fromTimestamp(message.lastSeenTime) : own.createTime),
        ...own,
      }),
      async check(session, after, before) {
        const isSame = !before || isDeepStrictEqual(before.relationship, after.relationship);
        if (isSame || !(await isOperatorIdentity(session, after.uid))) return [];
        return [
          {
            field: "uid",
            description: "is an identity of an operator here, which an import gives no other credentials",
          },
        ];
      },
      async prepare(tx, after, before, call) {
        if (before && !isDeepStrictEqual(before.relationship, after.relationship))
          await refuseUnreachable(tx, after, callerOf(call).uid === after.uid, call);
      },
    } satisfies ImportKind<typeof identity.schema, Parameters<typeof identity.toMessage>[0]>);
  },
};
