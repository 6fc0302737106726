// `gatehouse iam trust`: which workloads may assume identities.
import type { JsonObject } from "@bufbuild/protobuf";
import { Argument, type Command, Option } from "commander";
import { completing } from "../client/completing.ts";
import { openSession, type Session, withClient } from "../client/session.ts";
import { CommandFailure, wrongUsage } from "../failure.ts";
import { rowFormats } from "../output/formats.ts";
import type { View } from "../output/view.ts";
import { identities } from "../resources/identities.ts";
import { namesOf } from "../resources/names.ts";
import { note, type Shell } from "../shell.ts";
import { addPinCommands } from "./pin-commands.ts";
import { type Rule, ruleOf, rulesIn } from "./rules.ts";
import { addTokenCommands } from "./token-commands.ts";

const view: View = {
  noun: "findings",
  columns: [
    { title: "rule", value: "rule" },
    { title: "severity", value: ({ severity }) => String(severity).replace("SEVERITY_", "").toLowerCase() },
    { title: "who would get in", value: "who" },
    { title: "token", value: tokenOf },
  ],
};

/** Adds the commands to those of `gatehouse iam`. */
export function addTrustCommands(iam: Command, shell: Shell): void {
  const trust = iam
    .command("trust")
    .description(
      "which workloads may assume identities: pins of names; check rules, and try them on the tokens of the last days",
    );
  addPinCommands(trust, shell);
  const lint = trust
    .command("lint")
    .description("say whom the rules of identities let in by mistake, each with a token: exit code 1 for an error")
    .addArgument(completing(new Argument("[identity]", "its name, or its uid"), namesOf(identities)))
    .addOption(new Option("-f, --file <path...>", "check the identities of these files of `gatehouse apply` instead"));
  withClient(lint, rowFormats).action(async (identity: string | undefined) => {
    using session = await openSession(shell, lint);
    const files = lint.opts<{ readonly file?: readonly string[] }>().file ?? [];
    if ((identity === undefined) === (files.length === 0)) throw wrongUsage("name an identity, or files by --file");
    await lintRules(session, identity === undefined ? await rulesIn(files, shell) : [await ruleOf(session, identity)]);
  });
  addTokenCommands(trust, shell);
}

async function lintRules(session: Session, rules: readonly Rule[]): Promise<void> {
  const { WorkloadTrustService } = await import("../../../gen/gatehouse/iam/v1/workload_trust_pb.ts");
  const rows: JsonObject[] = [];
  for (const { place, claimMatch } of rules) {
    const reply = await session.call(WorkloadTrustService.method.lintRule, { claimMatch });
    const findings = (reply.findings ?? []) as JsonObject[];
    rows.push(...findings.map((finding) => ({ rule: place, ...finding })));
    const isNever = Object.keys((reply.acceptedClaims ?? {}) as JsonObject).length === 0;
    if (isNever) note(session.shell, `${place}: no token was found that the rule accepts; it may never match`);
  }
  await session.output.list(view, rows);
  const errors = rows.filter(({ severity }) => severity === "SEVERITY_ERROR").length;
  if (errors > 0)
    throw new CommandFailure(`${errors === 1 ? "one finding is an error" : `${errors} findings are errors`}`);
}

/** Returns the claims that differ from the accepted token, and the subject if none does. */
function tokenOf({ claims, changed }: JsonObject): string {
  const all = (claims ?? {}) as Record<string, string>;
  const names = ((changed ?? []) as string[]).filter((name) => name !== "sub");
  return [`sub=${all.sub}`, ...names.map((name) => `${name}=${all[name]}`)].join(" ");
}
