// The calls of one client that read and write resources.
import type { JsonObject } from "@bufbuild/protobuf";
import { Code } from "../../src/aip/errors.ts";
import type { Client, Route } from "./clients.ts";
import type { History } from "./history.ts";
import { observation } from "./linearizability.ts";
import {
  type Call,
  type Content,
  contentOf,
  createChildOperation,
  createOperation,
  deleteChildOperation,
  deleteOperation,
  getOperation,
  isUnknown,
  makerOf,
  requireOk,
  shownPart,
  stateOf,
  updateOperation,
} from "./operations.ts";
import { type Kind, keyOf, type Made, noteUnknown, renew, type Slot, type Slots } from "./slots.ts";

/** The client of a call, and the state that it shares with the other clients. */
export interface CallContext {
  readonly client: Client;
  readonly token: string;
  readonly slots: Slots;
  readonly history: History;
  /** Returns a text that no client has used. */
  newId(): string;
}

const services = {
  groups: { path: "/chainguard.platform.iam.v2beta1.GroupsService/", field: "group", noun: "Group" },
  repos: { path: "/chainguard.platform.registry.v2beta1.ReposService/", field: "repo", noun: "Repo" },
} as const satisfies Readonly<Record<Kind, object>>;

/** A row of a list. */
interface Row extends Content {
  readonly uid: string;
}

/** Groups and repos, as one client calls them. */
export class ResourceCalls {
  readonly #context: CallContext;

  constructor(context: CallContext) {
    this.#context = context;
  }

  /** Reads the latest resource of a slot, which may be deleted. */
  async get(slot: Slot, route: Route): Promise<void> {
    const { kind, made } = slot;
    const key = keyOf(slot);
    if (!made) return;
    const call = await this.#call(route, kind, "Get", { uid: made.uid }, `get ${key} of ${made.maker}`);
    const operation = getOperation(call, made.maker);
    if (operation) this.#context.history.add(key, operation);
  }

  /** Lists the resources of a folder. */
  async list(kind: Kind, folder: string, route: Route, orderBy: string): Promise<void> {
    const { history, slots } = this.#context;
    const listed = await this.#list(kind, route, folder, { ...(orderBy && { orderBy }) });
    if (!listed) return;
    const { call, rows } = listed;
    history.addList(
      scopeOf(kind, folder),
      call.label,
      call.interval,
      new Map(rows.map((row) => [keyOfName(row.name), stateOf(row)])),
    );
    for (const row of rows) slots.see(kind, keyOfName(row.name), { uid: row.uid, maker: makerOf(stateOf(row)) });
  }

  /** Finds a repo by its name. */
  async find(slot: Slot, route: Route): Promise<void> {
    const { history } = this.#context;
    const key = keyOf(slot);
    const listed = await this.#list("repos", route, slot.folder, { name: key });
    if (!listed) return;
    const [row] = listed.rows;
    const shown = row ? stateOf(row) : "";
    history.open(key, scopeOf("repos", slot.folder));
    history.add(
      key,
      observation(
        `${listed.call.label}, ${JSON.stringify(shown)}`,
        listed.call.interval,
        (state) => shownPart(state) === shown,
      ),
    );
  }

  /** Changes one field. */
  async update(slot: Slot, route: Route, changesName: boolean): Promise<void> {
    const { kind, made } = slot;
    const key = keyOf(slot);
    if (!made) return;
    const version = this.#context.newId();
    const isName = kind === "groups" && changesName;
    const change = isName ? { name: `${key}_${version}` } : { description: `${made.maker} ${version}` };
    const request = {
      [services[kind].field]: { uid: made.uid, ...change },
      updateMask: isName ? "name" : "description",
    };
    const what = `update ${key} of ${made.maker}, ${JSON.stringify(change)}`;
    const call = await this.#call(route, kind, "Update", request, what);
    this.#context.history.add(key, updateOperation(call, made.maker, change));
    if (isUnknown(call.outcome)) noteUnknown(slot);
  }

  /** Creates a repo, whose name may be taken, or a group if the slot has none. */
  async create(slot: Slot, route: Route): Promise<void> {
    const { kind, folder } = slot;
    if (kind === "groups") {
      if (slot.isBeingCreated || (slot.made && !slot.isDeleted)) return;
      if (slot.made) renew(slot);
    }
    const { history, newId } = this.#context;
    const key = keyOf(slot);
    const maker = newId();
    const content = { name: kind === "groups" ? `${key}_v0` : key, description: `${maker} v0` };
    history.open(key, scopeOf(kind, folder));
    slot.isBeingCreated = true;
    const request = { parent: folder, [services[kind].field]: content };
    const call = await this.#call(route, kind, "Create", request, `create ${key} as ${maker}`).finally(() => {
      slot.isBeingCreated = false;
    });
    history.add(key, createOperation(call, stateOf(content)));
    if (isUnknown(call.outcome)) {
      if (kind === "groups") renew(slot);
      else noteUnknown(slot);
    } else if (call.outcome.code === Code.OK && key === keyOf(slot)) {
      const { uid } = call.outcome.response as unknown as Row;
      Object.assign(slot, { made: { uid, maker }, isDeleted: false });
    }
  }

  /** Deletes the resource of a slot, or one that no slot has. */
  async delete(slot: Slot, route: Route): Promise<void> {
    const { slots, history } = this.#context;
    const target = slots.takeStray() ?? { ...slot.made, kind: slot.kind, key: keyOf(slot) };
    const { kind, key, uid, maker } = target;
    if (uid === undefined || maker === undefined) return;
    const call = await this.#call(route, kind, "Delete", { uid }, `delete ${key} of ${maker}`);
    history.add(
      key,
      deleteOperation(call, (state) => makerOf(state) === maker, false),
    );
    if (call.outcome.code === Code.FAILED_PRECONDITION) return slots.leave(uid);
    const isOfSlot = slot.made?.uid === uid;
    if (isUnknown(call.outcome)) {
      if (isOfSlot) noteUnknown(slot);
      return;
    }
    if (kind === "groups") history.close(key);
    if (isOfSlot) slot.isDeleted = true;
  }

  /** Creates a child in a group, or deletes it: a group with a child cannot be deleted. */
  async changeChild(slot: Slot, route: Route): Promise<void> {
    const { made, child, kind } = slot;
    if (kind !== "groups" || !made || (slot.isDeleted && !child)) return;
    const key = keyOf(slot);
    if (child) await this.#deleteChild(slot, child, key, route);
    else await this.#createChild(slot, made, key, route);
  }

  async #createChild(slot: Slot, { uid, maker }: Made, key: string, route: Route): Promise<void> {
    const child = this.#context.newId();
    const request = { parent: uid, group: { name: "child", description: child } };
    const what = `create child ${child} in ${key} of ${maker}`;
    const call = await this.#call(route, "groups", "Create", request, what);
    this.#context.history.add(key, createChildOperation(call, maker, child));
    if (key !== keyOf(slot)) return;
    // Nobody knows the uid of the child, so the group can perhaps never be deleted.
    if (isUnknown(call.outcome)) renew(slot);
    else if (call.outcome.code === Code.OK)
      slot.child = { uid: (call.outcome.response as unknown as Row).uid, maker: child };
  }

  async #deleteChild(slot: Slot, { uid, maker }: Made, key: string, route: Route): Promise<void> {
    const call = await this.#call(route, "groups", "Delete", { uid }, `delete child ${maker} in ${key}`);
    this.#context.history.add(key, deleteChildOperation(call, maker));
    if (!isUnknown(call.outcome) && slot.child?.uid === uid) slot.child = undefined;
  }

  /** Lists rows of a folder, and compares their number with the total. Returns undefined if the result is unknown. */
  async #list(kind: Kind, route: Route, folder: string, filter: JsonObject) {
    const request = { uidp: { childrenOf: folder }, pageSize: 200, ...filter };
    const what = `list ${kind} of ${folder} ${JSON.stringify(filter)}`;
    const call = await this.#call(route, kind, "List", request, what);
    if (isUnknown(call.outcome)) return undefined;
    requireOk(call);
    const response = call.outcome.response as JsonObject;
    const rows = ((response[kind] ?? []) as unknown as Row[]).map((row) => ({ ...row, ...contentOf(row) }));
    const total = Number(response.totalCount ?? 0);
    if (total !== rows.length)
      this.#context.history.complain(`${call.label}: it has ${rows.length} rows, and a total of ${total}`);
    return { call, rows };
  }

  async #call(route: Route, kind: Kind, verb: string, request: JsonObject, what: string): Promise<Call> {
    const { path, noun } = services[kind];
    const method = `${path}${verb}${noun}${verb === "List" ? "s" : ""}`;
    return await this.#context.client.call(route, this.#context.token, method, request, what);
  }
}

const scopeOf = (kind: Kind, folder: string): string => `${kind} of ${folder}`;

/** Returns the key of a resource with this name: names of groups end in their version. */
const keyOfName = (name: string): string => name.split("_")[0] ?? "";
