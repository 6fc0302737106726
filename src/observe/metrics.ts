import { collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";

/** What the program measures of itself. */
export interface Metrics {
  observeCall(method: string, door: string, code: string, seconds: number): void;
  /** Registers a number that is read when metrics are asked for. */
  gauge(name: string, help: string, read: () => number): void;
  /** The text that Prometheus reads. */
  text(): Promise<string>;
  readonly contentType: string;
}

export function createMetrics(): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const calls = new Histogram({
    name: "gatehouse_call_duration_seconds",
    help: "Duration of calls by method, door and code.",
    labelNames: ["method", "door", "code"],
    buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 2.5],
    registers: [registry],
  });
  return {
    observeCall: (method, door, code, seconds) => calls.observe({ method, door, code }, seconds),
    gauge(name, help, read) {
      new Gauge({
        name,
        help,
        registers: [registry],
        collect() {
          this.set(read());
        },
      });
    },
    text: () => registry.metrics(),
    contentType: registry.contentType,
  };
}
