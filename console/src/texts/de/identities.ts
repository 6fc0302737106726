import type { texts as english } from "../en/identities.ts";

export const texts: Readonly<Record<keyof typeof english, string>> = {
  "identities.title": "Identitäten",
  "identities.tabs": "Arten von Identitäten",
  "identities.workloads": "Workloads",
};
