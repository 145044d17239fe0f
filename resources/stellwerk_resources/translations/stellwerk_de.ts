<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="de_DE" sourcelanguage="en">
 <context>
  <name>Application</name>
  <message>
   <source>A report was saved: {path}</source>
   <translation>Ein Bericht wurde gespeichert: {path}</translation>
  </message>
  <message>
   <source>Close the cluster</source>
   <translation>Cluster schließen</translation>
  </message>
  <message>
   <source>Cluster</source>
   <translation>Cluster</translation>
  </message>
  <message>
   <source>Connected to {ready} of {all} agents</source>
   <translation>Mit {ready} von {all} Agenten verbunden</translation>
  </message>
  <message>
   <source>Forget it</source>
   <translation>Vergessen</translation>
  </message>
  <message>
   <source>Forget the cluster {name}?</source>
   <translation>Den Cluster {name} vergessen?</translation>
  </message>
  <message>
   <source>Its key and reports on this computer are removed. The machines keep their network and agent: un-pair them first.</source>
   <translation>Schlüssel und Berichte auf diesem Rechner werden entfernt. Die Maschinen behalten Netz und Agent: zuerst entkoppeln.</translation>
  </message>
  <message>
   <source>Logs</source>
   <translation>Protokoll</translation>
  </message>
  <message>
   <source>Measure</source>
   <translation>Messen</translation>
  </message>
  <message>
   <source>Monitor</source>
   <translation>Monitor</translation>
  </message>
  <message>
   <source>New cluster</source>
   <translation>Neuer Cluster</translation>
  </message>
  <message>
   <source>No cluster open</source>
   <translation>Kein Cluster offen</translation>
  </message>
  <message>
   <source>Set up</source>
   <translation>Einrichten</translation>
  </message>
  <message>
   <source>Settings</source>
   <translation>Optionen</translation>
  </message>
  <message>
   <source>Something went wrong inside Stellwerk</source>
   <translation>In Stellwerk ist etwas schiefgegangen</translation>
  </message>
  <message>
   <source>Starting {n} simulated Sparks</source>
   <translation>{n} simulierte Sparks starten</translation>
  </message>
  <message>
   <source>The agent, what it kept and this cluster's key are removed from the machine. Its network stays as it is.</source>
   <translation>Der Agent, was er behielt, und der Schlüssel dieses Clusters werden von der Maschine entfernt. Ihr Netz bleibt, wie es ist.</translation>
  </message>
  <message>
   <source>The machine does not answer: only this computer forgets it. Agent and key stay on it.</source>
   <translation>Die Maschine antwortet nicht: nur dieser Rechner vergisst sie. Agent und Schlüssel bleiben auf ihr.</translation>
  </message>
  <message>
   <source>The window goes on; what you did last may not have happened</source>
   <translation>Das Fenster arbeitet weiter; das zuletzt Getane ist vielleicht nicht geschehen</translation>
  </message>
  <message>
   <source>Theme: as the system</source>
   <translation>Thema: wie das System</translation>
  </message>
  <message>
   <source>Theme: dark</source>
   <translation>Thema: dunkel</translation>
  </message>
  <message>
   <source>Theme: light</source>
   <translation>Thema: hell</translation>
  </message>
  <message>
   <source>Try a virtual cluster</source>
   <translation>Virtuellen Cluster testen</translation>
  </message>
  <message>
   <source>Un-pair</source>
   <translation>Entkoppeln</translation>
  </message>
  <message>
   <source>Un-pair {name}?</source>
   <translation>{name} entkoppeln?</translation>
  </message>
  <message>
   <source>Virtual cluster: end it</source>
   <translation>Virtueller Cluster: beenden</translation>
  </message>
  <message>
   <source>Virtual cluster: faults and load</source>
   <translation>Virtueller Cluster: Fehler und Last</translation>
  </message>
  <message>
   <source>cluster</source>
   <translation>cluster</translation>
  </message>
  <message>
   <source>draft</source>
   <translation>Entwurf</translation>
  </message>
  <message>
   <source>fine</source>
   <translation>gut</translation>
  </message>
  <message>
   <source>open or set up a cluster first</source>
   <translation>zuerst einen Cluster öffnen oder einrichten</translation>
  </message>
  <message>
   <source>virtual</source>
   <translation>virtuell</translation>
  </message>
  <message>
   <source>{name} un-paired</source>
   <translation>{name} entkoppelt</translation>
  </message>
  <message>
   <source>{name} was un-paired, something stays on it</source>
   <translation>{name} wurde entkoppelt, etwas bleibt darauf</translation>
  </message>
 </context>
 <context>
  <name>ApplyStep</name>
  <message>
   <source>All machines run the new network.</source>
   <translation>Alle Maschinen arbeiten mit dem neuen Netz.</translation>
  </message>
  <message>
   <source>Apply</source>
   <translation>Anwenden</translation>
  </message>
  <message>
   <source>Cancel and roll back</source>
   <translation>Abbrechen und zurück</translation>
  </message>
  <message>
   <source>Confirmed</source>
   <translation>Bestätigt</translation>
  </message>
  <message>
   <source>Each machine takes its own backup and goes back by itself unless it is confirmed in time.</source>
   <translation>Jede Maschine sichert sich selbst und kehrt von selbst zurück, wenn sie nicht rechtzeitig bestätigt wird.</translation>
  </message>
  <message>
   <source>Looking from machine to machine</source>
   <translation>Prüft von Maschine zu Maschine</translation>
  </message>
  <message>
   <source>Not every machine has answered.</source>
   <translation>Nicht jede Maschine hat geantwortet.</translation>
  </message>
  <message>
   <source>Nothing was changed: every machine is back as it was.</source>
   <translation>Nichts wurde geändert: jede Maschine ist wieder wie vorher.</translation>
  </message>
  <message>
   <source>Rolled back</source>
   <translation>Zurückgenommen</translation>
  </message>
  <message>
   <source>Running</source>
   <translation>Läuft</translation>
  </message>
  <message>
   <source>Try again</source>
   <translation>Nochmals versuchen</translation>
  </message>
 </context>
 <context>
  <name>BackOfMachine</name>
  <message>
   <source>Back of {node}</source>
   <translation>Rückseite von {node}</translation>
  </message>
  <message>
   <source>Port {n}</source>
   <translation>Port {n}</translation>
  </message>
 </context>
 <context>
  <name>CablePanel</name>
  <message>
   <source>1 thing to put right</source>
   <translation>1 Sache ist zu richten</translation>
  </message>
  <message>
   <source>Give the sudo password</source>
   <translation>Sudo-Passwort angeben</translation>
  </message>
  <message>
   <source>Nothing is changed on them.</source>
   <translation>An ihnen wird nichts geändert.</translation>
  </message>
  <message>
   <source>Reading the machines</source>
   <translation>Liest die Maschinen</translation>
  </message>
  <message>
   <source>The cables are right</source>
   <translation>Die Kabel sind richtig</translation>
  </message>
  <message>
   <source>The picture follows within a few seconds. Nothing has been changed on the machines so far.</source>
   <translation>Das Bild folgt in wenigen Sekunden. An den Maschinen wurde bisher nichts geändert.</translation>
  </message>
  <message>
   <source>What to do</source>
   <translation>Was zu tun ist</translation>
  </message>
  <message>
   <source>Without it their network files cannot be read and some ports cannot listen, so an existing set-up may not be recognised. It is kept in memory until the wizard is left.</source>
   <translation>Ohne es lassen sich ihre Netzdateien nicht lesen, und manche Ports hören nicht; eine vorhandene Einrichtung wird dann vielleicht nicht erkannt. Es bleibt im Arbeitsspeicher, bis der Assistent verlassen wird.</translation>
  </message>
  <message>
   <source>{names}: sudo asks for a password</source>
   <translation>{names}: sudo verlangt ein Passwort</translation>
  </message>
  <message>
   <source>{n} things to put right</source>
   <translation>{n} Sachen sind zu richten</translation>
  </message>
 </context>
 <context>
  <name>CellDetail</name>
  <message>
   <source>Choose a cell to see what was measured.</source>
   <translation>Ein Feld wählen, um zu sehen, was gemessen wurde.</translation>
  </message>
  <message>
   <source>It is as it should be.</source>
   <translation>Es ist, wie es sein soll.</translation>
  </message>
  <message>
   <source>Not measured yet.</source>
   <translation>Noch nicht gemessen.</translation>
  </message>
  <message>
   <source>What to do: {text}</source>
   <translation>Zu tun: {text}</translation>
  </message>
  <message>
   <source>What was measured</source>
   <translation>Was gemessen wurde</translation>
  </message>
  <message>
   <source>{node} port {n}</source>
   <translation>{node} Port {n}</translation>
  </message>
 </context>
 <context>
  <name>ChangedKeyDialog</name>
  <message>
   <source>Do not log in unless you know why.</source>
   <translation>Nur anmelden, wenn der Grund bekannt ist.</translation>
  </message>
  <message>
   <source>Keep it out</source>
   <translation>Nicht zulassen</translation>
  </message>
  <message>
   <source>Known until now</source>
   <translation>Bisher bekannt</translation>
  </message>
  <message>
   <source>On the machine, this command shows the right one:</source>
   <translation>Auf der Maschine zeigt dieser Befehl den richtigen:</translation>
  </message>
  <message>
   <source>Shown now</source>
   <translation>Jetzt gezeigt</translation>
  </message>
  <message>
   <source>The host key of {node} has changed</source>
   <translation>Der Host-Schlüssel von {node} hat sich geändert</translation>
  </message>
  <message>
   <source>The machine was installed anew, or another machine answers in its place. Compare the new fingerprint on the machine itself.</source>
   <translation>Die Maschine wurde neu installiert, oder eine andere antwortet an ihrer Stelle. Den neuen Fingerabdruck an der Maschine selbst vergleichen.</translation>
  </message>
  <message>
   <source>Trust the new key</source>
   <translation>Dem neuen vertrauen</translation>
  </message>
 </context>
 <context>
  <name>Choices</name>
  <message>
   <source>1 KiB to 1 MiB</source>
   <translation>1 KiB bis 1 MiB</translation>
  </message>
  <message>
   <source>1 KiB to 16 MiB</source>
   <translation>1 KiB bis 16 MiB</translation>
  </message>
  <message>
   <source>Link</source>
   <translation>Link</translation>
  </message>
  <message>
   <source>Ranks</source>
   <translation>Ränge</translation>
  </message>
  <message>
   <source>Sizes</source>
   <translation>Größen</translation>
  </message>
  <message>
   <source>This computer</source>
   <translation>Dieser Rechner</translation>
  </message>
  <message>
   <source>Where</source>
   <translation>Wo</translation>
  </message>
  <message>
   <source>With Gloo and Open MPI</source>
   <translation>Mit Gloo und Open MPI</translation>
  </message>
  <message>
   <source>as fits</source>
   <translation>wie es passt</translation>
  </message>
  <message>
   <source>as it is</source>
   <translation>wie es ist</translation>
  </message>
  <message>
   <source>emulated, {ms} ms</source>
   <translation>emuliert, {ms} ms</translation>
  </message>
  <message>
   <source>emulated, {us} µs, {gbps} Gb/s</source>
   <translation>emuliert, {us} µs, {gbps} Gb/s</translation>
  </message>
  <message>
   <source>small, to 64 KiB</source>
   <translation>klein, bis 64 KiB</translation>
  </message>
 </context>
 <context>
  <name>ClusterPage</name>
  <message>
   <source>1 with a finding</source>
   <translation>1 mit einem Befund</translation>
  </message>
  <message>
   <source>Add node</source>
   <translation>Knoten hinzufügen</translation>
  </message>
  <message>
   <source>Cluster</source>
   <translation>Cluster</translation>
  </message>
  <message>
   <source>Map</source>
   <translation>Karte</translation>
  </message>
  <message>
   <source>No machine belongs to this cluster yet.</source>
   <translation>Noch gehört keine Maschine zu diesem Cluster.</translation>
  </message>
  <message>
   <source>Prove again</source>
   <translation>Erneut beweisen</translation>
  </message>
  <message>
   <source>Set up a cluster</source>
   <translation>Cluster einrichten</translation>
  </message>
  <message>
   <source>Show {node}</source>
   <translation>{node} zeigen</translation>
  </message>
  <message>
   <source>Table</source>
   <translation>Tabelle</translation>
  </message>
  <message>
   <source>Un-pair {node}</source>
   <translation>{node} entkoppeln</translation>
  </message>
  <message>
   <source>{n} with findings</source>
   <translation>{n} mit Befunden</translation>
  </message>
  <message>
   <source>{ready} of {total} machines connected</source>
   <translation>{ready} von {total} Maschinen verbunden</translation>
  </message>
 </context>
 <context>
  <name>CommandPalette</name>
  <message>
   <source>Type a command</source>
   <translation>Einen Befehl eingeben</translation>
  </message>
 </context>
 <context>
  <name>Controller</name>
  <message>
   <source>Save</source>
   <translation>Speichern</translation>
  </message>
  <message>
   <source>plan {id} confirmed</source>
   <translation>Plan {id} bestätigt</translation>
  </message>
  <message>
   <source>proof finished</source>
   <translation>Beweis fertig</translation>
  </message>
  <message>
   <source>saved {name}</source>
   <translation>{name} gespeichert</translation>
  </message>
 </context>
 <context>
  <name>DiffPane</name>
  <message>
   <source>A backup is taken first. Without confirmation the node goes back by itself after 90 s.</source>
   <translation>Zuerst wird gesichert. Ohne Bestätigung kehrt der Knoten nach 90 s von selbst zurück.</translation>
  </message>
  <message>
   <source>Copy the changes</source>
   <translation>Änderungen kopieren</translation>
  </message>
  <message>
   <source>Nothing changes on this machine.</source>
   <translation>Auf dieser Maschine ändert sich nichts.</translation>
  </message>
  <message>
   <source>and {n} more</source>
   <translation>und {n} weitere</translation>
  </message>
  <message>
   <source>gone</source>
   <translation>entfällt</translation>
  </message>
  <message>
   <source>new</source>
   <translation>neu</translation>
  </message>
  <message>
   <source>what would change</source>
   <translation>was sich ändern würde</translation>
  </message>
 </context>
 <context>
  <name>DiffView</name>
  <message>
   <source>Difference</source>
   <translation>Unterschied</translation>
  </message>
 </context>
 <context>
  <name>ErrorBox</name>
  <message>
   <source>Close</source>
   <translation>Schließen</translation>
  </message>
 </context>
 <context>
  <name>FabricMap</name>
  <message>
   <source>Map of the cluster</source>
   <translation>Karte des Clusters</translation>
  </message>
 </context>
 <context>
  <name>FiguresTable</name>
  <message>
   <source>Figures</source>
   <translation>Zahlen</translation>
  </message>
  <message>
   <source>Median / p99, µs</source>
   <translation>Median / p99, µs</translation>
  </message>
  <message>
   <source>fastest at this size</source>
   <translation>am schnellsten bei dieser Größe</translation>
  </message>
 </context>
 <context>
  <name>FindStep</name>
  <message>
   <source>1 machine</source>
   <translation>1 Maschine</translation>
  </message>
  <message>
   <source>1 machine found</source>
   <translation>1 Maschine gefunden</translation>
  </message>
  <message>
   <source>Add</source>
   <translation>Hinzufügen</translation>
  </message>
  <message>
   <source>Add by address</source>
   <translation>Per Adresse hinzufügen</translation>
  </message>
  <message>
   <source>Add {n}</source>
   <translation>{n} hinzufügen</translation>
  </message>
  <message>
   <source>Addresses of machines</source>
   <translation>Adressen der Maschinen</translation>
  </message>
  <message>
   <source>Find</source>
   <translation>Finden</translation>
  </message>
  <message>
   <source>Listening for machines on this network</source>
   <translation>Lauscht auf Maschinen in diesem Netz</translation>
  </message>
  <message>
   <source>Machines of this cluster</source>
   <translation>Maschinen dieses Clusters</translation>
  </message>
  <message>
   <source>No mDNS here, add machines by address</source>
   <translation>Kein mDNS hier, Maschinen per Adresse hinzufügen</translation>
  </message>
  <message>
   <source>No machine yet</source>
   <translation>Noch keine Maschine</translation>
  </message>
  <message>
   <source>One a line: host, user@host:port, ssh://…, or a name from your SSH configuration</source>
   <translation>Je Zeile eine: Host, Benutzer@Host:Port, ssh://… oder ein Name aus der SSH-Konfiguration</translation>
  </message>
  <message>
   <source>Take {n} off</source>
   <translation>{n} herausnehmen</translation>
  </message>
  <message>
   <source>Type the machines of the cluster, or take those that answer on the network.</source>
   <translation>Die Maschinen des Clusters eingeben oder die nehmen, die im Netz antworten.</translation>
  </message>
  <message>
   <source>{n} machines</source>
   <translation>{n} Maschinen</translation>
  </message>
  <message>
   <source>{n} machines found</source>
   <translation>{n} Maschinen gefunden</translation>
  </message>
 </context>
 <context>
  <name>Graph</name>
  <message>
   <source>at {time}  {low} to {high}, mean {mean} {unit}</source>
   <translation>um {time}  {low} bis {high}, Mittel {mean} {unit}</translation>
  </message>
  <message>
   <source>no data</source>
   <translation>keine Daten</translation>
  </message>
  <message>
   <source>{s} s ago</source>
   <translation>vor {s} s</translation>
  </message>
 </context>
 <context>
  <name>GraphGroup</name>
  <message>
   <source>now</source>
   <translation>jetzt</translation>
  </message>
 </context>
 <context>
  <name>HalfChart</name>
  <message>
   <source>Sent</source>
   <translation>Gesendet</translation>
  </message>
  <message>
   <source>Sent in the last five minutes</source>
   <translation>In den letzten fünf Minuten gesendet</translation>
  </message>
  <message>
   <source>half {n}</source>
   <translation>Hälfte {n}</translation>
  </message>
  <message>
   <source>now</source>
   <translation>jetzt</translation>
  </message>
 </context>
 <context>
  <name>HostKeyDialog</name>
  <message>
   <source>Fingerprint ({kind})</source>
   <translation>Fingerabdruck ({kind})</translation>
  </message>
  <message>
   <source>Is this {node}?</source>
   <translation>Ist das {node}?</translation>
  </message>
  <message>
   <source>It is the same: trust it</source>
   <translation>Er ist gleich: vertrauen</translation>
  </message>
  <message>
   <source>Not the same</source>
   <translation>Nicht gleich</translation>
  </message>
  <message>
   <source>On the machine, this command shows the same:</source>
   <translation>Auf der Maschine zeigt dieser Befehl denselben:</translation>
  </message>
  <message>
   <source>This computer has never talked to {host}. Compare the fingerprint with the one that the machine itself shows, so that nobody can put another machine in its place.</source>
   <translation>Dieser Rechner hat noch nie mit {host} gesprochen. Den Fingerabdruck mit dem vergleichen, den die Maschine selbst zeigt, damit niemand eine andere an ihre Stelle setzen kann.</translation>
  </message>
 </context>
 <context>
  <name>Legend</name>
  <message>
   <source>broken</source>
   <translation>defekt</translation>
  </message>
  <message>
   <source>degraded</source>
   <translation>eingeschränkt</translation>
  </message>
  <message>
   <source>idle to 100 Gb/s a half</source>
   <translation>ruhig bis 100 Gb/s je Hälfte</translation>
  </message>
  <message>
   <source>one cable, two halves</source>
   <translation>ein Kabel, zwei Hälften</translation>
  </message>
  <message>
   <source>traffic</source>
   <translation>Verkehr</translation>
  </message>
 </context>
 <context>
  <name>LiveStrip</name>
  <message>
   <source>Live links</source>
   <translation>Links live</translation>
  </message>
  <message>
   <source>no data</source>
   <translation>keine Daten</translation>
  </message>
 </context>
 <context>
  <name>LogsPage</name>
  <message>
   <source>1 line</source>
   <translation>1 Zeile</translation>
  </message>
  <message>
   <source>All</source>
   <translation>Alle</translation>
  </message>
  <message>
   <source>Copy</source>
   <translation>Kopieren</translation>
  </message>
  <message>
   <source>Copy the log</source>
   <translation>Protokoll kopieren</translation>
  </message>
  <message>
   <source>Errors</source>
   <translation>Fehler</translation>
  </message>
  <message>
   <source>Filter</source>
   <translation>Filter</translation>
  </message>
  <message>
   <source>Follow</source>
   <translation>Mitlaufen</translation>
  </message>
  <message>
   <source>Information</source>
   <translation>Hinweise</translation>
  </message>
  <message>
   <source>Level</source>
   <translation>Stufe</translation>
  </message>
  <message>
   <source>Log</source>
   <translation>Protokoll</translation>
  </message>
  <message>
   <source>Logs</source>
   <translation>Protokoll</translation>
  </message>
  <message>
   <source>Warnings</source>
   <translation>Warnungen</translation>
  </message>
  <message>
   <source>{n} lines</source>
   <translation>{n} Zeilen</translation>
  </message>
 </context>
 <context>
  <name>LookStep</name>
  <message>
   <source>As recommended</source>
   <translation>Wie empfohlen</translation>
  </message>
  <message>
   <source>Cables</source>
   <translation>Kabel</translation>
  </message>
  <message>
   <source>Chain</source>
   <translation>Kette</translation>
  </message>
  <message>
   <source>Listening</source>
   <translation>Hört zu</translation>
  </message>
  <message>
   <source>Listening, last heard {s} s ago</source>
   <translation>Hört zu, vor {s} s</translation>
  </message>
  <message>
   <source>Machines</source>
   <translation>Maschinen</translation>
  </message>
  <message>
   <source>Pair</source>
   <translation>Koppeln</translation>
  </message>
  <message>
   <source>Read from the machines: each one calls on every port and hears who answers.</source>
   <translation>Von den Maschinen gelesen: jede ruft an jedem Port und hört, wer antwortet.</translation>
  </message>
  <message>
   <source>Ring</source>
   <translation>Ring</translation>
  </message>
  <message>
   <source>Single</source>
   <translation>Einzeln</translation>
  </message>
  <message>
   <source>Switch</source>
   <translation>Switch</translation>
  </message>
  <message>
   <source>Wanted</source>
   <translation>Gewünscht</translation>
  </message>
  <message>
   <source>Wanted topology</source>
   <translation>Gewünschte Topologie</translation>
  </message>
 </context>
 <context>
  <name>MachineTable</name>
  <message>
   <source>Driver</source>
   <translation>Treiber</translation>
  </message>
  <message>
   <source>Machine</source>
   <translation>Maschine</translation>
  </message>
  <message>
   <source>Machines</source>
   <translation>Maschinen</translation>
  </message>
  <message>
   <source>Memory</source>
   <translation>Speicher</translation>
  </message>
  <message>
   <source>Network by</source>
   <translation>Netz durch</translation>
  </message>
  <message>
   <source>Ports</source>
   <translation>Ports</translation>
  </message>
  <message>
   <source>Product</source>
   <translation>Produkt</translation>
  </message>
  <message>
   <source>Root</source>
   <translation>Root</translation>
  </message>
  <message>
   <source>System</source>
   <translation>System</translation>
  </message>
  <message>
   <source>no</source>
   <translation>nein</translation>
  </message>
  <message>
   <source>none</source>
   <translation>keine</translation>
  </message>
  <message>
   <source>not available</source>
   <translation>nicht verfügbar</translation>
  </message>
  <message>
   <source>not known</source>
   <translation>unbekannt</translation>
  </message>
  <message>
   <source>with a password</source>
   <translation>mit Passwort</translation>
  </message>
  <message>
   <source>yes</source>
   <translation>ja</translation>
  </message>
 </context>
 <context>
  <name>MeasurePage</name>
  <message>
   <source>Bus bandwidth</source>
   <translation>Bus-Bandbreite</translation>
  </message>
  <message>
   <source>Every sum was right.</source>
   <translation>Jede Summe war richtig.</translation>
  </message>
  <message>
   <source>Export</source>
   <translation>Exportieren</translation>
  </message>
  <message>
   <source>Export as picture</source>
   <translation>Als Bild exportieren</translation>
  </message>
  <message>
   <source>From now on, ranks on this cluster take the fastest algorithm of each size</source>
   <translation>Von nun an nehmen Ränge auf diesem Cluster das schnellste Verfahren jeder Größe</translation>
  </message>
  <message>
   <source>Latency</source>
   <translation>Latenz</translation>
  </message>
  <message>
   <source>Measure</source>
   <translation>Messen</translation>
  </message>
  <message>
   <source>Measure collectives</source>
   <translation>Kollektive messen</translation>
  </message>
  <message>
   <source>Measured on {where}</source>
   <translation>Gemessen auf {where}</translation>
  </message>
  <message>
   <source>Not measured: {what}.</source>
   <translation>Nicht gemessen: {what}.</translation>
  </message>
  <message>
   <source>Nothing has been measured yet. A measurement runs all algorithms, and Gloo and Open MPI where they are installed, in turns, and checks every sum.</source>
   <translation>Noch wurde nichts gemessen. Eine Messung führt alle Verfahren und, wo vorhanden, Gloo und Open MPI im Wechsel aus und prüft jede Summe.</translation>
  </message>
  <message>
   <source>Numbers (CSV)</source>
   <translation>Zahlen (CSV)</translation>
  </message>
  <message>
   <source>Numbers (JSON)</source>
   <translation>Zahlen (JSON)</translation>
  </message>
  <message>
   <source>Picture (PNG)</source>
   <translation>Bild (PNG)</translation>
  </message>
  <message>
   <source>Ranks</source>
   <translation>Ränge</translation>
  </message>
  <message>
   <source>Save</source>
   <translation>Speichern</translation>
  </message>
  <message>
   <source>Simulated machines</source>
   <translation>Simulierte Maschinen</translation>
  </message>
  <message>
   <source>Stop</source>
   <translation>Anhalten</translation>
  </message>
  <message>
   <source>Stop the measurement</source>
   <translation>Messung anhalten</translation>
  </message>
  <message>
   <source>Stopped; measured until then on {where}</source>
   <translation>Angehalten; bis dahin gemessen auf {where}</translation>
  </message>
  <message>
   <source>The machines are simulated: their ranks share this computer, and so do the figures.</source>
   <translation>Die Maschinen sind simuliert: ihre Ränge teilen sich diesen Rechner, das gilt auch für die Zahlen.</translation>
  </message>
  <message>
   <source>Use for this cluster</source>
   <translation>Für diesen Cluster nehmen</translation>
  </message>
  <message>
   <source>higher is better</source>
   <translation>mehr ist besser</translation>
  </message>
  <message>
   <source>median of the slowest rank, lower is better</source>
   <translation>Median des langsamsten Rangs, weniger ist besser</translation>
  </message>
  <message>
   <source>saved {name}</source>
   <translation>{name} gespeichert</translation>
  </message>
  <message>
   <source>starting</source>
   <translation>startet</translation>
  </message>
  <message>
   <source>stored: {line}</source>
   <translation>gespeichert: {line}</translation>
  </message>
  <message>
   <source>{done} of {all} cells, {what}</source>
   <translation>{done} von {all} Feldern, {what}</translation>
  </message>
  <message>
   <source>{how}: direct is {n} times faster than ring at {size} on {ranks} ranks.</source>
   <translation>{how}: direkt ist bei {size} auf {ranks} Rängen {n}-mal schneller als Ring.</translation>
  </message>
  <message>
   <source>{how}: direct is {n} times slower than ring at {size} on {ranks} ranks.</source>
   <translation>{how}: direkt ist bei {size} auf {ranks} Rängen {n}-mal langsamer als Ring.</translation>
  </message>
  <message>
   <source>{n} elements were wrong: do not use these figures.</source>
   <translation>{n} Elemente waren falsch: diese Zahlen nicht verwenden.</translation>
  </message>
  <message>
   <source>{n} ranks</source>
   <translation>{n} Ränge</translation>
  </message>
 </context>
 <context>
  <name>MeasureRunner</name>
  <message>
   <source>this computer</source>
   <translation>dieser Rechner</translation>
  </message>
  <message>
   <source>this computer, over an emulated link</source>
   <translation>dieser Rechner, über einen emulierten Link</translation>
  </message>
 </context>
 <context>
  <name>MonitorPage</name>
  <message>
   <source>1 sample/s</source>
   <translation>1 Messung/s</translation>
  </message>
  <message>
   <source>Export</source>
   <translation>Exportieren</translation>
  </message>
  <message>
   <source>Export as CSV</source>
   <translation>Als CSV exportieren</translation>
  </message>
  <message>
   <source>Export as picture</source>
   <translation>Als Bild exportieren</translation>
  </message>
  <message>
   <source>Linear or logarithmic axis of the link graph</source>
   <translation>Lineare oder logarithmische Achse des Link-Graphen</translation>
  </message>
  <message>
   <source>Live</source>
   <translation>Live</translation>
  </message>
  <message>
   <source>Log axis</source>
   <translation>Log-Achse</translation>
  </message>
  <message>
   <source>Log axis on or off</source>
   <translation>Log-Achse ein oder aus</translation>
  </message>
  <message>
   <source>Monitor</source>
   <translation>Monitor</translation>
  </message>
  <message>
   <source>Numbers (CSV)</source>
   <translation>Zahlen (CSV)</translation>
  </message>
  <message>
   <source>Pause</source>
   <translation>Pause</translation>
  </message>
  <message>
   <source>Pause or live</source>
   <translation>Pause oder live</translation>
  </message>
  <message>
   <source>Picture (PNG)</source>
   <translation>Bild (PNG)</translation>
  </message>
  <message>
   <source>Quantity of graph {n}</source>
   <translation>Größe in Graph {n}</translation>
  </message>
  <message>
   <source>Save</source>
   <translation>Speichern</translation>
  </message>
  <message>
   <source>no data of {n}</source>
   <translation>keine Daten von {n}</translation>
  </message>
  <message>
   <source>{live} of {all} nodes live</source>
   <translation>{live} von {all} Knoten live</translation>
  </message>
  <message>
   <source>{n} stale for {s}</source>
   <translation>{n} seit {s} still</translation>
  </message>
  <message>
   <source>{n} usable</source>
   <translation>{n} nutzbar</translation>
  </message>
  <message>
   <source>{r} samples/s</source>
   <translation>{r} Messungen/s</translation>
  </message>
 </context>
 <context>
  <name>NodeChip</name>
  <message>
   <source>no data</source>
   <translation>keine Daten</translation>
  </message>
 </context>
 <context>
  <name>NodePanel</name>
  <message>
   <source>Address</source>
   <translation>Adresse</translation>
  </message>
  <message>
   <source>Agent</source>
   <translation>Agent</translation>
  </message>
  <message>
   <source>Close</source>
   <translation>Schließen</translation>
  </message>
  <message>
   <source>Connection</source>
   <translation>Verbindung</translation>
  </message>
  <message>
   <source>GPU</source>
   <translation>GPU</translation>
  </message>
  <message>
   <source>Kernel</source>
   <translation>Kernel</translation>
  </message>
  <message>
   <source>Logs</source>
   <translation>Protokoll</translation>
  </message>
  <message>
   <source>Machine</source>
   <translation>Maschine</translation>
  </message>
  <message>
   <source>Network set by</source>
   <translation>Netz gesetzt durch</translation>
  </message>
  <message>
   <source>No cable</source>
   <translation>Kein Kabel</translation>
  </message>
  <message>
   <source>Port {n}</source>
   <translation>Port {n}</translation>
  </message>
  <message>
   <source>Product</source>
   <translation>Produkt</translation>
  </message>
  <message>
   <source>System</source>
   <translation>System</translation>
  </message>
  <message>
   <source>Un-pair</source>
   <translation>Entkoppeln</translation>
  </message>
  <message>
   <source>no address</source>
   <translation>keine Adresse</translation>
  </message>
  <message>
   <source>not available</source>
   <translation>nicht verfügbar</translation>
  </message>
 </context>
 <context>
  <name>NodeProgress</name>
  <message>
   <source>Back as it was</source>
   <translation>Zurück wie vorher</translation>
  </message>
  <message>
   <source>Changed, not yet confirmed</source>
   <translation>Geändert, noch nicht bestätigt</translation>
  </message>
  <message>
   <source>Changing</source>
   <translation>Wird geändert</translation>
  </message>
  <message>
   <source>Confirmed</source>
   <translation>Bestätigt</translation>
  </message>
  <message>
   <source>Going back</source>
   <translation>Kehrt zurück</translation>
  </message>
  <message>
   <source>Needs attention</source>
   <translation>Braucht Hilfe</translation>
  </message>
  <message>
   <source>Preparing</source>
   <translation>Bereitet vor</translation>
  </message>
  <message>
   <source>Unchanged</source>
   <translation>Unverändert</translation>
  </message>
  <message>
   <source>Waiting for the machine</source>
   <translation>Wartet auf die Maschine</translation>
  </message>
  <message>
   <source>goes back in {s} s</source>
   <translation>kehrt in {s} s zurück</translation>
  </message>
 </context>
 <context>
  <name>NodeTable</name>
  <message>
   <source>Machine</source>
   <translation>Maschine</translation>
  </message>
  <message>
   <source>Machines</source>
   <translation>Maschinen</translation>
  </message>
  <message>
   <source>Memory</source>
   <translation>Speicher</translation>
  </message>
  <message>
   <source>Power</source>
   <translation>Leistung</translation>
  </message>
  <message>
   <source>Received</source>
   <translation>Empfangen</translation>
  </message>
  <message>
   <source>Sent</source>
   <translation>Gesendet</translation>
  </message>
  <message>
   <source>State</source>
   <translation>Zustand</translation>
  </message>
  <message>
   <source>Temperature</source>
   <translation>Temperatur</translation>
  </message>
 </context>
 <context>
  <name>PairStep</name>
  <message>
   <source>All ready</source>
   <translation>Alle bereit</translation>
  </message>
  <message>
   <source>Compare the keys</source>
   <translation>Schlüssel vergleichen</translation>
  </message>
  <message>
   <source>Pair</source>
   <translation>Koppeln</translation>
  </message>
  <message>
   <source>Retry</source>
   <translation>Wiederholen</translation>
  </message>
  <message>
   <source>Retry all</source>
   <translation>Alle wiederholen</translation>
  </message>
  <message>
   <source>Take it off</source>
   <translation>Herausnehmen</translation>
  </message>
  <message>
   <source>Trust each machine once, log in once; after that a key of this cluster is used.</source>
   <translation>Jeder Maschine einmal vertrauen, einmal anmelden; danach gilt ein Schlüssel dieses Clusters.</translation>
  </message>
  <message>
   <source>{ready} of {all} ready</source>
   <translation>{ready} von {all} bereit</translation>
  </message>
 </context>
 <context>
  <name>PasswordDialog</name>
  <message>
   <source>Cancel</source>
   <translation>Abbrechen</translation>
  </message>
  <message>
   <source>Go on</source>
   <translation>Weiter</translation>
  </message>
  <message>
   <source>Log in once as {who}. After that a key of this cluster is used; the password is not kept.</source>
   <translation>Einmal als {who} anmelden. Danach gilt ein Schlüssel dieses Clusters; das Passwort wird nicht behalten.</translation>
  </message>
  <message>
   <source>Password for changes on {node}</source>
   <translation>Passwort für Änderungen auf {node}</translation>
  </message>
  <message>
   <source>Password for {node}</source>
   <translation>Passwort für {node}</translation>
  </message>
  <message>
   <source>sudo on {who} asks for a password. It is kept in memory until the wizard ends, nowhere else.</source>
   <translation>sudo auf {who} verlangt ein Passwort. Es bleibt im Arbeitsspeicher, bis der Assistent endet, nirgends sonst.</translation>
  </message>
 </context>
 <context>
  <name>PlanStep</name>
  <message>
   <source>1 node changes</source>
   <translation>1 Knoten ändert sich</translation>
  </message>
  <message>
   <source>Apply to 1 node</source>
   <translation>Auf 1 Knoten anwenden</translation>
  </message>
  <message>
   <source>Apply to {n} nodes</source>
   <translation>Auf {n} Knoten anwenden</translation>
  </message>
  <message>
   <source>Automatic</source>
   <translation>Automatisch</translation>
  </message>
  <message>
   <source>Drawing</source>
   <translation>Zeichnung</translation>
  </message>
  <message>
   <source>Everything is right as it is.</source>
   <translation>Alles ist richtig, wie es ist.</translation>
  </message>
  <message>
   <source>Go on, nothing to apply</source>
   <translation>Weiter, nichts anzuwenden</translation>
  </message>
  <message>
   <source>MTU</source>
   <translation>MTU</translation>
  </message>
  <message>
   <source>No plan can be made</source>
   <translation>Es lässt sich kein Plan machen</translation>
  </message>
  <message>
   <source>Nothing to change</source>
   <translation>Nichts zu ändern</translation>
  </message>
  <message>
   <source>Plan</source>
   <translation>Plan</translation>
  </message>
  <message>
   <source>Save plan</source>
   <translation>Plan speichern</translation>
  </message>
  <message>
   <source>Subnets from</source>
   <translation>Subnetze aus</translation>
  </message>
  <message>
   <source>Table</source>
   <translation>Tabelle</translation>
  </message>
  <message>
   <source>What would be changed. Nothing has been changed so far.</source>
   <translation>Was geändert würde. Bisher wurde nichts geändert.</translation>
  </message>
  <message>
   <source>{n} nodes change</source>
   <translation>{n} Knoten ändern sich</translation>
  </message>
 </context>
 <context>
  <name>PlanTable</name>
  <message>
   <source>1 file changes</source>
   <translation>1 Datei ändert sich</translation>
  </message>
  <message>
   <source>1 file is new</source>
   <translation>1 Datei ist neu</translation>
  </message>
  <message>
   <source>Address now</source>
   <translation>Adresse jetzt</translation>
  </message>
  <message>
   <source>Adopted</source>
   <translation>Übernommen</translation>
  </message>
  <message>
   <source>Changes</source>
   <translation>Ändert sich</translation>
  </message>
  <message>
   <source>Half</source>
   <translation>Hälfte</translation>
  </message>
  <message>
   <source>Interface</source>
   <translation>Schnittstelle</translation>
  </message>
  <message>
   <source>MTU</source>
   <translation>MTU</translation>
  </message>
  <message>
   <source>Nothing to change: it is right as it is</source>
   <translation>Nichts zu ändern: richtig, wie es ist</translation>
  </message>
  <message>
   <source>Plan</source>
   <translation>Plan</translation>
  </message>
  <message>
   <source>Planned</source>
   <translation>Geplant</translation>
  </message>
  <message>
   <source>Port</source>
   <translation>Port</translation>
  </message>
  <message>
   <source>To</source>
   <translation>Nach</translation>
  </message>
  <message>
   <source>as it is</source>
   <translation>wie es ist</translation>
  </message>
  <message>
   <source>no address</source>
   <translation>keine Adresse</translation>
  </message>
  <message>
   <source>settings change</source>
   <translation>Einstellungen ändern sich</translation>
  </message>
  <message>
   <source>{n} files are new</source>
   <translation>{n} Dateien sind neu</translation>
  </message>
  <message>
   <source>{n} files change</source>
   <translation>{n} Dateien ändern sich</translation>
  </message>
 </context>
 <context>
  <name>ProofMatrix</name>
  <message>
   <source>Link</source>
   <translation>Link</translation>
  </message>
  <message>
   <source>Results</source>
   <translation>Ergebnisse</translation>
  </message>
 </context>
 <context>
  <name>ProveStep</name>
  <message>
   <source>Compare with an earlier proof</source>
   <translation>Mit einem früheren Beweis vergleichen</translation>
  </message>
  <message>
   <source>Compare with …</source>
   <translation>Vergleichen mit …</translation>
  </message>
  <message>
   <source>Finish</source>
   <translation>Fertig</translation>
  </message>
  <message>
   <source>Nothing has been measured yet.</source>
   <translation>Noch wurde nichts gemessen.</translation>
  </message>
  <message>
   <source>Prove</source>
   <translation>Beweisen</translation>
  </message>
  <message>
   <source>Prove again</source>
   <translation>Erneut beweisen</translation>
  </message>
  <message>
   <source>Running</source>
   <translation>Läuft</translation>
  </message>
  <message>
   <source>Stop</source>
   <translation>Anhalten</translation>
  </message>
  <message>
   <source>degraded: works, below the mark</source>
   <translation>eingeschränkt: unter der Marke</translation>
  </message>
  <message>
   <source>fail: has to be put right</source>
   <translation>durchgefallen: zu richten</translation>
  </message>
  <message>
   <source>pass</source>
   <translation>bestanden</translation>
  </message>
  <message>
   <source>{n} of {all} pass</source>
   <translation>{n} von {all} bestanden</translation>
  </message>
 </context>
 <context>
  <name>SelfTestCard</name>
  <message>
   <source>Algorithm</source>
   <translation>Verfahren</translation>
  </message>
  <message>
   <source>All-reduce, median, best of each size in bold.</source>
   <translation>All-Reduce, Median, das Beste je Größe fett.</translation>
  </message>
  <message>
   <source>Collective self-test</source>
   <translation>Selbsttest der Kollektive</translation>
  </message>
  <message>
   <source>Run the collective self-test again</source>
   <translation>Selbsttest der Kollektive wiederholen</translation>
  </message>
  <message>
   <source>Runs when the links have been proven.</source>
   <translation>Läuft, wenn die Links bewiesen sind.</translation>
  </message>
  <message>
   <source>Sum</source>
   <translation>Summe</translation>
  </message>
  <message>
   <source>The machines are simulated: their ranks share this computer, and so do the times.</source>
   <translation>Die Maschinen sind simuliert: ihre Ränge teilen sich diesen Rechner, das gilt auch für die Zeiten.</translation>
  </message>
  <message>
   <source>The ranks are being started.</source>
   <translation>Die Ränge werden gestartet.</translation>
  </message>
  <message>
   <source>exact</source>
   <translation>genau</translation>
  </message>
  <message>
   <source>failed</source>
   <translation>fehlgeschlagen</translation>
  </message>
  <message>
   <source>running</source>
   <translation>läuft</translation>
  </message>
  <message>
   <source>stopped</source>
   <translation>angehalten</translation>
  </message>
  <message>
   <source>wrong sums</source>
   <translation>falsche Summen</translation>
  </message>
  <message>
   <source>{done} of {all}</source>
   <translation>{done} von {all}</translation>
  </message>
  <message>
   <source>{how} only</source>
   <translation>nur {how}</translation>
  </message>
  <message>
   <source>{n} ranks, {how}, {calls} calls</source>
   <translation>{n} Ränge, {how}, {calls} Aufrufe</translation>
  </message>
  <message>
   <source>{n} wrong</source>
   <translation>{n} falsch</translation>
  </message>
  <message>
   <source>{text}, the best</source>
   <translation>{text}, das beste</translation>
  </message>
 </context>
 <context>
  <name>SettingsPage</name>
  <message>
   <source>Arrows, Enter, Esc</source>
   <translation>Pfeile, Eingabe, Esc</translation>
  </message>
  <message>
   <source>Clusters, their keys and reports lie here and nowhere else. Nothing is sent anywhere.</source>
   <translation>Cluster, ihre Schlüssel und Berichte liegen hier und nirgends sonst. Nichts wird irgendwohin gesendet.</translation>
  </message>
  <message>
   <source>Dark</source>
   <translation>Dunkel</translation>
  </message>
  <message>
   <source>Data</source>
   <translation>Daten</translation>
  </message>
  <message>
   <source>Every action by name</source>
   <translation>Jede Aktion beim Namen</translation>
  </message>
  <message>
   <source>Keys</source>
   <translation>Tasten</translation>
  </message>
  <message>
   <source>Language (at the next start)</source>
   <translation>Sprache (ab dem nächsten Start)</translation>
  </message>
  <message>
   <source>Light</source>
   <translation>Hell</translation>
  </message>
  <message>
   <source>Look</source>
   <translation>Ansehen</translation>
  </message>
  <message>
   <source>Open folder</source>
   <translation>Ordner öffnen</translation>
  </message>
  <message>
   <source>Pause or live (Monitor)</source>
   <translation>Pause oder live (Monitor)</translation>
  </message>
  <message>
   <source>Reduce motion</source>
   <translation>Weniger Bewegung</translation>
  </message>
  <message>
   <source>Samples</source>
   <translation>Messungen</translation>
  </message>
  <message>
   <source>Settings</source>
   <translation>Optionen</translation>
  </message>
  <message>
   <source>Size (at the next start)</source>
   <translation>Größe (ab dem nächsten Start)</translation>
  </message>
  <message>
   <source>Space</source>
   <translation>Leertaste</translation>
  </message>
  <message>
   <source>System</source>
   <translation>System</translation>
  </message>
  <message>
   <source>The pages, from the top</source>
   <translation>Die Seiten von oben an</translation>
  </message>
  <message>
   <source>The three doors (Start)</source>
   <translation>Die drei Türen (Start)</translation>
  </message>
  <message>
   <source>Theme</source>
   <translation>Thema</translation>
  </message>
  <message>
   <source>Walk over the map, open a node, close it</source>
   <translation>Über die Karte gehen, Knoten öffnen, schließen</translation>
  </message>
  <message>
   <source>{r} a second</source>
   <translation>{r} je Sekunde</translation>
  </message>
 </context>
 <context>
  <name>SetupPage</name>
  <message>
   <source>Apply</source>
   <translation>Anwenden</translation>
  </message>
  <message>
   <source>Back</source>
   <translation>Zurück</translation>
  </message>
  <message>
   <source>Cluster “{name}”</source>
   <translation>Cluster „{name}“</translation>
  </message>
  <message>
   <source>Find</source>
   <translation>Finden</translation>
  </message>
  <message>
   <source>Look</source>
   <translation>Ansehen</translation>
  </message>
  <message>
   <source>Next</source>
   <translation>Weiter</translation>
  </message>
  <message>
   <source>Pair</source>
   <translation>Koppeln</translation>
  </message>
  <message>
   <source>Plan</source>
   <translation>Plan</translation>
  </message>
  <message>
   <source>Prove</source>
   <translation>Beweisen</translation>
  </message>
  <message>
   <source>Save and close</source>
   <translation>Speichern, schließen</translation>
  </message>
  <message>
   <source>Set up</source>
   <translation>Einrichten</translation>
  </message>
  <message>
   <source>Set up: {step}</source>
   <translation>Einrichten: {step}</translation>
  </message>
  <message>
   <source>Start over</source>
   <translation>Von vorn</translation>
  </message>
 </context>
 <context>
  <name>Shell</name>
  <message>
   <source>Go to {page}</source>
   <translation>Zu {page}</translation>
  </message>
  <message>
   <source>Simulated machines</source>
   <translation>Simulierte Maschinen</translation>
  </message>
 </context>
 <context>
  <name>StartPage</name>
  <message>
   <source>1 machine found</source>
   <translation>1 Maschine gefunden</translation>
  </message>
  <message>
   <source>Add by address</source>
   <translation>Per Adresse hinzufügen</translation>
  </message>
  <message>
   <source>Connect to one that runs, or adopt one that was set up by hand or by Sync.</source>
   <translation>Mit einem laufenden verbinden oder einen von Hand oder mit Sync eingerichteten übernehmen.</translation>
  </message>
  <message>
   <source>Eight simulated Sparks on this computer. Nothing leaves it.</source>
   <translation>Acht simulierte Sparks auf diesem Rechner. Nichts verlässt ihn.</translation>
  </message>
  <message>
   <source>Enter opens, Del forgets</source>
   <translation>Eingabe öffnet, Entf vergisst</translation>
  </message>
  <message>
   <source>Find machines, pair them, check the cables, prove the network.</source>
   <translation>Maschinen finden und koppeln, Kabel prüfen, das Netz beweisen.</translation>
  </message>
  <message>
   <source>Listening for machines on this network</source>
   <translation>Lauscht auf Maschinen in diesem Netz</translation>
  </message>
  <message>
   <source>No cluster yet. The first one takes about ten minutes.</source>
   <translation>Noch kein Cluster. Der erste braucht etwa zehn Minuten.</translation>
  </message>
  <message>
   <source>No mDNS here, add machines by address</source>
   <translation>Kein mDNS hier, Maschinen per Adresse hinzufügen</translation>
  </message>
  <message>
   <source>One to eight DGX Sparks, one cluster</source>
   <translation>Ein bis acht DGX Sparks, ein Cluster</translation>
  </message>
  <message>
   <source>Open a cluster</source>
   <translation>Cluster öffnen</translation>
  </message>
  <message>
   <source>Pair these</source>
   <translation>Diese koppeln</translation>
  </message>
  <message>
   <source>Recent</source>
   <translation>Zuletzt</translation>
  </message>
  <message>
   <source>Set up a cluster</source>
   <translation>Cluster einrichten</translation>
  </message>
  <message>
   <source>Try a virtual cluster</source>
   <translation>Virtuellen Cluster testen</translation>
  </message>
  <message>
   <source>{n} machines found</source>
   <translation>{n} Maschinen gefunden</translation>
  </message>
 </context>
 <context>
  <name>StatusLine</name>
  <message>
   <source>Commands</source>
   <translation>Befehle</translation>
  </message>
 </context>
 <context>
  <name>StepPage</name>
  <message>
   <source>Next</source>
   <translation>Weiter</translation>
  </message>
 </context>
 <context>
  <name>TileRow</name>
  <message>
   <source>CPU, mean</source>
   <translation>CPU, Mittel</translation>
  </message>
  <message>
   <source>Fabric, sent</source>
   <translation>Fabric, gesendet</translation>
  </message>
  <message>
   <source>GPU, mean</source>
   <translation>GPU, Mittel</translation>
  </message>
  <message>
   <source>Hottest</source>
   <translation>Heißeste</translation>
  </message>
  <message>
   <source>Power</source>
   <translation>Leistung</translation>
  </message>
  <message>
   <source>Unified memory</source>
   <translation>Gemeinsamer Speicher</translation>
  </message>
  <message>
   <source>{live} of {all} nodes</source>
   <translation>{live} von {all} Knoten</translation>
  </message>
 </context>
 <context>
  <name>TileStrip</name>
  <message>
   <source>CPU, mean</source>
   <translation>CPU, Mittel</translation>
  </message>
  <message>
   <source>Fabric</source>
   <translation>Fabric</translation>
  </message>
  <message>
   <source>GPU, mean</source>
   <translation>GPU, Mittel</translation>
  </message>
  <message>
   <source>Hottest</source>
   <translation>Heißeste</translation>
  </message>
  <message>
   <source>Power</source>
   <translation>Leistung</translation>
  </message>
  <message>
   <source>Unified memory</source>
   <translation>Gemeinsamer Speicher</translation>
  </message>
 </context>
 <context>
  <name>TrialPanel</name>
  <message>
   <source>Break it</source>
   <translation>Kaputt machen</translation>
  </message>
  <message>
   <source>Broken now</source>
   <translation>Jetzt kaputt</translation>
  </message>
  <message>
   <source>Close</source>
   <translation>Schließen</translation>
  </message>
  <message>
   <source>Load on this machine's links</source>
   <translation>Last auf den Links dieser Maschine</translation>
  </message>
  <message>
   <source>Machine</source>
   <translation>Maschine</translation>
  </message>
  <message>
   <source>Mend</source>
   <translation>Heilen</translation>
  </message>
  <message>
   <source>Nothing</source>
   <translation>Nichts</translation>
  </message>
  <message>
   <source>To type at a question</source>
   <translation>Bei einer Frage einzugeben</translation>
  </message>
  <message>
   <source>Virtual cluster</source>
   <translation>Virtueller Cluster</translation>
  </message>
  <message>
   <source>What goes wrong</source>
   <translation>Was schiefgeht</translation>
  </message>
  <message>
   <source>password</source>
   <translation>Passwort</translation>
  </message>
  <message>
   <source>simulated</source>
   <translation>simuliert</translation>
  </message>
 </context>
 <context>
  <name>card</name>
  <message>
   <source>Fabric</source>
   <translation>Fabric</translation>
  </message>
  <message>
   <source>Memory</source>
   <translation>Speicher</translation>
  </message>
  <message>
   <source>Port {n}</source>
   <translation>Port {n}</translation>
  </message>
  <message>
   <source>{s} old</source>
   <translation>{s} alt</translation>
  </message>
 </context>
 <context>
  <name>dialogs</name>
  <message>
   <source>A report lies in {path}. It holds no passwords or keys.</source>
   <translation>Ein Bericht liegt in {path}. Er enthält keine Passwörter und keine Schlüssel.</translation>
  </message>
  <message>
   <source>Cancel</source>
   <translation>Abbrechen</translation>
  </message>
  <message>
   <source>Keep it</source>
   <translation>Behalten</translation>
  </message>
  <message>
   <source>Remove it</source>
   <translation>Entfernen</translation>
  </message>
  <message>
   <source>Stellwerk ended unexpectedly last time.</source>
   <translation>Stellwerk endete zuletzt unerwartet.</translation>
  </message>
 </context>
 <context>
  <name>look</name>
  <message>
   <source>Chain of {n}</source>
   <translation>Kette aus {n}</translation>
  </message>
  <message>
   <source>Ring of {n}</source>
   <translation>Ring aus {n}</translation>
  </message>
 </context>
 <context>
  <name>metrics</name>
  <message>
   <source>CPU</source>
   <translation>CPU</translation>
  </message>
  <message>
   <source>GPU utilisation</source>
   <translation>GPU-Auslastung</translation>
  </message>
  <message>
   <source>Link throughput, received</source>
   <translation>Link-Durchsatz, empfangen</translation>
  </message>
  <message>
   <source>Link throughput, sent</source>
   <translation>Link-Durchsatz, gesendet</translation>
  </message>
  <message>
   <source>Power</source>
   <translation>Leistung</translation>
  </message>
  <message>
   <source>Temperature</source>
   <translation>Temperatur</translation>
  </message>
  <message>
   <source>Unified memory</source>
   <translation>Gemeinsamer Speicher</translation>
  </message>
 </context>
 <context>
  <name>proof</name>
  <message>
   <source>Address</source>
   <translation>Adresse</translation>
  </message>
  <message>
   <source>Connection</source>
   <translation>Verbindung</translation>
  </message>
  <message>
   <source>Degraded</source>
   <translation>Eingeschränkt</translation>
  </message>
  <message>
   <source>Everything works.</source>
   <translation>Alles funktioniert.</translation>
  </message>
  <message>
   <source>Fail</source>
   <translation>Durchgefallen</translation>
  </message>
  <message>
   <source>Latency</source>
   <translation>Latenz</translation>
  </message>
  <message>
   <source>Link</source>
   <translation>Link</translation>
  </message>
  <message>
   <source>Link speed</source>
   <translation>Link-Tempo</translation>
  </message>
  <message>
   <source>MTU both ways</source>
   <translation>MTU hin/her</translation>
  </message>
  <message>
   <source>Measured in {s} s.</source>
   <translation>Gemessen in {s} s.</translation>
  </message>
  <message>
   <source>Measuring</source>
   <translation>Misst</translation>
  </message>
  <message>
   <source>Neighbour</source>
   <translation>Nachbar</translation>
  </message>
  <message>
   <source>Not available</source>
   <translation>Nicht verfügbar</translation>
  </message>
  <message>
   <source>Not everything could be checked.</source>
   <translation>Nicht alles konnte geprüft werden.</translation>
  </message>
  <message>
   <source>Others</source>
   <translation>Andere</translation>
  </message>
  <message>
   <source>Pass</source>
   <translation>Bestanden</translation>
  </message>
  <message>
   <source>RDMA half A</source>
   <translation>RDMA Hälfte A</translation>
  </message>
  <message>
   <source>RDMA half B</source>
   <translation>RDMA Hälfte B</translation>
  </message>
  <message>
   <source>Route</source>
   <translation>Route</translation>
  </message>
  <message>
   <source>Simulated hardware.</source>
   <translation>Simulierte Hardware.</translation>
  </message>
  <message>
   <source>Something has to be put right.</source>
   <translation>Etwas muss gerichtet werden.</translation>
  </message>
  <message>
   <source>The cluster works, below its mark in places.</source>
   <translation>Der Cluster arbeitet, stellenweise unter der Marke.</translation>
  </message>
  <message>
   <source>Transit</source>
   <translation>Durchgang</translation>
  </message>
  <message>
   <source>on the fabric</source>
   <translation>im Fabric</translation>
  </message>
  <message>
   <source>was {value}</source>
   <translation>war {value}</translation>
  </message>
  <message>
   <source>{n} degraded</source>
   <translation>{n} eingeschränkt</translation>
  </message>
  <message>
   <source>{n} failed</source>
   <translation>{n} durchgefallen</translation>
  </message>
  <message>
   <source>{n} not available</source>
   <translation>{n} nicht verfügbar</translation>
  </message>
  <message>
   <source>{n} of {all} checks are done.</source>
   <translation>{n} von {all} Prüfungen sind fertig.</translation>
  </message>
  <message>
   <source>{n} of {all} checks pass</source>
   <translation>{n} von {all} Prüfungen bestanden</translation>
  </message>
  <message>
   <source>{value} on {half}</source>
   <translation>{value} auf {half}</translation>
  </message>
 </context>
 <context>
  <name>tiles</name>
  <message>
   <source>of {n} GiB</source>
   <translation>von {n} GiB</translation>
  </message>
 </context>
 <context>
  <name>views</name>
  <message>
   <source>1 port seen</source>
   <translation>1 Port gesehen</translation>
  </message>
  <message>
   <source>Adopted</source>
   <translation>Übernommen</translation>
  </message>
  <message>
   <source>Chain</source>
   <translation>Kette</translation>
  </message>
  <message>
   <source>Changes</source>
   <translation>Ändert sich</translation>
  </message>
  <message>
   <source>Checking key</source>
   <translation>Prüft Schlüssel</translation>
  </message>
  <message>
   <source>Closed</source>
   <translation>Geschlossen</translation>
  </message>
  <message>
   <source>Degraded</source>
   <translation>Eingeschränkt</translation>
  </message>
  <message>
   <source>Found</source>
   <translation>Gefunden</translation>
  </message>
  <message>
   <source>Installing agent</source>
   <translation>Richtet Agent ein</translation>
  </message>
  <message>
   <source>Logging in</source>
   <translation>Meldet sich an</translation>
  </message>
  <message>
   <source>Missing</source>
   <translation>Fehlt</translation>
  </message>
  <message>
   <source>Mixed</source>
   <translation>Gemischt</translation>
  </message>
  <message>
   <source>Needs attention</source>
   <translation>Braucht Hilfe</translation>
  </message>
  <message>
   <source>No data</source>
   <translation>Keine Daten</translation>
  </message>
  <message>
   <source>Not complete yet</source>
   <translation>Noch unvollständig</translation>
  </message>
  <message>
   <source>Pair</source>
   <translation>Koppeln</translation>
  </message>
  <message>
   <source>Ready</source>
   <translation>Bereit</translation>
  </message>
  <message>
   <source>Reconnecting</source>
   <translation>Verbindet neu</translation>
  </message>
  <message>
   <source>Ring</source>
   <translation>Ring</translation>
  </message>
  <message>
   <source>Single</source>
   <translation>Einzeln</translation>
  </message>
  <message>
   <source>Switch</source>
   <translation>Switch</translation>
  </message>
  <message>
   <source>Wrong port</source>
   <translation>Falscher Port</translation>
  </message>
  <message>
   <source>cables are right</source>
   <translation>Kabel sind richtig</translation>
  </message>
  <message>
   <source>no address</source>
   <translation>keine Adresse</translation>
  </message>
  <message>
   <source>no cable</source>
   <translation>kein Kabel</translation>
  </message>
  <message>
   <source>nobody answers</source>
   <translation>niemand antwortet</translation>
  </message>
  <message>
   <source>to the switch</source>
   <translation>zum Switch</translation>
  </message>
  <message>
   <source>to {host}, not of this cluster</source>
   <translation>zu {host}, nicht in diesem Cluster</translation>
  </message>
  <message>
   <source>to {node} port {n}</source>
   <translation>zu {node} Port {n}</translation>
  </message>
  <message>
   <source>{n} of {all}</source>
   <translation>{n} von {all}</translation>
  </message>
  <message>
   <source>{n} ports seen</source>
   <translation>{n} Ports gesehen</translation>
  </message>
 </context>
</TS>
