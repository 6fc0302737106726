// The calls of one client that grant access, revoke it, and try it.
import { Code } from "../../src/aip/errors.ts";
import { builtInRoles } from "../../src/authz/built-in-roles.ts";
import type { Route } from "./clients.ts";
import { createOperation, deleteOperation, isUnknown, probeOperation } from "./operations.ts";
import type { CallContext } from "./resource-calls.ts";
import type { AccessSlot } from "./slots.ts";

const bindings = "/chainguard.platform.iam.v2beta1.RoleBindingsService/";
const roleUid = builtInRoles.find(({ name }) => name === "viewer")!.uid;

/** Role bindings, as one client calls them. */
export class AccessCalls {
  readonly #context: CallContext;

  constructor(context: CallContext) {
    this.#context = context;
  }

  /** Gives the identity of a slot access to its folder. */
  async bind(slot: AccessSlot, route: Route): Promise<void> {
    const { client, token, history, slots, newId } = this.#context;
    const { person, folder } = slot;
    const key = this.#keyOf(slot);
    const maker = newId();
    const request = { parent: folder, roleBinding: { identityUid: person.uid, roleUid } };
    const call = await client.call(route, token, `${bindings}CreateRoleBinding`, request, `bind ${key} as ${maker}`);
    history.add(key, createOperation(call, maker));
    if (slot.person !== person) return;
    if (call.outcome.code === Code.OK) slot.binding = { uid: (call.outcome.response as { uid: string }).uid, maker };
    else if (isUnknown(call.outcome)) slots.nextPerson(slot);
  }

  /** Takes the access away. */
  async unbind(slot: AccessSlot, route: Route): Promise<void> {
    const { client, token, history } = this.#context;
    const { binding } = slot;
    if (!binding) return;
    const key = this.#keyOf(slot);
    const { uid, maker } = binding;
    const call = await client.call(route, token, `${bindings}DeleteRoleBinding`, { uid }, `unbind ${key} of ${maker}`);
    history.add(
      key,
      deleteOperation(call, (state) => state === maker, true),
    );
    if (call.outcome.code === Code.OK && slot.binding === binding) slot.binding = undefined;
  }

  /** Makes a call that needs the access. */
  async probe(slot: AccessSlot, route: Route): Promise<void> {
    const { client, history } = this.#context;
    const { folder, person } = slot;
    const key = this.#keyOf(slot);
    const method = "/chainguard.platform.iam.v2beta1.GroupsService/GetGroup";
    const call = await client.call(route, person.token, method, { uid: folder }, `call as ${key}`);
    const operation = probeOperation(call);
    if (operation) history.add(key, operation);
  }

  #keyOf({ index }: AccessSlot): string {
    const key = `person ${index}`;
    this.#context.history.open(key, "access");
    return key;
  }
}
