// The methods that read and change the pins of identities.
import type { MessageInitShape } from "@bufbuild/protobuf";
import {
  type AcceptNamesRequest,
  AcceptNamesRequestSchema,
  type GetTrustRequest,
  GetTrustRequestSchema,
  type Trust as TrustMessage,
  TrustSchema,
  type UpdateTrustRequest,
} from "../../../../gen/gatehouse/iam/v1/workload_trust_pb.ts";
import { aborted, failedPrecondition, invalidArgument, invalidField } from "../../../aip/errors.ts";
import {
  isSameName,
  maxRefusedNames,
  type NameWithId,
  noTrust,
  type PinnedName,
  type RefusedName,
  type Trust,
} from "../../../model/trust.ts";
import type { Call } from "../../../pipeline/call.ts";
import { type MessageRules, uidRule } from "../../../pipeline/text-rules.ts";
import { requestMask } from "../../../resource/apply-update.ts";
import { type ServiceContext, writeContext } from "../../../resource/service-context.ts";
import type { Transaction } from "../../../storage/engine/session.ts";
import type { IdentityRow } from "../../../storage/iam/rows.ts";
import { requireHeldRoles } from "../rules/escalation.ts";
import { effectivePolicy, hasNames, requireIdentity } from "./directory.ts";
import { checkPins, isTooMuch, mostPins, namedIdentities } from "./pin-rules.ts";
import { etagOf, policyOf, storeTrust, trustMessage } from "./stored-trust.ts";

/** The dependencies of the methods. */
export type TrustMethodsContext = Pick<ServiceContext, "database" | "clock" | "settings">;

/** The rules of the texts of the requests. */
export const trustRules: readonly MessageRules[] = [GetTrustRequestSchema, AcceptNamesRequestSchema, TrustSchema].map(
  (schema) => ({ schema, fields: { identity: uidRule } }),
);

type TrustShape = MessageInitShape<typeof TrustSchema>;

/** Returns the methods that read and change the pins of identities. */
export function trustMethods({ database, clock, settings }: TrustMethodsContext) {
  const show = (row: IdentityRow): TrustShape =>
    trustMessage(row.uid, row.trust ?? noTrust, effectivePolicy(row, settings.pinNames));

  /** Changes the trust of an identity. Pins say who may assume it, so the caller must hold its roles, as for its relationship. */
  const change = (uid: string, call: Call, next: (trust: Trust, time: number, row: IdentityRow) => Trust) =>
    database.write(writeContext(call, clock), async (tx: Transaction) => {
      const row = await requireIdentity(tx, uid);
      await requireHeldRoles(tx, uid, call);
      const after = next(row.trust ?? noTrust, tx.context.time, row);
      requireSize(after.pins);
      return show(await storeTrust(tx, row, after));
    });

  return {
    async getTrust({ identity }: GetTrustRequest): Promise<TrustShape> {
      return show(await requireIdentity(database.session, identity));
    },

    async updateTrust({ trust: value, updateMask }: UpdateTrustRequest, call: Call): Promise<TrustShape> {
      const { isFull, paths } = requestMask(TrustSchema, value!, updateMask);
      const isChanged = (path: string) => isFull || paths.includes(path);
      return await change(value!.identity, call, (trust, time, row) => {
        requireNamed(row);
        if (value!.etag !== "" && value!.etag !== etagOf(trust))
          throw aborted("the etag is not that of the current pins: read them and try again");
        const policy = isChanged("name_policy") ? policyOf(value!.namePolicy) : trust.policy;
        const pins = isChanged("pinned_names") ? pinsOf(value!, trust, time) : trust.pins;
        const { policy: _before, ...rest } = trust;
        return { ...rest, ...(policy && { policy }), pins };
      });
    },

    async acceptNames({ identity, refusedNames: names }: AcceptNamesRequest, call: Call): Promise<TrustShape> {
      if (names.length === 0) throw invalidField("refused_names", "is required");
      if (names.length > maxRefusedNames)
        throw invalidField("refused_names", `must not have more than ${maxRefusedNames} items`);
      return await change(identity, call, (trust, time) =>
        names.reduce((each, name) => accept(each, name, time), trust),
      );
    },
  };
}

/** Throws NO_NAMES for identities whose tokens have no names of workloads. */
function requireNamed(row: IdentityRow): void {
  if (hasNames(row)) return;
  throw failedPrecondition("NO_NAMES", `only ${namedIdentities} have names of workloads`, row.uid);
}

/** Pins a refused name to the id that came with it; removes the pin if none did. Throws if this was not refused. */
function accept(trust: Trust, name: NameWithId, time: number): Trust {
  const isRefused = (one: RefusedName) => isSameName(one, name) && one.id === name.id;
  if (!trust.refused.some(isRefused))
    throw failedPrecondition("NOT_REFUSED", "each name must be among the refused names, with the same id", name.name);
  const others = trust.pins.filter((pin) => (name.name === "" ? pin.kind !== name.kind : !isSameName(pin, name)));
  const { kind, name: text, id } = name;
  const added: PinnedName[] = id === "" || text === "" ? [] : [{ kind, name: text, id, source: "accepted", time }];
  return { ...trust, pins: [...others, ...added], refused: trust.refused.filter((one) => !isSameName(one, name)) };
}

/** Returns the pins of a request. Those that are there already keep their source and time. */
function pinsOf({ pinnedNames }: TrustMessage, { pins }: Trust, time: number): PinnedName[] {
  const violations = checkPins(pinnedNames);
  if (violations.length > 0) throw invalidArgument(violations);
  return pinnedNames.map(
    ({ kind, name, id }): PinnedName =>
      pins.find((pin) => pin.kind === kind && pin.name === name && pin.id === id) ?? {
        kind,
        name,
        id,
        source: "explicit",
        time,
      },
  );
}

function requireSize(pins: readonly PinnedName[]): void {
  if (isTooMuch(pins)) throw failedPrecondition("TOO_MANY_NAMES", `an identity has at most ${mostPins}`);
}
