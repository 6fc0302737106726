// `gatehouse events subscriptions state` and `retry`: the delivery queue of a subscription.
import { Argument, type Command } from "commander";
import { completing } from "../client/completing.ts";
import { openSession, withClient } from "../client/session.ts";
import type { Format } from "../output/formats.ts";
import type { View } from "../output/view.ts";
import type { Shell } from "../shell.ts";
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
      value: ({ nextAttemptTime, stopped }) => (stopped ? "stopped" : String(nextAttemptTime ?? "")),
    },
    { title: "not in force", value: "inactivity" },
  ],
};

const outputs: readonly Format[] = ["table", "json", "yaml", "csv", "none"];

const actions = {
  state: { method: "getDeliveryState", description: "show the delivery queue of a subscription, and its last error" },
  retry: { method: "retryDelivery", description: "retry the delivery queue of a subscription now" },
} as const;

/** Adds the commands to those of subscriptions. */
export function addDeliveryCommands(parent: Command, shell: Shell): void {
  for (const [name, { method, description }] of Object.entries(actions)) {
    const command = parent
      .command(name)
      .description(description)
      .addArgument(completing(new Argument("<sink|uid>"), namesOf(subscriptions)));
    withClient(command, outputs).action(async (text: string) => {
      using session = await openSession(shell, command);
      const { findUid } = await import("./lookup.ts");
      const { DeliveryService } = await import("../../../gen/gatehouse/events/v1/delivery_pb.ts");
      const subscriptionUid = await findUid(session, subscriptions, text);
      await session.output.one(deliveryView, await session.call(DeliveryService.method[method], { subscriptionUid }));
    });
  }
}
