// `gatehouse events subscriptions`: the delivery queue and the settings of a subscription.
import type { JsonObject } from "@bufbuild/protobuf";
import { Argument, type Command } from "commander";
import { completing } from "../client/completing.ts";
import { openSession, type Session, withClient } from "../client/session.ts";
import { wrongUsage } from "../failure.ts";
import type { Format } from "../output/formats.ts";
import type { View } from "../output/view.ts";
import type { Shell } from "../shell.ts";
import { findUid } from "./lookup.ts";
import { namesOf } from "./names.ts";
import { subscriptions } from "./subscriptions.ts";

/** The length of the delivery queue, and the last error. */
export const deliveryView: View = {
  noun: "delivery states",
  id: "subscriptionUid",
  columns: [
    { title: "subscription", value: "subscriptionUid" },
    { title: "waiting", value: ({ waiting }) => String(waiting ?? 0) },
    { title: "since", value: "waitingSince" },
    { title: "failed", value: "failedAttempts" },
    { title: "last failure", value: "lastFailure" },
    {
      title: "next attempt",
      value: ({ nextAttemptTime, stopped, settings }) =>
        (settings as JsonObject | undefined)?.paused === true
          ? "paused"
          : stopped
            ? "stopped"
            : String(nextAttemptTime ?? ""),
    },
    { title: "not in force", value: "inactivity" },
    { title: "kinds", value: "settings.kinds", wide: true },
    { title: "description", value: "settings.description", wide: true },
  ],
};

/** The formats of the output about one subscription. */
export const stateFormats: readonly Format[] = ["table", "wide", "json", "yaml", "csv", "none"];

/** Adds the commands to those of subscriptions. */
export function addDeliveryCommands(parent: Command, shell: Shell): void {
  const add = (name: string, description: string) => withSubscription(parent.command(name).description(description));
  const state = add("state", "show the delivery queue of a subscription, its last error and its settings");
  run(state, shell, async (session, subscriptionUid) =>
    session.call((await methods()).getDeliveryState, { subscriptionUid }),
  );
  const retry = add("retry", "retry the delivery queue of a subscription now");
  run(retry, shell, async (session, subscriptionUid) =>
    session.call((await methods()).retryDelivery, { subscriptionUid }),
  );
  const pause = add("pause", "send nothing to a subscription: its events wait for three days");
  run(pause, shell, async (session, uid) => await update(session, { uid, paused: true }));
  const resume = add("resume", "send what waits for a paused subscription");
  run(resume, shell, async (session, uid) => await update(session, { uid, paused: false }));
  const edit = add("update", "change the sink, the kinds of events or the description of a subscription")
    .option("--sink <url>", "the address that events are sent to")
    .option("--kinds <kinds>", 'send only events about these kinds, such as groups,roles; "" for all')
    .option("--description <text>", 'a text for people; "" for none');
  run(edit, shell, async (session, uid) => await update(session, { uid, ...changesIn(edit) }));
}

/** Adds the subscription to the arguments of a command, and the flags of the client. */
export function withSubscription(command: Command, outputs = stateFormats): Command {
  command.addArgument(completing(new Argument("<sink|uid>"), namesOf(subscriptions)));
  return withClient(command, outputs);
}

/** Returns the methods of deliveries. */
export async function methods() {
  return (await import("../../../gen/gatehouse/events/v1/delivery_pb.ts")).DeliveryService.method;
}

/** Sets the action of a command that prints the state of a subscription. */
function run(
  command: Command,
  shell: Shell,
  change: (session: Session, subscriptionUid: string) => Promise<JsonObject>,
): void {
  command.action(async (text: string) => {
    using session = await openSession(shell, command);
    await session.output.one(deliveryView, await change(session, await findUid(session, subscriptions, text)));
  });
}

async function update(session: Session, settings: JsonObject): Promise<JsonObject> {
  const { uid: _, ...changed } = settings;
  const updateMask = Object.keys(changed).join(",");
  return await session.call((await methods()).updateSubscriptionSettings, { settings, updateMask });
}

function changesIn(command: Command): JsonObject {
  const { sink, kinds, description } = command.opts<{ sink?: string; kinds?: string; description?: string }>();
  if ([sink, kinds, description].every((value) => value === undefined))
    throw wrongUsage("name what to change: --sink, --kinds or --description");
  return {
    ...(sink !== undefined && { sink }),
    ...(kinds !== undefined && { kinds: kinds.split(",").filter((kind) => kind !== "") }),
    ...(description !== undefined && { description }),
  };
}
