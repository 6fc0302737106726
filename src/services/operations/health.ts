// grpc.health.v1: whether the program can serve.
import { Code, ConnectError, type ServiceImpl } from "@connectrpc/connect";
import { type Health, HealthCheckResponse_ServingStatus as Status } from "../../../gen/health/v1/health_pb.ts";

/** How often a watch looks whether anything changed, in milliseconds. */
const watchIntervalMs = 1000;

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
  async function statusOf(service: string): Promise<Status> {
    if (service !== "" && !services().has(service)) return Status.SERVICE_UNKNOWN;
    if (draining.aborted) return Status.NOT_SERVING;
    return await check().then(
      () => Status.SERVING,
      () => Status.NOT_SERVING,
    );
  }

  return {
    async check({ service }) {
      const status = await statusOf(service);
      // The health protocol: Check of an unknown service fails, Watch of one answers SERVICE_UNKNOWN.
      if (status === Status.SERVICE_UNKNOWN) throw new ConnectError("unknown service", Code.NotFound);
      return { status };
    },
    async list() {
      const names = ["", ...services()];
      const statuses = await Promise.all(names.map(statusOf));
      return { statuses: Object.fromEntries(names.map((name, i) => [name, { status: statuses[i]! }])) };
    },
    async *watch({ service }, context) {
      let last: Status | undefined;
      while (!context.signal.aborted) {
        const status = await statusOf(service);
        if (status !== last) yield { status };
        last = status;
        await pause(watchIntervalMs, [context.signal, draining]);
        if (draining.aborted && last === Status.NOT_SERVING) return;
      }
    },
  };
}

/** Waits for the time to pass or for one of the signals. */
async function pause(milliseconds: number, signals: readonly AbortSignal[]): Promise<void> {
  if (signals.some((signal) => signal.aborted)) return;
  await new Promise<void>((resolve) => {
    const timer = setTimeout(done, milliseconds);
    function done() {
      clearTimeout(timer);
      for (const signal of signals) signal.removeEventListener("abort", done);
      resolve();
    }
    for (const signal of signals) signal.addEventListener("abort", done, { once: true });
  });
}
