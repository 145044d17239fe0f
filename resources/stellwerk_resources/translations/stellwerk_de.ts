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
   <source>Listening for machines over mDNS</source>
   <translation>Sucht per mDNS nach Rechnern</translation>
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
   <source>Nodes may reach each other (SSH)</source>
   <translation>Knoten dürfen einander erreichen (SSH)</translation>
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
   <source>Take the newest plan back</source>
   <translation>Den neuesten Plan zurücknehmen</translation>
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
   <translation>Virtuell ausprobieren</translation>
  </message>
  <message>
   <source>Try a virtual cluster: a ring</source>
   <translation>Virtuell ausprobieren: ein Ring</translation>
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
   <source>open or set up a cluster first</source>
   <translation>zuerst einen Cluster öffnen oder einrichten</translation>
  </message>
 </context>
 <context>
  <name>ApplyStep</name>
  <message>
   <source>All nodes run the new network.</source>
   <translation>Alle Knoten arbeiten mit dem neuen Netz.</translation>
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
   <source>Each node takes its own backup. Stellwerk confirms the change when all of them still answer; otherwise each one goes back by itself.</source>
   <translation>Jeder Knoten legt eine eigene Sicherung an. Stellwerk bestätigt die Änderung, wenn alle noch antworten; sonst geht jeder von allein zurück.</translation>
  </message>
  <message>
   <source>It is ended as soon as all of them answer again.</source>
   <translation>Es wird beendet, sobald alle wieder antworten.</translation>
  </message>
  <message>
   <source>Look at it</source>
   <translation>Ansehen</translation>
  </message>
  <message>
   <source>Looking from node to node</source>
   <translation>Prüft von Knoten zu Knoten</translation>
  </message>
  <message>
   <source>Nodes may reach each other</source>
   <translation>Knoten dürfen einander erreichen</translation>
  </message>
  <message>
   <source>Not every node has answered.</source>
   <translation>Nicht jeder Knoten hat geantwortet.</translation>
  </message>
  <message>
   <source>Nothing was changed: every node is back as it was.</source>
   <translation>Nichts wurde geändert: jeder Knoten ist wieder wie vorher.</translation>
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
  <name>Asking</name>
  <message>
   <source>Forget it</source>
   <translation>Vergessen</translation>
  </message>
  <message>
   <source>Forget the cluster {name}?</source>
   <translation>Den Cluster {name} vergessen?</translation>
  </message>
  <message>
   <source>Its key and reports on this computer are removed. The nodes keep their network and agent: un-pair them first.</source>
   <translation>Schlüssel und Berichte auf diesem Computer werden entfernt. Die Knoten behalten Netz und Agent: zuerst entkoppeln.</translation>
  </message>
  <message>
   <source>Keep it</source>
   <translation>Behalten</translation>
  </message>
  <message>
   <source>Leave the set-up?</source>
   <translation>Einrichtung verlassen?</translation>
  </message>
  <message>
   <source>Nothing has been changed on any machine. What was entered can be kept and opened again.</source>
   <translation>Auf keinem Rechner wurde etwas geändert. Das Eingegebene kann behalten und wieder geöffnet werden.</translation>
  </message>
  <message>
   <source>Take it back</source>
   <translation>Zurücknehmen</translation>
  </message>
  <message>
   <source>Take over</source>
   <translation>Übernehmen</translation>
  </message>
  <message>
   <source>Take plan {id} back?</source>
   <translation>Plan {id} zurücknehmen?</translation>
  </message>
  <message>
   <source>Taking over lets this window change the nodes. The other one is told so and cannot.</source>
   <translation>Nach dem Übernehmen ändert dieses Fenster die Knoten. Das andere erfährt es und kann es nicht mehr.</translation>
  </message>
  <message>
   <source>The agent, what it kept and this cluster's key are removed from the node. Its network stays as it is.</source>
   <translation>Der Agent, was er aufbewahrte, und der Schlüssel dieses Clusters werden vom Knoten entfernt. Sein Netz bleibt, wie es ist.</translation>
  </message>
  <message>
   <source>The node does not answer: only this computer forgets it. Agent and key stay on it.</source>
   <translation>Der Knoten antwortet nicht: nur dieser Computer vergisst ihn. Agent und Schlüssel bleiben auf ihm.</translation>
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
   <source>{names} get back the network that they had before. Nothing else is changed.</source>
   <translation>{names} bekommen das Netz zurück, das sie vorher hatten. Sonst wird nichts geändert.</translation>
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
  <name>CableAdvice</name>
  <message>
   <source>1 cable is right</source>
   <translation>1 Kabel ist richtig</translation>
  </message>
  <message>
   <source>1 thing to put right</source>
   <translation>1 Sache ist zu richten</translation>
  </message>
  <message>
   <source>Cannot move it now? The nodes also work as a chain.</source>
   <translation>Geht das gerade nicht? Die Knoten arbeiten auch als Kette.</translation>
  </message>
  <message>
   <source>Evidence</source>
   <translation>Belege</translation>
  </message>
  <message>
   <source>Give the sudo password</source>
   <translation>Sudo-Passwort angeben</translation>
  </message>
  <message>
   <source>No answer from {names}</source>
   <translation>Keine Antwort von {names}</translation>
  </message>
  <message>
   <source>Not every node answers</source>
   <translation>Nicht alle Knoten antworten</translation>
  </message>
  <message>
   <source>Nothing is changed on them.</source>
   <translation>An ihnen wird nichts geändert.</translation>
  </message>
  <message>
   <source>Reading the nodes</source>
   <translation>Liest die Knoten</translation>
  </message>
  <message>
   <source>The cables are right</source>
   <translation>Die Kabel sind richtig</translation>
  </message>
  <message>
   <source>The cables will do, with a remark</source>
   <translation>Die Kabel tun es, mit einer Anmerkung</translation>
  </message>
  <message>
   <source>The picture follows within a few seconds. Nothing has been changed on the nodes so far.</source>
   <translation>Das Bild folgt in wenigen Sekunden. An den Knoten wurde bisher nichts geändert.</translation>
  </message>
  <message>
   <source>The picture is of the others. Wait until all answer, or take off under Pair what is not to come.</source>
   <translation>Das Bild zeigt die anderen. Warten, bis alle antworten, oder unter Koppeln entfernen, was nicht mehr kommt.</translation>
  </message>
  <message>
   <source>Use them as a chain</source>
   <translation>Als Kette verwenden</translation>
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
   <source>{node} port {n}: {words}</source>
   <translation>{node} Port {n}: {words}</translation>
  </message>
  <message>
   <source>{n} cables are right</source>
   <translation>{n} Kabel sind richtig</translation>
  </message>
  <message>
   <source>{n} of {all} ports heard a neighbour</source>
   <translation>{n} von {all} Ports hörten einen Nachbarn</translation>
  </message>
  <message>
   <source>{n} things to put right</source>
   <translation>{n} Sachen sind zu richten</translation>
  </message>
 </context>
 <context>
  <name>CableDetails</name>
  <message>
   <source>Cable</source>
   <translation>Kabel</translation>
  </message>
  <message>
   <source>Cable to the switch</source>
   <translation>Kabel zum Switch</translation>
  </message>
  <message>
   <source>Port {n}, sent</source>
   <translation>Port {n}, gesendet</translation>
  </message>
  <message>
   <source>port {n}</source>
   <translation>Port {n}</translation>
  </message>
 </context>
 <context>
  <name>CellDetail</name>
  <message>
   <source>It is as it should be.</source>
   <translation>Es ist, wie es sein soll.</translation>
  </message>
  <message>
   <source>Not measured yet.</source>
   <translation>Noch nicht gemessen.</translation>
  </message>
  <message>
   <source>Plan the repair</source>
   <translation>Reparatur planen</translation>
  </message>
  <message>
   <source>What to do:</source>
   <translation>Zu tun:</translation>
  </message>
  <message>
   <source>What was measured</source>
   <translation>Was gemessen wurde</translation>
  </message>
  <message>
   <source>What was measured appears here, cell by cell.</source>
   <translation>Was gemessen wurde, steht hier, Feld für Feld.</translation>
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
   <translation>Auf dem Rechner selbst zeigt dieser Befehl den richtigen:</translation>
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
   <translation>Der Rechner wurde neu installiert, oder ein anderer antwortet an seiner Stelle. Den neuen Fingerabdruck am Rechner selbst vergleichen.</translation>
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
   <translation>Dieser Computer</translation>
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
   <source>1 degraded</source>
   <translation>1 eingeschränkt</translation>
  </message>
  <message>
   <source>1 needs attention</source>
   <translation>1 braucht Hilfe</translation>
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
   <source>Go on with the set-up</source>
   <translation>Einrichtung fortsetzen</translation>
  </message>
  <message>
   <source>Map</source>
   <translation>Karte</translation>
  </message>
  <message>
   <source>No node belongs to this cluster yet.</source>
   <translation>Noch gehört kein Knoten zu diesem Cluster.</translation>
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
   <source>{n} degraded</source>
   <translation>{n} eingeschränkt</translation>
  </message>
  <message>
   <source>{n} need attention</source>
   <translation>{n} brauchen Hilfe</translation>
  </message>
  <message>
   <source>{ready} of {total} nodes connected</source>
   <translation>{ready} von {total} Knoten verbunden</translation>
  </message>
 </context>
 <context>
  <name>CommandPalette</name>
  <message>
   <source>No command has that name</source>
   <translation>Kein Befehl heißt so</translation>
  </message>
  <message>
   <source>Type a command</source>
   <translation>Einen Befehl eingeben</translation>
  </message>
 </context>
 <context>
  <name>Controller</name>
  <message>
   <source>plan {id} confirmed</source>
   <translation>Plan {id} bestätigt</translation>
  </message>
  <message>
   <source>plan {id} taken back</source>
   <translation>Plan {id} zurückgenommen</translation>
  </message>
  <message>
   <source>proof finished</source>
   <translation>Beweis fertig</translation>
  </message>
  <message>
   <source>proof stopped</source>
   <translation>Beweis abgebrochen</translation>
  </message>
 </context>
 <context>
  <name>DiffPane</name>
  <message>
   <source>A backup is taken first. If Stellwerk cannot reach the node afterwards, it goes back by itself within 90 s.</source>
   <translation>Zuerst wird gesichert. Erreicht Stellwerk den Knoten danach nicht mehr, geht er innerhalb von 90 s von allein zurück.</translation>
  </message>
  <message>
   <source>Copy the changes</source>
   <translation>Änderungen kopieren</translation>
  </message>
  <message>
   <source>Nothing changes on this node.</source>
   <translation>Auf diesem Knoten ändert sich nichts.</translation>
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
   <source>then 1 firewall rule</source>
   <translation>dann 1 Firewall-Regel</translation>
  </message>
  <message>
   <source>then 1 kernel setting</source>
   <translation>dann 1 Kernel-Einstellung</translation>
  </message>
  <message>
   <source>then {n} firewall rules</source>
   <translation>dann {n} Firewall-Regeln</translation>
  </message>
  <message>
   <source>then {n} kernel settings</source>
   <translation>dann {n} Kernel-Einstellungen</translation>
  </message>
  <message>
   <source>then {what}</source>
   <translation>dann {what}</translation>
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
  <message>
   <source>wrong</source>
   <translation>falsch</translation>
  </message>
 </context>
 <context>
  <name>FindStep</name>
  <message>
   <source>1 machine</source>
   <translation>1 Rechner</translation>
  </message>
  <message>
   <source>1 machine found</source>
   <translation>1 Rechner gefunden</translation>
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
   <translation>Adressen der Rechner</translation>
  </message>
  <message>
   <source>Find</source>
   <translation>Finden</translation>
  </message>
  <message>
   <source>Listening for machines on this network</source>
   <translation>Sucht Rechner in diesem Netz</translation>
  </message>
  <message>
   <source>Machines of this cluster</source>
   <translation>Rechner dieses Clusters</translation>
  </message>
  <message>
   <source>No mDNS here, add machines by address</source>
   <translation>Kein mDNS hier, Rechner per Adresse hinzufügen</translation>
  </message>
  <message>
   <source>No machine yet</source>
   <translation>Noch kein Rechner</translation>
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
   <translation>Die Rechner des Clusters eingeben oder die nehmen, die im Netz antworten.</translation>
  </message>
  <message>
   <source>{n} machines</source>
   <translation>{n} Rechner</translation>
  </message>
  <message>
   <source>{n} machines found</source>
   <translation>{n} Rechner gefunden</translation>
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
   <source>half {n}</source>
   <translation>Hälfte {n}</translation>
  </message>
  <message>
   <source>now</source>
   <translation>jetzt</translation>
  </message>
  <message>
   <source>{what} in the last five minutes</source>
   <translation>{what}, die letzten fünf Minuten</translation>
  </message>
 </context>
 <context>
  <name>HalfRow</name>
  <message>
   <source>no address</source>
   <translation>keine Adresse</translation>
  </message>
 </context>
 <context>
  <name>Health</name>
  <message>
   <source>Connected to {ready} of {all} agents</source>
   <translation>Mit {ready} von {all} Agenten verbunden</translation>
  </message>
  <message>
   <source>No cluster open</source>
   <translation>Kein Cluster offen</translation>
  </message>
  <message>
   <source>draft</source>
   <translation>Entwurf</translation>
  </message>
  <message>
   <source>fine</source>
   <translation>gut</translation>
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
   <translation>Auf dem Rechner selbst zeigt dieser Befehl denselben:</translation>
  </message>
  <message>
   <source>This computer has never talked to {host}. Compare the fingerprint with the one that the machine itself shows, so that nobody can put another machine in its place.</source>
   <translation>Dieser Computer hat noch nie mit {host} gesprochen. Den Fingerabdruck mit dem vergleichen, den der Rechner selbst zeigt, damit niemand einen anderen an seine Stelle setzen kann.</translation>
  </message>
 </context>
 <context>
  <name>LeftOpen</name>
  <message>
   <source>Not every node has answered; it is ended when the cluster is opened again</source>
   <translation>Nicht jeder Knoten hat geantwortet; beim nächsten Öffnen des Clusters wird es beendet</translation>
  </message>
  <message>
   <source>That is ended now: all nodes run the new network</source>
   <translation>Das ist jetzt beendet: Auf allen Knoten läuft das neue Netz</translation>
  </message>
  <message>
   <source>That is ended now: every node is back as it was</source>
   <translation>Das ist jetzt beendet: Jeder Knoten ist wieder wie vorher</translation>
  </message>
  <message>
   <source>The window closed while plan {id} was being applied</source>
   <translation>Das Fenster wurde geschlossen, während Plan {id} angewendet wurde</translation>
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
   <translation>Rechner</translation>
  </message>
  <message>
   <source>Pair</source>
   <translation>Paar</translation>
  </message>
  <message>
   <source>Read from the nodes: each one calls on every port and hears who answers.</source>
   <translation>Von den Knoten gelesen: jeder ruft an jedem Port und hört, wer antwortet.</translation>
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
  <message>
   <source>{n} of {all}</source>
   <translation>{n} von {all}</translation>
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
   <translation>Rechner</translation>
  </message>
  <message>
   <source>Machines</source>
   <translation>Rechner</translation>
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
   <translation>Gemessen: {where}</translation>
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
   <source>Simulated machines</source>
   <translation>Simulierte Rechner</translation>
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
   <translation>Angehalten; bis dahin gemessen: {where}</translation>
  </message>
  <message>
   <source>The machines are simulated: their ranks share this computer, and so do the figures.</source>
   <translation>Die Rechner sind simuliert: ihre Ränge teilen sich diesen Computer, das gilt auch für die Zahlen.</translation>
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
   <source>{how}: direct is as fast as ring at {size} on {ranks} ranks.</source>
   <translation>{how}: direkt ist bei {size} auf {ranks} Rängen so schnell wie Ring.</translation>
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
   <translation>dieser Computer</translation>
  </message>
  <message>
   <source>this computer, over an emulated link</source>
   <translation>dieser Computer, über einen emulierten Link</translation>
  </message>
 </context>
 <context>
  <name>MeshDialog</name>
  <message>
   <source>Close</source>
   <translation>Schließen</translation>
  </message>
  <message>
   <source>In ~/.ssh of every node there will be</source>
   <translation>In ~/.ssh jedes Knotens liegt danach</translation>
  </message>
  <message>
   <source>It is taken out again here, and when a node is un-paired.</source>
   <translation>Es wird hier wieder entfernt, und wenn ein Knoten entkoppelt wird.</translation>
  </message>
  <message>
   <source>It was taken out of all nodes.</source>
   <translation>Es wurde von allen Knoten entfernt.</translation>
  </message>
  <message>
   <source>Nodes may reach each other</source>
   <translation>Knoten dürfen einander erreichen</translation>
  </message>
  <message>
   <source>Set it up</source>
   <translation>Einrichten</translation>
  </message>
  <message>
   <source>Take it out</source>
   <translation>Entfernen</translation>
  </message>
  <message>
   <source>Try every pair</source>
   <translation>Jedes Paar prüfen</translation>
  </message>
  <message>
   <source>Working on all nodes</source>
   <translation>Alle Knoten werden bearbeitet</translation>
  </message>
  <message>
   <source>a key of its own that never leaves it, the others' host keys, one alias each</source>
   <translation>ein eigener Schlüssel, der ihn nie verlässt, die Host-Schlüssel der anderen, je ein Alias</translation>
  </message>
  <message>
   <source>one Include line at the top, marked</source>
   <translation>eine markierte Include-Zeile am Anfang</translation>
  </message>
  <message>
   <source>the public keys of the others, marked</source>
   <translation>die öffentlichen Schlüssel der anderen, markiert</translation>
  </message>
  <message>
   <source>{n} of {all} pairs work</source>
   <translation>{n} von {all} Paaren funktionieren</translation>
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
   <source>No node yet</source>
   <translation>Noch kein Knoten</translation>
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
   <source>Space</source>
   <translation>Leertaste</translation>
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
   <source>Click hides, double click shows it alone, Ctrl+click adds it</source>
   <translation>Klick blendet aus, Doppelklick zeigt nur ihn, Strg+Klick nimmt ihn dazu</translation>
  </message>
  <message>
   <source>no data</source>
   <translation>keine Daten</translation>
  </message>
  <message>
   <source>stale {s}</source>
   <translation>seit {s} still</translation>
  </message>
 </context>
 <context>
  <name>NodePanel</name>
  <message>
   <source>Addresses</source>
   <translation>Adressen</translation>
  </message>
  <message>
   <source>Agent</source>
   <translation>Agent</translation>
  </message>
  <message>
   <source>Degraded</source>
   <translation>Eingeschränkt</translation>
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
   <source>Look at the cables</source>
   <translation>Kabel ansehen</translation>
  </message>
  <message>
   <source>Machine</source>
   <translation>Rechner</translation>
  </message>
  <message>
   <source>Management</source>
   <translation>Verwaltung</translation>
  </message>
  <message>
   <source>Needs attention</source>
   <translation>Braucht Hilfe</translation>
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
   <source>Plan the repair</source>
   <translation>Reparatur planen</translation>
  </message>
  <message>
   <source>Port {n}</source>
   <translation>Port {n}</translation>
  </message>
  <message>
   <source>Port {n}, sent</source>
   <translation>Port {n}, gesendet</translation>
  </message>
  <message>
   <source>Product</source>
   <translation>Produkt</translation>
  </message>
  <message>
   <source>Show the test</source>
   <translation>Test zeigen</translation>
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
   <source>not available</source>
   <translation>nicht verfügbar</translation>
  </message>
  <message>
   <source>to the switch</source>
   <translation>zum Switch</translation>
  </message>
  <message>
   <source>to {node} P{n}</source>
   <translation>zu {node} P{n}</translation>
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
   <source>Checking from the inside</source>
   <translation>Prüft von innen</translation>
  </message>
  <message>
   <source>Commands</source>
   <translation>Befehle</translation>
  </message>
  <message>
   <source>Comparing with the plan</source>
   <translation>Vergleicht mit dem Plan</translation>
  </message>
  <message>
   <source>Confirmed</source>
   <translation>Bestätigt</translation>
  </message>
  <message>
   <source>Copying what is there</source>
   <translation>Sichert, was da ist</translation>
  </message>
  <message>
   <source>Going back</source>
   <translation>Kehrt zurück</translation>
  </message>
  <message>
   <source>Looking for free space</source>
   <translation>Sucht freien Platz</translation>
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
   <source>Preparing the way back for a power cut</source>
   <translation>Bereitet den Rückweg bei Stromausfall vor</translation>
  </message>
  <message>
   <source>Services</source>
   <translation>Dienste</translation>
  </message>
  <message>
   <source>Setting the firewall</source>
   <translation>Stellt die Firewall ein</translation>
  </message>
  <message>
   <source>Setting the kernel</source>
   <translation>Stellt den Kernel ein</translation>
  </message>
  <message>
   <source>Switching the interfaces over</source>
   <translation>Stellt die Schnittstellen um</translation>
  </message>
  <message>
   <source>Unchanged</source>
   <translation>Unverändert</translation>
  </message>
  <message>
   <source>Waiting for the addresses</source>
   <translation>Wartet auf die Adressen</translation>
  </message>
  <message>
   <source>Waiting for the node</source>
   <translation>Wartet auf den Knoten</translation>
  </message>
  <message>
   <source>Writing the files</source>
   <translation>Schreibt die Dateien</translation>
  </message>
  <message>
   <source>goes back in {s} s</source>
   <translation>kehrt in {s} s zurück</translation>
  </message>
  <message>
   <source>netplan judges the new files</source>
   <translation>netplan prüft die neuen Dateien</translation>
  </message>
  <message>
   <source>netplan writes what the network reads</source>
   <translation>netplan schreibt, was das Netz liest</translation>
  </message>
 </context>
 <context>
  <name>NodeTable</name>
  <message>
   <source>Memory</source>
   <translation>Speicher</translation>
  </message>
  <message>
   <source>Node</source>
   <translation>Knoten</translation>
  </message>
  <message>
   <source>Nodes</source>
   <translation>Knoten</translation>
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
   <translation>Jedem Rechner einmal vertrauen, einmal anmelden; danach gilt ein Schlüssel dieses Clusters.</translation>
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
   <source>Nothing has been changed so far.</source>
   <translation>Bisher wurde nichts geändert.</translation>
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
   <source>{n} nodes change</source>
   <translation>{n} Knoten ändern sich</translation>
  </message>
  <message>
   <source>{shape}, one subnet for each half of each cable.</source>
   <translation>{shape}, ein Subnetz für jede Hälfte jedes Kabels.</translation>
  </message>
  <message>
   <source>{shape}, one subnet for each half.</source>
   <translation>{shape}, ein Subnetz je Hälfte.</translation>
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
   <source>1 file is put into effect again</source>
   <translation>1 Datei wird erneut in Kraft gesetzt</translation>
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
   <source>{n} files are put into effect again</source>
   <translation>{n} Dateien werden erneut in Kraft gesetzt</translation>
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
   <source>First the nodes and their cables are read.</source>
   <translation>Zuerst werden die Knoten und ihre Kabel gelesen.</translation>
  </message>
  <message>
   <source>Measuring</source>
   <translation>Misst</translation>
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
   <source>SSH between nodes</source>
   <translation>SSH zwischen Knoten</translation>
  </message>
  <message>
   <source>Stop</source>
   <translation>Anhalten</translation>
  </message>
  <message>
   <source>degraded: works, below the mark</source>
   <translation>eingeschränkt: unter dem Sollwert</translation>
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
   <translation>{n}/{all} bestanden</translation>
  </message>
 </context>
 <context>
  <name>RecentRow</name>
  <message>
   <source>Forget …</source>
   <translation>Vergessen …</translation>
  </message>
  <message>
   <source>More about {name}</source>
   <translation>Mehr zu {name}</translation>
  </message>
  <message>
   <source>Open</source>
   <translation>Öffnen</translation>
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
   <translation>Die Rechner sind simuliert: ihre Ränge teilen sich diesen Computer, das gilt auch für die Zeiten.</translation>
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
   <translation>Jede Aktion nach Namen</translation>
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
   <translation>Aussehen</translation>
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
   <source>Quit</source>
   <translation>Beenden</translation>
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
   <source>1 node</source>
   <translation>1 Knoten</translation>
  </message>
  <message>
   <source>Apply</source>
   <translation>Anwenden</translation>
  </message>
  <message>
   <source>Back</source>
   <translation>Zurück</translation>
  </message>
  <message>
   <source>Cancel</source>
   <translation>Abbrechen</translation>
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
   <translation>Speichern und schließen</translation>
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
  <message>
   <source>Undo the plan</source>
   <translation>Plan zurücknehmen</translation>
  </message>
  <message>
   <source>{n} nodes</source>
   <translation>{n} Knoten</translation>
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
   <translation>Simulierte Rechner</translation>
  </message>
 </context>
 <context>
  <name>SidePanel</name>
  <message>
   <source>Close</source>
   <translation>Schließen</translation>
  </message>
 </context>
 <context>
  <name>StartPage</name>
  <message>
   <source>1 machine found</source>
   <translation>1 Rechner gefunden</translation>
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
   <translation>Acht simulierte Sparks auf diesem Computer. Nichts verlässt ihn.</translation>
  </message>
  <message>
   <source>Enter opens, Del forgets</source>
   <translation>Eingabe öffnet, Entf vergisst</translation>
  </message>
  <message>
   <source>Find machines, pair them, check the cables, prove the network.</source>
   <translation>Rechner finden und koppeln, Kabel prüfen, das Netz beweisen.</translation>
  </message>
  <message>
   <source>Listening for machines on this network</source>
   <translation>Sucht Rechner in diesem Netz</translation>
  </message>
  <message>
   <source>No cluster yet. The first one takes about ten minutes.</source>
   <translation>Noch kein Cluster. Der erste braucht etwa zehn Minuten.</translation>
  </message>
  <message>
   <source>No mDNS here, add machines by address</source>
   <translation>Kein mDNS hier, Rechner per Adresse hinzufügen</translation>
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
   <source>Pair these {n}</source>
   <translation>Diese {n} koppeln</translation>
  </message>
  <message>
   <source>Pair this one</source>
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
   <translation>Virtuell ausprobieren</translation>
  </message>
  <message>
   <source>{n} machines found</source>
   <translation>{n} Rechner gefunden</translation>
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
   <translation>Heißester</translation>
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
   <translation>Heißester</translation>
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
  <name>TrialLife</name>
  <message>
   <source>Forget it</source>
   <translation>Vergessen</translation>
  </message>
  <message>
   <source>Its simulated nodes went with the program that ran them.</source>
   <translation>Seine simulierten Knoten endeten mit dem Programm, das sie ausführte.</translation>
  </message>
  <message>
   <source>Start a new one</source>
   <translation>Einen neuen starten</translation>
  </message>
  <message>
   <source>Starting {n} simulated Sparks</source>
   <translation>{n} simulierte Sparks starten</translation>
  </message>
  <message>
   <source>This virtual cluster has ended.</source>
   <translation>Dieser virtuelle Cluster ist beendet.</translation>
  </message>
  <message>
   <source>the virtual cluster has ended</source>
   <translation>der virtuelle Cluster ist beendet</translation>
  </message>
  <message>
   <source>virtual</source>
   <translation>virtuell</translation>
  </message>
 </context>
 <context>
  <name>TrialPanel</name>
  <message>
   <source>Break it</source>
   <translation>Kaputt machen</translation>
  </message>
  <message>
   <source>If you are asked to log in</source>
   <translation>Falls nach der Anmeldung gefragt wird</translation>
  </message>
  <message>
   <source>Load on this node's links</source>
   <translation>Last auf den Links dieses Knotens</translation>
  </message>
  <message>
   <source>Mend</source>
   <translation>Heilen</translation>
  </message>
  <message>
   <source>Node</source>
   <translation>Knoten</translation>
  </message>
  <message>
   <source>Nothing</source>
   <translation>Nichts</translation>
  </message>
  <message>
   <source>Other nodes and cables</source>
   <translation>Andere Knoten und Kabel</translation>
  </message>
  <message>
   <source>Start these instead</source>
   <translation>Diese stattdessen starten</translation>
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
   <source>What you broke</source>
   <translation>Was Sie gestört haben</translation>
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
   <source>simulated</source>
   <translation>simuliert</translation>
  </message>
  <message>
   <source>{s} old</source>
   <translation>{s} alt</translation>
  </message>
 </context>
 <context>
  <name>core</name>
  <message>
   <source> line {line}</source>
   <translation> Zeile {line}</translation>
  </message>
  <message>
   <source>, line {line}</source>
   <translation>, Zeile {line}</translation>
  </message>
  <message>
   <source>--hear-carrier is 'sockets' or 'unix:' and an absolute directory, not {carrier}</source>
   <translation>--hear-carrier ist „sockets“ oder „unix:“ mit absolutem Verzeichnis, nicht {carrier}</translation>
  </message>
  <message>
   <source>--{option} must be an absolute path, not {path}</source>
   <translation>--{option} muss ein absoluter Pfad sein, nicht {path}</translation>
  </message>
  <message>
   <source>/etc/dgx-release</source>
   <translation>/etc/dgx-release</translation>
  </message>
  <message>
   <source>/var/lib/stellwerk</source>
   <translation>/var/lib/stellwerk</translation>
  </message>
  <message>
   <source>256 virtual clusters run already</source>
   <translation>256 virtuelle Cluster laufen schon</translation>
  </message>
  <message>
   <source>99-fastlink.yaml sets a fabric half and, statically, the management interface</source>
   <translation>99-fastlink.yaml stellt eine Hälfte des Fabrics und, statisch, die Management-Schnittstelle ein</translation>
  </message>
  <message>
   <source>A cable joins two ports of {node} to each other.</source>
   <translation>Ein Kabel verbindet zwei Ports von {node} miteinander.</translation>
  </message>
  <message>
   <source>A cable joins {port} directly to {other}.</source>
   <translation>Ein Kabel verbindet {port} direkt mit {other}.</translation>
  </message>
  <message>
   <source>A chain of {number}</source>
   <translation>Eine Kette aus {number}</translation>
  </message>
  <message>
   <source>A default route of {member} leads over {netdev}</source>
   <translation>Eine Default-Route von {member} führt über {netdev}</translation>
  </message>
  <message>
   <source>A fixed NCCL_IB_GID_INDEX fails here. What Stellwerk starts reads the index at launch.</source>
   <translation>Ein fester NCCL_IB_GID_INDEX versagt hier. Was Stellwerk startet, liest den Index beim Start.</translation>
  </message>
  <message>
   <source>A model that is split evenly fits only if it fits into the smallest node.</source>
   <translation>Ein gleichmäßig geteiltes Modell passt nur, wenn es in den kleinsten Knoten passt.</translation>
  </message>
  <message>
   <source>A network change needs room for its backup, and models need much more.</source>
   <translation>Eine Netzänderung braucht Platz für ihre Sicherung, Modelle brauchen viel mehr.</translation>
  </message>
  <message>
   <source>A node is overloaded, or a link of the fabric is very slow</source>
   <translation>Ein Knoten ist überlastet, oder ein Link des Fabrics ist sehr langsam</translation>
  </message>
  <message>
   <source>A pair</source>
   <translation>Ein Paar</translation>
  </message>
  <message>
   <source>A plan that changes this node sets them.</source>
   <translation>Ein Plan, der diesen Knoten ändert, setzt sie.</translation>
  </message>
  <message>
   <source>A port is a number from 1 to 65535</source>
   <translation>Ein Port ist eine Zahl von 1 bis 65535</translation>
  </message>
  <message>
   <source>A ring of {number}</source>
   <translation>Ein Ring aus {number}</translation>
  </message>
  <message>
   <source>A run whose ranks meet over it ends when the radio blips.</source>
   <translation>Ein Lauf, dessen Ränge sich darüber treffen, endet, sobald der Funk aussetzt.</translation>
  </message>
  <message>
   <source>A second cable adds no speed.</source>
   <translation>Ein zweites Kabel macht nichts schneller.</translation>
  </message>
  <message>
   <source>A switch that hands out addresses has offered itself as the way to the internet.</source>
   <translation>Ein Switch, der Adressen verteilt, hat sich als Weg ins Internet angeboten.</translation>
  </message>
  <message>
   <source>A {kind} needs two ports on every node.</source>
   <translation>{kind}: jeder Knoten braucht zwei Ports.</translation>
  </message>
  <message>
   <source>A {kind} of {count} is not field-proven: in the field, four nodes have been run so.</source>
   <translation>{kind} aus {count} ist nicht im Feld erprobt: dort liefen so vier Knoten.</translation>
  </message>
  <message>
   <source>Add a node</source>
   <translation>Einen Knoten hinzufügen</translation>
  </message>
  <message>
   <source>Add at least one machine</source>
   <translation>Mindestens einen Rechner hinzufügen</translation>
  </message>
  <message>
   <source>Add the interface, such as {host}%eth0</source>
   <translation>Die Schnittstelle dazuschreiben, etwa {host}%eth0</translation>
  </message>
  <message>
   <source>All nodes learn each other's keys, or none does</source>
   <translation>Alle Knoten lernen die Schlüssel der anderen, oder keiner</translation>
  </message>
  <message>
   <source>All nodes need to be on it.</source>
   <translation>Alle Knoten müssen daran angeschlossen sein.</translation>
  </message>
  <message>
   <source>Another computer with a newer Stellwerk manages this machine</source>
   <translation>Ein anderer Computer mit neuerem Stellwerk verwaltet diesen Rechner</translation>
  </message>
  <message>
   <source>Answers may not be comparable.</source>
   <translation>Antworten sind vielleicht nicht vergleichbar.</translation>
  </message>
  <message>
   <source>Apply</source>
   <translation>Anwenden</translation>
  </message>
  <message>
   <source>Apply the plan again</source>
   <translation>Den Plan nochmals anwenden</translation>
  </message>
  <message>
   <source>Apply the plan again; if it stays, restart the node.</source>
   <translation>Den Plan nochmals anwenden; bleibt es so, den Knoten neu starten.</translation>
  </message>
  <message>
   <source>Apply the plan again; if it stays, restart {node}</source>
   <translation>Den Plan nochmals anwenden; bleibt es so, {node} neu starten</translation>
  </message>
  <message>
   <source>Apply the plan, which sets arp_ignore and arp_announce</source>
   <translation>Den Plan anwenden, er setzt arp_ignore und arp_announce</translation>
  </message>
  <message>
   <source>As an administrator of {member}: usermod -aG sudo {user}, then log in again.</source>
   <translation>Als Administrator von {member}: usermod -aG sudo {user}, dann neu anmelden.</translation>
  </message>
  <message>
   <source>At the back of {node}, move the plug from {here} to {there}.</source>
   <translation>An der Rückseite von {node} den Stecker von {here} nach {there} umstecken.</translation>
  </message>
  <message>
   <source>At the back of {node}, swap the plugs of {here} and {there}.</source>
   <translation>An der Rückseite von {node} die Stecker von {here} und {there} tauschen.</translation>
  </message>
  <message>
   <source>Both halves of a port share one wire, and the other one answered. RoCE takes its destination from here, so one half gets the traffic of both.</source>
   <translation>Beide Hälften eines Ports teilen sich eine Leitung, und die andere hat geantwortet. RoCE nimmt von hier sein Ziel, also bekommt eine Hälfte den Verkehr beider.</translation>
  </message>
  <message>
   <source>Both halves share one cable; with one of them the port gives half its speed.</source>
   <translation>Beide Hälften teilen sich ein Kabel; mit nur einer gibt der Port sein halbes Tempo.</translation>
  </message>
  <message>
   <source>Bring all nodes to the same DGX OS version.</source>
   <translation>Alle Knoten auf dieselbe Version von DGX OS bringen.</translation>
  </message>
  <message>
   <source>Bring the link up first; if it is up, restart the node</source>
   <translation>Zuerst den Link herstellen; steht er, den Knoten neu starten</translation>
  </message>
  <message>
   <source>Check in a terminal: ssh to it and run python3 --version</source>
   <translation>Im Terminal prüfen: mit ssh anmelden und python3 --version ausführen</translation>
  </message>
  <message>
   <source>Check that `ssh` to it can run `python3 --version`, and that the account has a normal shell</source>
   <translation>Prüfen, ob `ssh` dort `python3 --version` ausführen kann und das Konto eine normale Shell hat</translation>
  </message>
  <message>
   <source>Check that the machine is on and that its address is right</source>
   <translation>Prüfen, ob der Rechner an ist und seine Adresse stimmt</translation>
  </message>
  <message>
   <source>Check that the machine is on, its cable or Wi-Fi, and that this computer is in the same network</source>
   <translation>Prüfen, ob der Rechner an ist, Kabel oder WLAN stimmen und dieser Computer im selben Netz ist</translation>
  </message>
  <message>
   <source>Check the address as seen from the jump host, and that its SSH server allows AllowTcpForwarding</source>
   <translation>Die Adresse vom Jump-Host aus prüfen, und ob sein SSH-Server AllowTcpForwarding erlaubt</translation>
  </message>
  <message>
   <source>Check the cable at both ends</source>
   <translation>Das Kabel an beiden Enden prüfen</translation>
  </message>
  <message>
   <source>Check the cable; on a switch set the port to 200G-baseCR4 without auto-negotiation</source>
   <translation>Das Kabel prüfen; an einem Switch den Port auf 200G-baseCR4 ohne Autonegotiation stellen</translation>
  </message>
  <message>
   <source>Check the machine's disk and home directory</source>
   <translation>Platte und Home-Verzeichnis des Rechners prüfen</translation>
  </message>
  <message>
   <source>Check the machine's home directory</source>
   <translation>Das Home-Verzeichnis des Rechners prüfen</translation>
  </message>
  <message>
   <source>Check the owner on the machine: ls -ld {path}; it must belong to the user</source>
   <translation>Den Besitzer auf dem Rechner prüfen: ls -ld {path}; es muss dem Benutzer gehören</translation>
  </message>
  <message>
   <source>Check the port, and on the machine: sudo systemctl enable --now ssh</source>
   <translation>Den Port prüfen, und auf dem Rechner: sudo systemctl enable --now ssh</translation>
  </message>
  <message>
   <source>Check the port, and whether `ssh` from a terminal gets further</source>
   <translation>Den Port prüfen, und ob `ssh` im Terminal weiter kommt</translation>
  </message>
  <message>
   <source>Check the port; SSH normally listens on 22</source>
   <translation>Den Port prüfen; SSH hört normalerweise auf 22</translation>
  </message>
  <message>
   <source>Check the port; SSH normally listens on 22. Wait a minute and try again; on the machine, look at: journalctl -u ssh -n 20</source>
   <translation>Den Port prüfen; SSH hört normalerweise auf 22. Eine Minute warten und nochmals versuchen; auf dem Rechner ansehen: journalctl -u ssh -n 20</translation>
  </message>
  <message>
   <source>Check the spelling, or use the machine's IP address: names ending in .local often do not work in company networks</source>
   <translation>Die Schreibweise prüfen oder die IP-Adresse nehmen: Namen mit .local gehen in Firmennetzen oft nicht</translation>
  </message>
  <message>
   <source>Check the user name and the password in a terminal: {ssh_command}</source>
   <translation>Benutzername und Passwort im Terminal prüfen: {ssh_command}</translation>
  </message>
  <message>
   <source>Check the user name, and that this user may log in there: {command}</source>
   <translation>Den Benutzernamen prüfen, und ob er sich dort anmelden darf: {command}</translation>
  </message>
  <message>
   <source>Choose 2 to {machines} ranks</source>
   <translation>2 bis {machines} Ränge wählen</translation>
  </message>
  <message>
   <source>Choose another name</source>
   <translation>Einen anderen Namen wählen</translation>
  </message>
  <message>
   <source>Choose another range for the fabric's subnets</source>
   <translation>Einen anderen Bereich für die Subnetze des Fabrics wählen</translation>
  </message>
  <message>
   <source>Choose another range in the plan, such as 10.100.0.0/16, and apply it.</source>
   <translation>Im Plan einen anderen Bereich wählen, etwa 10.100.0.0/16, und anwenden.</translation>
  </message>
  <message>
   <source>Choose another topology, or leave {node} out.</source>
   <translation>Eine andere Topologie wählen oder {node} weglassen.</translation>
  </message>
  <message>
   <source>Choose “Try a virtual cluster” again</source>
   <translation>Noch einmal „Virtuell ausprobieren“ wählen</translation>
  </message>
  <message>
   <source>Close it there, or use that window</source>
   <translation>Es dort schließen oder jenes Fenster nehmen</translation>
  </message>
  <message>
   <source>Close the other window and try again</source>
   <translation>Das andere Fenster schließen und nochmals versuchen</translation>
  </message>
  <message>
   <source>CmaTotal: 0 kB, CmaFree: {cma_free_kb} kB</source>
   <translation>CmaTotal: 0 kB, CmaFree: {cma_free_kb} kB</translation>
  </message>
  <message>
   <source>Combine nodes with the same memory.</source>
   <translation>Knoten mit gleichem Speicher zusammenstellen.</translation>
  </message>
  <message>
   <source>Compare the MTU of both ends; the plan puts {mtu} back</source>
   <translation>Die MTU beider Enden vergleichen; der Plan stellt {mtu} wieder her</translation>
  </message>
  <message>
   <source>Connect again: the agent is then replaced by the one of this release</source>
   <translation>Neu verbinden: der Agent wird dann durch den dieser Version ersetzt</translation>
  </message>
  <message>
   <source>Connect all nodes of the plan first</source>
   <translation>Zuerst alle Knoten des Plans verbinden</translation>
  </message>
  <message>
   <source>Connect it, or measure without it</source>
   <translation>Ihn verbinden oder ohne ihn messen</translation>
  </message>
  <message>
   <source>ConnectX firmware</source>
   <translation>ConnectX-Firmware</translation>
  </message>
  <message>
   <source>Correct ProxyJump in the SSH configuration</source>
   <translation>ProxyJump in der SSH-Konfiguration berichtigen</translation>
  </message>
  <message>
   <source>Correct it</source>
   <translation>Es berichtigen</translation>
  </message>
  <message>
   <source>Correct its permissions and try again</source>
   <translation>Die Rechte berichtigen und nochmals versuchen</translation>
  </message>
  <message>
   <source>Correct its permissions, or type the address instead</source>
   <translation>Die Rechte berichtigen oder stattdessen die Adresse eintippen</translation>
  </message>
  <message>
   <source>Correct that line, or restore the file from a backup; nothing was changed</source>
   <translation>Diese Zeile berichtigen oder die Datei aus einer Sicherung holen; nichts wurde geändert</translation>
  </message>
  <message>
   <source>Correct the file by hand</source>
   <translation>Die Datei von Hand berichtigen</translation>
  </message>
  <message>
   <source>Correct the quotes</source>
   <translation>Die Anführungszeichen berichtigen</translation>
  </message>
  <message>
   <source>DGX OS</source>
   <translation>DGX OS</translation>
  </message>
  <message>
   <source>DGX OS {text} is older than clusters need</source>
   <translation>DGX OS {text} ist älter, als Cluster es brauchen</translation>
  </message>
  <message>
   <source>Disconnect and connect it again; the agent is replaced then, and jobs go on.</source>
   <translation>Trennen und neu verbinden; der Agent wird dann ersetzt, Jobs laufen weiter.</translation>
  </message>
  <message>
   <source>Do not write the index into a file; use the variables that Stellwerk makes.</source>
   <translation>Den Index nicht in eine Datei schreiben; die Variablen nehmen, die Stellwerk bildet.</translation>
  </message>
  <message>
   <source>Driver</source>
   <translation>Treiber</translation>
  </message>
  <message>
   <source>Edit the file by hand</source>
   <translation>Die Datei von Hand bearbeiten</translation>
  </message>
  <message>
   <source>Every interface has its own fe80:: network</source>
   <translation>Jede Schnittstelle hat ihr eigenes Netz fe80::</translation>
  </message>
  <message>
   <source>Every key of the ssh-agent that it does not know counts as one attempt</source>
   <translation>Jeder Schlüssel des ssh-agent, den der Rechner nicht kennt, zählt als ein Versuch</translation>
  </message>
  <message>
   <source>Exit status {status}; the machine said: {said}</source>
   <translation>Exit-Status {status}; der Rechner sagte: {said}</translation>
  </message>
  <message>
   <source>Faults then show on one node only, and are hard to find.</source>
   <translation>Fehler zeigen sich dann nur auf einem Knoten und sind schwer zu finden.</translation>
  </message>
  <message>
   <source>Find</source>
   <translation>Finden</translation>
  </message>
  <message>
   <source>Firmware and drivers come with the DGX OS; mixed ones have led to driver errors.</source>
   <translation>Firmware und Treiber kommen mit DGX OS; gemischte führten zu Treiberfehlern.</translation>
  </message>
  <message>
   <source>Free some space and try again; the file from before is unchanged</source>
   <translation>Platz schaffen und nochmals versuchen; die frühere Datei ist unverändert</translation>
  </message>
  <message>
   <source>Free some space on this computer, or correct the folder's permissions, and try again</source>
   <translation>Auf diesem Computer Platz schaffen oder die Rechte des Ordners berichtigen und nochmals versuchen</translation>
  </message>
  <message>
   <source>Free some space there (df -h shows where), then try again</source>
   <translation>Dort Platz schaffen (df -h zeigt, wo), dann nochmals versuchen</translation>
  </message>
  <message>
   <source>Free some space there and try again</source>
   <translation>Dort Platz schaffen und nochmals versuchen</translation>
  </message>
  <message>
   <source>Free some space: old models and container images are the largest.</source>
   <translation>Platz schaffen: alte Modelle und Container-Images sind das Größte.</translation>
  </message>
  <message>
   <source>GID index is {indices} on {netdev}, on the others it is {usual}</source>
   <translation>GID-Index ist {indices} auf {netdev}, auf den anderen {usual}</translation>
  </message>
  <message>
   <source>Give a private network such as 10.100.0.0/16</source>
   <translation>Ein privates Netz angeben, etwa 10.100.0.0/16</translation>
  </message>
  <message>
   <source>Give each half a subnet of its own.</source>
   <translation>Jeder Hälfte ein eigenes Subnetz geben.</translation>
  </message>
  <message>
   <source>Give it one, or remove the line</source>
   <translation>Einen Wert angeben oder die Zeile entfernen</translation>
  </message>
  <message>
   <source>Give the sudo password and look again</source>
   <translation>Das Sudo-Passwort angeben und nochmals ansehen</translation>
  </message>
  <message>
   <source>Give the sudo password and try again</source>
   <translation>Das Sudo-Passwort angeben und nochmals versuchen</translation>
  </message>
  <message>
   <source>Give the sudo password, or switch the interface on, and look again.</source>
   <translation>Das Sudo-Passwort angeben oder die Schnittstelle einschalten, dann nochmals ansehen.</translation>
  </message>
  <message>
   <source>Half {half} of port {port} is down</source>
   <translation>Hälfte {half} von Port {port} ist nicht aktiv</translation>
  </message>
  <message>
   <source>Half {half} of port {port} is switched off</source>
   <translation>Hälfte {half} von Port {port} ist ausgeschaltet</translation>
  </message>
  <message>
   <source>If it stays so with root on every node, follow the cable: its other end is not at one of them.</source>
   <translation>Bleibt es so mit root auf jedem Knoten, dem Kabel folgen: sein anderes Ende ist an keinem davon.</translation>
  </message>
  <message>
   <source>In a {kind} every cable goes from port 0 of one node to port 1 of the next.</source>
   <translation>{kind}: jedes Kabel führt von Port 0 eines Knotens zu Port 1 des nächsten.</translation>
  </message>
  <message>
   <source>InfiniBand carries no Ethernet</source>
   <translation>InfiniBand trägt kein Ethernet</translation>
  </message>
  <message>
   <source>Install Stellwerk again</source>
   <translation>Stellwerk neu installieren</translation>
  </message>
  <message>
   <source>Install it on the machine: sudo apt install python3</source>
   <translation>Es auf dem Rechner installieren: sudo apt install python3</translation>
  </message>
  <message>
   <source>Install it with: pip install 'stellwerk[torch]'</source>
   <translation>Installieren mit: pip install 'stellwerk[torch]'</translation>
  </message>
  <message>
   <source>It answered something else ({text})</source>
   <translation>Es antwortete etwas anderes ({text})</translation>
  </message>
  <message>
   <source>It belongs in {port}; a node needs no cable to itself.</source>
   <translation>Es gehört in {port}; ein Knoten braucht kein Kabel zu sich selbst.</translation>
  </message>
  <message>
   <source>It does nothing.</source>
   <translation>Es bewirkt nichts.</translation>
  </message>
  <message>
   <source>It goes to {port}; it belongs in {place}.</source>
   <translation>Es führt zu {port}; es gehört in {place}.</translation>
  </message>
  <message>
   <source>It has {note}.</source>
   <translation>Sie hat: {note}.</translation>
  </message>
  <message>
   <source>It holds the trusted host keys; without it a changed machine would not be noticed</source>
   <translation>Darin stehen die vertrauten Host-Schlüssel; ohne sie fiele ein veränderter Rechner nicht auf</translation>
  </message>
  <message>
   <source>It is being opened again; check the machine if that does not succeed</source>
   <translation>Sie wird neu aufgebaut; gelingt es nicht, den Rechner prüfen</translation>
  </message>
  <message>
   <source>It is in {home}/.ssh/authorized_keys, but its SSH server does not accept it</source>
   <translation>Er steht in {home}/.ssh/authorized_keys, aber der SSH-Server dort nimmt ihn nicht an</translation>
  </message>
  <message>
   <source>It is off, has another address, or a firewall drops the connection</source>
   <translation>Er ist aus, hat eine andere Adresse, oder eine Firewall verwirft die Verbindung</translation>
  </message>
  <message>
   <source>It is the key with which this cluster's machines are reached</source>
   <translation>Mit diesem Schlüssel werden die Rechner dieses Clusters erreicht</translation>
  </message>
  <message>
   <source>It is {agent_version}, {agent_hash}; expected {sha256}</source>
   <translation>Es ist {agent_version}, {agent_hash}; erwartet wurde {sha256}</translation>
  </message>
  <message>
   <source>It joins port {port} to port {other_port}. {rule}</source>
   <translation>Es verbindet Port {port} mit Port {other_port}. {rule}</translation>
  </message>
  <message>
   <source>It may be another one after a restart; Docker Swarm, Ray and NCCL keep the old one.</source>
   <translation>Nach einem Neustart kann es eine andere sein; Docker Swarm, Ray und NCCL behalten die alte.</translation>
  </message>
  <message>
   <source>It may be no SSH server: it never named itself as one. An SSH server does so, too, when it limits connections (MaxStartups), blocks this address, or is starting up</source>
   <translation>Vielleicht ist es kein SSH-Server: er gab sich nie als einer zu erkennen. Auch ein SSH-Server tut das, wenn er Verbindungen begrenzt (MaxStartups), diese Adresse sperrt oder gerade startet</translation>
  </message>
  <message>
   <source>It may work for a long time and then give half the speed.</source>
   <translation>Es kann lange gut gehen und dann das halbe Tempo geben.</translation>
  </message>
  <message>
   <source>It said {said} and closed the connection</source>
   <translation>Es sagte {said} und schloss die Verbindung</translation>
  </message>
  <message>
   <source>It said: {reason}</source>
   <translation>Er sagte: {reason}</translation>
  </message>
  <message>
   <source>It shows {fingerprint} ({kind}), and nobody confirmed it</source>
   <translation>Er zeigt {fingerprint} ({kind}), und niemand hat es bestätigt</translation>
  </message>
  <message>
   <source>It was not released within {lock_s} s</source>
   <translation>Sie wurde in {lock_s} s nicht freigegeben</translation>
  </message>
  <message>
   <source>It was set by hand and works until the node restarts or NetworkManager takes over.</source>
   <translation>Es wurde von Hand gesetzt und hält, bis der Knoten neu startet oder NetworkManager übernimmt.</translation>
  </message>
  <message>
   <source>It works here. In a LAN of that range this node can no longer be reached.</source>
   <translation>Hier geht es. In einem LAN mit diesem Bereich ist der Knoten nicht mehr erreichbar.</translation>
  </message>
  <message>
   <source>It works, but with the same port on all nodes every setting is the same on all, too.</source>
   <translation>Es geht, aber mit demselben Port an allen Knoten ist auch jede Einstellung überall gleich.</translation>
  </message>
  <message>
   <source>It works, but with the same port on both nodes every setting is the same on both, too.</source>
   <translation>Es geht, aber mit demselben Port an beiden Knoten ist auch jede Einstellung auf beiden gleich.</translation>
  </message>
  <message>
   <source>It works; models that span nodes may get slower by a few percent.</source>
   <translation>Es geht; Modelle über mehrere Knoten werden vielleicht ein paar Prozent langsamer.</translation>
  </message>
  <message>
   <source>Its SSH server may limit connections (MaxStartups), block this address, or be starting up</source>
   <translation>Der SSH-Server dort begrenzt vielleicht Verbindungen (MaxStartups), sperrt diese Adresse oder startet gerade</translation>
  </message>
  <message>
   <source>Its port is needed for another cable.</source>
   <translation>Sein Port wird für ein anderes Kabel gebraucht.</translation>
  </message>
  <message>
   <source>Kernel</source>
   <translation>Kernel</translation>
  </message>
  <message>
   <source>Kernel {kernel} has a known fault</source>
   <translation>Kernel {kernel} hat einen bekannten Fehler</translation>
  </message>
  <message>
   <source>Known: {known}</source>
   <translation>Bekannt: {known}</translation>
  </message>
  <message>
   <source>Large packets are dropped there. Small ones pass, so a ping looks fine, but RDMA stops with IBV_WC_RETRY_EXC_ERR as soon as a model runs.</source>
   <translation>Große Pakete werden dort verworfen. Kleine gehen durch, ein Ping sieht also gut aus, aber RDMA endet mit IBV_WC_RETRY_EXC_ERR, sobald ein Modell läuft.</translation>
  </message>
  <message>
   <source>Leave it in one file; the plan takes it out of {foreign}.</source>
   <translation>Sie in einer Datei lassen; der Plan nimmt sie aus {foreign}.</translation>
  </message>
  <message>
   <source>Leave it out of the fabric; it can still be watched.</source>
   <translation>Ihn nicht ins Fabric nehmen; beobachten lässt er sich trotzdem.</translation>
  </message>
  <message>
   <source>Leave it, or pull it.</source>
   <translation>Es lassen oder ziehen.</translation>
  </message>
  <message>
   <source>Let the nodes reach each other first</source>
   <translation>Zuerst die Knoten einander erreichen lassen</translation>
  </message>
  <message>
   <source>Link speed and PCIe width depend on it.</source>
   <translation>Link-Tempo und PCIe-Breite hängen davon ab.</translation>
  </message>
  <message>
   <source>Log in as a user who may use sudo on these nodes</source>
   <translation>Als ein Benutzer anmelden, der auf diesen Knoten sudo benutzen darf</translation>
  </message>
  <message>
   <source>Logs cannot be compared, certificates fail, and a distributed job may give up.</source>
   <translation>Protokolle sind nicht vergleichbar, Zertifikate versagen, und ein verteilter Job gibt vielleicht auf.</translation>
  </message>
  <message>
   <source>Look</source>
   <translation>Ansehen</translation>
  </message>
  <message>
   <source>Look at PubkeyAuthentication and AuthorizedKeysFile in its /etc/ssh/sshd_config, and at: journalctl -u ssh -n 20 (user {user})</source>
   <translation>PubkeyAuthentication und AuthorizedKeysFile in seiner /etc/ssh/sshd_config ansehen, und: journalctl -u ssh -n 20 (Benutzer {user})</translation>
  </message>
  <message>
   <source>Look at `dmesg` there: a file system with errors is mounted read-only until it is repaired</source>
   <translation>Dort `dmesg` ansehen: ein Dateisystem mit Fehlern ist bis zur Reparatur nur lesbar eingehängt</translation>
  </message>
  <message>
   <source>Look at its load (uptime), then try again</source>
   <translation>Seine Last ansehen (uptime), dann nochmals versuchen</translation>
  </message>
  <message>
   <source>Look at the cable between {node} port {port} and {peer}</source>
   <translation>Das Kabel zwischen {node} Port {port} und {peer} ansehen</translation>
  </message>
  <message>
   <source>Looking it up said: {said}</source>
   <translation>Die Namensauflösung sagte: {said}</translation>
  </message>
  <message>
   <source>MTU is {mtu} on one half of {member}, {usual} elsewhere</source>
   <translation>MTU ist {mtu} auf einer Hälfte von {member}, sonst {usual}</translation>
  </message>
  <message>
   <source>MTU is {mtu} on {count} halves of {member}, their files say {usual}</source>
   <translation>MTU ist {mtu} auf {count} Hälften von {member}, ihre Dateien sagen {usual}</translation>
  </message>
  <message>
   <source>MTU is {mtu} on {count} halves of {member}, {usual} elsewhere</source>
   <translation>MTU ist {mtu} auf {count} Hälften von {member}, sonst {usual}</translation>
  </message>
  <message>
   <source>MTU is {mtu} on {netdev}, its file says {usual}</source>
   <translation>MTU ist {mtu} auf {netdev}, in der Datei steht {usual}</translation>
  </message>
  <message>
   <source>Make the plan and apply it</source>
   <translation>Den Plan machen und anwenden</translation>
  </message>
  <message>
   <source>Make the plan and apply it; it shows every change before.</source>
   <translation>Den Plan machen und anwenden; er zeigt vorher jede Änderung.</translation>
  </message>
  <message>
   <source>Memory</source>
   <translation>Speicher</translation>
  </message>
  <message>
   <source>Mend what it names on the machine, then try again</source>
   <translation>Auf dem Rechner beheben, was es nennt, dann nochmals versuchen</translation>
  </message>
  <message>
   <source>Mixed drivers have led to hangs in NCCL and to GSP errors.</source>
   <translation>Gemischte Treiber führten zu Hängern in NCCL und zu GSP-Fehlern.</translation>
  </message>
  <message>
   <source>Move it away and try again</source>
   <translation>Sie wegschieben und nochmals versuchen</translation>
  </message>
  <message>
   <source>NVIDIA supports clusters from the DGX OS of April 2026 on.</source>
   <translation>NVIDIA unterstützt Cluster ab dem DGX OS vom April 2026.</translation>
  </message>
  <message>
   <source>Name one: --cluster {known}</source>
   <translation>Einen nennen: --cluster {known}</translation>
  </message>
  <message>
   <source>Name the right key with IdentityFile and IdentitiesOnly in ~/.ssh/config, and try again in a minute</source>
   <translation>Den richtigen Schlüssel mit IdentityFile und IdentitiesOnly in ~/.ssh/config nennen und in einer Minute nochmals versuchen</translation>
  </message>
  <message>
   <source>Neighbours reach each other; nodes on opposite sides do not.</source>
   <translation>Nachbarn erreichen sich; Knoten auf gegenüberliegenden Seiten nicht.</translation>
  </message>
  <message>
   <source>Next opens when a machine is ready</source>
   <translation>„Weiter“ öffnet sich, sobald ein Rechner bereit ist</translation>
  </message>
  <message>
   <source>Next opens when the cables of the {shape} are right</source>
   <translation>„Weiter“ öffnet sich, sobald die Kabel stimmen ({shape})</translation>
  </message>
  <message>
   <source>No answer from {names}</source>
   <translation>Keine Antwort von {names}</translation>
  </message>
  <message>
   <source>No key and no password was accepted</source>
   <translation>Kein Schlüssel und kein Passwort wurde angenommen</translation>
  </message>
  <message>
   <source>Nodes on a switch need no cable to each other, and the two kinds do not mix.</source>
   <translation>Knoten an einem Switch brauchen kein Kabel zueinander, und beides verträgt sich nicht.</translation>
  </message>
  <message>
   <source>Nodes that are no neighbours reach each other through those between them: routes, forwarding on the fabric interfaces alone, and firewall rules for the fabric's subnets.</source>
   <translation>Knoten, die keine Nachbarn sind, erreichen sich über die dazwischen: Routen, Weiterleitung nur auf den Schnittstellen des Fabrics und Firewall-Regeln für dessen Subnetze.</translation>
  </message>
  <message>
   <source>On a cluster every node runs one rank</source>
   <translation>Auf einem Cluster führt jeder Knoten einen Rang aus</translation>
  </message>
  <message>
   <source>On a switch: set the port to 200G-baseCR4 and switch auto-negotiation off.</source>
   <translation>An einem Switch: den Port auf 200G-baseCR4 stellen und die Autonegotiation ausschalten.</translation>
  </message>
  <message>
   <source>On that machine its disk is full</source>
   <translation>Auf diesem Rechner ist die Platte voll</translation>
  </message>
  <message>
   <source>On that machine the user's disk quota is used up</source>
   <translation>Auf diesem Rechner ist das Plattenkontingent des Benutzers verbraucht</translation>
  </message>
  <message>
   <source>On the machine: chmod go-w {home}</source>
   <translation>Auf dem Rechner: chmod go-w {home}</translation>
  </message>
  <message>
   <source>On the switch, set this port to 200G-baseCR4 and switch auto-negotiation off.</source>
   <translation>Am Switch diesen Port auf 200G-baseCR4 stellen und die Autonegotiation ausschalten.</translation>
  </message>
  <message>
   <source>On {first} and {second}: timedatectl set-ntp true, and look why one was off.</source>
   <translation>Auf {first} und {second}: timedatectl set-ntp true, und nachsehen, warum eine aus war.</translation>
  </message>
  <message>
   <source>On {member}: sudo apt install {packages}</source>
   <translation>Auf {member}: sudo apt install {packages}</translation>
  </message>
  <message>
   <source>On {names}: {remedy}.</source>
   <translation>Auf {names}: {remedy}.</translation>
  </message>
  <message>
   <source>On {name}: sudo apt install perftest</source>
   <translation>Auf {name}: sudo apt install perftest</translation>
  </message>
  <message>
   <source>On {name}: timedatectl set-ntp true, and look why it was off.</source>
   <translation>Auf {name}: timedatectl set-ntp true, und nachsehen, warum es aus war.</translation>
  </message>
  <message>
   <source>One is a copy of the other. DHCP may give both one address, and logs cannot be told apart.</source>
   <translation>Die eine ist eine Kopie der anderen. DHCP gibt vielleicht beiden eine Adresse, und Protokolle sind nicht zu unterscheiden.</translation>
  </message>
  <message>
   <source>One node needs no fabric: nothing to change.</source>
   <translation>Ein einzelner Knoten braucht kein Fabric: nichts zu ändern.</translation>
  </message>
  <message>
   <source>One port carries all that the node can; the second one is left alone.</source>
   <translation>Ein Port trägt alles, was der Knoten kann; der zweite bleibt unberührt.</translation>
  </message>
  <message>
   <source>Only nodes that leave.</source>
   <translation>Nur Knoten, die den Cluster verlassen.</translation>
  </message>
  <message>
   <source>Other users may write to the home directory {home} (mode {mode}), so its SSH server distrusts the keys in it (StrictModes)</source>
   <translation>Andere Benutzer dürfen in das Home-Verzeichnis {home} schreiben (Modus {mode}), deshalb misstraut der SSH-Server den Schlüsseln darin (StrictModes)</translation>
  </message>
  <message>
   <source>Pair</source>
   <translation>Koppeln</translation>
  </message>
  <message>
   <source>Pair it again: the agent is then checked and sent anew</source>
   <translation>Ihn neu koppeln: der Agent wird dann geprüft und neu gesendet</translation>
  </message>
  <message>
   <source>Pair the machine again when you have it</source>
   <translation>Den Rechner neu koppeln, sobald es bekannt ist</translation>
  </message>
  <message>
   <source>Pair the machines first</source>
   <translation>Zuerst die Rechner koppeln</translation>
  </message>
  <message>
   <source>Pair the others first</source>
   <translation>Zuerst die anderen koppeln</translation>
  </message>
  <message>
   <source>Paths and owners of files differ; mpirun and shared folders expect the same user.</source>
   <translation>Pfade und Besitzer von Dateien weichen ab; mpirun und gemeinsame Ordner erwarten denselben Benutzer.</translation>
  </message>
  <message>
   <source>Plan</source>
   <translation>Plan</translation>
  </message>
  <message>
   <source>Plug a cable from {far} into {near}, which is free then.</source>
   <translation>Ein Kabel von {far} in {near} stecken, das dann frei ist.</translation>
  </message>
  <message>
   <source>Plug a cable from {node} {here} into the switch.</source>
   <translation>Ein Kabel von {node} {here} in den Switch stecken.</translation>
  </message>
  <message>
   <source>Plug a cable from {port} into {other}.</source>
   <translation>Ein Kabel von {port} in {other} stecken.</translation>
  </message>
  <message>
   <source>Plug {port} into {main}, or put both switches into one bridge.</source>
   <translation>{port} in {main} stecken oder beide Switches zu einer Bridge verbinden.</translation>
  </message>
  <message>
   <source>Port {port} half {half}</source>
   <translation>Port {port} Hälfte {half}</translation>
  </message>
  <message>
   <source>Probably a file includes itself</source>
   <translation>Vermutlich bindet eine Datei sich selbst ein</translation>
  </message>
  <message>
   <source>Prove</source>
   <translation>Beweisen</translation>
  </message>
  <message>
   <source>Prove again while the nodes are idle</source>
   <translation>Erneut beweisen, während die Knoten nichts tun</translation>
  </message>
  <message>
   <source>Prove the network first, then measure fewer sizes</source>
   <translation>Zuerst das Netz beweisen, dann weniger Größen messen</translation>
  </message>
  <message>
   <source>Pull the cable out of {port} and {other}.</source>
   <translation>Das Kabel aus {port} und {other} ziehen.</translation>
  </message>
  <message>
   <source>Pull the plug out of {node} {here} and put it into {other} {there}.</source>
   <translation>Den Stecker aus {node} {here} ziehen und in {other} {there} stecken.</translation>
  </message>
  <message>
   <source>Pull the plug out of {node} {here}.</source>
   <translation>Den Stecker aus {node} {here} ziehen.</translation>
  </message>
  <message>
   <source>Put the cables right, or choose another topology</source>
   <translation>Die Kabel richten oder eine andere Topologie wählen</translation>
  </message>
  <message>
   <source>Put the checks above right, then prove again</source>
   <translation>Die Prüfungen darüber in Ordnung bringen, dann erneut beweisen</translation>
  </message>
  <message>
   <source>Put the link speed right first</source>
   <translation>Zuerst das Link-Tempo in Ordnung bringen</translation>
  </message>
  <message>
   <source>Put {usual} back. Nothing else changes.</source>
   <translation>{usual} wiederherstellen. Sonst ändert sich nichts.</translation>
  </message>
  <message>
   <source>RDMA connections end with `local GID ::` or hang.</source>
   <translation>RDMA-Verbindungen enden mit `local GID ::` oder hängen.</translation>
  </message>
  <message>
   <source>RDMA is measured with it</source>
   <translation>RDMA wird damit gemessen</translation>
  </message>
  <message>
   <source>RDMA uses each half by itself; in a bond or bridge its speed is lost.</source>
   <translation>RDMA nutzt jede Hälfte für sich; in einem Bond oder einer Bridge geht ihre Geschwindigkeit verloren.</translation>
  </message>
  <message>
   <source>Ranks meet over the fabric</source>
   <translation>Ränge treffen sich über das Fabric</translation>
  </message>
  <message>
   <source>Remove it, or measure again</source>
   <translation>Sie entfernen oder neu messen</translation>
  </message>
  <message>
   <source>Remove one of the two; machines cloned from one image need new machine ids</source>
   <translation>Einen der beiden entfernen; aus einem Image geklonte Rechner brauchen neue Machine-IDs</translation>
  </message>
  <message>
   <source>Remove that Include line</source>
   <translation>Diese Include-Zeile entfernen</translation>
  </message>
  <message>
   <source>Remove them from that file by hand</source>
   <translation>Sie von Hand aus dieser Datei nehmen</translation>
  </message>
  <message>
   <source>Restart the node.</source>
   <translation>Den Knoten neu starten.</translation>
  </message>
  <message>
   <source>Restart the node; if it stays, update its firmware.</source>
   <translation>Den Knoten neu starten; bleibt es so, seine Firmware aktualisieren.</translation>
  </message>
  <message>
   <source>Restore it from a backup</source>
   <translation>Sie aus einer Sicherung holen</translation>
  </message>
  <message>
   <source>Restore it from a backup, or move it away and compare every machine's fingerprint again</source>
   <translation>Sie aus einer Sicherung holen, oder sie wegschieben und den Fingerabdruck jedes Rechners neu vergleichen</translation>
  </message>
  <message>
   <source>Restore it from a backup, or move it away and pair the machines again</source>
   <translation>Sie aus einer Sicherung holen, oder sie wegschieben und die Rechner neu koppeln</translation>
  </message>
  <message>
   <source>Restore the file from a backup, or move it away: a node that was not told to keep a change goes back by itself</source>
   <translation>Die Datei aus einer Sicherung holen oder sie wegschieben: ein Knoten, dem nicht gesagt wurde, die Änderung zu behalten, kehrt von selbst zurück</translation>
  </message>
  <message>
   <source>Run `stellwerk setup`, or `stellwerk pair HOST …`</source>
   <translation>`stellwerk setup` oder `stellwerk pair HOST …` ausführen</translation>
  </message>
  <message>
   <source>Run `{command}` on the machine itself and compare</source>
   <translation>`{command}` auf dem Rechner selbst ausführen und vergleichen</translation>
  </message>
  <message>
   <source>SSH and agent</source>
   <translation>SSH und Agent</translation>
  </message>
  <message>
   <source>Save the report and send it to the developers; nothing on the nodes was changed by this</source>
   <translation>Den Bericht speichern und an die Entwickler senden; an den Knoten wurde dadurch nichts geändert</translation>
  </message>
  <message>
   <source>See each half of this port for the reason</source>
   <translation>Den Grund zeigt jede Hälfte dieses Ports</translation>
  </message>
  <message>
   <source>See to the permissions of that folder and try again; the file from before is unchanged</source>
   <translation>Die Rechte dieses Ordners prüfen und nochmals versuchen; die frühere Datei ist unverändert</translation>
  </message>
  <message>
   <source>See whether it is switched on, then prove again.</source>
   <translation>Nachsehen, ob er eingeschaltet ist, dann erneut beweisen.</translation>
  </message>
  <message>
   <source>Set arp_ignore, arp_announce and rp_filter on the fabric halves.</source>
   <translation>arp_ignore, arp_announce und rp_filter auf den Hälften des Fabrics setzen.</translation>
  </message>
  <message>
   <source>Set the fabric up first</source>
   <translation>Zuerst das Fabric einrichten</translation>
  </message>
  <message>
   <source>Shut the machine down, unplug its power for a minute, start it.</source>
   <translation>Den Rechner herunterfahren, eine Minute vom Strom trennen, starten.</translation>
  </message>
  <message>
   <source>Shut {node} down, unplug its power for a minute, start it and prove again</source>
   <translation>{node} herunterfahren, eine Minute vom Strom trennen, starten und erneut beweisen</translation>
  </message>
  <message>
   <source>Shut {node}, then {peer}, down, unplug its power for a minute, start it again and prove again</source>
   <translation>{node}, dann {peer} herunterfahren, eine Minute vom Strom trennen, wieder starten und erneut beweisen</translation>
  </message>
  <message>
   <source>Start the kernel with kho=off, or use kernel 6.17.</source>
   <translation>Den Kernel mit kho=off starten oder Kernel 6.17 nehmen.</translation>
  </message>
  <message>
   <source>Stellwerk sets up one to eight nodes</source>
   <translation>Stellwerk richtet einen bis acht Knoten ein</translation>
  </message>
  <message>
   <source>Such an entry cannot be taken over without changing other interfaces.</source>
   <translation>Ein solcher Eintrag lässt sich nicht übernehmen, ohne andere Schnittstellen zu ändern.</translation>
  </message>
  <message>
   <source>Such as 192.168.1.20</source>
   <translation>Etwa 192.168.1.20</translation>
  </message>
  <message>
   <source>Such as fd00::20 or fe80::20%eth0</source>
   <translation>Etwa fd00::20 oder fe80::20%eth0</translation>
  </message>
  <message>
   <source>Swap them: the plug in {node} {here} and the one in {other} {there}.</source>
   <translation>Sie tauschen: den Stecker in {node} {here} und den in {other} {there}.</translation>
  </message>
  <message>
   <source>Switch it on, look at its cable and address, then prove again.</source>
   <translation>Ihn einschalten, Kabel und Adresse ansehen, dann erneut beweisen.</translation>
  </message>
  <message>
   <source>Switch it on, see to its network, then try again</source>
   <translation>Ihn einschalten, sein Netz prüfen, dann nochmals versuchen</translation>
  </message>
  <message>
   <source>Switch the DHCP server of the switch off.</source>
   <translation>Den DHCP-Server des Switches ausschalten.</translation>
  </message>
  <message>
   <source>Switch {device} on, or apply the plan again</source>
   <translation>{device} einschalten oder den Plan nochmals anwenden</translation>
  </message>
  <message>
   <source>Take another one off, or make a second cluster</source>
   <translation>Einen anderen herausnehmen oder einen zweiten Cluster anlegen</translation>
  </message>
  <message>
   <source>Take back the newer ones first</source>
   <translation>Zuerst die neueren zurücknehmen</translation>
  </message>
  <message>
   <source>Take {device} out of {master}.</source>
   <translation>{device} aus {master} nehmen.</translation>
  </message>
  <message>
   <source>Take {netdev} out of that file by hand, then look again</source>
   <translation>{netdev} von Hand aus dieser Datei nehmen, dann nochmals ansehen</translation>
  </message>
  <message>
   <source>Take {netdev} out of {path} by hand.</source>
   <translation>{netdev} von Hand aus {path} nehmen.</translation>
  </message>
  <message>
   <source>The MTU is 1500 everywhere, which works. 9000 gives larger RDMA packets: choose it to change.</source>
   <translation>Die MTU ist überall 1500, das geht. 9000 erlaubt größere RDMA-Pakete: zum Ändern wählen.</translation>
  </message>
  <message>
   <source>The PCIe link of {netdev} came up at {pcie_speed_gts} GT/s ×{pcie_width}</source>
   <translation>Der PCIe-Link von {netdev} kam mit {pcie_speed_gts} GT/s ×{pcie_width} hoch</translation>
  </message>
  <message>
   <source>The Python package ziglang is not installed</source>
   <translation>Das Python-Paket ziglang ist nicht installiert</translation>
  </message>
  <message>
   <source>The agent for the nodes is built from it</source>
   <translation>Der Agent für die Knoten wird daraus gebaut</translation>
  </message>
  <message>
   <source>The cable between {port} and {other} has no place in a {kind}.</source>
   <translation>Das Kabel zwischen {port} und {other} hat hier keinen Platz ({kind}).</translation>
  </message>
  <message>
   <source>The cable from {other} is in the wrong port of {node}.</source>
   <translation>Das Kabel von {other} steckt im falschen Port von {node}.</translation>
  </message>
  <message>
   <source>The cable from {port} goes to the wrong node.</source>
   <translation>Das Kabel von {port} führt zum falschen Knoten.</translation>
  </message>
  <message>
   <source>The cable joins port {port} of {node} to port {other_port} of {other}.</source>
   <translation>Das Kabel verbindet Port {port} von {node} mit Port {other_port} von {other}.</translation>
  </message>
  <message>
   <source>The clock of {name} is {seconds} s ahead of the others</source>
   <translation>Die Uhr von {name} geht gegenüber den anderen {seconds} s vor</translation>
  </message>
  <message>
   <source>The clock of {name} is {seconds} s behind the others</source>
   <translation>Die Uhr von {name} geht gegenüber den anderen {seconds} s nach</translation>
  </message>
  <message>
   <source>The clocks of {first} and {second} are {apart} s apart</source>
   <translation>Die Uhren von {first} und {second} liegen {apart} s auseinander</translation>
  </message>
  <message>
   <source>The connection to a node runs over the fabric of {last}: that one is changed last, and the connection may pause for some seconds.</source>
   <translation>Die Verbindung zu einem Knoten läuft über das Fabric von {last}: dieser Knoten wird zuletzt geändert, und die Verbindung stockt vielleicht einige Sekunden.</translation>
  </message>
  <message>
   <source>The connection to it was lost while it was measured: {why}</source>
   <translation>Die Verbindung zu ihm ging während der Messung verloren: {why}</translation>
  </message>
  <message>
   <source>The home directory there is read-only</source>
   <translation>Das Home-Verzeichnis dort ist nur lesbar</translation>
  </message>
  <message>
   <source>The kernel keeps {cma_free_kb} that RDMA cannot register</source>
   <translation>Der Kernel hält {cma_free_kb}, die RDMA nicht registrieren kann</translation>
  </message>
  <message>
   <source>The link between {port} and {other} runs at {speed}, not at 200 Gb/s.</source>
   <translation>Der Link zwischen {port} und {other} läuft mit {speed}, nicht mit 200 Gb/s.</translation>
  </message>
  <message>
   <source>The link from {port} to the switch runs at {speed}, not at 200 Gb/s.</source>
   <translation>Der Link von {port} zum Switch läuft mit {speed}, nicht mit 200 Gb/s.</translation>
  </message>
  <message>
   <source>The machine gave no reason</source>
   <translation>Der Rechner nannte keinen Grund</translation>
  </message>
  <message>
   <source>The machine is overloaded, or its disk is very slow</source>
   <translation>Der Rechner ist überlastet, oder seine Platte ist sehr langsam</translation>
  </message>
  <message>
   <source>The machine is overloaded, or its login shell waits for something</source>
   <translation>Der Rechner ist überlastet, oder seine Login-Shell wartet auf etwas</translation>
  </message>
  <message>
   <source>The machine is overloaded, or something else than an SSH server listens there</source>
   <translation>Der Rechner ist überlastet, oder dort hört etwas anderes als ein SSH-Server</translation>
  </message>
  <message>
   <source>The machine is there, but no SSH server listens on that port</source>
   <translation>Der Rechner ist da, aber auf diesem Port hört kein SSH-Server</translation>
  </message>
  <message>
   <source>The machine may be overloaded; try again</source>
   <translation>Der Rechner ist vielleicht überlastet; nochmals versuchen</translation>
  </message>
  <message>
   <source>The machine refused the password, and no other one was given</source>
   <translation>Der Rechner wies das Passwort ab, und kein anderes wurde angegeben</translation>
  </message>
  <message>
   <source>The machine said: {said}</source>
   <translation>Der Rechner sagte: {said}</translation>
  </message>
  <message>
   <source>The network says: {said}</source>
   <translation>Das Netz sagt: {said}</translation>
  </message>
  <message>
   <source>The node can be watched, but its network cannot be changed.</source>
   <translation>Der Knoten lässt sich beobachten, sein Netz aber nicht ändern.</translation>
  </message>
  <message>
   <source>The node does not answer, so nothing on it was checked.</source>
   <translation>Der Knoten antwortet nicht, also wurde an ihm nichts geprüft.</translation>
  </message>
  <message>
   <source>The node may stop while it runs.</source>
   <translation>Der Knoten kann im Betrieb stehen bleiben.</translation>
  </message>
  <message>
   <source>The nodes are still being read</source>
   <translation>Die Knoten werden noch gelesen</translation>
  </message>
  <message>
   <source>The old file was left as it was</source>
   <translation>Die alte Datei blieb, wie sie war</translation>
  </message>
  <message>
   <source>The plan has not been applied</source>
   <translation>Der Plan wurde nicht angewandt</translation>
  </message>
  <message>
   <source>The plugs in {port} and {other} are in each other's place.</source>
   <translation>Die Stecker in {port} und {other} stecken jeweils am Platz des anderen.</translation>
  </message>
  <message>
   <source>The port is left alone.</source>
   <translation>Der Port bleibt unberührt.</translation>
  </message>
  <message>
   <source>The two do not pass traffic to each other.</source>
   <translation>Die beiden geben einander keinen Verkehr weiter.</translation>
  </message>
  <message>
   <source>The two plugs of {node} are in each other's port.</source>
   <translation>Die beiden Stecker von {node} stecken jeweils im Port des anderen.</translation>
  </message>
  <message>
   <source>The user may not write there</source>
   <translation>Der Benutzer darf dort nicht schreiben</translation>
  </message>
  <message>
   <source>There is a cable in {ports}, but nothing at its other end answers: look where it goes.</source>
   <translation>In {ports} steckt ein Kabel, aber am anderen Ende antwortet nichts: nachsehen, wohin es führt.</translation>
  </message>
  <message>
   <source>There is no plan yet</source>
   <translation>Es gibt noch keinen Plan</translation>
  </message>
  <message>
   <source>This half is limited by it; the other one is not.</source>
   <translation>Diese Hälfte wird davon begrenzt, die andere nicht.</translation>
  </message>
  <message>
   <source>Traffic for one of the two networks goes to the other one.</source>
   <translation>Verkehr für eines der beiden Netze landet im anderen.</translation>
  </message>
  <message>
   <source>Try a cable made for 200 or 400 Gb/s Ethernet.</source>
   <translation>Ein Kabel für 200 oder 400 Gb/s Ethernet versuchen.</translation>
  </message>
  <message>
   <source>Try again in a moment; if it stays so, reboot the machine</source>
   <translation>Gleich nochmals versuchen; bleibt es so, den Rechner neu starten</translation>
  </message>
  <message>
   <source>Two desktops that change one node would undo each other's work</source>
   <translation>Zwei Desktops, die denselben Knoten ändern, würden einander die Arbeit zunichtemachen</translation>
  </message>
  <message>
   <source>Two interfaces in one subnet confuse routing and NCCL: answers leave by the wrong half, and one half carries everything. Some NVIDIA tools write it this way.</source>
   <translation>Zwei Schnittstellen in einem Subnetz verwirren Routing und NCCL: Antworten gehen über die falsche Hälfte, und eine Hälfte trägt alles. Manche NVIDIA-Werkzeuge schreiben es so.</translation>
  </message>
  <message>
   <source>Type a host name or an address, for example spark-1 or 192.168.1.20</source>
   <translation>Einen Hostnamen oder eine Adresse eintippen, zum Beispiel spark-1 oder 192.168.1.20</translation>
  </message>
  <message>
   <source>Type a host name or an address, such as spark-1.local</source>
   <translation>Einen Hostnamen oder eine Adresse eintippen, etwa spark-1.local</translation>
  </message>
  <message>
   <source>Type the machines' names or addresses instead</source>
   <translation>Stattdessen Namen oder Adressen der Rechner eintippen</translation>
  </message>
  <message>
   <source>Update Stellwerk</source>
   <translation>Stellwerk aktualisieren</translation>
  </message>
  <message>
   <source>Update Stellwerk on this computer, or un-pair the machine there first</source>
   <translation>Stellwerk auf diesem Computer aktualisieren oder den Rechner dort zuerst entkoppeln</translation>
  </message>
  <message>
   <source>Update all nodes and restart them.</source>
   <translation>Alle Knoten aktualisieren und neu starten.</translation>
  </message>
  <message>
   <source>Update in the DGX Dashboard, then restart.</source>
   <translation>Im DGX Dashboard aktualisieren, dann neu starten.</translation>
  </message>
  <message>
   <source>Update its firmware.</source>
   <translation>Die Firmware aktualisieren.</translation>
  </message>
  <message>
   <source>Update the SSH server of that machine</source>
   <translation>Den SSH-Server dieses Rechners aktualisieren</translation>
  </message>
  <message>
   <source>Update the machine (DGX OS brings 3.12), or install a newer python3 that comes first in PATH</source>
   <translation>Den Rechner aktualisieren (DGX OS bringt 3.12) oder ein neueres python3 installieren, das im PATH zuerst kommt</translation>
  </message>
  <message>
   <source>Update the node and restart it.</source>
   <translation>Den Knoten aktualisieren und neu starten.</translation>
  </message>
  <message>
   <source>Use a 200 or 400 Gb/s QSFP copper cable made for Ethernet, and plug it in again.</source>
   <translation>Ein QSFP-Kupferkabel für 200 oder 400 Gb/s Ethernet nehmen und neu stecken.</translation>
  </message>
  <message>
   <source>Use a key that it knows (ssh-agent, IdentityFile), or allow PasswordAuthentication there</source>
   <translation>Einen Schlüssel nehmen, den der Rechner kennt (ssh-agent, IdentityFile), oder dort PasswordAuthentication erlauben</translation>
  </message>
  <message>
   <source>Use the Ethernet port where you can.</source>
   <translation>Wo möglich den Ethernet-Port nehmen.</translation>
  </message>
  <message>
   <source>Use the same user on all nodes, or leave it: Stellwerk does not need it.</source>
   <translation>Auf allen Knoten denselben Benutzer nehmen, oder es lassen: Stellwerk braucht es nicht.</translation>
  </message>
  <message>
   <source>User</source>
   <translation>Benutzer</translation>
  </message>
  <message>
   <source>Wait a minute and try again; on the machine, look at: journalctl -u ssh -n 20</source>
   <translation>Eine Minute warten und nochmals versuchen; auf dem Rechner ansehen: journalctl -u ssh -n 20</translation>
  </message>
  <message>
   <source>Wait until it is connected again, or pair the machine</source>
   <translation>Warten, bis er wieder verbunden ist, oder den Rechner koppeln</translation>
  </message>
  <message>
   <source>What runs on the nodes is built from it</source>
   <translation>Daraus wird gebaut, was auf den Knoten läuft</translation>
  </message>
  <message>
   <source>Whether a cable joins {port} and {other} cannot be told.</source>
   <translation>Ob ein Kabel {port} und {other} verbindet, ist nicht zu sagen.</translation>
  </message>
  <message>
   <source>Whether {node} is on the switch cannot be told.</source>
   <translation>Ob {node} am Switch hängt, ist nicht zu sagen.</translation>
  </message>
  <message>
   <source>Without it nobody can tell it from another machine</source>
   <translation>Ohne ihn kann niemand diesen Rechner von einem anderen unterscheiden</translation>
  </message>
  <message>
   <source>Without them bandwidth and latency cannot be proven.</source>
   <translation>Ohne sie lassen sich Bandbreite und Latenz nicht beweisen.</translation>
  </message>
  <message>
   <source>Write ProxyJump instead, or name the jump host in the dialog</source>
   <translation>Stattdessen ProxyJump schreiben oder den Jump-Host im Dialog nennen</translation>
  </message>
  <message>
   <source>Write an IPv6 address as [fd00::1]:22</source>
   <translation>Eine IPv6-Adresse als [fd00::1]:22 schreiben</translation>
  </message>
  <message>
   <source>Write host:port without them</source>
   <translation>host:port ohne sie schreiben</translation>
  </message>
  <message>
   <source>Write it as user@host:port or ssh://user@host:port</source>
   <translation>Als user@host:port oder ssh://user@host:port schreiben</translation>
  </message>
  <message>
   <source>Write user@host</source>
   <translation>user@host schreiben</translation>
  </message>
  <message>
   <source>Write user@host, without a password</source>
   <translation>user@host schreiben, ohne Passwort</translation>
  </message>
  <message>
   <source>`network:` holds no settings</source>
   <translation>`network:` enthält keine Einstellungen</translation>
  </message>
  <message>
   <source>`{argv}` wrote no JSON</source>
   <translation>`{argv}` schrieb kein JSON</translation>
  </message>
  <message>
   <source>`{command}` ended with {code}</source>
   <translation>`{command}` endete mit {code}</translation>
  </message>
  <message>
   <source>`{command}` said: {said}</source>
   <translation>`{command}` sagte: {said}</translation>
  </message>
  <message>
   <source>`{name}:` holds something that is no interface</source>
   <translation>`{name}:` enthält etwas, das keine Schnittstelle ist</translation>
  </message>
  <message>
   <source>a ConnectX adapter is on the PCI bus, but it has no RDMA device: is the driver mlx5_ib loaded?</source>
   <translation>eine ConnectX-Karte ist am PCI-Bus, hat aber kein RDMA-Gerät: ist der Treiber mlx5_ib geladen?</translation>
  </message>
  <message>
   <source>a cable or a switch that does not name itself: with two nodes this cannot be told apart</source>
   <translation>ein Kabel oder ein Switch, der sich nicht nennt: mit zwei Knoten ist das nicht zu unterscheiden</translation>
  </message>
  <message>
   <source>a collective needs two nodes or more</source>
   <translation>ein Kollektiv braucht mindestens zwei Knoten</translation>
  </message>
  <message>
   <source>a collective needs two ranks or more</source>
   <translation>ein Kollektiv braucht mindestens zwei Ränge</translation>
  </message>
  <message>
   <source>a command as root did not end within {timeout_s} s</source>
   <translation>ein Befehl als root endete nicht in {timeout_s} s</translation>
  </message>
  <message>
   <source>a command as root ended without an answer</source>
   <translation>ein Befehl als root endete ohne Antwort</translation>
  </message>
  <message>
   <source>a command as root failed</source>
   <translation>ein Befehl als root schlug fehl</translation>
  </message>
  <message>
   <source>a command of the plan failed</source>
   <translation>ein Befehl des Plans schlug fehl</translation>
  </message>
  <message>
   <source>a connection is being opened already</source>
   <translation>eine Verbindung wird schon aufgebaut</translation>
  </message>
  <message>
   <source>a file</source>
   <translation>eine Datei</translation>
  </message>
  <message>
   <source>a file needs a name</source>
   <translation>eine Datei braucht einen Namen</translation>
  </message>
  <message>
   <source>a fresh system: other host key and machine id, home and agent are gone</source>
   <translation>ein frisches System: anderer Host-Schlüssel, andere Machine-ID, Home und Agent sind weg</translation>
  </message>
  <message>
   <source>a job needs a program</source>
   <translation>ein Job braucht ein Programm</translation>
  </message>
  <message>
   <source>a job's words cannot hold a zero byte</source>
   <translation>die Wörter eines Jobs dürfen kein Null-Byte enthalten</translation>
  </message>
  <message>
   <source>a name must have at least one printable character</source>
   <translation>ein Name braucht mindestens ein druckbares Zeichen</translation>
  </message>
  <message>
   <source>a newer agent runs there ({theirs}; this is {ours})</source>
   <translation>dort läuft ein neuerer Agent ({theirs}; dieser ist {ours})</translation>
  </message>
  <message>
   <source>a pair is two nodes</source>
   <translation>ein Paar sind zwei Knoten</translation>
  </message>
  <message>
   <source>a path is needed</source>
   <translation>ein Pfad fehlt</translation>
  </message>
  <message>
   <source>a peer</source>
   <translation>eine Gegenstelle</translation>
  </message>
  <message>
   <source>a plan may not change the default route</source>
   <translation>ein Plan darf die Default-Route nicht ändern</translation>
  </message>
  <message>
   <source>a plan may not change the systemd unit {change}</source>
   <translation>ein Plan darf die systemd-Unit {change} nicht ändern</translation>
  </message>
  <message>
   <source>a plan may not set the sysctl {key}</source>
   <translation>ein Plan darf das Sysctl {key} nicht setzen</translation>
  </message>
  <message>
   <source>a plan may not write {path}</source>
   <translation>ein Plan darf {path} nicht schreiben</translation>
  </message>
  <message>
   <source>a port has no half {label}</source>
   <translation>ein Port hat keine Hälfte {label}</translation>
  </message>
  <message>
   <source>a route of {name} through {device}</source>
   <translation>eine Route von {name} über {device}</translation>
  </message>
  <message>
   <source>a whole number</source>
   <translation>eine ganze Zahl</translation>
  </message>
  <message>
   <source>a {wanted} has no cables from node to node</source>
   <translation>{wanted}: dabei gibt es keine Kabel von Knoten zu Knoten</translation>
  </message>
  <message>
   <source>a {wanted} needs {least} or more</source>
   <translation>{wanted}: dafür braucht es mindestens {least}</translation>
  </message>
  <message>
   <source>active</source>
   <translation>aktiv</translation>
  </message>
  <message>
   <source>addresses</source>
   <translation>Adressen</translation>
  </message>
  <message>
   <source>all fabric interfaces are back at MTU 1500, whatever netplan says</source>
   <translation>alle Schnittstellen des Fabrics sind wieder bei MTU 1500, was netplan auch sagt</translation>
  </message>
  <message>
   <source>all nodes are on one switch</source>
   <translation>alle Knoten hängen an einem Switch</translation>
  </message>
  <message>
   <source>an MTU of {chosen} cannot be</source>
   <translation>eine MTU von {chosen} geht nicht</translation>
  </message>
  <message>
   <source>an NVIDIA GPU is on the PCI bus, but its driver does not answer: {said}</source>
   <translation>eine NVIDIA-GPU ist am PCI-Bus, aber ihr Treiber antwortet nicht: {said}</translation>
  </message>
  <message>
   <source>an answer may come back on the other half</source>
   <translation>eine Antwort darf auf der anderen Hälfte zurückkommen</translation>
  </message>
  <message>
   <source>an earlier change could not be taken back</source>
   <translation>eine frühere Änderung ließ sich nicht zurücknehmen</translation>
  </message>
  <message>
   <source>an earlier change could not be taken back, its copies are kept</source>
   <translation>eine frühere Änderung ließ sich nicht zurücknehmen, ihre Kopien bleiben</translation>
  </message>
  <message>
   <source>another agent answered than the one that was started</source>
   <translation>ein anderer Agent antwortete als der gestartete</translation>
  </message>
  <message>
   <source>another network change is being held on this node</source>
   <translation>auf diesem Knoten wird schon eine andere Netzänderung gehalten</translation>
  </message>
  <message>
   <source>answer as an SSH server</source>
   <translation>als SSH-Server geantwortet</translation>
  </message>
  <message>
   <source>any private range</source>
   <translation>irgendeinem privaten Bereich</translation>
  </message>
  <message>
   <source>apply the plan again</source>
   <translation>den Plan nochmals anwenden</translation>
  </message>
  <message>
   <source>asked to go back</source>
   <translation>um Rückkehr gebeten</translation>
  </message>
  <message>
   <source>attempt {number} in {pause} s. {why}</source>
   <translation>Versuch {number} in {pause} s. {why}</translation>
  </message>
  <message>
   <source>backup</source>
   <translation>Sicherung</translation>
  </message>
  <message>
   <source>bandwidth and latency are not measured on {missing}: no RDMA device</source>
   <translation>Bandbreite und Latenz werden auf {missing} nicht gemessen: kein RDMA-Gerät</translation>
  </message>
  <message>
   <source>boot-unit</source>
   <translation>Rückweg beim Start</translation>
  </message>
  <message>
   <source>both halves of every cabled port have addresses in one subnet, by 40-cx7.yaml</source>
   <translation>beide Hälften jedes verkabelten Ports haben Adressen in einem Subnetz, durch 40-cx7.yaml</translation>
  </message>
  <message>
   <source>both report the same machine id</source>
   <translation>beide melden dieselbe Machine-ID</translation>
  </message>
  <message>
   <source>cancelled</source>
   <translation>abgebrochen</translation>
  </message>
  <message>
   <source>cells</source>
   <translation>Felder</translation>
  </message>
  <message>
   <source>chain</source>
   <translation>Kette</translation>
  </message>
  <message>
   <source>change it, with the way back open</source>
   <translation>es ändern, mit offenem Rückweg</translation>
  </message>
  <message>
   <source>check</source>
   <translation>Prüfung</translation>
  </message>
  <message>
   <source>check from the inside</source>
   <translation>von innen prüfen</translation>
  </message>
  <message>
   <source>checking key</source>
   <translation>prüft Schlüssel</translation>
  </message>
  <message>
   <source>checking python3 and the agent</source>
   <translation>prüft python3 und den Agenten</translation>
  </message>
  <message>
   <source>checks</source>
   <translation>Prüfungen</translation>
  </message>
  <message>
   <source>choose one with --dir</source>
   <translation>einen mit --dir wählen</translation>
  </message>
  <message>
   <source>closed</source>
   <translation>geschlossen</translation>
  </message>
  <message>
   <source>commands</source>
   <translation>Befehle</translation>
  </message>
  <message>
   <source>compare the node with the plan</source>
   <translation>den Knoten mit dem Plan vergleichen</translation>
  </message>
  <message>
   <source>confirm or revert it first; it goes back by itself within 15 minutes</source>
   <translation>sie zuerst bestätigen oder zurücknehmen; sie kehrt binnen 15 Minuten von selbst zurück</translation>
  </message>
  <message>
   <source>connecting to {host}</source>
   <translation>verbindet mit {host}</translation>
  </message>
  <message>
   <source>copy the files and note the live addresses, routes and settings</source>
   <translation>Dateien kopieren und Adressen, Routen und Einstellungen merken</translation>
  </message>
  <message>
   <source>correct or unset it</source>
   <translation>sie berichtigen oder entfernen</translation>
  </message>
  <message>
   <source>data is no base64 text</source>
   <translation>die Daten sind kein Base64-Text</translation>
  </message>
  <message>
   <source>default route through {name}</source>
   <translation>Default-Route über {name}</translation>
  </message>
  <message>
   <source>default via {via} dev {device} metric {metric}</source>
   <translation>default via {via} dev {device} metric {metric}</translation>
  </message>
  <message>
   <source>direct</source>
   <translation>direkt</translation>
  </message>
  <message>
   <source>disable {units}</source>
   <translation>{units} deaktivieren</translation>
  </message>
  <message>
   <source>done</source>
   <translation>fertig</translation>
  </message>
  <message>
   <source>each half answers ARP only for its own address</source>
   <translation>jede Hälfte beantwortet ARP nur für ihre eigene Adresse</translation>
  </message>
  <message>
   <source>each half asks with its own address</source>
   <translation>jede Hälfte fragt mit ihrer eigenen Adresse</translation>
  </message>
  <message>
   <source>eight</source>
   <translation>acht</translation>
  </message>
  <message>
   <source>end it on the machine, or reboot it</source>
   <translation>ihn auf dem Rechner beenden oder diesen neu starten</translation>
  </message>
  <message>
   <source>end some of them</source>
   <translation>einige davon beenden</translation>
  </message>
  <message>
   <source>enter the sudo password</source>
   <translation>das Sudo-Passwort eingeben</translation>
  </message>
  <message>
   <source>every SSH connection is cut; with hold_s new ones are refused for so long</source>
   <translation>jede SSH-Verbindung wird getrennt; mit hold_s werden so lange neue abgewiesen</translation>
  </message>
  <message>
   <source>every node is already as planned</source>
   <translation>jeder Knoten ist schon wie geplant</translation>
  </message>
  <message>
   <source>everything else in it stays</source>
   <translation>alles andere darin bleibt</translation>
  </message>
  <message>
   <source>exit status {rc}</source>
   <translation>Exit-Status {rc}</translation>
  </message>
  <message>
   <source>fabric</source>
   <translation>Fabric</translation>
  </message>
  <message>
   <source>failed</source>
   <translation>fehlgeschlagen</translation>
  </message>
  <message>
   <source>faults are {kinds}</source>
   <translation>Fehler sind {kinds}</translation>
  </message>
  <message>
   <source>files</source>
   <translation>Dateien</translation>
  </message>
  <message>
   <source>finish or close Stellwerk on {holder}, or take the node over</source>
   <translation>Stellwerk auf {holder} fertig machen oder schließen, oder den Knoten übernehmen</translation>
  </message>
  <message>
   <source>finish the key exchange</source>
   <translation>den Schlüsselaustausch beendet</translation>
  </message>
  <message>
   <source>finish the login</source>
   <translation>die Anmeldung beendet</translation>
  </message>
  <message>
   <source>firewall</source>
   <translation>Firewall</translation>
  </message>
  <message>
   <source>firewall rule {rule}</source>
   <translation>Firewall-Regel {rule}</translation>
  </message>
  <message>
   <source>five</source>
   <translation>fünf</translation>
  </message>
  <message>
   <source>found</source>
   <translation>gefunden</translation>
  </message>
  <message>
   <source>four</source>
   <translation>vier</translation>
  </message>
  <message>
   <source>free disk space</source>
   <translation>Platz auf der Platte schaffen</translation>
  </message>
  <message>
   <source>free some space on it and try again</source>
   <translation>darauf Platz schaffen und nochmals versuchen</translation>
  </message>
  <message>
   <source>free some space on this node and try again</source>
   <translation>auf diesem Knoten Platz schaffen und nochmals versuchen</translation>
  </message>
  <message>
   <source>generate</source>
   <translation>netplan generate</translation>
  </message>
  <message>
   <source>generate from the old files</source>
   <translation>aus den alten Dateien erzeugen</translation>
  </message>
  <message>
   <source>give Gb/s per direction, 0 to end the load</source>
   <translation>Gb/s je Richtung angeben, 0 beendet die Last</translation>
  </message>
  <message>
   <source>give it back to the user or remove it</source>
   <translation>es dem Benutzer zurückgeben oder entfernen</translation>
  </message>
  <message>
   <source>go back: {why}</source>
   <translation>zurück: {why}</translation>
  </message>
  <message>
   <source>half {label} of that port</source>
   <translation>Hälfte {label} dieses Ports</translation>
  </message>
  <message>
   <source>halves are A and B</source>
   <translation>Hälften sind A und B</translation>
  </message>
  <message>
   <source>have netplan generate what the network service reads</source>
   <translation>netplan erzeugen lassen, was der Netzdienst liest</translation>
  </message>
  <message>
   <source>host name</source>
   <translation>Hostname</translation>
  </message>
  <message>
   <source>ibv_reg_mr ends with ENOMEM once a model is large. The kernel reserved it for a handover.</source>
   <translation>ibv_reg_mr endet mit ENOMEM, sobald ein Modell groß ist. Der Kernel hält ihn für eine Übergabe.</translation>
  </message>
  <message>
   <source>in use everywhere</source>
   <translation>überall in Gebrauch</translation>
  </message>
  <message>
   <source>index {index}</source>
   <translation>Index {index}</translation>
  </message>
  <message>
   <source>install netplan.io</source>
   <translation>netplan.io installieren</translation>
  </message>
  <message>
   <source>install the package openssh-client</source>
   <translation>das Paket openssh-client installieren</translation>
  </message>
  <message>
   <source>install the package perftest</source>
   <translation>das Paket perftest installieren</translation>
  </message>
  <message>
   <source>installing agent</source>
   <translation>richtet Agent ein</translation>
  </message>
  <message>
   <source>installing this cluster's key</source>
   <translation>installiert den Schlüssel dieses Clusters</translation>
  </message>
  <message>
   <source>it belongs to a container</source>
   <translation>sie gehört zu einem Container</translation>
  </message>
  <message>
   <source>it cannot be heard without the sudo password</source>
   <translation>ohne das Sudo-Passwort lässt sich nicht lauschen</translation>
  </message>
  <message>
   <source>it cannot be reached; it ends this by itself and says so when seen again</source>
   <translation>er ist nicht erreichbar; er beendet es von selbst und sagt es, sobald er wieder da ist</translation>
  </message>
  <message>
   <source>it cannot be taken back: {why}</source>
   <translation>es lässt sich nicht zurücknehmen: {why}</translation>
  </message>
  <message>
   <source>it carries a default route</source>
   <translation>sie trägt eine Default-Route</translation>
  </message>
  <message>
   <source>it carries the default route</source>
   <translation>sie trägt die Default-Route</translation>
  </message>
  <message>
   <source>it carries this SSH session</source>
   <translation>sie trägt diese SSH-Sitzung</translation>
  </message>
  <message>
   <source>it does not begin with `network:`</source>
   <translation>sie beginnt nicht mit `network:`</translation>
  </message>
  <message>
   <source>it ended with code {code}</source>
   <translation>er endete mit Code {code}</translation>
  </message>
  <message>
   <source>it ended with {rc}</source>
   <translation>es endete mit {rc}</translation>
  </message>
  <message>
   <source>it has a signal, but heard nobody</source>
   <translation>Signal ist da, aber niemand war zu hören</translation>
  </message>
  <message>
   <source>it has no IPv4 address</source>
   <translation>sie hat keine IPv4-Adresse</translation>
  </message>
  <message>
   <source>it has no IPv6 link-local address</source>
   <translation>sie hat keine IPv6-Link-Local-Adresse</translation>
  </message>
  <message>
   <source>it has no address</source>
   <translation>sie hat keine Adresse</translation>
  </message>
  <message>
   <source>it has no carrier</source>
   <translation>sie hat kein Signal</translation>
  </message>
  <message>
   <source>it has several addresses: {addresses}</source>
   <translation>sie hat mehrere Adressen: {addresses}</translation>
  </message>
  <message>
   <source>it has to be between 1280 and 9216</source>
   <translation>sie muss zwischen 1280 und 9216 liegen</translation>
  </message>
  <message>
   <source>it has to be private and hold at least two /{subnet_prefix} networks</source>
   <translation>es muss privat sein und mindestens zwei /{subnet_prefix}-Netze fassen</translation>
  </message>
  <message>
   <source>it is a VLAN</source>
   <translation>sie ist ein VLAN</translation>
  </message>
  <message>
   <source>it is a bond</source>
   <translation>sie ist ein Bond</translation>
  </message>
  <message>
   <source>it is a bridge</source>
   <translation>sie ist eine Bridge</translation>
  </message>
  <message>
   <source>it is a radio</source>
   <translation>sie ist ein Funknetz</translation>
  </message>
  <message>
   <source>it is a tunnel (VPN)</source>
   <translation>sie ist ein Tunnel (VPN)</translation>
  </message>
  <message>
   <source>it is a virtual function</source>
   <translation>sie ist eine virtuelle Funktion</translation>
  </message>
  <message>
   <source>it is down</source>
   <translation>sie ist nicht aktiv</translation>
  </message>
  <message>
   <source>it is empty, too long, or has a line break in it</source>
   <translation>es ist leer, zu lang oder enthält einen Zeilenumbruch</translation>
  </message>
  <message>
   <source>it is held by {holder}</source>
   <translation>er wird von {holder} gehalten</translation>
  </message>
  <message>
   <source>it is no hardware</source>
   <translation>sie ist keine Hardware</translation>
  </message>
  <message>
   <source>it is part of {key}</source>
   <translation>sie ist Teil von {key}</translation>
  </message>
  <message>
   <source>it is part of {master}</source>
   <translation>sie ist Teil von {master}</translation>
  </message>
  <message>
   <source>it is the loopback</source>
   <translation>sie ist die Loopback-Schnittstelle</translation>
  </message>
  <message>
   <source>it is virtual</source>
   <translation>sie ist virtuell</translation>
  </message>
  <message>
   <source>it is {current}, the plan assumed {before}</source>
   <translation>es ist {current}, der Plan nahm {before} an</translation>
  </message>
  <message>
   <source>it knows {checks}</source>
   <translation>es kennt {checks}</translation>
  </message>
  <message>
   <source>it knows {known}</source>
   <translation>es kennt {known}</translation>
  </message>
  <message>
   <source>it lacks the routes to nodes that are no neighbours</source>
   <translation>ihr fehlen die Routen zu Knoten, die keine Nachbarn sind</translation>
  </message>
  <message>
   <source>it no longer belongs to the fabric</source>
   <translation>sie gehört nicht mehr zum Fabric</translation>
  </message>
  <message>
   <source>it panics in the PCIe DOE mailbox</source>
   <translation>er stürzt in der PCIe-DOE-Mailbox ab</translation>
  </message>
  <message>
   <source>it takes the clocks of two nodes</source>
   <translation>es braucht die Uhren zweier Knoten</translation>
  </message>
  <message>
   <source>it takes two nodes</source>
   <translation>es braucht zwei Knoten</translation>
  </message>
  <message>
   <source>it takes two nodes that say it</source>
   <translation>es braucht zwei Knoten, die es sagen</translation>
  </message>
  <message>
   <source>its ConnectX ports cannot be used as a fabric</source>
   <translation>seine ConnectX-Ports taugen nicht als Fabric</translation>
  </message>
  <message>
   <source>its IPv6 addresses</source>
   <translation>ihre IPv6-Adressen</translation>
  </message>
  <message>
   <source>its MTU is {mtu}</source>
   <translation>ihre MTU ist {mtu}</translation>
  </message>
  <message>
   <source>its MTU is {mtu} only until the next restart</source>
   <translation>ihre MTU ist {mtu} nur bis zum nächsten Neustart</translation>
  </message>
  <message>
   <source>its address comes by DHCP and may change</source>
   <translation>ihre Adresse kommt per DHCP und kann sich ändern</translation>
  </message>
  <message>
   <source>its address is in no netplan file and would be gone after a restart</source>
   <translation>ihre Adresse steht in keiner Netplan-Datei und wäre nach einem Neustart weg</translation>
  </message>
  <message>
   <source>its address is not as planned</source>
   <translation>ihre Adresse ist nicht wie geplant</translation>
  </message>
  <message>
   <source>its address is not in effect</source>
   <translation>ihre Adresse ist nicht wirksam</translation>
  </message>
  <message>
   <source>its disk is full</source>
   <translation>die Platte ist voll</translation>
  </message>
  <message>
   <source>its entry {key} fits other interfaces, too</source>
   <translation>ihr Eintrag {key} passt auch auf andere Schnittstellen</translation>
  </message>
  <message>
   <source>its entry {key} gives the interface its name</source>
   <translation>ihr Eintrag {key} gibt der Schnittstelle den Namen</translation>
  </message>
  <message>
   <source>its host key on this computer</source>
   <translation>sein Host-Schlüssel auf diesem Computer</translation>
  </message>
  <message>
   <source>its key on the other nodes ({why}); letting them reach each other once more takes it out</source>
   <translation>sein Schlüssel auf den anderen Knoten ({why}); sie noch einmal einander erreichen zu lassen entfernt ihn</translation>
  </message>
  <message>
   <source>its kind is {kind}</source>
   <translation>ihre Art ist {kind}</translation>
  </message>
  <message>
   <source>its link-local address changes at every start</source>
   <translation>ihre Link-Local-Adresse wechselt bei jedem Start</translation>
  </message>
  <message>
   <source>its process is gone, and with it all its nodes</source>
   <translation>sein Prozess ist weg und mit ihm alle seine Knoten</translation>
  </message>
  <message>
   <source>its routes are those of an earlier plan</source>
   <translation>ihre Routen stammen aus einem früheren Plan</translation>
  </message>
  <message>
   <source>judge</source>
   <translation>Vorprüfung</translation>
  </message>
  <message>
   <source>keep the new network</source>
   <translation>das neue Netz behalten</translation>
  </message>
  <message>
   <source>kernel {kernel}</source>
   <translation>Kernel {kernel}</translation>
  </message>
  <message>
   <source>lease lost: nothing was heard from the desktop for {seconds} s</source>
   <translation>Frist abgelaufen: vom Desktop kam {seconds} s lang nichts</translation>
  </message>
  <message>
   <source>lease not renewed: {error}</source>
   <translation>Frist nicht verlängert: {error}</translation>
  </message>
  <message>
   <source>let fabric traffic pass between two ports</source>
   <translation>Fabric-Verkehr zwischen zwei Ports durchlassen</translation>
  </message>
  <message>
   <source>let netplan judge the merged files</source>
   <translation>netplan die zusammengeführten Dateien beurteilen lassen</translation>
  </message>
  <message>
   <source>let the daemon install it there</source>
   <translation>ihn vom Daemon dort installieren lassen</translation>
  </message>
  <message>
   <source>letters, digits, dot, dash and underscore can</source>
   <translation>Buchstaben, Ziffern, Punkt, Strich und Unterstrich gehen</translation>
  </message>
  <message>
   <source>line {number}: {what}</source>
   <translation>Zeile {number}: {what}</translation>
  </message>
  <message>
   <source>link and PCIe of both ends are in order, so the limit lies in one of the two nodes</source>
   <translation>Link und PCIe beider Enden sind in Ordnung, die Grenze liegt also in einem der beiden Knoten</translation>
  </message>
  <message>
   <source>link-up wants an interface and up or down</source>
   <translation>link-up will eine Schnittstelle und up oder down</translation>
  </message>
  <message>
   <source>listening</source>
   <translation>lauscht</translation>
  </message>
  <message>
   <source>listening failed</source>
   <translation>das Lauschen schlug fehl</translation>
  </message>
  <message>
   <source>log in as a user who may run sudo, or have an administrator add this one to the group sudo</source>
   <translation>als ein Benutzer anmelden, der sudo darf, oder ihn von einem Administrator in die Gruppe sudo aufnehmen lassen</translation>
  </message>
  <message>
   <source>logged in as root</source>
   <translation>als root angemeldet</translation>
  </message>
  <message>
   <source>logging in</source>
   <translation>meldet sich an</translation>
  </message>
  <message>
   <source>logging in as {user}</source>
   <translation>Anmeldung als {user}</translation>
  </message>
  <message>
   <source>look for free space</source>
   <translation>nach freiem Platz sehen</translation>
  </message>
  <message>
   <source>lost meanwhile</source>
   <translation>unterdessen verloren</translation>
  </message>
  <message>
   <source>mDNS cannot be used on this computer: {why}</source>
   <translation>mDNS ist auf diesem Computer nicht nutzbar: {why}</translation>
  </message>
  <message>
   <source>machine id</source>
   <translation>Machine-ID</translation>
  </message>
  <message>
   <source>machines cannot be searched for on the network</source>
   <translation>Rechner lassen sich im Netz nicht suchen</translation>
  </message>
  <message>
   <source>machines on the network, or typed addresses</source>
   <translation>Rechner im Netz oder eingetippte Adressen</translation>
  </message>
  <message>
   <source>make room</source>
   <translation>Platz schaffen</translation>
  </message>
  <message>
   <source>make the plan again</source>
   <translation>den Plan neu machen</translation>
  </message>
  <message>
   <source>make the units durable</source>
   <translation>die Units dauerhaft machen</translation>
  </message>
  <message>
   <source>measure that it works</source>
   <translation>messen, dass es geht</translation>
  </message>
  <message>
   <source>mend the file that it names</source>
   <translation>die Datei berichtigen, die es nennt</translation>
  </message>
  <message>
   <source>missing</source>
   <translation>fehlt</translation>
  </message>
  <message>
   <source>mix of cables and a switch</source>
   <translation>Mischung aus Kabeln und Switch</translation>
  </message>
  <message>
   <source>mode {mode}</source>
   <translation>Modus {mode}</translation>
  </message>
  <message>
   <source>more than one virtual cluster runs</source>
   <translation>mehr als ein virtueller Cluster läuft</translation>
  </message>
  <message>
   <source>more than {max_running} jobs run on this node</source>
   <translation>mehr als {max_running} Jobs laufen auf diesem Knoten</translation>
  </message>
  <message>
   <source>most nodes are on a switch already</source>
   <translation>die meisten Knoten hängen schon an einem Switch</translation>
  </message>
  <message>
   <source>name a shorter directory with --base-dir</source>
   <translation>mit --base-dir ein kürzeres Verzeichnis nennen</translation>
  </message>
  <message>
   <source>name another directory with --base-dir</source>
   <translation>mit --base-dir ein anderes Verzeichnis nennen</translation>
  </message>
  <message>
   <source>needs attention</source>
   <translation>braucht Hilfe</translation>
  </message>
  <message>
   <source>needs the sudo password</source>
   <translation>braucht das Sudo-Passwort</translation>
  </message>
  <message>
   <source>net.ipv4.conf.{netdev}.forwarding = 0</source>
   <translation>net.ipv4.conf.{netdev}.forwarding = 0</translation>
  </message>
  <message>
   <source>netguard is killed while it holds or carries out a change</source>
   <translation>netguard wird beendet, während es eine Änderung hält oder ausführt</translation>
  </message>
  <message>
   <source>netguard knows no command {argv}</source>
   <translation>netguard kennt keinen Befehl {argv}</translation>
  </message>
  <message>
   <source>netguard says {state}</source>
   <translation>netguard sagt {state}</translation>
  </message>
  <message>
   <source>netplan adds the addresses of all files up, so an old file keeps old addresses alive.</source>
   <translation>netplan zählt die Adressen aller Dateien zusammen, eine alte Datei hält also alte Adressen am Leben.</translation>
  </message>
  <message>
   <source>netplan does not accept the files in place</source>
   <translation>netplan nimmt die Dateien an ihrem Platz nicht an</translation>
  </message>
  <message>
   <source>netplan files belong to root</source>
   <translation>Netplan-Dateien gehören root</translation>
  </message>
  <message>
   <source>netplan is not installed on this node</source>
   <translation>netplan ist auf diesem Knoten nicht installiert</translation>
  </message>
  <message>
   <source>netplan reads it</source>
   <translation>netplan liest sie</translation>
  </message>
  <message>
   <source>netplan refuses all files together, so at the next restart no network may come up.</source>
   <translation>netplan weist alle Dateien zusammen ab, beim nächsten Neustart kommt also vielleicht kein Netz hoch.</translation>
  </message>
  <message>
   <source>netplan refuses the planned files</source>
   <translation>netplan weist die geplanten Dateien ab</translation>
  </message>
  <message>
   <source>netplan warns about it each time, because such a file may hold a Wi-Fi password.</source>
   <translation>netplan warnt jedes Mal davor, weil eine solche Datei ein WLAN-Passwort enthalten kann.</translation>
  </message>
  <message>
   <source>no</source>
   <translation>keine</translation>
  </message>
  <message>
   <source>no ConnectX and no other RDMA adapter in this machine</source>
   <translation>keine ConnectX und keine andere RDMA-Karte in diesem Rechner</translation>
  </message>
  <message>
   <source>no ConnectX and no other free network port</source>
   <translation>keine ConnectX und kein anderer freier Netz-Port</translation>
  </message>
  <message>
   <source>no GID table could be read</source>
   <translation>keine GID-Tabelle war lesbar</translation>
  </message>
  <message>
   <source>no GID table could be read of a half that has its address</source>
   <translation>von keiner Hälfte mit Adresse war eine GID-Tabelle lesbar</translation>
  </message>
  <message>
   <source>no NVIDIA GPU in this machine ({said})</source>
   <translation>keine NVIDIA-GPU in diesem Rechner ({said})</translation>
  </message>
  <message>
   <source>no SSH key can be made on this node</source>
   <translation>auf diesem Knoten lässt sich kein SSH-Schlüssel erzeugen</translation>
  </message>
  <message>
   <source>no agent is connected</source>
   <translation>kein Agent ist verbunden</translation>
  </message>
  <message>
   <source>no agent runs on {machine}</source>
   <translation>auf {machine} läuft kein Agent</translation>
  </message>
  <message>
   <source>no answer</source>
   <translation>stumm</translation>
  </message>
  <message>
   <source>no carrier</source>
   <translation>kein Signal</translation>
  </message>
  <message>
   <source>no cluster is set up on this computer</source>
   <translation>auf diesem Computer ist kein Cluster eingerichtet</translation>
  </message>
  <message>
   <source>no connection to {address}: {cause}</source>
   <translation>keine Verbindung zu {address}: {cause}</translation>
  </message>
  <message>
   <source>no connection to {at}: {said}</source>
   <translation>keine Verbindung zu {at}: {said}</translation>
  </message>
  <message>
   <source>no job can be started</source>
   <translation>kein Job lässt sich starten</translation>
  </message>
  <message>
   <source>no link</source>
   <translation>kein Link</translation>
  </message>
  <message>
   <source>no longer needed</source>
   <translation>nicht mehr nötig</translation>
  </message>
  <message>
   <source>no loopback address can be listened on</source>
   <translation>auf keiner Loopback-Adresse lässt sich lauschen</translation>
  </message>
  <message>
   <source>no machine was named</source>
   <translation>kein Rechner wurde genannt</translation>
  </message>
  <message>
   <source>no neighbour table has an entry of the fabric yet</source>
   <translation>keine Nachbartabelle hat bisher einen Eintrag aus dem Fabric</translation>
  </message>
  <message>
   <source>no netplan file of {member} sets it</source>
   <translation>keine Netplan-Datei von {member} setzt es</translation>
  </message>
  <message>
   <source>no network change is guarded on {machine}</source>
   <translation>auf {machine} wird keine Netzänderung gehalten</translation>
  </message>
  <message>
   <source>no node hears another one</source>
   <translation>kein Knoten hört einen anderen</translation>
  </message>
  <message>
   <source>no node is connected</source>
   <translation>kein Knoten ist verbunden</translation>
  </message>
  <message>
   <source>no node reports an MTU</source>
   <translation>kein Knoten meldet eine MTU</translation>
  </message>
  <message>
   <source>no node reports its CMA memory</source>
   <translation>kein Knoten meldet seinen CMA-Speicher</translation>
  </message>
  <message>
   <source>no node reports its PCIe links</source>
   <translation>kein Knoten meldet seine PCIe-Links</translation>
  </message>
  <message>
   <source>no node reports its free space</source>
   <translation>kein Knoten meldet seinen freien Platz</translation>
  </message>
  <message>
   <source>no password was given</source>
   <translation>kein Passwort wurde angegeben</translation>
  </message>
  <message>
   <source>no plan</source>
   <translation>keinem Plan</translation>
  </message>
  <message>
   <source>no port</source>
   <translation>kein Port</translation>
  </message>
  <message>
   <source>no result</source>
   <translation>kein Ergebnis</translation>
  </message>
  <message>
   <source>no signal comes from the other end</source>
   <translation>vom anderen Ende kommt kein Signal</translation>
  </message>
  <message>
   <source>no virtual cluster runs</source>
   <translation>kein virtueller Cluster läuft</translation>
  </message>
  <message>
   <source>no virtual cluster runs in {directory}</source>
   <translation>in {directory} läuft kein virtueller Cluster</translation>
  </message>
  <message>
   <source>nodes are {machines}</source>
   <translation>Knoten sind {machines}</translation>
  </message>
  <message>
   <source>nodes that are no neighbours reach each other through this one</source>
   <translation>Knoten, die keine Nachbarn sind, erreichen sich über diesen</translation>
  </message>
  <message>
   <source>none</source>
   <translation>keine</translation>
  </message>
  <message>
   <source>not all halves gave a result</source>
   <translation>nicht alle Hälften gaben ein Ergebnis</translation>
  </message>
  <message>
   <source>not as it should be</source>
   <translation>nicht, wie es sein soll</translation>
  </message>
  <message>
   <source>not asked yet</source>
   <translation>noch nicht gefragt</translation>
  </message>
  <message>
   <source>not available</source>
   <translation>nicht verfügbar</translation>
  </message>
  <message>
   <source>not connected</source>
   <translation>nicht verbunden</translation>
  </message>
  <message>
   <source>not connected to the others: {loose}</source>
   <translation>nicht mit den anderen verbunden: {loose}</translation>
  </message>
  <message>
   <source>not connected: {away}</source>
   <translation>nicht verbunden: {away}</translation>
  </message>
  <message>
   <source>not connected: {missing}</source>
   <translation>nicht verbunden: {missing}</translation>
  </message>
  <message>
   <source>not every node could take the new network ({reasons})</source>
   <translation>nicht jeder Knoten konnte das neue Netz nehmen ({reasons})</translation>
  </message>
  <message>
   <source>not known</source>
   <translation>nicht bekannt</translation>
  </message>
  <message>
   <source>not on the switch: {on_none}</source>
   <translation>nicht am Switch: {on_none}</translation>
  </message>
  <message>
   <source>not reported</source>
   <translation>nicht gemeldet</translation>
  </message>
  <message>
   <source>not stored</source>
   <translation>nicht gespeichert</translation>
  </message>
  <message>
   <source>nothing</source>
   <translation>nichts</translation>
  </message>
  <message>
   <source>nothing can be taken back</source>
   <translation>nichts kann zurückgenommen werden</translation>
  </message>
  <message>
   <source>nothing can be written on this node</source>
   <translation>auf diesem Knoten lässt sich nichts schreiben</translation>
  </message>
  <message>
   <source>nothing can be written on {names}, so nothing was changed on any node</source>
   <translation>auf {names} lässt sich nichts schreiben, darum wurde auf keinem Knoten etwas geändert</translation>
  </message>
  <message>
   <source>nothing can be written: SFTP says so, programs may not write to files</source>
   <translation>nichts lässt sich schreiben: SFTP sagt es, Programme dürfen in keine Datei schreiben</translation>
  </message>
  <message>
   <source>nothing could be sent</source>
   <translation>nichts ließ sich senden</translation>
  </message>
  <message>
   <source>nothing else is in it</source>
   <translation>sonst steht nichts darin</translation>
  </message>
  <message>
   <source>nothing is plugged into {cluster}</source>
   <translation>in {cluster} steckt nichts</translation>
  </message>
  <message>
   <source>nowhere</source>
   <translation>nirgends</translation>
  </message>
  <message>
   <source>nvidia-smi shows none</source>
   <translation>nvidia-smi zeigt keine</translation>
  </message>
  <message>
   <source>of the way out of this node</source>
   <translation>vom Weg aus diesem Knoten hinaus</translation>
  </message>
  <message>
   <source>off</source>
   <translation>aus</translation>
  </message>
  <message>
   <source>offset is 0 or more, limit 1 or more</source>
   <translation>offset ist 0 oder mehr, limit 1 oder mehr</translation>
  </message>
  <message>
   <source>one</source>
   <translation>eins</translation>
  </message>
  <message>
   <source>one half carries 13 Gb/s, as behind a degraded PCIe link (default: half B)</source>
   <translation>eine Hälfte trägt 13 Gb/s, wie hinter einem gedrosselten PCIe-Link (sonst: Hälfte B)</translation>
  </message>
  <message>
   <source>one node alone has nobody to reach</source>
   <translation>ein einzelner Knoten hat niemanden zu erreichen</translation>
  </message>
  <message>
   <source>one node needs no fabric</source>
   <translation>ein einzelner Knoten braucht kein Fabric</translation>
  </message>
  <message>
   <source>only files in {file_places}</source>
   <translation>nur Dateien in {file_places}</translation>
  </message>
  <message>
   <source>only the newest applied plan can; that is {newest}</source>
   <translation>nur der neueste angewandte Plan lässt das zu; das ist {newest}</translation>
  </message>
  <message>
   <source>others could write it</source>
   <translation>andere könnten sie schreiben</translation>
  </message>
  <message>
   <source>our interfaces cannot be taken out of {path} without touching the rest of it</source>
   <translation>unsere Schnittstellen lassen sich nicht aus {path} nehmen, ohne den Rest anzutasten</translation>
  </message>
  <message>
   <source>packets of {mtu} bytes do not pass to {destination}</source>
   <translation>Pakete von {mtu} Bytes kommen nicht bis {destination}</translation>
  </message>
  <message>
   <source>pair</source>
   <translation>Paar</translation>
  </message>
  <message>
   <source>pair the node first</source>
   <translation>den Knoten zuerst koppeln</translation>
  </message>
  <message>
   <source>peers are at most {max_peers}, each with an alias of its own</source>
   <translation>höchstens {max_peers} Gegenstellen, jede mit eigenem Alias</translation>
  </message>
  <message>
   <source>pip install ziglang</source>
   <translation>pip install ziglang</translation>
  </message>
  <message>
   <source>plan {plan_id} cannot be taken back</source>
   <translation>Plan {plan_id} lässt sich nicht zurücknehmen</translation>
  </message>
  <message>
   <source>port {port}</source>
   <translation>Port {port}</translation>
  </message>
  <message>
   <source>port {port} (next to the RJ45)</source>
   <translation>Port {port} (neben dem RJ45)</translation>
  </message>
  <message>
   <source>port {port} half {half}</source>
   <translation>Port {port} Hälfte {half}</translation>
  </message>
  <message>
   <source>port {port} half {half} -&gt; {peer}</source>
   <translation>Port {port} Hälfte {half} -&gt; {peer}</translation>
  </message>
  <message>
   <source>ports are 0 and 1</source>
   <translation>Ports sind 0 und 1</translation>
  </message>
  <message>
   <source>prepare the way back for a power cut</source>
   <translation>den Rückweg für einen Stromausfall vorbereiten</translation>
  </message>
  <message>
   <source>proof of {started_at}: {kind} to {peer}: {text}</source>
   <translation>Beweis vom {started_at}: {kind} zu {peer}: {text}</translation>
  </message>
  <message>
   <source>put the addresses back</source>
   <translation>die Adressen zurücksetzen</translation>
  </message>
  <message>
   <source>put the firewall rules in again after each start of Docker</source>
   <translation>die Firewall-Regeln nach jedem Start von Docker neu setzen</translation>
  </message>
  <message>
   <source>put {path} back</source>
   <translation>{path} zurücklegen</translation>
  </message>
  <message>
   <source>python3 could not be run</source>
   <translation>python3 ließ sich nicht ausführen</translation>
  </message>
  <message>
   <source>python3 did not answer within {deadline_s} s</source>
   <translation>python3 antwortete nicht in {deadline_s} s</translation>
  </message>
  <message>
   <source>python3 is version {version}; 3.10 or newer is needed</source>
   <translation>python3 hat Version {version}; nötig ist 3.10 oder neuer</translation>
  </message>
  <message>
   <source>raise it to 819200 bytes, the usual value</source>
   <translation>sie auf den üblichen Wert 819200 Bytes erhöhen</translation>
  </message>
  <message>
   <source>rank {rank} of the measurement failed</source>
   <translation>Rang {rank} der Messung schlug fehl</translation>
  </message>
  <message>
   <source>rate_hz is a number above 0</source>
   <translation>rate_hz ist eine Zahl über 0</translation>
  </message>
  <message>
   <source>raw frames need the sudo password</source>
   <translation>Raw-Frames brauchen das Sudo-Passwort</translation>
  </message>
  <message>
   <source>reached</source>
   <translation>erreicht</translation>
  </message>
  <message>
   <source>read at the same moment, {off} s apart</source>
   <translation>im selben Moment gelesen, {off} s auseinander</translation>
  </message>
  <message>
   <source>read the nodes and their cables</source>
   <translation>die Knoten und ihre Kabel lesen</translation>
  </message>
  <message>
   <source>read the units again</source>
   <translation>die Units neu lesen</translation>
  </message>
  <message>
   <source>ready</source>
   <translation>bereit</translation>
  </message>
  <message>
   <source>reconfigure</source>
   <translation>Netz neu einstellen</translation>
  </message>
  <message>
   <source>reconfigure {names}</source>
   <translation>{names} neu einstellen</translation>
  </message>
  <message>
   <source>reconnecting</source>
   <translation>verbindet neu</translation>
  </message>
  <message>
   <source>remove a firewall rule</source>
   <translation>eine Firewall-Regel entfernen</translation>
  </message>
  <message>
   <source>remove it or mend it</source>
   <translation>sie entfernen oder berichtigen</translation>
  </message>
  <message>
   <source>remove it; the daemon installs it again</source>
   <translation>es entfernen; der Daemon installiert es neu</translation>
  </message>
  <message>
   <source>remove the unit that goes back at boot</source>
   <translation>die Unit entfernen, die beim Start zurückkehrt</translation>
  </message>
  <message>
   <source>remove {path}</source>
   <translation>{path} entfernen</translation>
  </message>
  <message>
   <source>reverted at boot: unconfirmed</source>
   <translation>beim Start zurückgenommen: nicht bestätigt</translation>
  </message>
  <message>
   <source>right half</source>
   <translation>richtige Hälfte</translation>
  </message>
  <message>
   <source>ring</source>
   <translation>Ring</translation>
  </message>
  <message>
   <source>root cannot be had</source>
   <translation>root ist nicht zu haben</translation>
  </message>
  <message>
   <source>root cannot be had on this node</source>
   <translation>root ist auf diesem Knoten nicht zu haben</translation>
  </message>
  <message>
   <source>root is needed</source>
   <translation>root ist nötig</translation>
  </message>
  <message>
   <source>root is needed on {lacking} and cannot be had there, so nothing was changed on any node</source>
   <translation>root ist auf {lacking} nötig und dort nicht zu haben, darum wurde auf keinem Knoten etwas geändert</translation>
  </message>
  <message>
   <source>root runs only the packed agent</source>
   <translation>root führt nur den gepackten Agenten aus</translation>
  </message>
  <message>
   <source>root runs the agent only from /var/lib/stellwerk</source>
   <translation>root führt den Agenten nur aus /var/lib/stellwerk aus</translation>
  </message>
  <message>
   <source>run {command}</source>
   <translation>{command} ausführen</translation>
  </message>
  <message>
   <source>seconds is between {min_seconds} and {max_seconds}</source>
   <translation>seconds liegt zwischen {min_seconds} und {max_seconds}</translation>
  </message>
  <message>
   <source>see `stellwerk virtual cables`</source>
   <translation>siehe `stellwerk virtual cables`</translation>
  </message>
  <message>
   <source>see `stellwerk virtual up --help`</source>
   <translation>siehe `stellwerk virtual up --help`</translation>
  </message>
  <message>
   <source>see that `sudo true` works on this node</source>
   <translation>prüfen, ob `sudo true` auf diesem Knoten geht</translation>
  </message>
  <message>
   <source>see the message above</source>
   <translation>siehe die Meldung darüber</translation>
  </message>
  <message>
   <source>see the node's system log</source>
   <translation>das Systemprotokoll des Knotens ansehen</translation>
  </message>
  <message>
   <source>see to free disk space</source>
   <translation>für freien Platz auf der Platte sorgen</translation>
  </message>
  <message>
   <source>see to free space in the home directory</source>
   <translation>für freien Platz im Home-Verzeichnis sorgen</translation>
  </message>
  <message>
   <source>see to space and permissions in ~/.ssh; what was there before is untouched</source>
   <translation>Platz und Rechte in ~/.ssh prüfen; was vorher da war, ist unberührt</translation>
  </message>
  <message>
   <source>see to space and permissions there</source>
   <translation>dort Platz und Rechte prüfen</translation>
  </message>
  <message>
   <source>see to what it names, then try again</source>
   <translation>prüfen, was es nennt, dann nochmals versuchen</translation>
  </message>
  <message>
   <source>see what would change</source>
   <translation>sehen, was sich ändern würde</translation>
  </message>
  <message>
   <source>sending the agent, {percent} %</source>
   <translation>sendet den Agenten, {percent} %</translation>
  </message>
  <message>
   <source>sending the runtime</source>
   <translation>sendet die Laufzeit</translation>
  </message>
  <message>
   <source>set it with on_step=…</source>
   <translation>sie mit on_step=… setzen</translation>
  </message>
  <message>
   <source>set up already</source>
   <translation>schon eingerichtet</translation>
  </message>
  <message>
   <source>set up in {files}</source>
   <translation>eingerichtet in {files}</translation>
  </message>
  <message>
   <source>set {key} = {value}</source>
   <translation>{key} = {value} setzen</translation>
  </message>
  <message>
   <source>seven</source>
   <translation>sieben</translation>
  </message>
  <message>
   <source>simulated machines cannot be started</source>
   <translation>simulierte Rechner lassen sich nicht starten</translation>
  </message>
  <message>
   <source>single node</source>
   <translation>einzelner Knoten</translation>
  </message>
  <message>
   <source>six</source>
   <translation>sechs</translation>
  </message>
  <message>
   <source>small messages take longer than they should</source>
   <translation>kleine Nachrichten brauchen länger als sie sollten</translation>
  </message>
  <message>
   <source>sockets have paths of up to {max_socket_path_bytes} bytes</source>
   <translation>Sockets haben Pfade von höchstens {max_socket_path_bytes} Bytes</translation>
  </message>
  <message>
   <source>some nodes are joined by a cable and some by a switch; a fabric is one or the other</source>
   <translation>manche Knoten sind über ein Kabel verbunden, manche über einen Switch; ein Fabric ist das eine oder das andere</translation>
  </message>
  <message>
   <source>somebody else</source>
   <translation>jemand anderes</translation>
  </message>
  <message>
   <source>something went wrong inside Stellwerk</source>
   <translation>in Stellwerk ist etwas schiefgegangen</translation>
  </message>
  <message>
   <source>space</source>
   <translation>freier Platz</translation>
  </message>
  <message>
   <source>sshd ignores the keys because others may write {path}: run chmod go-w {path}</source>
   <translation>sshd beachtet die Schlüssel nicht, weil andere {path} schreiben dürfen: chmod go-w {path} ausführen</translation>
  </message>
  <message>
   <source>start one with `stellwerk virtual up`</source>
   <translation>einen mit `stellwerk virtual up` starten</translation>
  </message>
  <message>
   <source>start one with: stellwerk virtual up</source>
   <translation>einen starten mit: stellwerk virtual up</translation>
  </message>
  <message>
   <source>starting the agent</source>
   <translation>startet den Agenten</translation>
  </message>
  <message>
   <source>starting {ranks} ranks</source>
   <translation>startet {ranks} Ränge</translation>
  </message>
  <message>
   <source>stop some</source>
   <translation>einige anhalten</translation>
  </message>
  <message>
   <source>sudo asks for a password here</source>
   <translation>sudo verlangt hier ein Passwort</translation>
  </message>
  <message>
   <source>sudo asks for a password, and none was accepted</source>
   <translation>sudo verlangt ein Passwort, und keines wurde angenommen</translation>
  </message>
  <message>
   <source>sudo chmod 600 {path}</source>
   <translation>sudo chmod 600 {path}</translation>
  </message>
  <message>
   <source>sudo did not accept it; nothing was changed</source>
   <translation>sudo nahm es nicht an; nichts wurde geändert</translation>
  </message>
  <message>
   <source>sudo ended with {code}</source>
   <translation>sudo endete mit {code}</translation>
  </message>
  <message>
   <source>sudo hostnamectl set-hostname NAME</source>
   <translation>sudo hostnamectl set-hostname NAME</translation>
  </message>
  <message>
   <source>sudo refused</source>
   <translation>sudo verweigert</translation>
  </message>
  <message>
   <source>sudo rm /etc/machine-id &amp;&amp; sudo systemd-machine-id-setup, then restart</source>
   <translation>sudo rm /etc/machine-id &amp;&amp; sudo systemd-machine-id-setup, dann neu starten</translation>
  </message>
  <message>
   <source>sudo wants another password than the login</source>
   <translation>sudo will ein anderes Passwort als die Anmeldung</translation>
  </message>
  <message>
   <source>sudo wants no password</source>
   <translation>sudo will kein Passwort</translation>
  </message>
  <message>
   <source>switch</source>
   <translation>Switch</translation>
  </message>
  <message>
   <source>switch {number}</source>
   <translation>Switch {number}</translation>
  </message>
  <message>
   <source>sysctls</source>
   <translation>Sysctls</translation>
  </message>
  <message>
   <source>take up {units}</source>
   <translation>{units} übernehmen</translation>
  </message>
  <message>
   <source>taken back</source>
   <translation>zurückgenommen</translation>
  </message>
  <message>
   <source>the C library cannot be compiled for other machines</source>
   <translation>die C-Bibliothek lässt sich nicht für andere Rechner übersetzen</translation>
  </message>
  <message>
   <source>the C library for {machine} could not be compiled</source>
   <translation>die C-Bibliothek für {machine} ließ sich nicht übersetzen</translation>
  </message>
  <message>
   <source>the GID table could not be read</source>
   <translation>die GID-Tabelle war nicht lesbar</translation>
  </message>
  <message>
   <source>the PCIe link came up at {text} instead of {best} GT/s ×{widest}</source>
   <translation>der PCIe-Link kam mit {text} statt {best} GT/s ×{widest} hoch</translation>
  </message>
  <message>
   <source>the PCIe link could not be read</source>
   <translation>der PCIe-Link war nicht lesbar</translation>
  </message>
  <message>
   <source>the Python package {name} is not installed on this computer</source>
   <translation>das Python-Paket {name} ist auf diesem Computer nicht installiert</translation>
  </message>
  <message>
   <source>the Python package {package} is not installed on this computer</source>
   <translation>das Python-Paket {package} ist auf diesem Computer nicht installiert</translation>
  </message>
  <message>
   <source>the SSH connection to {at} failed: {text}</source>
   <translation>die SSH-Verbindung zu {at} schlug fehl: {text}</translation>
  </message>
  <message>
   <source>the SSH files of this user cannot be changed</source>
   <translation>die SSH-Dateien dieses Benutzers lassen sich nicht ändern</translation>
  </message>
  <message>
   <source>the address map {address_map} cannot be read</source>
   <translation>die Adresskarte {address_map} ist nicht lesbar</translation>
  </message>
  <message>
   <source>the address map {address_map} has no text for {address}</source>
   <translation>die Adresskarte {address_map} hat keinen Text für {address}</translation>
  </message>
  <message>
   <source>the address map {address_map} is no JSON object</source>
   <translation>die Adresskarte {address_map} ist kein JSON-Objekt</translation>
  </message>
  <message>
   <source>the address {cidr} of {device}, {role}, is gone</source>
   <translation>die Adresse {cidr} von {device}, {role}, ist weg</translation>
  </message>
  <message>
   <source>the agent and this cluster's key: the machine was not reached ({why})</source>
   <translation>der Agent und der Schlüssel dieses Clusters: der Rechner wurde nicht erreicht ({why})</translation>
  </message>
  <message>
   <source>the agent answered: {said}</source>
   <translation>der Agent antwortete: {said}</translation>
  </message>
  <message>
   <source>the agent answers in {ms} ms</source>
   <translation>der Agent antwortet in {ms} ms</translation>
  </message>
  <message>
   <source>the agent cannot be installed for root</source>
   <translation>der Agent lässt sich nicht für root installieren</translation>
  </message>
  <message>
   <source>the agent cannot be started</source>
   <translation>der Agent lässt sich nicht starten</translation>
  </message>
  <message>
   <source>the agent cannot keep its state in {state_dir}</source>
   <translation>der Agent kann seinen Zustand nicht in {state_dir} halten</translation>
  </message>
  <message>
   <source>the agent could not remove itself: {why}</source>
   <translation>der Agent konnte sich nicht entfernen: {why}</translation>
  </message>
  <message>
   <source>the agent did not start</source>
   <translation>der Agent startete nicht</translation>
  </message>
  <message>
   <source>the agent did not start within {attach_s} s</source>
   <translation>der Agent startete nicht in {attach_s} s</translation>
  </message>
  <message>
   <source>the agent does not understand its arguments: {message}</source>
   <translation>der Agent versteht seine Argumente nicht: {message}</translation>
  </message>
  <message>
   <source>the agent refused to start</source>
   <translation>der Agent weigerte sich zu starten</translation>
  </message>
  <message>
   <source>the agent runs from its sources here</source>
   <translation>der Agent läuft hier aus seinen Quellen</translation>
  </message>
  <message>
   <source>the agent sent a sample of another form than agreed</source>
   <translation>der Agent sandte eine Messung anderer Form als vereinbart</translation>
  </message>
  <message>
   <source>the agent that runs here does not end</source>
   <translation>der hier laufende Agent endet nicht</translation>
  </message>
  <message>
   <source>the agent was started and does not answer</source>
   <translation>der Agent wurde gestartet und antwortet nicht</translation>
  </message>
  <message>
   <source>the agent's answer to {method} has another form than agreed</source>
   <translation>die Antwort des Agenten auf {method} hat eine andere Form als vereinbart</translation>
  </message>
  <message>
   <source>the agent's daemon is killed</source>
   <translation>der Daemon des Agenten wird beendet</translation>
  </message>
  <message>
   <source>the cable is out of the port; both ends lose their link</source>
   <translation>das Kabel ist aus dem Port; beide Enden verlieren ihren Link</translation>
  </message>
  <message>
   <source>the cables do not make a {kind}</source>
   <translation>die Kabel ergeben die Topologie nicht: {kind}</translation>
  </message>
  <message>
   <source>the cables make a chain; one more cable closes it to a ring, and no node is a dead end then</source>
   <translation>die Kabel bilden eine Kette; ein Kabel mehr schließt sie zum Ring, und kein Knoten ist dann ein totes Ende</translation>
  </message>
  <message>
   <source>the cables make a ring of {count}</source>
   <translation>die Kabel bilden einen Ring aus {count}</translation>
  </message>
  <message>
   <source>the cables make a {kind}</source>
   <translation>die Kabel ergeben: {kind}</translation>
  </message>
  <message>
   <source>the cables make neither a ring nor a chain</source>
   <translation>die Kabel bilden weder Ring noch Kette</translation>
  </message>
  <message>
   <source>the cabling is not known yet</source>
   <translation>die Verkabelung ist noch nicht bekannt</translation>
  </message>
  <message>
   <source>the carrier could not be read</source>
   <translation>das Signal war nicht lesbar</translation>
  </message>
  <message>
   <source>the change cut this node off</source>
   <translation>die Änderung schnitt diesen Knoten ab</translation>
  </message>
  <message>
   <source>the change did not take effect</source>
   <translation>die Änderung wurde nicht wirksam</translation>
  </message>
  <message>
   <source>the change never reached it</source>
   <translation>die Änderung erreichte ihn nie</translation>
  </message>
  <message>
   <source>the change {plan_id} cannot be confirmed</source>
   <translation>die Änderung {plan_id} lässt sich nicht bestätigen</translation>
  </message>
  <message>
   <source>the change {plan_id} has been taken back already</source>
   <translation>die Änderung {plan_id} wurde schon zurückgenommen</translation>
  </message>
  <message>
   <source>the change {plan_id} is confirmed</source>
   <translation>die Änderung {plan_id} ist bestätigt</translation>
  </message>
  <message>
   <source>the cluster has no node</source>
   <translation>der Cluster hat keinen Knoten</translation>
  </message>
  <message>
   <source>the cluster has not been proven yet</source>
   <translation>der Cluster wurde noch nicht bewiesen</translation>
  </message>
  <message>
   <source>the collectives could not be measured</source>
   <translation>die Kollektive ließen sich nicht messen</translation>
  </message>
  <message>
   <source>the command ssh-keygen is missing</source>
   <translation>der Befehl ssh-keygen fehlt</translation>
  </message>
  <message>
   <source>the connection was closed</source>
   <translation>die Verbindung wurde geschlossen</translation>
  </message>
  <message>
   <source>the connection was closed while it was being opened</source>
   <translation>die Verbindung wurde während des Aufbaus geschlossen</translation>
  </message>
  <message>
   <source>the connection was lost</source>
   <translation>die Verbindung ging verloren</translation>
  </message>
  <message>
   <source>the connection was lost ({error})</source>
   <translation>die Verbindung ging verloren ({error})</translation>
  </message>
  <message>
   <source>the copies in {path} are gone; put the files back by hand</source>
   <translation>die Kopien in {path} sind weg; die Dateien von Hand zurücklegen</translation>
  </message>
  <message>
   <source>the desktop ended before it had decided</source>
   <translation>der Desktop endete, bevor er entschieden hatte</translation>
  </message>
  <message>
   <source>the discovery as root said something unexpected</source>
   <translation>das Lauschen als root sagte etwas Unerwartetes</translation>
  </message>
  <message>
   <source>the disk is full</source>
   <translation>die Platte ist voll</translation>
  </message>
  <message>
   <source>the disk of {place} is full</source>
   <translation>die Platte von {place} ist voll</translation>
  </message>
  <message>
   <source>the fabric</source>
   <translation>das Fabric</translation>
  </message>
  <message>
   <source>the fabric interfaces have no link-local addresses, by 41-no-link-local.yaml</source>
   <translation>die Schnittstellen des Fabrics haben keine Link-Local-Adressen, durch 41-no-link-local.yaml</translation>
  </message>
  <message>
   <source>the file has another content</source>
   <translation>die Datei hat einen anderen Inhalt</translation>
  </message>
  <message>
   <source>the file is gone</source>
   <translation>die Datei ist weg</translation>
  </message>
  <message>
   <source>the file is new</source>
   <translation>die Datei ist neu</translation>
  </message>
  <message>
   <source>the file is right and has to be put into effect again</source>
   <translation>die Datei stimmt und muss erneut in Kraft gesetzt werden</translation>
  </message>
  <message>
   <source>the firewall cannot be asked</source>
   <translation>die Firewall lässt sich nicht befragen</translation>
  </message>
  <message>
   <source>the guard did not start, so nothing was changed</source>
   <translation>der Wächter startete nicht, also wurde nichts geändert</translation>
  </message>
  <message>
   <source>the guard on this node objects</source>
   <translation>der Wächter auf diesem Knoten widerspricht</translation>
  </message>
  <message>
   <source>the guard on this node was killed while it held a change; the change is taken back when root is available again, at the next boot at the latest</source>
   <translation>der Wächter auf diesem Knoten wurde beendet, während er eine Änderung hielt; sie wird zurückgenommen, sobald root wieder zu haben ist, spätestens beim nächsten Start</translation>
  </message>
  <message>
   <source>the guard was killed before the change was confirmed</source>
   <translation>der Wächter wurde beendet, bevor die Änderung bestätigt war</translation>
  </message>
  <message>
   <source>the guard was killed by signal {number}</source>
   <translation>der Wächter wurde durch Signal {number} beendet</translation>
  </message>
  <message>
   <source>the guard was told to end (signal {number})</source>
   <translation>der Wächter sollte enden (Signal {number})</translation>
  </message>
  <message>
   <source>the host key of {host} is not trusted</source>
   <translation>dem Host-Schlüssel von {host} wird nicht vertraut</translation>
  </message>
  <message>
   <source>the interface is down, and bringing it up needs root: {why}</source>
   <translation>die Schnittstelle ist nicht aktiv, und sie zu aktivieren braucht root: {why}</translation>
  </message>
  <message>
   <source>the interface is switched off</source>
   <translation>die Schnittstelle ist ausgeschaltet</translation>
  </message>
  <message>
   <source>the jump host could not connect to {host} port {port}</source>
   <translation>der Jump-Host konnte nicht zu {host} Port {port} verbinden</translation>
  </message>
  <message>
   <source>the jump hosts of {seen} lead in a circle (over {name})</source>
   <translation>die Jump-Hosts von {seen} führen im Kreis (über {name})</translation>
  </message>
  <message>
   <source>the key file {path} does not exist</source>
   <translation>die Schlüsseldatei {path} gibt es nicht</translation>
  </message>
  <message>
   <source>the last answer was not accepted</source>
   <translation>die letzte Antwort wurde nicht angenommen</translation>
  </message>
  <message>
   <source>the limit of POSIX message queues (ulimit -q), which marks the simulated root, is too low here</source>
   <translation>die Grenze der POSIX-Nachrichtenwarteschlangen (ulimit -q), die das simulierte root kennzeichnet, ist hier zu niedrig</translation>
  </message>
  <message>
   <source>the link is negotiated at 100 Gb/s instead of 200</source>
   <translation>der Link wird mit 100 statt 200 Gb/s ausgehandelt</translation>
  </message>
  <message>
   <source>the link of {name} runs at {speed_mbps}</source>
   <translation>der Link von {name} läuft mit {speed_mbps}</translation>
  </message>
  <message>
   <source>the link was negotiated below 200 Gb/s</source>
   <translation>der Link wurde unter 200 Gb/s ausgehandelt</translation>
  </message>
  <message>
   <source>the live network state cannot be read</source>
   <translation>der aktuelle Netzzustand ist nicht lesbar</translation>
  </message>
  <message>
   <source>the machine ignores the key that was installed</source>
   <translation>der Rechner beachtet den installierten Schlüssel nicht</translation>
  </message>
  <message>
   <source>the model of this measurement runs on it</source>
   <translation>das Modell dieser Messung läuft darauf</translation>
  </message>
  <message>
   <source>the name of an environment variable is empty or holds '='</source>
   <translation>der Name einer Umgebungsvariablen ist leer oder enthält „=“</translation>
  </message>
  <message>
   <source>the name {host} is not known</source>
   <translation>der Name {host} ist nicht bekannt</translation>
  </message>
  <message>
   <source>the neighbour table cannot be read</source>
   <translation>die Nachbartabelle ist nicht lesbar</translation>
  </message>
  <message>
   <source>the netplan files of {broken} cannot be read</source>
   <translation>die Netplan-Dateien von {broken} sind nicht lesbar</translation>
  </message>
  <message>
   <source>the netplan files of {unread} need the sudo password</source>
   <translation>die Netplan-Dateien von {unread} brauchen das Sudo-Passwort</translation>
  </message>
  <message>
   <source>the network service does not take up the files</source>
   <translation>der Netzdienst nimmt die Dateien nicht auf</translation>
  </message>
  <message>
   <source>the new host key is trusted</source>
   <translation>dem neuen Host-Schlüssel wird vertraut</translation>
  </message>
  <message>
   <source>the node goes down and boots again</source>
   <translation>der Knoten fährt herunter und startet neu</translation>
  </message>
  <message>
   <source>the node has not been asked</source>
   <translation>der Knoten wurde nicht gefragt</translation>
  </message>
  <message>
   <source>the node is held by {holder}</source>
   <translation>der Knoten wird von {holder} gehalten</translation>
  </message>
  <message>
   <source>the node is not connected</source>
   <translation>der Knoten ist nicht verbunden</translation>
  </message>
  <message>
   <source>the node is switched on</source>
   <translation>der Knoten wird eingeschaltet</translation>
  </message>
  <message>
   <source>the node leaves the cluster</source>
   <translation>der Knoten verlässt den Cluster</translation>
  </message>
  <message>
   <source>the node refused a part of this</source>
   <translation>der Knoten verweigerte einen Teil davon</translation>
  </message>
  <message>
   <source>the node's clock is 10 minutes ahead</source>
   <translation>die Uhr des Knotens geht 10 Minuten vor</translation>
  </message>
  <message>
   <source>the nodes are on switches that do not pass traffic to each other: {names}</source>
   <translation>die Knoten hängen an Switches, die einander keinen Verkehr weitergeben: {names}</translation>
  </message>
  <message>
   <source>the nodes do not know each other</source>
   <translation>die Knoten kennen einander nicht</translation>
  </message>
  <message>
   <source>the nodes do not report a link speed</source>
   <translation>die Knoten melden kein Link-Tempo</translation>
  </message>
  <message>
   <source>the nodes have not called each other yet</source>
   <translation>die Knoten haben einander noch nicht gerufen</translation>
  </message>
  <message>
   <source>the other nodes do not answer</source>
   <translation>die anderen Knoten antworten nicht</translation>
  </message>
  <message>
   <source>the password is known until the wizard ends</source>
   <translation>das Passwort ist bekannt, bis der Assistent endet</translation>
  </message>
  <message>
   <source>the plan changes {twice} twice</source>
   <translation>der Plan ändert {twice} zweimal</translation>
  </message>
  <message>
   <source>the plug is in the node's other port (with both ports in use: the two are swapped)</source>
   <translation>der Stecker ist im anderen Port des Knotens (sind beide belegt: getauscht)</translation>
  </message>
  <message>
   <source>the plug is pulled; everything on the node dies (clearing it powers the node on)</source>
   <translation>der Stecker ist gezogen; alles auf dem Knoten endet (beim Heilen geht er an)</translation>
  </message>
  <message>
   <source>the program could not be started: {said}</source>
   <translation>das Programm ließ sich nicht starten: {said}</translation>
  </message>
  <message>
   <source>the ranks did not finish within {deadline_s} s</source>
   <translation>die Ränge wurden nicht in {deadline_s} s fertig</translation>
  </message>
  <message>
   <source>the request cannot be read</source>
   <translation>die Anfrage ist nicht lesbar</translation>
  </message>
  <message>
   <source>the request is no JSON object</source>
   <translation>die Anfrage ist kein JSON-Objekt</translation>
  </message>
  <message>
   <source>the root verbs run as root only</source>
   <translation>die Root-Befehle laufen nur als root</translation>
  </message>
  <message>
   <source>the simulated machine has no power</source>
   <translation>der simulierte Rechner hat keinen Strom</translation>
  </message>
  <message>
   <source>the simulated machine lost its power</source>
   <translation>der simulierte Rechner verlor seinen Strom</translation>
  </message>
  <message>
   <source>the ssh-agent at {path} does not answer</source>
   <translation>der ssh-agent unter {path} antwortet nicht</translation>
  </message>
  <message>
   <source>the state of {rdma} is not known</source>
   <translation>der Zustand von {rdma} ist nicht bekannt</translation>
  </message>
  <message>
   <source>the sudo password did not reach sudo</source>
   <translation>das Sudo-Passwort kam nicht bei sudo an</translation>
  </message>
  <message>
   <source>the sudo password is wrong</source>
   <translation>das Sudo-Passwort ist falsch</translation>
  </message>
  <message>
   <source>the sudo password was not given</source>
   <translation>das Sudo-Passwort wurde nicht angegeben</translation>
  </message>
  <message>
   <source>the switch that the node hangs on does not name itself (no LLDP)</source>
   <translation>der Switch, an dem der Knoten hängt, nennt sich nicht (kein LLDP)</translation>
  </message>
  <message>
   <source>the sysctl {key} has changed since the plan was made</source>
   <translation>das Sysctl {key} hat sich geändert, seit der Plan gemacht wurde</translation>
  </message>
  <message>
   <source>the time limit for an unconfirmed change was reached</source>
   <translation>die Zeitgrenze für eine unbestätigte Änderung war erreicht</translation>
  </message>
  <message>
   <source>the top level must be keys and values</source>
   <translation>die oberste Ebene muss aus Schlüsseln und Werten bestehen</translation>
  </message>
  <message>
   <source>the user is not in the sudoers file</source>
   <translation>der Benutzer steht nicht in der sudoers-Datei</translation>
  </message>
  <message>
   <source>the virtual cluster did not start</source>
   <translation>der virtuelle Cluster startete nicht</translation>
  </message>
  <message>
   <source>the virtual cluster has ended</source>
   <translation>der virtuelle Cluster ist beendet</translation>
  </message>
  <message>
   <source>the way back at boot cannot be installed</source>
   <translation>der Rückweg beim Start lässt sich nicht einrichten</translation>
  </message>
  <message>
   <source>the {kind} was sent, but is not there</source>
   <translation>es wurde gesendet, ist aber nicht da: {kind}</translation>
  </message>
  <message>
   <source>there is more than one cluster</source>
   <translation>es gibt mehr als einen Cluster</translation>
  </message>
  <message>
   <source>there is no cluster {name}</source>
   <translation>es gibt keinen Cluster {name}</translation>
  </message>
  <message>
   <source>there is no confirmed change {plan_id} on this node</source>
   <translation>auf diesem Knoten gibt es keine bestätigte Änderung {plan_id}</translation>
  </message>
  <message>
   <source>there is no connection</source>
   <translation>es gibt keine Verbindung</translation>
  </message>
  <message>
   <source>there is no entry to compare</source>
   <translation>es gibt keinen Eintrag zum Vergleichen</translation>
  </message>
  <message>
   <source>there is no fault {name}</source>
   <translation>es gibt keinen Fehler {name}</translation>
  </message>
  <message>
   <source>there is no free subnet left in {where}</source>
   <translation>in {where} ist kein Subnetz mehr frei</translation>
  </message>
  <message>
   <source>there is no interface {device}</source>
   <translation>es gibt keine Schnittstelle {device}</translation>
  </message>
  <message>
   <source>there is no job {job_id} on this node</source>
   <translation>auf diesem Knoten gibt es keinen Job {job_id}</translation>
  </message>
  <message>
   <source>there is no node {name}</source>
   <translation>es gibt keinen Knoten {name}</translation>
  </message>
  <message>
   <source>there is no node {name} in the cluster {cluster}</source>
   <translation>es gibt keinen Knoten {name} im Cluster {cluster}</translation>
  </message>
  <message>
   <source>there is no operation {name}</source>
   <translation>es gibt keine Operation {name}</translation>
  </message>
  <message>
   <source>there is no python3</source>
   <translation>es gibt kein python3</translation>
  </message>
  <message>
   <source>there is no python3 in the PATH</source>
   <translation>es gibt kein python3 im PATH</translation>
  </message>
  <message>
   <source>there is no sudo command on this node</source>
   <translation>auf diesem Knoten gibt es keinen Befehl sudo</translation>
  </message>
  <message>
   <source>there is no sysctl {key} on this node</source>
   <translation>auf diesem Knoten gibt es kein Sysctl {key}</translation>
  </message>
  <message>
   <source>there was no connection within {deadline_s} s</source>
   <translation>in {deadline_s} s kam keine Verbindung zustande</translation>
  </message>
  <message>
   <source>these networks are in use: {blocking}</source>
   <translation>diese Netze sind in Gebrauch: {blocking}</translation>
  </message>
  <message>
   <source>these settings are kept over a restart</source>
   <translation>diese Einstellungen bleiben über einen Neustart erhalten</translation>
  </message>
  <message>
   <source>this cannot be a sudo password</source>
   <translation>das kann kein Sudo-Passwort sein</translation>
  </message>
  <message>
   <source>this cluster is already open in another window</source>
   <translation>dieser Cluster ist schon in einem anderen Fenster offen</translation>
  </message>
  <message>
   <source>this cluster's key in ~/.ssh/authorized_keys</source>
   <translation>der Schlüssel dieses Clusters in ~/.ssh/authorized_keys</translation>
  </message>
  <message>
   <source>this is no public SSH key</source>
   <translation>das ist kein öffentlicher SSH-Schlüssel</translation>
  </message>
  <message>
   <source>this node has faster ports for a fabric</source>
   <translation>dieser Knoten hat schnellere Ports für ein Fabric</translation>
  </message>
  <message>
   <source>this node has no interface {absent}</source>
   <translation>dieser Knoten hat keine Schnittstelle {absent}</translation>
  </message>
  <message>
   <source>this node is at {plan}: {state} {why}</source>
   <translation>dieser Knoten ist bei {plan}: {state} {why}</translation>
  </message>
  <message>
   <source>this user may not become root</source>
   <translation>dieser Benutzer darf nicht root werden</translation>
  </message>
  <message>
   <source>three</source>
   <translation>drei</translation>
  </message>
  <message>
   <source>through the jump host {host}</source>
   <translation>über den Jump-Host {host}</translation>
  </message>
  <message>
   <source>through which this session runs</source>
   <translation>über die diese Sitzung läuft</translation>
  </message>
  <message>
   <source>through {device}</source>
   <translation>über {device}</translation>
  </message>
  <message>
   <source>through {device} via {via}</source>
   <translation>über {device} via {via}</translation>
  </message>
  <message>
   <source>together the halves stay below the mark</source>
   <translation>zusammen bleiben die Hälften unter dem Sollwert</translation>
  </message>
  <message>
   <source>torch is not installed</source>
   <translation>torch ist nicht installiert</translation>
  </message>
  <message>
   <source>traffic to {destination} leaves {way}, not through {netdev}</source>
   <translation>Verkehr nach {destination} nimmt diesen Weg: {way}, nicht über {netdev}</translation>
  </message>
  <message>
   <source>true or false</source>
   <translation>true oder false</translation>
  </message>
  <message>
   <source>trust, log in once, install the agent</source>
   <translation>vertrauen, einmal anmelden, den Agenten einrichten</translation>
  </message>
  <message>
   <source>try again</source>
   <translation>nochmals versuchen</translation>
  </message>
  <message>
   <source>try again; {path} and daemon.log beside it say more</source>
   <translation>nochmals versuchen; {path} und daemon.log daneben sagen mehr</translation>
  </message>
  <message>
   <source>two</source>
   <translation>zwei</translation>
  </message>
  <message>
   <source>two cables join the same two nodes; the second one adds no speed</source>
   <translation>zwei Kabel verbinden dieselben zwei Knoten; das zweite macht nichts schneller</translation>
  </message>
  <message>
   <source>two nodes hear each other</source>
   <translation>zwei Knoten hören einander</translation>
  </message>
  <message>
   <source>two nodes need one cable</source>
   <translation>zwei Knoten brauchen ein Kabel</translation>
  </message>
  <message>
   <source>type the password with which this user runs sudo on this node</source>
   <translation>das Passwort eingeben, mit dem dieser Benutzer auf diesem Knoten sudo ausführt</translation>
  </message>
  <message>
   <source>undo it instead</source>
   <translation>sie stattdessen rückgängig machen</translation>
  </message>
  <message>
   <source>units</source>
   <translation>Units</translation>
  </message>
  <message>
   <source>unknown</source>
   <translation>unbekannt</translation>
  </message>
  <message>
   <source>unknown version</source>
   <translation>unbekannte Version</translation>
  </message>
  <message>
   <source>unplug the other cable first</source>
   <translation>zuerst das andere Kabel ziehen</translation>
  </message>
  <message>
   <source>up</source>
   <translation>aktiv</translation>
  </message>
  <message>
   <source>wait for the planned addresses and remove what was left behind</source>
   <translation>auf die geplanten Adressen warten und Übriges entfernen</translation>
  </message>
  <message>
   <source>what it changed, and whether it was decided, stands there alone</source>
   <translation>was er änderte und ob entschieden wurde, steht nur dort</translation>
  </message>
  <message>
   <source>what listens at {at} is not an SSH server</source>
   <translation>was auf {at} hört, ist kein SSH-Server</translation>
  </message>
  <message>
   <source>write the journal</source>
   <translation>das Journal schreiben</translation>
  </message>
  <message>
   <source>write {path}</source>
   <translation>{path} schreiben</translation>
  </message>
  <message>
   <source>wrong</source>
   <translation>falsch</translation>
  </message>
  <message>
   <source>wrong half</source>
   <translation>falsche Hälfte</translation>
  </message>
  <message>
   <source>wrong number of arguments: {rest}</source>
   <translation>falsche Zahl von Argumenten: {rest}</translation>
  </message>
  <message>
   <source>{address} does not answer through {device}</source>
   <translation>{address} antwortet nicht über {device}</translation>
  </message>
  <message>
   <source>{address} is at {mac}, but belongs to {mac2}</source>
   <translation>{address} hat {mac}, gehört aber zu {mac2}</translation>
  </message>
  <message>
   <source>{address} is in the files but not in effect</source>
   <translation>{address} steht in den Dateien, ist aber nicht wirksam</translation>
  </message>
  <message>
   <source>{address} is no address for {name}</source>
   <translation>{address} ist keine Adresse für {name}</translation>
  </message>
  <message>
   <source>{address} is not an address</source>
   <translation>{address} ist keine Adresse</translation>
  </message>
  <message>
   <source>{address} is the same machine as {twin}</source>
   <translation>{address} ist derselbe Rechner wie {twin}</translation>
  </message>
  <message>
   <source>{after} is no value for the sysctl {key}</source>
   <translation>{after} ist kein Wert für das Sysctl {key}</translation>
  </message>
  <message>
   <source>{archive} is not what its name says</source>
   <translation>{archive} ist nicht, was der Name sagt</translation>
  </message>
  <message>
   <source>{argv} cannot be started</source>
   <translation>{argv} lässt sich nicht starten</translation>
  </message>
  <message>
   <source>{at} accepted the connection but did not {stage} within {login_s} s</source>
   <translation>{at} nahm die Verbindung an, hat aber in {login_s} s nicht {stage}</translation>
  </message>
  <message>
   <source>{at} and this computer have no encryption method in common</source>
   <translation>{at} und dieser Computer haben kein Verschlüsselungsverfahren gemeinsam</translation>
  </message>
  <message>
   <source>{at} closed the connection before the login was done</source>
   <translation>{at} schloss die Verbindung, bevor die Anmeldung fertig war</translation>
  </message>
  <message>
   <source>{at} did not answer within {connect_s} s</source>
   <translation>{at} antwortete nicht in {connect_s} s</translation>
  </message>
  <message>
   <source>{at} refuses connections</source>
   <translation>{at} weist Verbindungen ab</translation>
  </message>
  <message>
   <source>{cidr} is not an address with a prefix length</source>
   <translation>{cidr} ist keine Adresse mit Präfixlänge</translation>
  </message>
  <message>
   <source>{cidr} of {device} came from DHCP and has not come back yet</source>
   <translation>{cidr} von {device} kam per DHCP und ist noch nicht zurück</translation>
  </message>
  <message>
   <source>{cluster_file} cannot be read</source>
   <translation>{cluster_file} ist nicht lesbar</translation>
  </message>
  <message>
   <source>{count} neighbours to reach</source>
   <translation>{count} Nachbarn zu erreichen</translation>
  </message>
  <message>
   <source>{count} nodes cannot make a {wanted}</source>
   <translation>{count} Knoten ergeben die Topologie nicht: {wanted}</translation>
  </message>
  <message>
   <source>{count} nodes on a switch reach each other in one step, and no cable is heard yet</source>
   <translation>{count} Knoten an einem Switch erreichen sich in einem Schritt, und noch ist kein Kabel zu hören</translation>
  </message>
  <message>
   <source>{count} nodes with two ports each make a ring</source>
   <translation>{count} Knoten mit je zwei Ports bilden einen Ring</translation>
  </message>
  <message>
   <source>{destination} does not answer; the nodes in between do not pass it on</source>
   <translation>{destination} antwortet nicht; die Knoten dazwischen geben es nicht weiter</translation>
  </message>
  <message>
   <source>{destination} is answered by {whose} ({mac}); RoCE would send to the wrong half</source>
   <translation>{destination} wird beantwortet von: {whose} ({mac}); RoCE würde an die falsche Hälfte senden</translation>
  </message>
  <message>
   <source>{device} does not have {cidr}</source>
   <translation>{device} hat {cidr} nicht</translation>
  </message>
  <message>
   <source>{device} does not have {cidr} (no carrier: is the cable in?)</source>
   <translation>{device} hat {cidr} nicht (kein Signal: steckt das Kabel?)</translation>
  </message>
  <message>
   <source>{device} has MTU {now} instead of {mtu}</source>
   <translation>{device} hat MTU {now} statt {mtu}</translation>
  </message>
  <message>
   <source>{device} is not the name of a network interface</source>
   <translation>{device} ist nicht der Name einer Netzschnittstelle</translation>
  </message>
  <message>
   <source>{device} is part of {master}</source>
   <translation>{device} ist Teil von {master}</translation>
  </message>
  <message>
   <source>{device} master {master}</source>
   <translation>{device} master {master}</translation>
  </message>
  <message>
   <source>{device} of {name}</source>
   <translation>{device} von {name}</translation>
  </message>
  <message>
   <source>{device}: arp_ignore {arp_ignore}, arp_announce {arp_announce}</source>
   <translation>{device}: arp_ignore {arp_ignore}, arp_announce {arp_announce}</translation>
  </message>
  <message>
   <source>{disk_free_bytes} GiB are free on {member}</source>
   <translation>{disk_free_bytes} GiB sind auf {member} frei</translation>
  </message>
  <message>
   <source>{end} hangs on no switch</source>
   <translation>{end} hängt an keinem Switch</translation>
  </message>
  <message>
   <source>{environment} cannot be read</source>
   <translation>{environment} ist nicht lesbar</translation>
  </message>
  <message>
   <source>{few} has too few ports</source>
   <translation>{few} hat zu wenige Ports</translation>
  </message>
  <message>
   <source>{first} and {last}</source>
   <translation>{first} und {last}</translation>
  </message>
  <message>
   <source>{first} is behind; which one is wrong cannot be told from two</source>
   <translation>{first} geht nach; welche falsch geht, ist aus zweien nicht zu sagen</translation>
  </message>
  <message>
   <source>{free} KiB are free, {needed} KiB are needed to change and to go back</source>
   <translation>{free} KiB sind frei, {needed} KiB sind zum Ändern und Zurückkehren nötig</translation>
  </message>
  <message>
   <source>{gbps} is no rate</source>
   <translation>{gbps} ist keine Rate</translation>
  </message>
  <message>
   <source>{host} cannot be reached</source>
   <translation>{host} ist nicht erreichbar</translation>
  </message>
  <message>
   <source>{host} ended the login after too many attempts</source>
   <translation>{host} beendete die Anmeldung nach zu vielen Versuchen</translation>
  </message>
  <message>
   <source>{host} is a link-local address and means a machine only together with an interface of this computer</source>
   <translation>{host} ist eine Link-Local-Adresse und meint einen Rechner nur zusammen mit einer Schnittstelle dieses Computers</translation>
  </message>
  <message>
   <source>{host} port {port}</source>
   <translation>{host} Port {port}</translation>
  </message>
  <message>
   <source>{host}: its entry in {ssh_config} uses ProxyCommand, which Stellwerk does not run</source>
   <translation>{host}: der Eintrag in {ssh_config} nutzt ProxyCommand, das Stellwerk nicht ausführt</translation>
  </message>
  <message>
   <source>{ip} is there twice on this link</source>
   <translation>{ip} gibt es auf diesem Link zweimal</translation>
  </message>
  <message>
   <source>{kind} has no parameter {name}</source>
   <translation>{kind} hat keinen Parameter {name}</translation>
  </message>
  <message>
   <source>{kind} is not set</source>
   <translation>{kind} ist nicht gesetzt</translation>
  </message>
  <message>
   <source>{kind} is not set on {node}</source>
   <translation>{kind} ist auf {node} nicht gesetzt</translation>
  </message>
  <message>
   <source>{lacking} has no fabric address</source>
   <translation>{lacking} hat keine Adresse im Fabric</translation>
  </message>
  <message>
   <source>{link}, half {half}</source>
   <translation>{link}, Hälfte {half}</translation>
  </message>
  <message>
   <source>{lost} lost</source>
   <translation>{lost} verloren</translation>
  </message>
  <message>
   <source>{lost} of {sent} packets to {destination} were lost</source>
   <translation>{lost} von {sent} Paketen nach {destination} gingen verloren</translation>
  </message>
  <message>
   <source>{machine} has no cable</source>
   <translation>{machine} hat kein Kabel</translation>
  </message>
  <message>
   <source>{machine} has no port {port}</source>
   <translation>{machine} hat keinen Port {port}</translation>
  </message>
  <message>
   <source>{max_passwords} passwords were not accepted</source>
   <translation>{max_passwords} Passwörter wurden nicht angenommen</translation>
  </message>
  <message>
   <source>{member} has no port for a fabric</source>
   <translation>{member} hat keinen Port für ein Fabric</translation>
  </message>
  <message>
   <source>{member} is reached over Wi-Fi ({name})</source>
   <translation>{member} wird über WLAN erreicht ({name})</translation>
  </message>
  <message>
   <source>{member} port {number} runs at {speeds}, not at 200 Gb/s</source>
   <translation>{member} Port {number} läuft mit {speeds}, nicht mit 200 Gb/s</translation>
  </message>
  <message>
   <source>{member} sends to {address} by the wrong half</source>
   <translation>{member} sendet über die falsche Hälfte an {address}</translation>
  </message>
  <message>
   <source>{member}: it has no iptables, so nothing there drops the fabric's traffic.</source>
   <translation>{member}: dort gibt es kein iptables, also verwirft nichts den Verkehr des Fabrics.</translation>
  </message>
  <message>
   <source>{member}: its ARP settings are left as they are; if a neighbour answers with the MAC of the wrong half, the next plan sets them.</source>
   <translation>{member}: die ARP-Einstellungen bleiben, wie sie sind; antwortet ein Nachbar mit der MAC der falschen Hälfte, setzt sie der nächste Plan.</translation>
  </message>
  <message>
   <source>{member}: nothing to change, {source}.</source>
   <translation>{member}: nichts zu ändern, {source}.</translation>
  </message>
  <message>
   <source>{member}: {unread} could not be read without sudo, so whether its addresses survive a restart is not known.</source>
   <translation>{member}: {unread} war ohne sudo nicht lesbar, ob die Adressen einen Neustart überstehen, ist also nicht bekannt.</translation>
  </message>
  <message>
   <source>{method} did not answer within {deadline_s} s</source>
   <translation>{method} antwortete nicht in {deadline_s} s</translation>
  </message>
  <message>
   <source>{method} did not end within {deadline_s} s</source>
   <translation>{method} endete nicht in {deadline_s} s</translation>
  </message>
  <message>
   <source>{method} was cancelled</source>
   <translation>{method} wurde abgebrochen</translation>
  </message>
  <message>
   <source>{missing} of {machines} machines are not ready: pair them or take them off the list</source>
   <translation>{missing} von {machines} Rechnern nicht bereit: koppeln oder von der Liste nehmen</translation>
  </message>
  <message>
   <source>{names} have the same {what}</source>
   <translation>{names} haben dasselbe: {what}</translation>
  </message>
  <message>
   <source>{names} no longer belongs to the fabric</source>
   <translation>{names} gehört nicht mehr zum Fabric</translation>
  </message>
  <message>
   <source>{name} cannot be an alias</source>
   <translation>{name} kann kein Alias sein</translation>
  </message>
  <message>
   <source>{name} does not pass fabric traffic on</source>
   <translation>{name} gibt den Verkehr des Fabrics nicht weiter</translation>
  </message>
  <message>
   <source>{name} has no host key</source>
   <translation>{name} hat keinen Host-Schlüssel</translation>
  </message>
  <message>
   <source>{name} runs another agent than the others</source>
   <translation>{name} führt einen anderen Agenten aus als die anderen</translation>
  </message>
  <message>
   <source>{name}: {path} also sets {lost} for {netdev}; that goes.</source>
   <translation>{name}: {path} setzt für {netdev} auch {lost}; das entfällt.</translation>
  </message>
  <message>
   <source>{name}: {path} holds a NetworkManager profile that fits any interface, {netdev} too; it stays, and our profile is made active.</source>
   <translation>{name}: {path} enthält ein NetworkManager-Profil, das auf jede Schnittstelle passt, auch auf {netdev}; es bleibt, und unser Profil wird aktiv.</translation>
  </message>
  <message>
   <source>{netdev} gets its address by DHCP</source>
   <translation>{netdev} bekommt die Adresse per DHCP</translation>
  </message>
  <message>
   <source>{netdev} has only an address of {network}</source>
   <translation>{netdev} hat nur eine Adresse aus {network}</translation>
  </message>
  <message>
   <source>{netdev} is configured by {paths}</source>
   <translation>{netdev} wird von {paths} eingestellt</translation>
  </message>
  <message>
   <source>{netdev} is in {lan}, which many home routers hand out</source>
   <translation>{netdev} liegt in {lan}, das viele Heimrouter verteilen</translation>
  </message>
  <message>
   <source>{netdev} may answer ARP for each other</source>
   <translation>{netdev} beantworten ARP vielleicht füreinander</translation>
  </message>
  <message>
   <source>{netdev}: mtu {mtu}</source>
   <translation>{netdev}: MTU {mtu}</translation>
  </message>
  <message>
   <source>{netdev}: up</source>
   <translation>{netdev}: aktiv</translation>
  </message>
  <message>
   <source>{network} has no room for {count} nodes</source>
   <translation>{network} hat keinen Platz für {count} Knoten</translation>
  </message>
  <message>
   <source>{network} is a network of home routers</source>
   <translation>{network} ist ein Netz von Heimroutern</translation>
  </message>
  <message>
   <source>{network} is not a private network</source>
   <translation>{network} ist kein privates Netz</translation>
  </message>
  <message>
   <source>{network} is not the subnet of the other end, {other}</source>
   <translation>{network} ist nicht das Subnetz des anderen Endes, {other}</translation>
  </message>
  <message>
   <source>{network} is outside the chosen range {pool}</source>
   <translation>{network} liegt außerhalb des gewählten Bereichs {pool}</translation>
  </message>
  <message>
   <source>{network} is too wide for one link</source>
   <translation>{network} ist zu weit für einen Link</translation>
  </message>
  <message>
   <source>{network} is used by {other}, too; one subnet for two links confuses routing and NCCL</source>
   <translation>{network} wird auch von {other} benutzt; ein Subnetz für zwei Links verwirrt Routing und NCCL</translation>
  </message>
  <message>
   <source>{network} of {netdev} is in use elsewhere, too</source>
   <translation>{network} von {netdev} ist auch anderswo in Gebrauch</translation>
  </message>
  <message>
   <source>{network} overlaps {other} ({where})</source>
   <translation>{network} überschneidet sich mit {other} ({where})</translation>
  </message>
  <message>
   <source>{network} works now, but many home routers hand out {lan}: in such a network the fabric and the LAN would collide.</source>
   <translation>{network} geht jetzt, aber viele Heimrouter verteilen {lan}: in einem solchen Netz stießen Fabric und LAN zusammen.</translation>
  </message>
  <message>
   <source>{node} cannot reach {peer} over {netdev}: {why}</source>
   <translation>{node} erreicht {peer} nicht über {netdev}: {why}</translation>
  </message>
  <message>
   <source>{node} has no ports for a fabric.</source>
   <translation>{node} hat keine Ports für ein Fabric.</translation>
  </message>
  <message>
   <source>{node} has one port for a fabric.</source>
   <translation>{node} hat einen Port für ein Fabric.</translation>
  </message>
  <message>
   <source>{node} is not connected</source>
   <translation>{node} ist nicht verbunden</translation>
  </message>
  <message>
   <source>{node} is not on the switch.</source>
   <translation>{node} hängt nicht am Switch.</translation>
  </message>
  <message>
   <source>{node} is on the switch with port {port}, the others with port {other_port}.</source>
   <translation>{node} hängt mit Port {port} am Switch, die anderen mit Port {other_port}.</translation>
  </message>
  <message>
   <source>{node} port {port}</source>
   <translation>{node} Port {port}</translation>
  </message>
  <message>
   <source>{node} went back by itself</source>
   <translation>{node} ist von selbst zurückgekehrt</translation>
  </message>
  <message>
   <source>{node}, jump host {host}</source>
   <translation>{node}, Jump-Host {host}</translation>
  </message>
  <message>
   <source>{now} GT/s ×{width}</source>
   <translation>{now} GT/s ×{width}</translation>
  </message>
  <message>
   <source>{other} and {netdev} are both in {network}</source>
   <translation>{other} und {netdev} liegen beide in {network}</translation>
  </message>
  <message>
   <source>{parent} belongs to somebody else</source>
   <translation>{parent} gehört jemand anderem</translation>
  </message>
  <message>
   <source>{parent} cannot be written to</source>
   <translation>{parent} lässt sich nicht beschreiben</translation>
  </message>
  <message>
   <source>{parent} is too deep for a virtual cluster</source>
   <translation>{parent} liegt für einen virtuellen Cluster zu tief</translation>
  </message>
  <message>
   <source>{path} can be read by others</source>
   <translation>{path} ist für andere lesbar</translation>
  </message>
  <message>
   <source>{path} can be written by others than root</source>
   <translation>{path} dürfen andere als root schreiben</translation>
  </message>
  <message>
   <source>{path} cannot be changed</source>
   <translation>{path} lässt sich nicht ändern</translation>
  </message>
  <message>
   <source>{path} cannot be read</source>
   <translation>{path} ist nicht lesbar</translation>
  </message>
  <message>
   <source>{path} cannot be read ({said})</source>
   <translation>{path} ist nicht lesbar ({said})</translation>
  </message>
  <message>
   <source>{path} cannot be read: {strerror}</source>
   <translation>{path} ist nicht lesbar: {strerror}</translation>
  </message>
  <message>
   <source>{path} cannot be used</source>
   <translation>{path} ist nicht nutzbar</translation>
  </message>
  <message>
   <source>{path} configures {netdev} by the entry {key}</source>
   <translation>{path} stellt {netdev} über den Eintrag {key} ein</translation>
  </message>
  <message>
   <source>{path} configures {netdev} in a way that cannot be taken over</source>
   <translation>{path} stellt {netdev} auf eine Art ein, die sich nicht übernehmen lässt</translation>
  </message>
  <message>
   <source>{path} configures {values} and lies outside /etc/netplan</source>
   <translation>{path} stellt {values} ein und liegt außerhalb von /etc/netplan</translation>
  </message>
  <message>
   <source>{path} could not be read ({said}); it was put aside as {name}</source>
   <translation>{path} war nicht lesbar ({said}); die Datei wurde als {name} beiseitegelegt</translation>
  </message>
  <message>
   <source>{path} could not be saved on this computer</source>
   <translation>{path} ließ sich auf diesem Computer nicht speichern</translation>
  </message>
  <message>
   <source>{path} could not be written</source>
   <translation>{path} ließ sich nicht schreiben</translation>
  </message>
  <message>
   <source>{path} could not be written: {strerror}</source>
   <translation>{path} ließ sich nicht schreiben: {strerror}</translation>
  </message>
  <message>
   <source>{path} does not hold a cluster</source>
   <translation>{path} enthält keinen Cluster</translation>
  </message>
  <message>
   <source>{path} grows without end through its aliases</source>
   <translation>{path} wächst durch seine Aliase ohne Ende</translation>
  </message>
  <message>
   <source>{path} has changed since the plan was made</source>
   <translation>{path} hat sich geändert, seit der Plan gemacht wurde</translation>
  </message>
  <message>
   <source>{path} has version {version}; this program reads version {format_version}</source>
   <translation>{path} hat Version {version}; dieses Programm liest Version {format_version}</translation>
  </message>
  <message>
   <source>{path} holds more than one document; netplan reads only the first</source>
   <translation>{path} enthält mehr als ein Dokument; netplan liest nur das erste</translation>
  </message>
  <message>
   <source>{path} is damaged: it is not text</source>
   <translation>{path} ist beschädigt: es ist kein Text</translation>
  </message>
  <message>
   <source>{path} is in use by another window</source>
   <translation>{path} wird von einem anderen Fenster benutzt</translation>
  </message>
  <message>
   <source>{path} is larger than {max_bytes} bytes</source>
   <translation>{path} ist größer als {max_bytes} Bytes</translation>
  </message>
  <message>
   <source>{path} is larger than {max_bytes} bytes and is not read as an SSH configuration</source>
   <translation>{path} ist größer als {max_bytes} Bytes und wird nicht als SSH-Konfiguration gelesen</translation>
  </message>
  <message>
   <source>{path} is larger than {max_file_bytes} bytes</source>
   <translation>{path} ist größer als {max_file_bytes} Bytes</translation>
  </message>
  <message>
   <source>{path} is larger than {max_text} KiB</source>
   <translation>{path} ist größer als {max_text} KiB</translation>
  </message>
  <message>
   <source>{path} is larger than {size} kB</source>
   <translation>{path} ist größer als {size} kB</translation>
  </message>
  <message>
   <source>{path} is nested too deeply</source>
   <translation>{path} ist zu tief verschachtelt</translation>
  </message>
  <message>
   <source>{path} is no tuning table</source>
   <translation>{path} ist keine Tuning-Tabelle</translation>
  </message>
  <message>
   <source>{path} is not YAML</source>
   <translation>{path} ist kein YAML</translation>
  </message>
  <message>
   <source>{path} is not a key</source>
   <translation>{path} ist kein Schlüssel</translation>
  </message>
  <message>
   <source>{path} is not a netplan file</source>
   <translation>{path} ist keine Netplan-Datei</translation>
  </message>
  <message>
   <source>{path} is not a private key that can be used: {error}</source>
   <translation>{path} ist kein nutzbarer privater Schlüssel: {error}</translation>
  </message>
  <message>
   <source>{path} is protected by a passphrase; `ssh-add {path}` makes it usable</source>
   <translation>{path} ist durch eine Passphrase geschützt; `ssh-add {path}` macht ihn nutzbar</translation>
  </message>
  <message>
   <source>{path} of {name}</source>
   <translation>{path} von {name}</translation>
  </message>
  <message>
   <source>{path} uses *{anchor}, which is not defined before</source>
   <translation>{path} benutzt *{anchor}, das vorher nicht definiert ist</translation>
  </message>
  <message>
   <source>{path} would get mode {mode}</source>
   <translation>{path} bekäme Modus {mode}</translation>
  </message>
  <message>
   <source>{path}, line {number}: this is not a line of an SSH configuration</source>
   <translation>{path}, Zeile {number}: das ist keine Zeile einer SSH-Konfiguration</translation>
  </message>
  <message>
   <source>{path}, line {number}: {error}</source>
   <translation>{path}, Zeile {number}: {error}</translation>
  </message>
  <message>
   <source>{path}, line {number}: {found} has no value</source>
   <translation>{path}, Zeile {number}: {found} hat keinen Wert</translation>
  </message>
  <message>
   <source>{path}: `{key}` must be a list</source>
   <translation>{path}: `{key}` muss eine Liste sein</translation>
  </message>
  <message>
   <source>{path}: entry {index} of `{key}` must have keys</source>
   <translation>{path}: Eintrag {index} von `{key}` muss Schlüssel haben</translation>
  </message>
  <message>
   <source>{path}: mtu {mtu}</source>
   <translation>{path}: MTU {mtu}</translation>
  </message>
  <message>
   <source>{path}: plan {plan_id} cannot be read</source>
   <translation>{path}: Plan {plan_id} ist nicht lesbar</translation>
  </message>
  <message>
   <source>{path}: the key {key} shares its line with something else</source>
   <translation>{path}: der Schlüssel {key} teilt seine Zeile mit etwas anderem</translation>
  </message>
  <message>
   <source>{path}{line}: `{key}` must be {kind}</source>
   <translation>{path}{line}: `{key}` muss {kind} sein</translation>
  </message>
  <message>
   <source>{path}{where} is not YAML</source>
   <translation>{path}{where} ist kein YAML</translation>
  </message>
  <message>
   <source>{path}{where} is not readable YAML</source>
   <translation>{path}{where} ist kein lesbares YAML</translation>
  </message>
  <message>
   <source>{pci_address}: can do {best} GT/s ×{widest}</source>
   <translation>{pci_address}: kann {best} GT/s ×{widest}</translation>
  </message>
  <message>
   <source>{place} answers in {said}</source>
   <translation>{place} antwortet in {said}</translation>
  </message>
  <message>
   <source>{place} carries {said}</source>
   <translation>{place} trägt {said}</translation>
  </message>
  <message>
   <source>{place} carry together {said}</source>
   <translation>{place} tragen zusammen {said}</translation>
  </message>
  <message>
   <source>{place} does not reach a node that is no neighbour: {said}</source>
   <translation>{place} erreicht einen Knoten nicht, der kein Nachbar ist: {said}</translation>
  </message>
  <message>
   <source>{place} has RDMA that is {said}</source>
   <translation>{place} hat RDMA in diesem Zustand: {said}</translation>
  </message>
  <message>
   <source>{place} loses large packets: {said}</source>
   <translation>{place} verliert große Pakete: {said}</translation>
  </message>
  <message>
   <source>{place} sends its traffic {said}</source>
   <translation>{place} sendet seinen Verkehr {said}</translation>
  </message>
  <message>
   <source>{plan_id} is not a plan's name</source>
   <translation>{plan_id} ist nicht der Name eines Plans</translation>
  </message>
  <message>
   <source>{pool} is no network to take subnets from</source>
   <translation>{pool} ist kein Netz, aus dem Subnetze genommen werden</translation>
  </message>
  <message>
   <source>{port} goes to {other}</source>
   <translation>{port} führt zu {other}</translation>
  </message>
  <message>
   <source>{port} goes to {place}, not to {other}.</source>
   <translation>{port} führt zu {place}, nicht zu {other}.</translation>
  </message>
  <message>
   <source>{port} is no port for {name}</source>
   <translation>{port} ist kein Port für {name}</translation>
  </message>
  <message>
   <source>{port} is not connected to {other}.</source>
   <translation>{port} ist nicht mit {other} verbunden.</translation>
  </message>
  <message>
   <source>{port} is on {switch}, most others on {main}.</source>
   <translation>{port} hängt an {switch}, die meisten anderen an {main}.</translation>
  </message>
  <message>
   <source>{port} to {other}</source>
   <translation>{port} zu {other}</translation>
  </message>
  <message>
   <source>{ranks} ranks</source>
   <translation>{ranks} Ränge</translation>
  </message>
  <message>
   <source>{ranks} ranks, {size} bytes</source>
   <translation>{ranks} Ränge, {size} Bytes</translation>
  </message>
  <message>
   <source>{rdma} has no RoCE v2 entry for {ip}</source>
   <translation>{rdma} hat keinen RoCE-v2-Eintrag für {ip}</translation>
  </message>
  <message>
   <source>{rdma} is {state}</source>
   <translation>{rdma} ist {state}</translation>
  </message>
  <message>
   <source>{ref} goes to a switch.</source>
   <translation>{ref} führt zu einem Switch.</translation>
  </message>
  <message>
   <source>{ref} goes to the switch, too.</source>
   <translation>{ref} führt ebenfalls zum Switch.</translation>
  </message>
  <message>
   <source>{ref} goes to {host}, which is not in this cluster.</source>
   <translation>{ref} führt zu {host}, das nicht zu diesem Cluster gehört.</translation>
  </message>
  <message>
   <source>{remedy}; if it stays, update the firmware</source>
   <translation>{remedy}; bleibt es so, die Firmware aktualisieren</translation>
  </message>
  <message>
   <source>{rest} is not a network</source>
   <translation>{rest} ist kein Netz</translation>
  </message>
  <message>
   <source>{shape} does not use it; it is left alone.</source>
   <translation>{shape} nutzt ihn nicht; er bleibt unberührt.</translation>
  </message>
  <message>
   <source>{shape} needs a cable from {port} to {other}.</source>
   <translation>{shape} braucht ein Kabel von {port} zu {other}.</translation>
  </message>
  <message>
   <source>{shape}: every cable goes from port 0 of one node to port 1 of the next.</source>
   <translation>{shape}: jedes Kabel führt von Port 0 eines Knotens zu Port 1 des nächsten.</translation>
  </message>
  <message>
   <source>{source}, line {number}: Include is nested more than {max_depth} deep</source>
   <translation>{source}, Zeile {number}: Include ist tiefer als {max_depth} verschachtelt</translation>
  </message>
  <message>
   <source>{state_dir} belongs to another user</source>
   <translation>{state_dir} gehört einem anderen Benutzer</translation>
  </message>
  <message>
   <source>{table} {chain} is no place for a firewall rule</source>
   <translation>{table} {chain} ist kein Ort für eine Firewall-Regel</translation>
  </message>
  <message>
   <source>{target} does not fit in: this cluster has eight nodes</source>
   <translation>{target} passt nicht mehr hinein: dieser Cluster hat acht Knoten</translation>
  </message>
  <message>
   <source>{target} has no cable to another node</source>
   <translation>{target} hat kein Kabel zu einem anderen Knoten</translation>
  </message>
  <message>
   <source>{text} does not name a machine</source>
   <translation>{text} nennt keinen Rechner</translation>
  </message>
  <message>
   <source>{text} goes through a link</source>
   <translation>{text} geht durch einen Link</translation>
  </message>
  <message>
   <source>{text} is no IP address</source>
   <translation>{text} ist keine IP-Adresse</translation>
  </message>
  <message>
   <source>{text} is no name of a device</source>
   <translation>{text} ist kein Gerätename</translation>
  </message>
  <message>
   <source>{text} is no network to take subnets from</source>
   <translation>{text} ist kein Netz, aus dem Subnetze genommen werden</translation>
  </message>
  <message>
   <source>{text} is no path below the agent's own directory</source>
   <translation>{text} ist kein Pfad unter dem eigenen Verzeichnis des Agenten</translation>
  </message>
  <message>
   <source>{text} is not an SSH address</source>
   <translation>{text} ist keine SSH-Adresse</translation>
  </message>
  <message>
   <source>{text}: failed</source>
   <translation>{text}: fehlgeschlagen</translation>
  </message>
  <message>
   <source>{text}: only an IPv6 address stands in brackets</source>
   <translation>{text}: nur eine IPv6-Adresse steht in Klammern</translation>
  </message>
  <message>
   <source>{text}: the brackets do not fit</source>
   <translation>{text}: die Klammern passen nicht</translation>
  </message>
  <message>
   <source>{text}: the user name before the @ is missing</source>
   <translation>{text}: vor dem @ fehlt der Benutzername</translation>
  </message>
  <message>
   <source>{text}: {host} is not an IPv4 address</source>
   <translation>{text}: {host} ist keine IPv4-Adresse</translation>
  </message>
  <message>
   <source>{text}: {host} is not an IPv6 address</source>
   <translation>{text}: {host} ist keine IPv6-Adresse</translation>
  </message>
  <message>
   <source>{text}: {user} is not a user name</source>
   <translation>{text}: {user} ist kein Benutzername</translation>
  </message>
  <message>
   <source>{text}: {value} is not a port</source>
   <translation>{text}: {value} ist kein Port</translation>
  </message>
  <message>
   <source>{tools} are not installed on {node}</source>
   <translation>{tools} sind auf {node} nicht installiert</translation>
  </message>
  <message>
   <source>{tool} is none of {tools}</source>
   <translation>{tool} ist keines von {tools}</translation>
  </message>
  <message>
   <source>{tool} is not installed</source>
   <translation>{tool} ist nicht installiert</translation>
  </message>
  <message>
   <source>{tool} is not installed on {name}</source>
   <translation>{tool} ist auf {name} nicht installiert</translation>
  </message>
  <message>
   <source>{tool} is not installed on {node}</source>
   <translation>{tool} ist auf {node} nicht installiert</translation>
  </message>
  <message>
   <source>{tool}: not found</source>
   <translation>{tool}: nicht gefunden</translation>
  </message>
  <message>
   <source>{unknown} did not say how root can be had</source>
   <translation>{unknown} sagte nicht, wie root zu haben ist</translation>
  </message>
  <message>
   <source>{unknown} did not say its DGX OS version</source>
   <translation>{unknown} sagte die Version von DGX OS nicht</translation>
  </message>
  <message>
   <source>{unread} cannot be read, so no plan can be made</source>
   <translation>{unread} ist nicht lesbar, also lässt sich kein Plan machen</translation>
  </message>
  <message>
   <source>{user} could not log in at {host}</source>
   <translation>{user} konnte sich an {host} nicht anmelden</translation>
  </message>
  <message>
   <source>{user} is no user name for {name}</source>
   <translation>{user} ist kein Benutzername für {name}</translation>
  </message>
  <message>
   <source>{user} may not become root on {member}</source>
   <translation>{user} darf auf {member} nicht root werden</translation>
  </message>
  <message>
   <source>{values} moves to {own_path}; {what}</source>
   <translation>{values} zieht um nach {own_path}; {what}</translation>
  </message>
  <message>
   <source>{value} is not between {low} and {high}</source>
   <translation>{value} liegt nicht zwischen {low} und {high}</translation>
  </message>
  <message>
   <source>{value} of {mark} {unit}</source>
   <translation>{value} von {mark} {unit}</translation>
  </message>
  <message>
   <source>{version}, the others {usual}</source>
   <translation>{version}, die anderen {usual}</translation>
  </message>
  <message>
   <source>{wanted} is no topology for {count} nodes</source>
   <translation>{wanted}: keine Topologie für {count} Knoten</translation>
  </message>
  <message>
   <source>{wanted} ranks do not fit on {machines} nodes</source>
   <translation>{wanted} Ränge passen nicht auf {machines} Knoten</translation>
  </message>
  <message>
   <source>{what} of {netdev} will be gone after a restart</source>
   <translation>{what} von {netdev} ist nach einem Neustart weg</translation>
  </message>
  <message>
   <source>{what} {text}, on the others {usual}</source>
   <translation>{what} {text}, auf den anderen {usual}</translation>
  </message>
  <message>
   <source>{where} is not a regular file</source>
   <translation>{where} ist keine gewöhnliche Datei</translation>
  </message>
  <message>
   <source>{why}; going back is not complete: {problems}</source>
   <translation>{why}; die Rückkehr ist nicht vollständig: {problems}</translation>
  </message>
  <message>
   <source>{why}; the journal cannot be written: {said}</source>
   <translation>{why}; das Journal lässt sich nicht schreiben: {said}</translation>
  </message>
  <message>
   <source>{word} may not be part of a firewall rule</source>
   <translation>{word} darf nicht Teil einer Firewall-Regel sein</translation>
  </message>
  <message>
   <source>~/.ssh</source>
   <translation>~/.ssh</translation>
  </message>
  <message>
   <source>~/{share}/{file_name} cannot be read back</source>
   <translation>~/{share}/{file_name} lässt sich nicht zurücklesen</translation>
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
   <source>Something went wrong inside Stellwerk last time.</source>
   <translation>In Stellwerk ist zuletzt etwas schiefgegangen.</translation>
  </message>
  <message>
   <source>Stellwerk ended unexpectedly last time.</source>
   <translation>Stellwerk endete zuletzt unerwartet.</translation>
  </message>
 </context>
 <context>
  <name>exporting</name>
  <message>
   <source>Save</source>
   <translation>Speichern</translation>
  </message>
  <message>
   <source>saved {name}</source>
   <translation>{name} gespeichert</translation>
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
  <name>mesh</name>
  <message>
   <source>Each node may then log in to the others by SSH: mpirun and the NCCL tests need that.</source>
   <translation>Jeder Knoten darf sich dann per SSH bei den anderen anmelden: mpirun und die NCCL-Tests brauchen das.</translation>
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
   <source>GiB used</source>
   <translation>GiB belegt</translation>
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
   <source>Cable</source>
   <translation>Kabel</translation>
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
   <source>Port {n}</source>
   <translation>Port {n}</translation>
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
   <translation>Der Cluster arbeitet, stellenweise unter dem Sollwert.</translation>
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
   <source>{port} half {half}</source>
   <translation>{port} Hälfte {half}</translation>
  </message>
  <message>
   <source>{value} of {mark} Gb/s</source>
   <translation>{value} von {mark} Gb/s</translation>
  </message>
  <message>
   <source>{value} on {half}</source>
   <translation>{value} auf {half}</translation>
  </message>
  <message>
   <source>{what} of {names}</source>
   <translation>{what} von {names}</translation>
  </message>
  <message>
   <source>{what} on 1 port</source>
   <translation>{what} an 1 Port</translation>
  </message>
  <message>
   <source>{what} on {n} ports</source>
   <translation>{what} an {n} Ports</translation>
  </message>
 </context>
 <context>
  <name>proof_cells</name>
  <message>
   <source>switch</source>
   <translation>Switch</translation>
  </message>
 </context>
 <context>
  <name>start</name>
  <message>
   <source>1 Spark</source>
   <translation>1 Spark</translation>
  </message>
  <message>
   <source>1 finding</source>
   <translation>1 Befund</translation>
  </message>
  <message>
   <source>chain</source>
   <translation>Kette</translation>
  </message>
  <message>
   <source>d MMM</source>
   <translation>d. MMM</translation>
  </message>
  <message>
   <source>en</source>
   <translation>de</translation>
  </message>
  <message>
   <source>fine at last sight</source>
   <translation>zuletzt in Ordnung</translation>
  </message>
  <message>
   <source>its file cannot be read</source>
   <translation>Datei nicht lesbar</translation>
  </message>
  <message>
   <source>not proven yet</source>
   <translation>noch nicht bewiesen</translation>
  </message>
  <message>
   <source>pair</source>
   <translation>Paar</translation>
  </message>
  <message>
   <source>ring</source>
   <translation>Ring</translation>
  </message>
  <message>
   <source>set-up not finished</source>
   <translation>Einrichtung nicht fertig</translation>
  </message>
  <message>
   <source>single</source>
   <translation>einzeln</translation>
  </message>
  <message>
   <source>switch</source>
   <translation>Switch</translation>
  </message>
  <message>
   <source>today {time}</source>
   <translation>heute {time}</translation>
  </message>
  <message>
   <source>virtual, has ended</source>
   <translation>virtuell, ist beendet</translation>
  </message>
  <message>
   <source>yesterday {time}</source>
   <translation>gestern {time}</translation>
  </message>
  <message>
   <source>{n} Sparks</source>
   <translation>{n} Sparks</translation>
  </message>
  <message>
   <source>{n} findings</source>
   <translation>{n} Befunde</translation>
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
  <name>trial</name>
  <message>
   <source>Agent killed</source>
   <translation>Agent beendet</translation>
  </message>
  <message>
   <source>Another sudo password</source>
   <translation>Anderes Sudo-Passwort</translation>
  </message>
  <message>
   <source>Both halves in one subnet</source>
   <translation>Beide Hälften in einem Subnetz</translation>
  </message>
  <message>
   <source>Cable in the wrong port</source>
   <translation>Kabel im falschen Port</translation>
  </message>
  <message>
   <source>Cable unplugged</source>
   <translation>Kabel gezogen</translation>
  </message>
  <message>
   <source>Clock ahead</source>
   <translation>Uhr geht vor</translation>
  </message>
  <message>
   <source>Disk full</source>
   <translation>Datenträger voll</translation>
  </message>
  <message>
   <source>Foreign netplan file</source>
   <translation>Fremde netplan-Datei</translation>
  </message>
  <message>
   <source>Half at 13 Gb/s</source>
   <translation>Hälfte mit 13 Gb/s</translation>
  </message>
  <message>
   <source>Installed anew</source>
   <translation>Neu installiert</translation>
  </message>
  <message>
   <source>Link at 100 Gb/s</source>
   <translation>Link mit 100 Gb/s</translation>
  </message>
  <message>
   <source>Network guard killed</source>
   <translation>Netzwächter beendet</translation>
  </message>
  <message>
   <source>No link-local addresses</source>
   <translation>Keine Link-Local-Adressen</translation>
  </message>
  <message>
   <source>No sudo</source>
   <translation>Kein sudo</translation>
  </message>
  <message>
   <source>Power off</source>
   <translation>Strom aus</translation>
  </message>
  <message>
   <source>Power on</source>
   <translation>Strom an</translation>
  </message>
  <message>
   <source>Python missing</source>
   <translation>Python fehlt</translation>
  </message>
  <message>
   <source>Restart</source>
   <translation>Neustart</translation>
  </message>
  <message>
   <source>SSH cut</source>
   <translation>SSH getrennt</translation>
  </message>
  <message>
   <source>Switch without a name</source>
   <translation>Switch ohne Namen</translation>
  </message>
  <message>
   <source>Wrong MTU</source>
   <translation>Falsche MTU</translation>
  </message>
  <message>
   <source>one alone</source>
   <translation>einer allein</translation>
  </message>
  <message>
   <source>sudo without a password</source>
   <translation>sudo ohne Passwort</translation>
  </message>
  <message>
   <source>{n} as a chain</source>
   <translation>{n} als Kette</translation>
  </message>
  <message>
   <source>{n} as a pair</source>
   <translation>{n} als Paar</translation>
  </message>
  <message>
   <source>{n} as a ring</source>
   <translation>{n} als Ring</translation>
  </message>
  <message>
   <source>{n} on a switch</source>
   <translation>{n} an einem Switch</translation>
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
   <translation>Paar</translation>
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
   <source>chain</source>
   <translation>Kette</translation>
  </message>
  <message>
   <source>mixed</source>
   <translation>gemischt</translation>
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
   <source>not complete yet</source>
   <translation>noch unvollständig</translation>
  </message>
  <message>
   <source>pair</source>
   <translation>Paar</translation>
  </message>
  <message>
   <source>ring</source>
   <translation>Ring</translation>
  </message>
  <message>
   <source>single</source>
   <translation>einzeln</translation>
  </message>
  <message>
   <source>switch</source>
   <translation>Switch</translation>
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
