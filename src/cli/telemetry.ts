// Traces by OpenTelemetry, which is loaded only if the environment asks for it.
import type { Logger } from "pino";
import { setTracing } from "../base/tracing.ts";
import { version } from "../base/version.ts";
import { ConfigError } from "../config/settings.ts";

/** Starts recording traces if the environment has variables of OpenTelemetry. Throws a ConfigError for a wrong one. */
export async function openTelemetry(environment: NodeJS.ProcessEnv, log: Logger): Promise<AsyncDisposable | undefined> {
  if (!isWanted(environment)) return undefined;
  const { SamplerError } = await import("../observe/traces/sampling.ts");
  const { startTelemetry } = await import("../observe/traces/telemetry.ts");
  try {
    const telemetry = startTelemetry(environment, version, log);
    setTracing(telemetry);
    return { [Symbol.asyncDispose]: () => telemetry.close() };
  } catch (error) {
    throw error instanceof SamplerError ? new ConfigError(`${error.message}.`) : error;
  }
}

// https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/
function isWanted(environment: NodeJS.ProcessEnv): boolean {
  const { OTEL_SDK_DISABLED, OTEL_TRACES_EXPORTER } = environment;
  if (OTEL_SDK_DISABLED?.toLowerCase() === "true" || OTEL_TRACES_EXPORTER?.toLowerCase() === "none") return false;
  return Object.keys(environment).some((name) => name.startsWith("OTEL_"));
}
