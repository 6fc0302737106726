// Imports the pins of identities: a name that was recycled must not get in because its organization moved.
import { isDeepStrictEqual } from "node:util";
import { create, type JsonObject, type JsonValue, toJson } from "@bufbuild/protobuf";
import {
  type PinnedName as PinnedNameMessage,
  TrustSchema,
} from "../../../../gen/gatehouse/iam/v1/workload_trust_pb.ts";
import {
  type IdentityTrust,
  IdentityTrustSchema,
  ImportOutcome,
} from "../../../../gen/gatehouse/organizations/v1/organizations_pb.ts";
import { fromTimestamp } from "../../../aip/timestamps.ts";
import { clip } from "../../../base/clip.ts";
import { isSameName, noTrust, type PinnedName, type Trust } from "../../../model/trust.ts";
import { uidRule } from "../../../pipeline/text-rules.ts";
import { findRow } from "../../../storage/collection/rows.ts";
import { identityCollection } from "../../../storage/iam/collections.ts";
import { isOperatorIdentity } from "../../kinds/import-checks.ts";
import { type Importer, importBy, missing, type Problem, rejected, type Transfer } from "../../kinds/import-kind.ts";
import { hasNames } from "./directory.ts";
import { checkPins, isTooMuch, mostPins, namedIdentities } from "./pin-rules.ts";
import { etagOf, policyOf, sourceOf, storeTrust, trustMessage } from "./stored-trust.ts";

/** The import of pins, each of which come after their identity. */
export const identityTrustImport: Transfer = { name: "identityTrust", declare: () => importBy(identityTrust) };

const identityTrust: Importer<IdentityTrust> = {
  schema: IdentityTrustSchema,
  messageRules: [{ schema: IdentityTrustSchema, fields: { uid: uidRule } }],
  references: () => [],
  check: async ({ pinnedNames }) => checkPins(pinnedNames),
  async run(session, message, { tx, isShared, time }) {
    // A workload may learn a name at the same time.
    if (isShared) return undefined;
    const { uid } = message;
    const row = await findRow(session, identityCollection, uid);
    if (!row) return rejected([missing("uid", "an identity", uid)]);
    const before = row.trust ?? noTrust;
    const after = withImported(before, message, time);
    if (etagOf(before) === etagOf(after)) return { outcome: ImportOutcome.UNCHANGED };
    const problem = hasNames(row)
      ? problemWith(after)
      : { field: "uid", description: `only ${namedIdentities} have pins` };
    if (problem) return rejected([problem]);
    if (await isOperatorIdentity(session, uid))
      return rejected([
        { field: "uid", description: "is an identity of an operator here, whose pins an import keeps" },
      ]);
    if (tx) await storeTrust(tx, row, after);
    if (before.pins.length === 0 && before.policy === undefined) return { outcome: ImportOutcome.CREATED };
    return { outcome: ImportOutcome.UPDATED, changes: changesOf(before, after) };
  },
};

/** Names that the file does not have stay pinned: a workload would otherwise get in again by its first use. */
function withImported({ policy: _before, pins, ...rest }: Trust, message: IdentityTrust, time: number): Trust {
  const policy = policyOf(message.namePolicy);
  const imported = message.pinnedNames.map(
    ({ kind, name, id, source, createTime }): PinnedName => ({
      kind,
      name,
      id,
      source: sourceOf(source),
      time: createTime ? Math.min(fromTimestamp(createTime), time) : time,
    }),
  );
  const others = pins.filter((pin) => !imported.some((one) => isSameName(one, pin)));
  return { ...rest, ...(policy && { policy }), pins: [...imported, ...others] };
}

function problemWith({ pins }: Trust): Problem | undefined {
  return isTooMuch(pins) ? { field: "pinned_names", description: `would have more than ${mostPins}` } : undefined;
}

function changesOf(before: Trust, after: Trust) {
  const [old, now] = [fieldsOf(before), fieldsOf(after)];
  return ["name_policy", "pinned_names"]
    .filter((field) => !isDeepStrictEqual(old[field], now[field]))
    .map((field) => ({ field, oldValue: textOf(old[field]), newValue: textOf(now[field]) }));
}

/** Returns the fields that a file decides: sources and times alone are not a change. */
function fieldsOf(trust: Trust): JsonObject {
  const { namePolicy, pinnedNames } = create(TrustSchema, trustMessage("", trust, undefined));
  const names = pinnedNames.map(({ kind, name, id }) => ({ kind, name, id }));
  const message = create(TrustSchema, { namePolicy, pinnedNames: names as PinnedNameMessage[] });
  return toJson(TrustSchema, message, { useProtoFieldName: true }) as JsonObject;
}

function textOf(value: JsonValue | undefined): string {
  return value === undefined ? "" : clip(JSON.stringify(value));
}
