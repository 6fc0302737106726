// The flags of `gatehouse changes` that select changes.
import type { JsonObject } from "@bufbuild/protobuf";
import { type Command, Option } from "commander";
import type { Session } from "../client/session.ts";
import { groupOption } from "./names.ts";
import { findGroupOrOnly } from "./parent-group.ts";

/** The values of --outcome. */
const outcomes = ["allowed", "denied"] as const;
type Outcome = (typeof outcomes)[number];

/** The flags of both commands. */
export interface FilterOptions {
  readonly parent?: string;
  readonly actor?: string;
  readonly resource?: string;
  readonly kind?: string;
  readonly method?: string;
  readonly named?: string;
  readonly outcome?: Outcome;
}

/** The flags of `changes follow`. */
export interface FollowOptions extends FilterOptions {
  readonly after?: string;
}

/** Adds the flags that select changes. */
export function filtered(command: Command): Command {
  return command
    .addOption(groupOption("--parent", "the group (default.group, or your only organization)"))
    .option("--actor <uid>", "only what this identity changed")
    .option("--resource <uid>", "only changes of this resource and of its descendants")
    .option("--kind <kind>", "only changes of this kind, such as groups or role_bindings")
    .option("--method <name>", "only changes by this method, such as UpdateGroup")
    .option("--named <words>", "only changes of resources whose name has these words, or words that begin with them")
    .addOption(new Option("--outcome <outcome>", "only what was allowed, or what was denied").choices(outcomes));
}

/** Returns the fields of a request by the flags. */
export async function readFilter(
  session: Session,
  { parent, actor, resource, kind, method, named, outcome }: FilterOptions,
): Promise<JsonObject> {
  return {
    parent: await findGroupOrOnly(session, parent, "changes are listed of a group"),
    ...(actor !== undefined && { actorUid: actor }),
    ...(resource !== undefined && { resourceUid: resource }),
    ...(kind !== undefined && { kind }),
    ...(method !== undefined && { method }),
    ...(named !== undefined && { query: named }),
    ...(outcome !== undefined && { outcome: `OUTCOME_${outcome.toUpperCase()}` }),
  };
}
