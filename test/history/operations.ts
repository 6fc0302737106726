// The model of each call, as an operation on its key. A state has a name, a description, and the ids of its child groups. The description
// begins with the id of the create that made the resource: another one of the same name is another resource.
import { Code } from "../../src/aip/errors.ts";
import type { Outcome } from "../harness/outcome.ts";
import { type Interval, type Operation, observation, type State } from "./linearizability.ts";

/** The fields of a resource that the test writes. */
export interface Content {
  readonly name: string;
  readonly description: string;
}

/** Returns the fields of a response; an empty field is absent from JSON. */
export function contentOf(response: unknown): Content {
  const { name = "", description = "" } = response as Partial<Content>;
  return { name, description };
}

/** Returns the state of a key that has this content. */
export const stateOf = ({ name, description }: Content): State => `${name}|${description}`;

/** Returns what responses show of a state. */
export const shownPart = (state: State): State => state.split("|").slice(0, 2).join("|");

/** Returns the ids of the child groups. */
const childrenOf = (state: State): readonly string[] => state.split("|")[2]?.split(",") ?? [];

function withChildren(state: State, children: readonly string[]): State {
  return children.length === 0 ? shownPart(state) : `${shownPart(state)}|${children.join()}`;
}

/** Returns the id of the create that made the resource. */
export const makerOf = (state: State): string => state.split("|")[1]?.split(" ")[0] ?? "";

/** Codes after which a write may or may not take effect. Anything else that a case does not name is a violation. */
const unknownResult: readonly Code[] = [
  Code.UNAVAILABLE,
  Code.DEADLINE_EXCEEDED,
  Code.ABORTED,
  Code.RESOURCE_EXHAUSTED,
];

/** Returns the name of a code, as gRPC has it. */
export function nameOfCode(code: Code): string {
  return Object.entries(Code).find(([, each]) => each === code)?.[0] ?? String(code);
}

/** Whether the response says nothing about the result. */
export const isUnknown = ({ code }: Pick<Outcome, "code">): boolean => unknownResult.includes(code);

/** A call that was made: what was asked, when, and what came back. */
export interface Call {
  readonly label: string;
  readonly interval: Interval;
  readonly outcome: Outcome;
}

/** A response that no state explains. */
export class UnexpectedResponse extends Error {}

function write({ label, interval, outcome }: Call, apply: Operation["apply"]): Operation {
  const returnedAt = isUnknown(outcome) ? Number.POSITIVE_INFINITY : interval.returnedAt;
  return { label, calledAt: interval.calledAt, returnedAt, isRead: false, apply };
}

/** Returns the operation of a create, or of a binding. */
export function createOperation(call: Call, created: State): Operation {
  const { code } = call.outcome;
  if (code === Code.ALREADY_EXISTS) return observation(call.label, call.interval, (state) => state !== "");
  if (code !== Code.OK && !isUnknown(call.outcome)) throw unexpected(call);
  return write(call, (state) => (state === "" ? created : undefined));
}

/** Returns the operation of an update of one field. */
export function updateOperation(call: Call, maker: string, change: Partial<Content>): Operation {
  const { code, response } = call.outcome;
  if (code === Code.NOT_FOUND) return observation(call.label, call.interval, (state) => makerOf(state) !== maker);
  if (code !== Code.OK && !isUnknown(call.outcome)) throw unexpected(call);
  const shown = code === Code.OK ? stateOf(contentOf(response)) : undefined;
  return write(call, (state) => {
    if (makerOf(state) !== maker) return undefined;
    const [name = "", description = ""] = state.split("|");
    const changed = stateOf({ name, description, ...change });
    return shown === undefined || shown === changed ? withChildren(changed, childrenOf(state)) : undefined;
  });
}

/** Returns the operation of a delete. Role bindings that are deleted already can be deleted again. */
export function deleteOperation(call: Call, isMade: (state: State) => boolean, isRepeatable: boolean): Operation {
  const { code } = call.outcome;
  if (code === Code.NOT_FOUND && !isRepeatable)
    return observation(call.label, call.interval, (state) => !isMade(state));
  if (code === Code.FAILED_PRECONDITION)
    return observation(call.label, call.interval, (state) => isMade(state) && childrenOf(state).length > 0);
  if (code !== Code.OK && !isUnknown(call.outcome)) throw unexpected(call);
  return write(call, (state) => {
    if (isMade(state)) return childrenOf(state).length > 0 ? undefined : "";
    return isRepeatable ? state : undefined;
  });
}

/** Returns the operation on a group of a create of a child group. */
export function createChildOperation(call: Call, maker: string, child: string): Operation {
  const { code } = call.outcome;
  if (code === Code.NOT_FOUND) return observation(call.label, call.interval, (state) => makerOf(state) !== maker);
  if (code !== Code.OK && !isUnknown(call.outcome)) throw unexpected(call);
  return write(call, (state) =>
    makerOf(state) === maker ? withChildren(state, [...childrenOf(state), child].sort()) : undefined,
  );
}

/** Returns the operation on a group of a delete of its child group. */
export function deleteChildOperation(call: Call, child: string): Operation {
  const { code } = call.outcome;
  const has = (state: State) => childrenOf(state).includes(child);
  if (code === Code.NOT_FOUND) return observation(call.label, call.interval, (state) => !has(state));
  if (code !== Code.OK && !isUnknown(call.outcome)) throw unexpected(call);
  return write(call, (state) =>
    has(state)
      ? withChildren(
          state,
          childrenOf(state).filter((each) => each !== child),
        )
      : undefined,
  );
}

/** Returns the operation of a get, or undefined if its result is unknown. */
export function getOperation(call: Call, maker: string): Operation | undefined {
  const { code, response } = call.outcome;
  if (isUnknown(call.outcome)) return undefined;
  if (code === Code.NOT_FOUND) return observation(call.label, call.interval, (state) => makerOf(state) !== maker);
  if (code !== Code.OK) throw unexpected(call);
  const shown = stateOf(contentOf(response));
  return observation(`${call.label}, ${JSON.stringify(shown)}`, call.interval, (state) => shownPart(state) === shown);
}

/** How long a call may be allowed after the revocation was acknowledged, in milliseconds. */
const revocationMs = 1000;

/** Returns the operation of a call that needs a binding, or undefined if its result is unknown. */
export function probeOperation(call: Call): Operation | undefined {
  const { label, outcome, interval } = call;
  if (isUnknown(outcome)) return undefined;
  if (outcome.code === Code.PERMISSION_DENIED) return observation(label, interval, (state) => state === "");
  if (outcome.code !== Code.OK) throw unexpected(call);
  const since = { ...interval, calledAt: interval.calledAt - revocationMs };
  return observation(label, since, (state) => state !== "");
}

/** Throws UnexpectedResponse unless the call succeeded. */
export function requireOk(call: Call): void {
  if (call.outcome.code !== Code.OK) throw unexpected(call);
}

function unexpected({ label }: Call): UnexpectedResponse {
  return new UnexpectedResponse(`${label}: unexpected response`);
}
