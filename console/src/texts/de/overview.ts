import type { texts as english } from "../en/overview.ts";

export const texts: Readonly<Record<keyof typeof english, string>> = {
  "overview.title": "Übersicht von {name}",
  "overview.counts": "Was es in {name} gibt",
  "overview.groups": "Gruppen",
  "overview.identities": "Identitäten",
  "overview.bindings": "Rollenbindungen",
  "overview.roles": "Eigene Rollen",
  "overview.repos": "Repos",
  "overview.advisories": "Advisories",
  "overview.subscriptions": "Abonnements",
  "overview.attention": "Braucht Aufmerksamkeit",
  "overview.nothing": "Nichts braucht Ihre Aufmerksamkeit.",
  "overview.sampled": "Unter den ersten {count, number} Identitäten.",
  "overview.unused": "{count, plural, one {# Identität wurde nie benutzt} other {# Identitäten wurden nie benutzt}}",
  "overview.expiring":
    "{count, plural, one {# Schlüssel endet innerhalb von 14 Tagen} other {# Schlüssel enden innerhalb von 14 Tagen}}",
  "overview.latest": "Letzte Änderungen",
  "overview.allChanges": "Alle Änderungen",
  "overview.noChanges": "Noch hat sich nichts geändert.",
  "overview.server": "der Server",
};
