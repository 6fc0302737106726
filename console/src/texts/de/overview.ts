import type { texts as english } from "../en/overview.ts";

export const texts: Readonly<Record<keyof typeof english, string>> = {
  "overview.title": "Übersicht von {name}",
  "overview.counts": "Was es in {name} gibt",
  "overview.groups": "Gruppen",
  "overview.identities": "Identitäten",
  "overview.role_bindings": "Rollenbindungen",
  "overview.roles": "Eigene Rollen",
  "overview.repos": "Repos",
  "overview.advisories": "Advisories",
  "overview.subscriptions": "Abonnements",
  "overview.attention": "Braucht Aufmerksamkeit",
  "overview.nothing": "Nichts braucht Ihre Aufmerksamkeit.",
  "overview.unused": "{count, plural, one {# Identität wurde nie benutzt} other {# Identitäten wurden nie benutzt}}",
  "overview.expiring":
    "{count, plural, one {# Schlüssel endet innerhalb von 14 Tagen} other {# Schlüssel enden innerhalb von 14 Tagen}}",
  "overview.failing":
    "{count, plural, one {# Zustellung von Ereignissen scheitert} other {# Zustellungen von Ereignissen scheitern}}",
  "overview.inactive":
    "{count, plural, one {# Zusage gilt nicht, weil ihr Urheber gegangen ist oder selbst nicht mehr hat, was sie gibt} other {# Zusagen gelten nicht, weil ihre Urheber gegangen sind oder selbst nicht mehr haben, was sie geben}}",
  "overview.confined":
    "{count, plural, one {# Identität hat hier eine Rolle, die ihr weniger gibt, als sie sagt} other {# Identitäten haben hier eine Rolle, die ihnen weniger gibt, als sie sagt}}",
  "overview.latest": "Letzte Änderungen",
  "overview.allChanges": "Alle Änderungen",
  "overview.noChanges": "Noch hat sich nichts geändert.",
  "overview.server": "der Server",
};
