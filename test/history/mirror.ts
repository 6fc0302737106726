// A client that keeps a copy of the groups and repos of the organization: it opens a stream of changes, lists, and applies what comes. After
// each end it continues at another replica. At the end of the run its copy must be what lists show.
import { setTimeout as pause } from "node:timers/promises";
import type { JsonObject } from "@bufbuild/protobuf";
import type { Change, WatchChangesResponse } from "../../gen/gatehouse/changes/v1/changes_pb.ts";
import { Code } from "../../src/aip/errors.ts";
import { endOf, type Watch, watch } from "../harness/watches.ts";
import { Client, NotSent, type Route } from "./clients.ts";
import { type History, now } from "./history.ts";
import { contentOf, isUnknown, requireOk, stateOf } from "./operations.ts";
import { newRandom, pick, type Random } from "./random.ts";
import type { Replica } from "./replica.ts";

/** The kinds of resources that a mirror has, with the methods that list them. */
const lists = {
  groups: "/chainguard.platform.iam.v2beta1.GroupsService/ListGroups",
  repos: "/chainguard.platform.registry.v2beta1.ReposService/ListRepos",
} as const;
const kinds = Object.keys(lists) as (keyof typeof lists)[];

/** The transports of its streams. */
const transports = ["grpc", "rest"] as const;

/** How long a stream may be silent until the mirror opens another one, in milliseconds. */
const silenceMs = 4000;

/** How long a mirror keeps a stream at most, in milliseconds: what is sent twice or not at all is sent at its beginning. */
const maxStreamMs = 8000;

/** How long a mirror may take to become what lists show once nobody writes, in milliseconds. */
const settleMs = 30_000;

/** The first stream of random numbers of the mirrors; the clients have the streams from 0, the faults have 1000. */
const firstStream = 2000;

/** How a stream may end under faults. A killed server cancels it. */
const usualEnds: readonly string[] = [
  "OK",
  "CANCELLED",
  "UNAVAILABLE",
  "DEADLINE_EXCEEDED",
  "ABORTED",
  "RESOURCE_EXHAUSTED",
];

/** The run that a mirror is part of. */
export interface MirrorOptions {
  readonly seed: number;
  readonly replicas: readonly Replica[];
  readonly token: string;
  /** The uid of the organization. */
  readonly parent: string;
  readonly history: History;
}

/** A row, and whether it came by the stream: a list may already show what the stream says later. */
interface Row {
  readonly state: string;
  readonly isStreamed: boolean;
}

/** One copy of the resources. */
export class Mirror implements Disposable {
  /** The streams that were opened, and the changes that came by them. */
  readonly counts = { streams: 0, changes: 0 };
  readonly #options: MirrorOptions;
  readonly #name: string;
  readonly #random: Random;
  readonly #client: Client;
  readonly #rows = new Map<string, Row>();
  readonly #seen = new Set<string>();
  #after = "";

  constructor(options: MirrorOptions, index: number) {
    this.#options = options;
    this.#name = `m${index}`;
    this.#random = newRandom(options.seed, firstStream + index);
    this.#client = new Client(this.#name);
  }

  /** Follows the changes for as long as `goesOn` says. */
  async follow(goesOn: () => boolean): Promise<void> {
    while (goesOn()) {
      const replica = pick(this.#random, this.#options.replicas);
      const transport = pick(this.#random, transports);
      const { token, parent } = this.#options;
      const stream = watch(transport, { url: replica.url, token }, { parent, after: this.#after, kinds });
      const until = now() + this.#random(maxStreamMs);
      try {
        await this.#read(stream, () => goesOn() && now() < until);
      } catch (error) {
        this.#noteEnd(error, `${transport} ${replica.name}`);
      } finally {
        await stream[Symbol.asyncDispose]();
      }
      await pause(this.#random(100));
    }
  }

  /** Follows until its copy is what lists show. Complains if that takes too long, or if no change ever came. */
  async settle(): Promise<void> {
    const until = now() + settleMs;
    let difference: string | undefined = "nothing was listed";
    const following = this.follow(() => difference !== undefined && now() < until);
    while (difference !== undefined && now() < until) {
      await pause(200);
      const listed = await this.#list();
      if (listed) difference = this.#differenceFrom(listed);
    }
    await following;
    if (difference !== undefined) this.#complain(`its copy is not what is listed: ${difference}`);
    if (this.counts.changes === 0) this.#complain("no change came");
  }

  [Symbol.dispose](): void {
    this.#client[Symbol.dispose]();
  }

  async #read(stream: Watch, goesOn: () => boolean): Promise<void> {
    const isFirst = this.#after === "";
    let response = await nextOf(stream);
    this.counts.streams++;
    if (isFirst) {
      const listed = await this.#list();
      // Without a list there is nothing that changes could be applied to.
      if (!listed) return;
      this.#rows.clear();
      for (const [uid, state] of listed) this.#rows.set(uid, { state, isStreamed: false });
    }
    for (;;) {
      this.#apply(response);
      if (!goesOn() || this.#after === "") return;
      response = await nextOf(stream);
    }
  }

  #apply({ changes, resumeAfter, accessChanged }: WatchChangesResponse): void {
    for (const change of changes) {
      if (this.#seen.has(change.id)) continue;
      this.#seen.add(change.id);
      this.counts.changes++;
      this.#requireBefore(change);
      const { resourceUid, after } = change;
      // The organization itself is not below itself.
      if (resourceUid === this.#options.parent) continue;
      if (after) this.#rows.set(resourceUid, { state: stateOf(contentOf(after)), isStreamed: true });
      else this.#rows.delete(resourceUid);
    }
    // What the caller may see is another part: list again.
    this.#after = accessChanged ? "" : resumeAfter;
  }

  /** Complains if a change does not follow the one before it of the same resource: then one between them is missing. */
  #requireBefore({ resourceUid, before, id }: Change): void {
    const row = this.#rows.get(resourceUid);
    const state = before && stateOf(contentOf(before));
    if (row?.isStreamed && row.state !== state)
      this.#complain(`change ${id} of ${resourceUid} is of ${state}, and the change before it made ${row.state}`);
  }

  /** Returns the states of all resources by their uids, or undefined if a replica has no answer. */
  async #list(): Promise<ReadonlyMap<string, string> | undefined> {
    const route: Route = { replica: pick(this.#random, this.#options.replicas), transport: "grpc" };
    const states = new Map<string, string>();
    for (const kind of kinds) {
      let pageToken = "";
      do {
        const request = { uidp: { descendantsOf: this.#options.parent }, pageSize: 200, pageToken };
        const page = await this.#page(route, kind, request);
        if (!page) return undefined;
        for (const row of (page[kind] ?? []) as JsonObject[]) states.set(row.uid as string, stateOf(contentOf(row)));
        pageToken = (page.nextPageToken as string | undefined) ?? "";
      } while (pageToken !== "");
    }
    return states;
  }

  async #page(route: Route, kind: keyof typeof lists, request: JsonObject): Promise<JsonObject | undefined> {
    try {
      const call = await this.#client.call(route, this.#options.token, lists[kind], request, `list ${kind}`);
      if (isUnknown(call.outcome)) return undefined;
      requireOk(call);
      return call.outcome.response as JsonObject;
    } catch (error) {
      if (error instanceof NotSent) return undefined;
      throw error;
    }
  }

  /** Returns the first difference from a list, or undefined. */
  #differenceFrom(listed: ReadonlyMap<string, string>): string | undefined {
    for (const [uid, state] of listed) {
      const own = this.#rows.get(uid)?.state;
      if (own !== state) return `${uid} is ${state}, and ${own ?? "absent"} in the copy`;
    }
    const extra = [...this.#rows.keys()].find((uid) => !listed.has(uid));
    return extra && `${extra} is absent, and ${this.#rows.get(extra)!.state} in the copy`;
  }

  #noteEnd(error: unknown, where: string): void {
    // A broken connection has the error of the operating system or of the HTTP client as its cause.
    if (error instanceof Error && error.cause !== undefined) return;
    const { code, message } = endOf(error);
    if (code in Code && !usualEnds.includes(code))
      this.#complain(`a stream over ${where} ended with ${code}: ${message}`);
  }

  #complain(complaint: string): void {
    this.#options.history.complain(`${this.#name}: ${complaint}`);
  }
}

/** Returns the next response of a stream. Rejects after a silence. */
async function nextOf(stream: Watch): Promise<WatchChangesResponse> {
  const { promise: silence, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => reject(Object.assign(new Error("the stream is silent"), { code: "UNAVAILABLE" })),
    silenceMs,
  );
  try {
    return await Promise.race([stream.next(), silence]);
  } finally {
    clearTimeout(timer);
  }
}
