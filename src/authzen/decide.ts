// Decides questions by BatchExplainAccess.
import {
  AccessReason,
  AccessReasonSchema,
  AccessService,
  type BindingExplanation,
  type ExplainAccessResponse,
} from "../../gen/gatehouse/access/v1/access_pb.ts";
import { fromTimestamp } from "../aip/timestamps.ts";
import { findCapabilityByName } from "../model/capabilities.ts";
import { isUid, rootOf } from "../model/uid.ts";
import type { Asker } from "./asker.ts";
import { existing, findUid, isResourceType, isSubject, isSubjectType, type ResourceType } from "./entities.ts";
import type { Entity, Question } from "./request.ts";

/** The answer to a question (Authorization API 1.0 §5.5). */
export interface Decision {
  readonly decision: boolean;
  readonly context: {
    readonly reason: string;
    /** The role bindings that give the capability or lack it, as far as the client may see them. */
    readonly role_binding_uids: readonly string[];
    /** When the last of the role bindings that give the capability ends, if each has an end that the client may see. */
    readonly until?: string;
  };
}

/** A question that ExplainAccess can answer. */
interface Asked {
  readonly identity: string;
  readonly capability: string;
  readonly group: string;
  readonly type: ResourceType;
}

/** Returns the decisions about some questions, 100 at most, from one state of the role bindings. */
export async function decide(asker: Asker, questions: readonly Question[]): Promise<Decision[]> {
  const uidOf = memoized((resource) => findUid(asker, resource));
  const read = await Promise.all(questions.map((question) => toAsked(asker, question, uidOf)));
  const asked = read.filter((each) => "group" in each);
  const decisions = await answer(asker, asked);
  return read.map((each) => ("group" in each ? decisions[asked.indexOf(each)]! : each));
}

type FindUid = (resource: Entity) => Promise<string | undefined>;

/** Questions of a batch are often about one group, whose path is found once. */
function memoized(find: FindUid): FindUid {
  const known = new Map<string, ReturnType<FindUid>>();
  return (resource) => {
    const key = `${resource.type} ${resource.id}`;
    const found = known.get(key) ?? find(resource);
    known.set(key, found);
    return found;
  };
}

/** Returns what to ask, or the decision about what does not exist or what the client may not ask. */
async function toAsked(
  asker: Asker,
  { subject, action, resource }: Question,
  uidOf: FindUid,
): Promise<Asked | Decision> {
  const { type } = resource;
  if (!isSubjectType(subject.type) || !isResourceType(type)) return denied("UNKNOWN_TYPE");
  if (!findCapabilityByName(action)) return denied("UNKNOWN_ACTION");
  const identity = subject.id;
  const group = await uidOf(resource);
  const isKnown = group !== undefined && isUid(identity) && isSubject(subject.type, identity);
  return isKnown && asker.mayAsk(identity, group) ? { identity, capability: action, group, type } : unknown;
}

async function answer(asker: Asker, asked: readonly Asked[]): Promise<Decision[]> {
  // The method rejects an empty batch.
  if (asked.length === 0) return [];
  const requests = asked.map(({ identity, capability, group }) => ({ identity, capability, group }));
  const { responses } = await asker.invoke(AccessService.method.batchExplainAccess, { requests });
  const known = await existingAmong(
    asker,
    asked.filter((_, index) => responses[index]!.granted),
  );
  return asked.map((each, index) => toDecision(each, responses[index]!, known));
}

/** Returns the resources that exist. Grants reach every uid below a group, also one that is not in use. */
async function existingAmong(asker: Asker, granted: readonly Asked[]): Promise<ReadonlySet<Asked>> {
  const found = new Set<Asked>();
  for (const [type, all] of Map.groupBy(granted, (each) => each.type)) {
    const uids = await existing(
      asker,
      type,
      all.map(({ group }) => group),
    );
    for (const each of all) if (uids.has(each.group)) found.add(each);
  }
  return found;
}

function toDecision(asked: Asked, response: ExplainAccessResponse, known: ReadonlySet<Asked>): Decision {
  const { granted, reason, granting, lacking, outOfTerm } = response;
  if (granted && !known.has(asked)) return unknown;
  // The uid of an identity of another organization says that it is confined, whether it exists or not.
  const isForeign = rootOf(asked.identity) !== rootOf(asked.group);
  if (reason === AccessReason.IDENTITY_CONFINED && isForeign) return unknown;
  const isOutOfTerm = reason === AccessReason.TERM_ENDED || reason === AccessReason.TERM_NOT_STARTED;
  const uids = (granted ? granting : isOutOfTerm ? outOfTerm : lacking).map(({ roleBindingUid }) => roleBindingUid);
  const until = granted ? lastEnd(granting) : undefined;
  const context = {
    reason: AccessReasonSchema.value[reason]!.localName,
    role_binding_uids: uids.filter((uid) => uid !== ""),
    ...(until !== undefined && { until: new Date(until).toISOString() }),
  };
  return { decision: granted, context };
}

/** Returns the last end of some role bindings; undefined if one has no end, or none that the client may see. */
function lastEnd(bindings: readonly BindingExplanation[]): number | undefined {
  const ends = bindings.flatMap(({ expireTime }) => (expireTime ? [fromTimestamp(expireTime)] : []));
  return ends.length === bindings.length && ends.length > 0 ? Math.max(...ends) : undefined;
}

function denied(reason: string): Decision {
  return { decision: false, context: { reason, role_binding_uids: [] } };
}

/** The decision about a subject or resource that does not exist or that the client may not ask about. */
const unknown = denied("NO_BINDING");
