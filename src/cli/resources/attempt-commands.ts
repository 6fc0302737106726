// `gatehouse events subscriptions`: test events, the latest attempts, and redeliveries.
import type { JsonObject } from "@bufbuild/protobuf";
import type { Command } from "commander";
import { openSession, withClient } from "../client/session.ts";
import { CommandFailure } from "../failure.ts";
import type { Format } from "../output/formats.ts";
import type { View } from "../output/view.ts";
import type { Shell } from "../shell.ts";
import { methods, withSubscription } from "./delivery-commands.ts";
import { textAt } from "./json.ts";
import { findUid } from "./lookup.ts";
import { subscriptions } from "./subscriptions.ts";

const attemptView: View = {
  noun: "attempts",
  columns: [
    { title: "start", value: "startTime" },
    { title: "event", value: "eventType" },
    { title: "status", value: ({ httpStatus }) => (httpStatus ? String(httpStatus) : "") },
    { title: "failure", value: "failure" },
    { title: "reason", value: reasonOf, wide: true },
    { title: "duration", value: "duration" },
    { title: "event id", value: "eventId", wide: true },
    { title: "uid", value: "uid" },
  ],
};

const redeliveryView: View = {
  noun: "events",
  id: "eventId",
  columns: [
    { title: "event id", value: "eventId" },
    {
      title: "outcome",
      value: ({ outcome }) =>
        String(outcome ?? "")
          .replace("REDELIVERY_OUTCOME_", "")
          .toLowerCase()
          .replaceAll("_", " "),
    },
  ],
};

const attemptFormats: readonly Format[] = ["table", "wide", "json", "yaml", "csv", "id", "none"];

/** Adds the commands to those of subscriptions. */
export function addAttemptCommands(parent: Command, shell: Shell): void {
  const test = withSubscription(
    parent.command("test").description("send a test event to a subscription at once, and fail if it does not arrive"),
    attemptFormats,
  );
  test.action(async (text: string) => {
    using session = await openSession(shell, test);
    const subscriptionUid = await findUid(session, subscriptions, text);
    const attempt = await session.call((await methods()).sendTestEvent, { subscriptionUid });
    await session.output.one(attemptView, attempt);
    const failure = textAt(attempt, "failure");
    if (failure !== "") throw new CommandFailure(`the test event was not delivered: ${failure}`);
  });
  const attempts = withSubscription(
    parent.command("attempts").description("list the latest attempts to deliver to a subscription"),
    attemptFormats,
  );
  attempts.action(async (text: string) => {
    using session = await openSession(shell, attempts);
    const subscriptionUid = await findUid(session, subscriptions, text);
    const { recentAttempts = [] } = await session.call((await methods()).getDeliveryState, { subscriptionUid });
    await session.output.list(attemptView, recentAttempts as JsonObject[]);
  });
  addAttempt(parent, shell);
  addRedeliver(parent, shell);
}

function addAttempt(parent: Command, shell: Shell): void {
  const command = parent
    .command("attempt")
    .description("show what an attempt sent and what the sink answered")
    .argument("<uid>", "the uid of the attempt");
  withClient(command, ["table", "json", "yaml", "none"]).action(async (uid: string) => {
    using session = await openSession(shell, command);
    const { attempt, ...payload } = await session.call((await methods()).getAttempt, { uid });
    await session.output.details(attemptView, { ...(attempt as JsonObject), ...payload }, []);
  });
}

function addRedeliver(parent: Command, shell: Shell): void {
  const command = withSubscription(
    parent.command("redeliver").description("send events of the latest attempts again, with the same ids"),
    ["table", "json", "yaml", "csv", "none"],
  ).argument("<event-id...>", "the ids of the events");
  command.action(async (text: string, eventIds: string[]) => {
    using session = await openSession(shell, command);
    const subscriptionUid = await findUid(session, subscriptions, text);
    const { redeliveries = [] } = await session.call((await methods()).redeliver, { subscriptionUid, eventIds });
    await session.output.list(redeliveryView, redeliveries as JsonObject[]);
  });
}

function reasonOf({ failureReason }: JsonObject): string {
  return String(failureReason ?? "").replace(/^DELIVERY_FAILURE_(UNSPECIFIED)?/, "");
}
