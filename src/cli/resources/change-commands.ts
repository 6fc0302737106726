// `gatehouse changes list` and `follow`: the audit log.

import { fromJson, type JsonObject } from "@bufbuild/protobuf";
import { type Command, InvalidArgumentError, Option } from "commander";
import { SentenceSchema } from "../../../gen/gatehouse/changes/v1/changes_pb.ts";
import { languages, sentenceText } from "../../../packages/client/src/sentences.ts";
import { notOneOf } from "../../base/similar.ts";
import { openSession, type Session, withClient, withList } from "../client/session.ts";
import { clientCommands } from "../command-names.ts";
import { rowFormats } from "../output/formats.ts";
import { memberAt, type View } from "../output/view.ts";
import { note, type Shell } from "../shell.ts";
import { type FilterOptions, type FollowOptions, filtered, readFilter } from "./change-filter.ts";
import { timeOrAgo } from "./flags.ts";
import { followChanges } from "./follow-changes.ts";
import { textAt } from "./json.ts";

const maxPageSize = 200;

const view: View = {
  noun: "changes",
  id: "id",
  columns: [
    { title: "time", value: "time" },
    { title: "actor", value: actorOf, wide: true },
    { title: "method", value: methodOf, wide: true },
    { title: "kind", value: "kind", wide: true },
    { title: "resource", value: resourceOf, wide: true },
    { title: "resource uid", value: "resourceUid", wide: true },
    { title: "actor uid", value: "actorUid", wide: true },
    { title: "request", value: "requestId", wide: true },
    { title: "id", value: "id", wide: true },
    { title: "change", value: sentenceOf },
  ],
};

interface ListOptions extends FilterOptions {
  readonly since?: string;
  readonly until?: string;
  readonly limit: number;
}

/** Adds both commands. */
export function addChangeCommands(program: Command, shell: Shell): void {
  const changes = program.command("changes").description(clientCommands.changes);
  const list = filtered(
    changes.command("list").description("list the changes in a group and its subgroups, the latest first"),
  );
  list
    .option("--since <time|duration>", "only those since this time, such as 2h, yesterday or 2026-11-28")
    .option("--until <time|duration>", "only those before this time, likewise")
    .addOption(new Option("--limit <count>", "how many at most").argParser(readCount).default(50));
  withList(list, rowFormats).action(async () => {
    using session = await openSession(shell, list);
    const options = list.opts<ListOptions>();
    const { since, until } = options;
    const request = {
      ...(await readFilter(session, options)),
      ...(since !== undefined && { startTime: timeOrAgo(since) }),
      ...(until !== undefined && { endTime: timeOrAgo(until) }),
    };
    const changes = await listChanges(session, request, options.limit);
    await session.output.list(view, session.output.arrange(view, changes, "as it is"));
    if (changes.length === 0 && options.kind !== undefined) await noteUnknownKind(session, options.kind);
  });
  const follow = filtered(
    changes.command("follow").description("print each new change as a line of JSON, until interrupted"),
  );
  follow.option("--after <id>", "start after this change, or where another run ended, instead of now");
  withClient(follow, []).action(async () => {
    const options = follow.opts<FollowOptions>();
    await followChanges(shell, follow, options);
  });
}

async function listChanges(session: Session, request: JsonObject, limit: number): Promise<JsonObject[]> {
  const found: JsonObject[] = [];
  let pageToken = "";
  do {
    const pageSize = Math.min(limit - found.length, maxPageSize);
    const reply = await call(session, { ...request, pageSize, pageToken });
    found.push(...changesOf(reply));
    pageToken = textAt(reply, "nextPageToken");
  } while (pageToken !== "" && found.length < limit);
  return found;
}

/** Says that no change has this kind, if this program knows none. Another version of the server may have more kinds. */
async function noteUnknownKind({ shell }: Session, kind: string): Promise<void> {
  const { rowViews } = await import("../../services/audit-log/row-views.ts");
  const kinds = [...rowViews.keys()];
  if (!kinds.includes(kind)) note(shell, `--kind: ${notOneOf(kind, kinds)}`);
}

async function call(session: Session, request: JsonObject): Promise<JsonObject> {
  const { ChangesService } = await import("../../../gen/gatehouse/changes/v1/changes_pb.ts");
  return await session.call(ChangesService.method.listChanges, request);
}

function changesOf(reply: JsonObject): JsonObject[] {
  return (reply.changes as JsonObject[] | undefined) ?? [];
}

/** Returns the actor, by name if one is known. */
function actorOf({ actorUid, actorClaims }: JsonObject): string {
  const { email, sub } = (actorClaims ?? {}) as JsonObject;
  return String(email ?? sub ?? actorUid ?? "the server");
}

function methodOf({ method }: JsonObject): string {
  return String(method ?? "").replace(/^\/.*\.(?=\w+\/)/, "");
}

/** Returns the sentence about a change. Earlier servers send none. */
function sentenceOf(change: JsonObject): string {
  if (!change.sentence) return [actorOf(change), methodOf(change), resourceOf(change)].join(" ");
  return sentenceText(fromJson(SentenceSchema, change.sentence, { ignoreUnknownFields: true }), languages.en);
}

/** Returns the name of the resource, or else its uid: what was deleted has its name in the state before. */
function resourceOf({ resourceUid, before, after }: JsonObject): string {
  const names = [after, before].map((state) => memberAt({ state: state ?? null }, "state.name"));
  return String(names.find((name) => typeof name === "string" && name !== "") ?? resourceUid ?? "");
}

function readCount(text: string): number {
  const count = Number(text);
  if (!Number.isInteger(count) || count < 1 || count > 10_000)
    throw new InvalidArgumentError("It is a number from 1 to 10000.");
  return count;
}
