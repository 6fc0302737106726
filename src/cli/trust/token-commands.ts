// `gatehouse iam trust tokens` and `replay`: the tokens that workloads presented for an identity, and what a rule would say of them.
import type { JsonObject } from "@bufbuild/protobuf";
import { Argument, type Command, Option } from "commander";
import { completing } from "../client/completing.ts";
import { confirm } from "../client/prompt.ts";
import { openSession, type Session, withClient } from "../client/session.ts";
import { CommandFailure, wrongUsage } from "../failure.ts";
import { rowFormats } from "../output/formats.ts";
import type { View } from "../output/view.ts";
import { identities } from "../resources/identities.ts";
import { textAt } from "../resources/json.ts";
import { findUid } from "../resources/lookup.ts";
import { namesOf } from "../resources/names.ts";
import type { FlagValue } from "../resources/resource.ts";
import { note, type Shell } from "../shell.ts";
import { ruleOf, rulesIn } from "./rules.ts";

/** Columns of a seen token, which is the row or a member of it. */
const columnsOf = (token: (row: JsonObject) => JsonObject): View["columns"] => [
  { title: "exchanges", value: (row) => textAt(token(row), "count") },
  { title: "last", value: (row) => textAt(token(row), "lastTime").slice(0, 10) },
  { title: "endpoint", value: (row) => (token(row).registry ? "registry" : "sts"), wide: true },
  { title: "subject", value: (row) => textAt(claimsOf(token(row)), "sub") },
  { title: "claims", value: (row) => furtherClaims(claimsOf(token(row))), wide: true },
];

const tokensView: View = {
  noun: "seen tokens",
  columns: [
    { title: "outcome", value: ({ accepted, failedCheck }) => (accepted ? "allowed" : `denied by ${failedCheck}`) },
    ...columnsOf((row) => row),
  ],
};

const replayView: View = {
  noun: "seen tokens",
  columns: [
    { title: "verdict", value: verdictOf },
    { title: "by", value: "failedCheck" },
    ...columnsOf(({ token }) => token as JsonObject),
  ],
};

/** Flags of `gatehouse iam identities update` that change a claim match. */
const ruleFlags = /^--(identity-issuer|subject|audience|claim)/;

/** The verdicts that differ from what happened. */
const news: readonly unknown[] = ["VERDICT_NEWLY_ALLOWED", "VERDICT_NEWLY_DENIED"];

/** Adds the commands to those of `gatehouse iam trust`. */
export function addTokenCommands(trust: Command, shell: Shell): void {
  const argument = () => completing(new Argument("<identity>", "its name, or its uid"), namesOf(identities));
  const tokens = trust
    .command("tokens")
    .description("list the tokens that workloads presented for an identity, the latest first")
    .addArgument(argument())
    .addOption(new Option("--clear", "delete them instead"))
    .addOption(new Option("-y, --yes", "with --clear, do not ask"));
  withClient(tokens, rowFormats).action(async (identity: string) => {
    using session = await openSession(shell, tokens);
    const { clear = false, yes = false } = tokens.opts<{ readonly clear?: boolean; readonly yes?: boolean }>();
    if (yes && !clear) throw wrongUsage("--yes is for --clear");
    const uid = await findUid(session, identities, identity);
    if (clear) await clearTokens(session, identity, { uid, isSure: yes });
    else await session.output.list(tokensView, await readTokens(session, uid));
  });
  const replay = trust
    .command("replay")
    .description("say which of these tokens another rule would let in or deny: exit code 1 if any gets another verdict")
    .addArgument(argument())
    .addOption(new Option("-f, --file <path...>", "the rule that the identity has in these files of `gatehouse apply`"))
    .addOption(new Option("--days <count>", "only tokens that were presented in the last days").argParser(Number));
  for (const { flags = "", description = "", conflicts = [] } of identities.completing ?? [])
    if (ruleFlags.test(flags)) replay.addOption(new Option(flags, description).conflicts(["file", ...conflicts]));
  withClient(replay, rowFormats).action(async (identity: string) => {
    using session = await openSession(shell, replay);
    await replayRule(session, identity, replay.opts<ReplayOptions>());
  });
}

type ReplayOptions = Readonly<Record<string, FlagValue | undefined>> & {
  readonly file?: readonly string[];
  readonly days?: number;
};

async function readTokens(session: Session, identity: string): Promise<JsonObject[]> {
  const { WorkloadTrustService } = await import("../../../gen/gatehouse/iam/v1/workload_trust_pb.ts");
  const rows: JsonObject[] = [];
  let pageToken = "";
  do {
    const request = { identity, pageSize: 200, pageToken };
    const page = await session.call(WorkloadTrustService.method.listSeenTokens, request);
    rows.push(...((page.seenTokens ?? []) as JsonObject[]));
    pageToken = textAt(page, "nextPageToken");
  } while (pageToken !== "");
  return rows;
}

async function clearTokens(
  session: Session,
  identity: string,
  { uid, isSure }: { readonly uid: string; readonly isSure: boolean },
): Promise<void> {
  const { WorkloadTrustService } = await import("../../../gen/gatehouse/iam/v1/workload_trust_pb.ts");
  await confirm(session.shell, `Delete the seen tokens of ${identity}?`, isSure);
  await session.call(WorkloadTrustService.method.clearSeenTokens, { identity: uid });
  note(session.shell, `Deleted the seen tokens of ${identity}.`);
}

async function replayRule(session: Session, text: string, options: ReplayOptions): Promise<void> {
  const { WorkloadTrustService } = await import("../../../gen/gatehouse/iam/v1/workload_trust_pb.ts");
  const { days = 0, file } = options;
  if (!Number.isInteger(days)) throw wrongUsage("--days must be a number of days");
  const { uid, name, claimMatch: current } = await ruleOf(session, text);
  const claimMatch = file ? await ruleFor(name, file, session.shell) : await changed(session, current, options);
  const reply = await session.call(WorkloadTrustService.method.replayRule, { identity: uid, claimMatch, days });
  const rows = (reply.tokens ?? []) as JsonObject[];
  await session.output.list(replayView, rows);
  if (rows.some(({ verdict }) => verdict === "VERDICT_NOT_DECIDABLE"))
    note(
      session.shell,
      "Not decidable: the rule reads a claim that is stored only once the rule of the identity names it.",
    );
  const others = rows.filter(({ verdict }) => news.includes(verdict)).length;
  if (others > 0)
    throw new CommandFailure(`${others === 1 ? "one token gets" : `${others} tokens get`} another verdict`);
}

/** Returns the rule with the changes of the flags; without any, the rule itself. */
async function changed(session: Session, claimMatch: JsonObject, options: ReplayOptions): Promise<JsonObject> {
  const { days: _, ...flags } = options;
  const body = await identities.complete!({ claimMatch }, flags as never, session);
  return body.claimMatch as JsonObject;
}

async function ruleFor(name: string, paths: readonly string[], shell: Shell): Promise<JsonObject> {
  const found = (await rulesIn(paths, shell)).filter((rule) => rule.name === name);
  const [rule] = found;
  if (!rule) throw new CommandFailure(`the files have no claim match for an identity with the name ${name}`);
  if (found.length > 1)
    throw new CommandFailure(
      `the files have several identities with the name ${name}: ${found.map(({ place }) => place).join(", ")}`,
    );
  return rule.claimMatch;
}

function verdictOf({ verdict }: JsonObject): string {
  return String(verdict).replace("VERDICT_", "").toLowerCase().replaceAll("_", " ");
}

function claimsOf({ claims }: JsonObject): JsonObject {
  return (claims ?? {}) as JsonObject;
}

function furtherClaims({ iss: _iss, sub: _sub, ...claims }: JsonObject): string {
  return Object.entries(claims)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, value]) => `${name}=${value}`)
    .join(" ");
}
