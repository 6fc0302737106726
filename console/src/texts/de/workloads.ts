import type { texts as english } from "../en/workloads.ts";

export const texts: Readonly<Record<keyof typeof english, string>> = {
  "workloads.list": "Identitäten von Workloads",
};
