// The tabs with the code of a call.
import type { Call } from "./call.ts";
import { connectCurl, curl, grpcurl } from "./commands.ts";
import { go } from "./go.ts";
import { python } from "./python.ts";
import { typescript } from "./typescript.ts";

/** The tabs, in their order: what they are called, and the code. */
export const languages = {
  curl: { name: "curl", code: curl },
  typescript: { name: "TypeScript", code: typescript },
  go: { name: "Go", code: go },
  python: { name: "Python", code: python },
  grpcurl: { name: "grpcurl", code: grpcurl },
  connect: { name: "Connect", code: connectCurl },
} as const satisfies Readonly<Record<string, { readonly name: string; readonly code: (call: Call) => string }>>;

/** A tab. */
export type Language = keyof typeof languages;

/** Returns the tabs of a method. Version 2 has no proto files, so no code is generated from them. */
export function languagesOf({ grpc, service }: Pick<Call, "grpc" | "service">): readonly Language[] {
  const all = Object.keys(languages) as Language[];
  const isGenerated = grpc.services[service]!.document !== "v2";
  return all.filter((one) => isGenerated || (one !== "typescript" && one !== "go"));
}
