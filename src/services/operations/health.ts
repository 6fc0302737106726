// grpc.health.v1: whether the program can serve.
import { durationFromMs } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError, type ServiceImpl } from "@connectrpc/connect";
import { RetryInfoSchema } from "../../../gen/google/rpc/error_details_pb.ts";
import { type Health, HealthCheckResponse_ServingStatus as Status } from "../../../gen/health/v1/health_pb.ts";
import { newStatePoll } from "./health-poller.ts";

/** How often watches look whether anything changed, in milliseconds. */
const watchIntervalMs = 1000;

/** Watches at a time, of everybody together: they need no token. */
export const maxWatches = 1000;

/** After this time a client that was refused a watch may try again. */
const watchRetryMs = 30_000;

/** What health is told of. */
export interface HealthOptions {
  /** The full names of the services that may be asked about; the empty name stands for all, and asks for none of them. */
  readonly services: () => ReadonlySet<string>;
  /** Rejects when the program cannot serve. */
  check(): Promise<void>;
  /** Aborted when the program begins to stop. */
  readonly draining: AbortSignal;
}

/** Serves health. It needs no token: load balancers have none. */
export function health({ services, check, draining }: HealthOptions): ServiceImpl<typeof Health> {
  async function look(): Promise<boolean> {
    if (draining.aborted) return false;
    return await check().then(
      () => true,
      () => false,
    );
  }
  const poll = newStatePoll({ look, intervalMs: watchIntervalMs, maxFollowers: maxWatches, draining });

  const isKnown = (service: string) => service === "" || services().has(service);
  const statusOf = (serves: boolean) => (serves ? Status.SERVING : Status.NOT_SERVING);

  return {
    async check({ service }) {
      // The health protocol: Check of an unknown service fails, Watch of one answers SERVICE_UNKNOWN.
      if (!isKnown(service)) throw new ConnectError("unknown service", Code.NotFound);
      return { status: statusOf(await look()) };
    },
    async list() {
      const status = statusOf(await look());
      return { statuses: Object.fromEntries(["", ...services()].map((name) => [name, { status }])) };
    },
    async *watch({ service }, { signal }) {
      using follower = poll.follow();
      if (!follower) throw tooManyWatches();
      let last: Status | undefined;
      let serves = await follower.next(undefined, signal);
      while (serves !== undefined) {
        const status = isKnown(service) ? statusOf(serves) : Status.SERVICE_UNKNOWN;
        if (status !== last) yield { status };
        last = status;
        if (draining.aborted && !serves) return;
        serves = await follower.next(serves, signal);
      }
      // A watch that its deadline ends has failed: clients take a good end for the server's own.
      if (!draining.aborted) signal.throwIfAborted();
      // The call may be ended by what ends the program, before the poll has told of it.
      else if (last === Status.SERVING) yield { status: Status.NOT_SERVING };
    },
  };
}

function tooManyWatches(): ConnectError {
  const retryInfo = { desc: RetryInfoSchema, value: { retryDelay: durationFromMs(watchRetryMs) } };
  const message = `${maxWatches} watches at a time are the most`;
  return new ConnectError(message, Code.ResourceExhausted, undefined, [retryInfo]);
}
