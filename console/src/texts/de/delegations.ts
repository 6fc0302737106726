import type { texts as english } from "../en/delegations.ts";

export const texts: Readonly<Record<keyof typeof english, string>> = {
  "inactivity.lacks":
    "Dem Urheber {maker} fehlt inzwischen: {capabilities}{more, plural, =0 {} other { und # weitere}}.",
  "inactivity.extended":
    "Ihre Rolle hat mehr Fähigkeiten, als {maker} zugesagt hat: {capabilities}{more, plural, =0 {} other { und # weitere}}.",
  "inactivity.hidden": "Fähigkeiten, die Sie nicht sehen dürfen",
  "inactivity.deleted": "Die Identität des Urhebers wurde gelöscht.",
  "inactivity.unknown": "Der Urheber ist nicht bekannt.",
};
