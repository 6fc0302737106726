// Says what a change of access would do, without making it.
import type { Message, MessageInitShape } from "@bufbuild/protobuf";
import { Capability } from "../../../gen/chainguard/capabilities/capabilities_pb.ts";
import type {
  AccessEffectSchema,
  ObstacleSchema,
  SimulateChangeRequest,
  SimulateChangeResponseSchema,
} from "../../../gen/gatehouse/access/v1/access_pb.ts";
import { type PreconditionFailure, PreconditionFailureSchema } from "../../../gen/google/rpc/error_details_pb.ts";
import { ApiError, codeName } from "../../aip/errors.ts";
import { countFitting } from "../../aip/pagination.ts";
import { once } from "../../base/lazy.ts";
import { accessOf, callerOf, isNarrowed } from "../../pipeline/authorize.ts";
import type { Call } from "../../pipeline/call.ts";
import { ruleBook } from "../../pipeline/text-rules.ts";
import { compileValidator, type Validator } from "../../pipeline/validate.ts";
import type { ServiceContext } from "../../resource/service-context.ts";
import { findRows } from "../../storage/collection/rows.ts";
import type { Session } from "../../storage/engine/session.ts";
import { groupCollection } from "../../storage/iam/collections.ts";
import { roleBinding } from "../iam/role-bindings/resource.ts";
import { role } from "../iam/roles/roles.ts";
import { isBeyondToken } from "./capability-rule.ts";
import { type Effect, effectsOn } from "./effects.ts";
import { showBinding } from "./shown-binding.ts";
import { identityShower, type ShownIdentity } from "./shown-identities.ts";
import { maxChanged, methods, readChange, roleUpdate } from "./simulated-changes.ts";

/** How many effects a response has at most. */
const maxEffects = 1000;

/** The most bindings to show that still give an identity what the change would take. */
const maxKeptBy = 20;

type Shown = MessageInitShape<typeof AccessEffectSchema>;

/** Makes the function that simulates a change. It reads in one snapshot and writes nothing. */
export function simulateChange(context: ServiceContext) {
  return async (
    request: SimulateChangeRequest,
    call: Call,
  ): Promise<MessageInitShape<typeof SimulateChangeResponseSchema>> =>
    await context.database.read(async (session) => {
      const { place, checks, grants } = await readChange(session, request, call, context);
      const obstacles = await obstaclesOf(checks);
      const changed = Map.groupBy(grants.slice(0, maxChanged), ({ identityUid }) => identityUid);
      const effects: Effect[] = [];
      let isWhole = grants.length <= maxChanged;
      for (const [identityUid, own] of changed) {
        const found = await effectsOn(session, identityUid, own);
        effects.push(...found.effects);
        isWhole &&= found.isWhole && effects.length <= maxEffects;
        if (effects.length > maxEffects) break;
      }
      const shown = await showAll(session, effects.slice(0, maxEffects), place, call);
      const count = countFitting(shown);
      return { obstacles, effects: shown.slice(0, count), truncated: !isWhole || count < shown.length };
    });
}

/** Validates a change by the rules of the method that would make it. */
export function changeValidator(): Validator {
  const validatorOf = once(() => {
    const book = ruleBook([{ rules: [...roleBinding.messageRules, ...role.messageRules] }]);
    const compiled = Object.entries(methods).map(([name, method]) => [name, compileValidator(method, book)] as const);
    return new Map<string, Validator>(compiled);
  });
  return (request, context) => {
    const { change } = request as Message as SimulateChangeRequest;
    if (change.case === undefined) return [{ field: "change", description: "change is required" }];
    const made = change.case === "updateRole" ? roleUpdate(change.value) : change.value;
    return validatorOf().get(change.case)!(made, context);
  };
}

/** Returns the errors of all checks. */
async function obstaclesOf(checks: readonly (() => unknown)[]) {
  const obstacles: MessageInitShape<typeof ObstacleSchema>[] = [];
  for (const check of checks) {
    try {
      await check();
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      const { code, message, metadata } = error;
      obstacles.push({ statusCode: codeName(code), reason: reasonOf(error), message, metadata: { ...metadata } });
    }
  }
  return obstacles;
}

function reasonOf({ details, reason }: ApiError): string {
  const found = details.find(({ schema }) => schema.typeName === PreconditionFailureSchema.typeName);
  return (found?.value as PreconditionFailure | undefined)?.violations[0]?.type ?? reason;
}

async function showAll(session: Session, effects: readonly Effect[], place: string, call: Call): Promise<Shown[]> {
  const uids = effects.map(({ identityUid }) => identityUid);
  const identityOf = await identityShower(session, uids, place, call);
  const names = await namesOf(session, new Set(effects.map(({ groupUid }) => groupUid)), call);
  return effects.map((effect) => show(effect, identityOf, names.get(effect.groupUid) ?? "", call));
}

/** Returns the names of the groups that the caller may list. */
async function namesOf(session: Session, uids: ReadonlySet<string>, call: Call): Promise<ReadonlyMap<string, string>> {
  const listed = [...uids].filter((uid) => accessOf(call).has(Capability.CAP_IAM_GROUPS_LIST, uid));
  return new Map((await findRows(session, groupCollection, listed)).map(({ uid, name }) => [uid, name]));
}

function show(effect: Effect, identityOf: (uid: string) => ShownIdentity, groupName: string, call: Call): Shown {
  const { identityUid, groupUid, groupsBelow, gained, lost, kept, keptBy } = effect;
  const { uid, token } = callerOf(call);
  const isSelf = identityUid === uid;
  // A narrowed token must not reveal what else its identity holds.
  const shownNames = (names: readonly string[]) =>
    names.filter((name) => !isSelf || !isBeyondToken(name, token.narrowing));
  return {
    identity: identityOf(identityUid),
    groupUid,
    groupName,
    groupsBelow: BigInt(groupsBelow),
    gained: shownNames(gained),
    lost: shownNames(lost),
    kept: shownNames(kept),
    keptBy: keptBy.slice(0, maxKeptBy).map((binding) => showBinding(binding, call, isSelf && !isNarrowed(call))),
  };
}
