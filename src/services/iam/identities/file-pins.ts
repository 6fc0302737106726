// The pins of identities in files for apply.
import { create, type JsonObject } from "@bufbuild/protobuf";
import { type IdentitySpec, type PinsSpec, PinsSpecSchema } from "../../../../gen/gatehouse/apply/v1/apply_pb.ts";
import { WorkloadTrustService } from "../../../../gen/gatehouse/iam/v1/workload_trust_pb.ts";
import type { FieldViolation } from "../../../aip/errors.ts";
import { compareTexts } from "../../../base/compare-texts.ts";
import type { IdentityRow } from "../../../storage/iam/rows.ts";
import type { SeparatePart } from "../../kinds/kind.ts";
import { hasNames } from "./directory.ts";
import { checkPins, namedIdentities } from "./pin-rules.ts";
import { policyNumber } from "./stored-trust.ts";
import { trustMethods, trustRules } from "./trust-methods.ts";

/** The pins of an identity, which UpdateTrust sets: its checks, its authority and its entry in the audit log. */
export const filePins: SeparatePart<IdentitySpec> = {
  field: "pins",
  method: WorkloadTrustService.method.updateTrust,
  implement: (context) => ({ service: WorkloadTrustService, handlers: trustMethods(context), rules: trustRules }),
  request: ({ pins }, identity) => ({
    trust: { identity, namePolicy: pins!.policy, pinnedNames: pins!.names },
    updateMask: { paths: ["name_policy", "pinned_names"] },
  }),
  // Pins of another issuer are removed with the old rule.
  affectedBy: ["claim_match", "aws_identity", "static_keys", "service_principal"],
};

/** Returns the pins of a stored identity; undefined if it has neither pins nor a policy. */
export function pinsSpec({ trust }: IdentityRow): PinsSpec | undefined {
  if (!trust || (trust.pins.length === 0 && trust.policy === undefined)) return undefined;
  return create(PinsSpecSchema, {
    policy: policyNumber(trust.policy),
    names: trust.pins.map(({ kind, name, id }) => ({ kind, name, id })),
  });
}

/** Returns the rules that the pins of a file break. */
export function checkFilePins({ pins, relationship }: IdentitySpec): FieldViolation[] {
  if (!pins) return [];
  if (!hasNames({ relationship })) return [{ field: "pins", description: `only ${namedIdentities} have pins` }];
  return checkPins(pins.names, "pins.names");
}

/** Returns the fields of an identity to compare: the order of its pins does not count. */
export function comparableIdentity(json: JsonObject): JsonObject {
  const { pins } = json;
  if (!pins) return json;
  const { names = [], ...policy } = pins as { readonly names?: readonly JsonObject[] };
  const keyOf = ({ kind, name, id }: JsonObject) => JSON.stringify([kind, name, id]);
  return { ...json, pins: { ...policy, names: names.toSorted((a, b) => compareTexts(keyOf(a), keyOf(b))) } };
}
