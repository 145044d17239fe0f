"""Classes of words that say something about a task in English and German, whatever it is about."""

from __future__ import annotations

from zlib import crc32

CLASSES: dict[str, str] = {
    "question words": (
        "what which who whom whose when where why how was welche welcher welches wer wen wann wo warum wie "
        "wieso weshalb wozu"
    ),
    "negations": (
        "not no never none except neither nor without cannot nicht kein keine keinen nie niemals ohne außer weder"
    ),
    "mathematics": (
        "equation function integral derivative matrix vector polynomial probability theorem prove proof ring "
        "group field prime sum product ratio percent total average equal gleichung funktion integral "
        "ableitung matrix vektor polynom wahrscheinlichkeit satz beweise beweis summe produkt prozent "
        "durchschnitt primzahl"
    ),
    "program code": (
        "def class return import function code python java rust int void string array algorithm program bug "
        "sql regex api klasse funktion programm algorithmus fehler datenbank"
    ),
    "constraints": (
        "must should exactly least most only all every each always following statement true false muss soll "
        "genau mindestens höchstens nur alle jede jeder jedes immer folgende aussage wahr falsch"
    ),
    "instructions": (
        "write explain describe calculate compute find determine list compare solve show derive identify "
        "choose implement design analyze summarize translate schreibe erkläre beschreibe berechne finde "
        "bestimme liste vergleiche löse zeige leite nenne entwirf analysiere übersetze fasse"
    ),
    "conditions": (
        "if then suppose assume given let unless because therefore wenn dann falls angenommen sei gegeben "
        "weil deshalb daher sofern"
    ),
    "comparisons": (
        "more less than greater fewer larger smaller half twice half times double mehr weniger als größer "
        "kleiner halb doppelt mal"
    ),
    "persons": ("he she his her him hers they their them i you my me we our er sie ihr sein ihm ich du mein wir unser"),
    "law": (
        "court law defendant plaintiff contract statute state liable crime police constitutional gericht "
        "gesetz beklagte kläger vertrag strafbar klage"
    ),
    "time": (
        "year years day days month months week weeks hour hours minute minutes jahr jahre tag tage monat "
        "monate woche wochen stunde stunden minute minuten"
    ),
    "money": (
        "dollar dollars cost costs price pay paid cents sold buy bought euro euros kosten kostet preis zahlt "
        "verkauft kauft gekauft"
    ),
    "small words": (
        "the of and to in is a an for on with as by at or der die das und ist in zu den dem mit auf für ein eine von"
    ),
}
NAMES = tuple(CLASSES)


def word_classes() -> dict[int, int]:
    """CRC-32 of a word (UTF-8, lower case) -> bits of its classes, the first class lowest."""
    found: dict[int, int] = {}
    for number, words in enumerate(CLASSES.values()):
        for word in words.split():
            code = crc32(word.encode())
            found[code] = found.get(code, 0) | 1 << number
    return dict(sorted(found.items()))
