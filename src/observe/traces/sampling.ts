// Decides which calls are traced, before anything of OpenTelemetry is called: an unsampled call costs nothing measurable.
import { readTraceParent } from "../../base/traceparent.ts";

/** Decides whether the trace of a call is recorded, given its `traceparent` header and its request id. */
export type Sampler = (traceparent: string | undefined, requestId: string) => boolean;

/** The variable is wrong: the message names it and the rule. */
export class SamplerError extends Error {}

const names = ["always_on", "always_off", "traceidratio"] as const;

/**
 * Makes the sampler of OTEL_TRACES_SAMPLER and OTEL_TRACES_SAMPLER_ARG. Throws SamplerError.
 *
 * https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/#general-sdk-configuration
 */
export function samplerOf(env: Readonly<Record<string, string | undefined>>): Sampler {
  const setting = env.OTEL_TRACES_SAMPLER || "parentbased_always_on";
  const isParentBased = setting.startsWith("parentbased_");
  const name = names.find((one) => one === setting.replace(/^parentbased_/, ""));
  if (!name)
    throw new SamplerError(
      `OTEL_TRACES_SAMPLER must be one of ${names.flatMap((one) => [one, `parentbased_${one}`]).join(", ")}`,
    );
  const ratio = name === "always_on" ? 1 : name === "always_off" ? 0 : ratioOf(env.OTEL_TRACES_SAMPLER_ARG);
  return (traceparent, requestId) => {
    const parent = isParentBased ? readTraceParent(traceparent) : undefined;
    if (parent || ratio === 0 || ratio === 1) return parent?.isSampled ?? ratio === 1;
    return fractionOf(requestId) < ratio;
  };
}

function ratioOf(text = ""): number {
  const ratio = text === "" ? 1 : Number(text);
  if (ratio >= 0 && ratio <= 1) return ratio;
  throw new SamplerError("OTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1");
}

/** Returns the same fraction of 1 for the same id: all parts of a request are sampled, or none. Below 1. */
function fractionOf(requestId: string): number {
  const number = requestId.length < 8 ? Number.NaN : Number(`0x${requestId.slice(0, 8)}`);
  // A proxy may send ids of another form.
  return number >= 0 ? number / 2 ** 32 : Math.random();
}
