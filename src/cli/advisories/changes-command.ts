// `gatehouse advisories changes`: prints each changed advisory as a line of JSON.
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import type { JsonObject } from "@bufbuild/protobuf";
import { type Command, Option } from "commander";
import { openSession, type Session, withClient } from "../client/session.ts";
import { jsonText } from "../escape.ts";
import { timeOrAgo } from "../resources/flags.ts";
import { groupOption } from "../resources/names.ts";
import { note, type Shell } from "../shell.ts";

const pageSize = 200;
const pollMs = 2000;
/** The lifetime of a session, in milliseconds: the next one finds a token that another process renewed. */
const sessionMs = 60_000;

interface ChangesFlags {
  readonly group?: string;
  readonly since?: string;
  readonly after?: string;
  readonly follow?: boolean;
}

/** Adds the command to those of advisories. */
export function addChanges(advisories: Command, shell: Shell): void {
  const command = withClient(advisories.command("changes"), [])
    .description("print the advisories that have changed as lines of JSON, deleted and withdrawn ones included")
    .addOption(groupOption("--group", "only those of this group and its subgroups"))
    .option("--since <time|duration>", "only those since this time, or since so long ago, such as 24h or 7d")
    .addOption(new Option("--after <token>", "continue where another run ended").conflicts("since"))
    .option("--follow", "then print each new change, until interrupted");
  command.action(async () => {
    const flags = command.opts<ChangesFlags>();
    const given = flags.after ?? "";
    const position = { pageToken: given, hasMore: true };
    try {
      while (position.hasMore || flags.follow === true) {
        using session = await openSession(shell, command);
        await printChanges(session, await readFilter(session, flags), position, flags.follow === true);
      }
    } finally {
      if (position.pageToken !== given) note(shell, `To continue from here: --after ${position.pageToken}`);
    }
  });
}

async function readFilter(session: Session, { group, since }: ChangesFlags): Promise<JsonObject> {
  if (group === undefined) return since === undefined ? {} : { startTime: timeOrAgo(since) };
  const [{ findUid }, { groups }] = await Promise.all([
    import("../resources/lookup.ts"),
    import("../resources/groups.ts"),
  ]);
  const uidp = { descendantsOf: await findUid(session, groups, group) };
  return since === undefined ? { uidp } : { uidp, startTime: timeOrAgo(since) };
}

/** Prints changes until there are no more, or, to follow them, until the session ends. */
async function printChanges(
  session: Session,
  filter: JsonObject,
  position: { pageToken: string; hasMore: boolean },
  isFollowing: boolean,
): Promise<void> {
  const { AdvisoryChangesService } = await import("../../../gen/gatehouse/vulnerabilities/v1/changes_pb.ts");
  const until = performance.now() + sessionMs;
  do {
    const { pageToken } = position;
    const page = await session.call(AdvisoryChangesService.method.changedSince, { ...filter, pageToken, pageSize });
    for (const advisory of (page.advisories as JsonObject[] | undefined) ?? [])
      await writeLine(session.shell, jsonText(advisory));
    position.pageToken = String(page.nextPageToken);
    position.hasMore = page.hasMore === true;
    if (isFollowing && !position.hasMore) await sleep(pollMs);
  } while (isFollowing ? performance.now() < until : position.hasMore);
}

/** Waits for slow readers: the changes may be larger than memory. */
async function writeLine({ stdout }: Shell, line: string): Promise<void> {
  if (!stdout.write(`${line}\n`)) await once(stdout, "drain");
}
