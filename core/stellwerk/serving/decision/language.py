"""Which language is a text in? Enough for routing: by script, else by the commonest small words of a language."""

from __future__ import annotations

import re
from collections import Counter

_WORD = re.compile(r"[^\W\d_]+")
_MOST = 4096  # characters looked at; more changes nothing

_SMALL_WORDS = {
    "en": "the of and to in is that it was for on are with as this be at by not have from or you what how which can do",
    "de": "der die das und ist nicht ein eine ich du er sie es wir den dem des zu mit auf für von im wie was wird sind "
    "auch bitte kann mir als oder bei nach aus einen einer wenn dass warum welche schreibe erkläre",
    "fr": "le la les des et est un une que qui dans pour pas sur avec ce il elle nous vous je du au par sont être plus "
    "comment pourquoi quel quelle",
    "es": "el la los las y es un una que en para por con no se del al lo como su más pero sus qué cómo cuál son está",
    "it": "il lo la gli le e è un una che di per con non si del della come sono più perché quale questo ma nel",
    "pt": "o a os as e é um uma que de para por com não se do da como são mais mas em no na qual isso você",
    "nl": "de het een en is niet van ik je dat die in op te met voor zijn aan er maar om hoe wat wordt deze kan",
}
_WORDS: dict[str, tuple[str, ...]] = {}
for _code, _list in _SMALL_WORDS.items():
    for _word in _list.split():
        _WORDS[_word] = (*_WORDS.get(_word, ()), _code)

_SCRIPTS = (
    ("ja", re.compile(r"[\u3040-\u30ff]")),
    ("ko", re.compile(r"[\uac00-\ud7af]")),
    ("zh", re.compile(r"[\u4e00-\u9fff]")),
    ("ru", re.compile(r"[\u0400-\u04ff]")),
    ("el", re.compile(r"[\u0370-\u03ff]")),
    ("ar", re.compile(r"[\u0600-\u06ff]")),
    ("he", re.compile(r"[\u0590-\u05ff]")),
    ("hi", re.compile(r"[\u0900-\u097f]")),
    ("th", re.compile(r"[\u0e00-\u0e7f]")),
)


def detect_language(text: str) -> str:
    """ISO 639-1 code, "und" when the text is too short or too strange to tell."""
    text = text[:_MOST]
    letters = sum(map(str.isalpha, text))
    if letters == 0:
        return "und"
    if not text.isascii():
        for code, pattern in _SCRIPTS:
            # Kana marks Japanese even among many Chinese characters; the other scripts must lead.
            share = len(pattern.findall(text)) / letters
            if share > (0.1 if code == "ja" else 0.4):
                return code
    votes: Counter[str] = Counter()
    for word in _WORD.findall(text.lower()):
        codes = _WORDS.get(word, ())
        for code in codes:
            votes[code] += 60 // len(codes)  # a word of several languages speaks for each, but more softly
    if any(mark in text for mark in "äöüßÄÖÜ"):
        votes["de"] += 45
    best = votes.most_common(2)
    if not best or (len(best) == 2 and best[0][1] == best[1][1]):
        return "und"
    return best[0][0]
