// Serves grpc.health.v1.
import { durationFromMs } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError, type ServiceImpl } from "@connectrpc/connect";
import { RetryInfoSchema } from "../../../../gen/google/rpc/error_details_pb.ts";
import { type Health, HealthCheckResponse_ServingStatus as Status } from "../../../../gen/health/v1/health_pb.ts";
import { newStatePoll } from "./health-poller.ts";

/** The polling interval of watches, in milliseconds. */
const watchIntervalMs = 1000;

/** The maximum number of concurrent watches. They need no token, so all clients share it. */
export const maxWatches = 1000;

/** The retry delay for a client whose watch was rejected. */
const watchRetryMs = 30_000;

/** The dependencies of the health service. */
export interface HealthOptions {
  /** The full names of the known services. The empty name stands for the whole server. */
  readonly services: () => ReadonlySet<string>;
  /** Rejects if the program cannot serve, or is about to stop. */
  check(): Promise<void>;
  /** Aborted when the program starts to drain. */
  readonly draining: AbortSignal;
}

/** Serves health. It needs no token: load balancers have none. */
export function health({ services, check, draining }: HealthOptions): ServiceImpl<typeof Health> {
  const look = () =>
    check().then(
      () => true,
      () => false,
    );
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
      // A watch that ends by its deadline fails: clients would take a normal end for one by the server.
      if (!draining.aborted) signal.throwIfAborted();
      // The drain may end the call before the poll reports it.
      else if (last === Status.SERVING) yield { status: Status.NOT_SERVING };
    },
  };
}

function tooManyWatches(): ConnectError {
  const retryInfo = { desc: RetryInfoSchema, value: { retryDelay: durationFromMs(watchRetryMs) } };
  const message = `${maxWatches} watches at a time are the most`;
  return new ConnectError(message, Code.ResourceExhausted, undefined, [retryInfo]);
}
