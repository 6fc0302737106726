import type { texts as english } from "../en/overview.ts";

export const texts: Readonly<Record<keyof typeof english, string>> = {
  "overview.grant": "Zugriff gewähren",
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
  "overview.allFindings": "Alle Befunde",
  "overview.settled": "Kein Befund dieser Art mehr.",
  "overview.nothing": "Nichts braucht Ihre Aufmerksamkeit.",
  "overview.breakGlass":
    "{more, select, yes {Mehr als } other {}}{count, plural, one {# Rolle wurde als Notfallzugriff genommen} other {# Rollen wurden als Notfallzugriff genommen}}",
  "overview.since.taken": "genommen",
  "overview.why.breakGlass": "Hat die Rolle {role} ohne Genehmigung genommen. Grund: {reason}",
  "overview.acknowledge": "Bestätigen",
  "overview.acknowledged": "Bestätigt.",
  "overview.unused":
    "{more, select, yes {Mehr als } other {}}{count, plural, one {# Identität wurde nie benutzt} other {# Identitäten wurden nie benutzt}}",
  "overview.expiring":
    "{more, select, yes {Mehr als } other {}}{count, plural, one {# Schlüssel endet innerhalb von 14 Tagen} other {# Schlüssel enden innerhalb von 14 Tagen}}",
  "overview.failing":
    "{more, select, yes {Mehr als } other {}}{count, plural, one {# Zustellung von Ereignissen scheitert} other {# Zustellungen von Ereignissen scheitern}}",
  "overview.inactive":
    "{more, select, yes {Mehr als } other {}}{count, plural, one {# Zusage gilt nicht} other {# Zusagen gelten nicht}}",
  "overview.confined":
    "{more, select, yes {Mehr als } other {}}{count, plural, one {# Rollenbindung gibt weniger, als sie sagt} other {# Rollenbindungen geben weniger, als sie sagen}}",
  "overview.unusedBinding":
    "{more, select, yes {Mehr als } other {}}{count, plural, one {# Rollenbindung wurde seit 90 Tagen nicht benutzt} other {# Rollenbindungen wurden seit 90 Tagen nicht benutzt}}",
  "overview.why.unusedBinding": "Niemand hat {role} hier in den letzten 90 Tagen benutzt.",
  "overview.twin":
    "{more, select, yes {Mehr als } other {}}{count, plural, one {# Ressource wurde zweimal angelegt} other {# Ressourcen wurden zweimal angelegt}}",
  "overview.why.twin":
    "{maker} hat höchstens eine Minute vorher eine gleiche angelegt: Wahrscheinlich wurde ein Aufruf ohne Antwort wiederholt. Löschen Sie die, die kein Programm benutzt.",
  "overview.showTwin": "Die andere zeigen",
  "overview.deactivated":
    "{more, select, yes {Mehr als } other {}}{count, plural, one {# Sache ist von deaktivierten Personen geblieben} other {# Sachen sind von deaktivierten Personen geblieben}}",
  "overview.reused":
    "{more, select, yes {Mehr als } other {}}{count, plural, one {# Identität hat einen wiederverwendeten Namen abgelehnt} other {# Identitäten haben wiederverwendete Namen abgelehnt}}",
  "overview.unpinned":
    "{more, select, yes {Mehr als } other {}}{count, plural, one {# Identität lässt einen Namen ohne Kennung ein} other {# Identitäten lassen Namen ohne Kennung ein}}",
  "overview.broad":
    "{more, select, yes {Mehr als } other {}}{count, plural, one {# Identität lässt durch ihre Regel andere ein} other {# Identitäten lassen durch ihre Regeln andere ein}}",
  "overview.since.refused": "zuletzt abgelehnt",
  "overview.why.reused":
    "Ein Name kam mit einer anderen Kennung als zuvor: Vielleicht hat ihn ein anderer Eigentümer übernommen. Beide Kennungen zeigt: gatehouse iam trust describe.",
  "overview.why.unpinned":
    "Ein späterer Eigentümer des Namens käme auch hinein: Die Token haben keine Kennung, oder es sind mehr als 32 Namen.",
  "overview.why.broad":
    "Ihre Regel akzeptiert Token eines anderen Eigentümers, oder von Jobs, die andere starten können.",
  "overview.whoGetsIn": "Wer kommt hinein?",
  "overview.paused":
    "{more, select, yes {Mehr als } other {}}{count, plural, one {# pausiertes Abonnement hat Ereignisse verloren} other {# pausierte Abonnements haben Ereignisse verloren}}",
  "overview.since.dropped": "zuletzt",
  "overview.since.waiting": "erstes Ereignis",
  "overview.since.expires": "endet",
  "overview.since.confirmed": "gemacht",
  "overview.since.granted": "gewährt",
  "overview.since.deactivated": "deaktiviert",
  "overview.since.created": "erstellt",
  "overview.why.failing": "{count, number}-mal gescheitert: {reason}",
  "overview.why.paused":
    "{count, plural, one {# Ereignis wurde} other {# Ereignisse wurden}} nach drei Tagen Wartezeit verworfen.",
  "overview.why.expiring": "Nach ihrem Ende werden ihre Schlüssel nicht mehr angenommen.",
  "overview.why.unused": "Niemand hat sie benutzt, seit sie erstellt wurde.",
  "overview.why.deactivated": "Nur {person} kann sie annehmen; ein Anmeldedienst hat diese Person deaktiviert.",
  "overview.why.deactivatedMaker":
    "Eine Identität einer deaktivierten Person hat sie gemacht, und sie bleibt in Kraft.",
  "overview.why.confined":
    "Sie hat hier {role}, gehört aber zu einer Untergruppe: Außerhalb davon wirkt die Rolle nicht.",
  "overview.whyQuestion": "Warum?",
  "overview.revokeRole": "Rolle entziehen",
  "overview.extendKeys": "Schlüssel verlängern",
  "overview.deleteIdentity": "Identität löschen",
  "overview.steps": "Erste Schritte",
  "overview.steps.done": "{done, number} von {all, number} erledigt",
  "overview.steps.close": "Erste Schritte schließen",
  "overview.step.done": "Erledigt",
  "overview.step.group": "Gruppe anlegen",
  "overview.step.group.text":
    "Gruppen enthalten Workloads, Images und weitere Gruppen. Beginnen Sie mit einem Team oder einem Projekt.",
  "overview.step.group.button": "Neue Gruppe",
  "overview.step.ci": "CI anbinden",
  "overview.step.ci.text": "Ein Job meldet sich mit dem Token an, das er schon hat, ohne gespeichertes Geheimnis.",
  "overview.step.ci.button": "Neue Identität",
  "overview.step.person": "Person einladen",
  "overview.step.person.text": "Eine Einladung gibt allen eine Rolle, die sich mit ihrem Code anmelden.",
  "overview.step.person.button": "Neue Einladung",
  "overview.step.provider": "Mit dem eigenen Anbieter anmelden",
  "overview.step.provider.text": "Verbinden Sie den Login-Anbieter Ihrer Organisation über OIDC.",
  "overview.step.provider.button": "Anbieter verbinden",
  "overview.step.image": "Image hochladen",
  "overview.step.image.text": "Ein Push legt das Repo an, und Rollen entscheiden, wer ziehen darf.",
  "overview.step.image.button": "Registry öffnen",
  "overview.step.events": "Ereignisse empfangen",
  "overview.step.events.text": "Ein Webhook bekommt zu jeder Änderung ein signiertes Ereignis.",
  "overview.step.events.button": "Neues Abonnement",
  "overview.latest": "Letzte Änderungen",
  "overview.allChanges": "Alle Änderungen",
  "overview.noChanges": "Noch hat sich nichts geändert.",
  "home.groups": "Ihre Gruppen",
  "home.mayI": "Was darf ich?",
  "home.allGroups": "Alle {count, number} zeigen",
  "home.repos": "Ihre Repos",
  "home.allRepos": "Alle {count, number}",
  "home.noRepos": "In Ihren Gruppen gibt es noch keine Repos.",
  "home.noTags": "Noch keine Tags",
  "home.noName":
    "Sie dürfen eine Gruppe in seinem Pfad nicht sehen: Fragen Sie einen Owner nach dem Namen in der Registry.",
  "home.pullOf": "den Pull-Befehl von {name}",
  "home.signIn": "Melden Sie sich einmal an der Registry an, dann ziehen Sie:",
  "home.signInCommand": "den Befehl zum Anmelden",
  "home.workloads": "Ihre Workloads",
  "home.allWorkloads": "Alle {count, number}",
  "home.noWorkloads": "In Ihren Gruppen gibt es noch keine Workloads.",
  "home.seen": "gesehen",
  "home.waiting": "Wartet auf Sie",
  "home.nothingWaits": "Keine Organisation wartet auf Ihre Antwort.",
  "statistics.open": "Offene Advisories nach Schwere",
  "statistics.all": "Alle Advisories",
  "statistics.advisories_open_critical": "Kritisch",
  "statistics.advisories_open_high": "Hoch",
  "statistics.advisories_open_medium": "Mittel",
  "statistics.advisories_open_low": "Niedrig",
};
