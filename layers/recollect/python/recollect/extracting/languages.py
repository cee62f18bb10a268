"""The commonest durable statements in German, Spanish, French, Portuguese and Italian. Pure.

They are kept as they were said, in the first person: the memory's actor tells whose words they are.
"""

import re
from collections.abc import Iterator

from recollect.extracting.kinds import INSTRUCTION, Kind

_IDENTITY = Kind(("identity",), 0.8)
_HOME = Kind(("home", "identity"), 0.8)
_WORK = Kind(("work", "identity"), 0.8)
_HEALTH = Kind(("health", "identity"), 0.9)
_FAMILY = Kind(("family",), 0.7)
_PREFERENCE = Kind(("preference",), 0.7)
_LANGUAGE = Kind(("identity", "skill"), 0.7)

_TABLE = (
    # German
    (_HEALTH, r"ich (?:bin (?:\w+ )?(?:allergisch|vegetarier(?:in)?|veganer(?:in)?|vegan|diabetiker(?:in)?|schwanger)|habe (?:eine )?(?:\w+allergie|allergie|asthma|diabetes)|(?:esse|trinke|vertrage) keine?n?\b|rauche nicht)"),
    (_IDENTITY, r"(?:ich (?:heiße|komme aus|bin \d+ jahre|bin (?:verheiratet|ledig|geschieden|student(?:in)?))|mein (?:name|geburtstag) ist) ?\w?"),
    (_HOME, r"ich (?:wohne|lebe) (?:seit [\w ]+ )?(?:in|bei|auf|mit) \w"),
    (_WORK, r"ich (?:arbeite (?:als|bei|für|in)|studiere|bin (?:von beruf )?\w+(?:er|erin|ist|istin|arzt|ärztin|ingenieur|ingenieurin)$)"),
    (_LANGUAGE, r"ich spreche \w"),
    (_FAMILY, r"(?:mein|meine) (?:frau|mann|partner|partnerin|sohn|tochter|mutter|vater|schwester|bruder|eltern|kinder|hund|katze) (?:heißt|heißen|ist|wohnt|lebt|arbeitet) \w"),
    (_FAMILY, r"ich habe (?:einen|eine|ein|zwei|drei|vier|\d) (?:\w+ )?(?:kind|kinder|sohn|söhne|tochter|töchter|schwester|schwestern|bruder|brüder|hund|hunde|katze|katzen)\b"),
    (_PREFERENCE, r"(?:ich (?:bevorzuge|mag|liebe|hasse) (?!es\b|das\b|dich\b|sie\b|ihn\b|wie\b)|mein\w* lieblings\w+ (?:ist|sind) |ich \w+ (?:lieber|am liebsten) )\w"),
    (INSTRUCTION, r"(?:bitte )?(?:antworte|schreib|schreibe|sprich)(?: mir)?(?: bitte)? (?:immer|nie|nur|künftig|in zukunft|ab jetzt)? ?(?:auf|in|mit) \w"),
    # Spanish
    (_HEALTH, r"(?:yo )?(?:soy (?:al[eé]rgic[oa]|vegetarian[oa]|vegan[oa]|diab[eé]tic[oa]|cel[ií]ac[oa]|intolerante)|tengo (?:alergia|asma|diabetes)|no (?:como|bebo|fumo))\b"),
    (_IDENTITY, r"(?:(?:yo )?(?:me llamo|soy de|tengo \d+ años|nací en)|mi (?:nombre|cumpleaños) es) \w?"),
    (_HOME, r"(?:yo )?(?:vivo|resido) (?:en|con) \w"),
    (_WORK, r"(?:yo )?(?:trabajo (?:en|como|para|de)|estudio) \w"),
    (_LANGUAGE, r"(?:yo )?hablo (?!de\b|con\b)\w"),
    (_FAMILY, r"(?:mi (?:esposa|esposo|marido|mujer|novia|novio|hijo|hija|madre|padre|hermana|hermano|perro|perra|gato|gata) (?:se llama|es|vive|trabaja)|(?:yo )?tengo (?:un|una|dos|tres|\d) (?:hij[oa]s?|herman[oa]s?|perr[oa]s?|gat[oa]s?)\b)"),
    (_PREFERENCE, r"(?:(?:yo )?(?:prefiero|odio)|(?:a mí )?(?:no )?me (?:gustan?|encantan?)|mi \w+ (?:favorit[oa]|preferid[oa]) es) (?!eso\b|esto\b|que\b|tu\b)\w"),
    # French
    (_HEALTH, r"je (?:suis (?:allergique|végétarienn?e?|végane|vegan|diabétique|intolérante?|enceinte)|ne (?:mange|bois|fume) pas)\b|j'ai (?:une allergie|de l'asthme|du diabète)"),
    (_IDENTITY, r"(?:je (?:m'appelle|viens de|suis née? )|j'ai \d+ ans|mon (?:nom|anniversaire) est)"),
    (_HOME, r"(?:j'habite|je vis) (?:à|en|au|aux|dans|avec|chez) \w"),
    (_WORK, r"(?:je travaille (?:à|chez|comme|pour|dans|en)|j'étudie) \w"),
    (_LANGUAGE, r"je parle (?!de\b|à\b|avec\b)\w"),
    (_FAMILY, r"(?:(?:ma|mon) (?:femme|mari|compagne|compagnon|fils|fille|mère|père|sœur|frère|chien|chat) (?:s'appelle|est|habite|travaille)|j'ai (?:une?|deux|trois|\d) (?:enfants?|fils|filles?|sœurs?|frères?|chiens?|chats?)\b)"),
    (_PREFERENCE, r"(?:je (?:préfère|déteste|n'aime pas)|j'(?:aime|adore)|m(?:on|a) \w+ préférée? est) (?!ça\b|cela\b|que\b|ton\b|ta\b)\w"),
    # Portuguese
    (_HEALTH, r"(?:eu )?(?:sou (?:al[eé]rgic[oa]|vegetarian[oa]|vegan[oa]|diab[eé]tic[oa]|cel[ií]ac[oa]|intolerante)|tenho (?:alergia|asma|diabetes)|não (?:como|bebo|fumo))\b"),
    (_IDENTITY, r"(?:(?:eu )?(?:me chamo|chamo-me|sou d[eoa] |tenho \d+ anos|nasci em)|(?:o )?meu (?:nome|aniversário) é) ?\w?"),
    (_HOME, r"(?:eu )?(?:moro|vivo) (?:em|no|na|com) \w"),
    (_WORK, r"(?:eu )?(?:trabalho (?:em|como|para|na|no)|estudo) \w"),
    (_LANGUAGE, r"(?:eu )?falo (?!de\b|com\b|sobre\b)\w"),
    (_FAMILY, r"(?:(?:a |o )?(?:minha|meu) (?:esposa|esposo|marido|mulher|namorad[oa]|filh[oa]|mãe|pai|irmã|irmão|cachorr[oa]|gat[oa]) (?:se chama|é|mora|vive|trabalha)|(?:eu )?tenho (?:uma?|dois|duas|três|\d) (?:filh[oa]s?|irmãos?|irmãs?|cachorr[oa]s?|gat[oa]s?)\b)"),
    (_PREFERENCE, r"(?:(?:eu )?(?:prefiro|odeio|adoro|detesto|(?:não )?gosto d[eoa]s?)|(?:a |o )?(?:minha|meu) \w+ (?:favorit[oa]|preferid[oa]) é) (?!isso\b|isto\b|que\b|sua\b|seu\b)\w"),
    # Italian
    (_HEALTH, r"(?:io )?(?:sono (?:allergic[oa]|vegetarian[oa]|vegan[oa]|diabetic[oa]|celiac[oa]|intollerante|incinta)|ho (?:un'allergia|l'asma|il diabete)|non (?:mangio|bevo|fumo))\b"),
    (_IDENTITY, r"(?:(?:io )?(?:mi chiamo|vengo da|sono di |sono nat[oa] |ho \d+ anni)|il mio (?:nome|compleanno) è) ?\w?"),
    (_HOME, r"(?:io )?(?:abito|vivo) (?:a|in|con|da) \w"),
    (_WORK, r"(?:io )?(?:lavoro (?:a|in|come|per|da|presso)|studio) \w"),
    (_LANGUAGE, r"(?:io )?parlo (?!di\b|con\b)\w"),
    (_FAMILY, r"(?:(?:mia|mio|il mio|la mia) (?:moglie|marito|fidanzat[oa]|compagn[oa]|figli[oa]|madre|padre|sorella|fratello|cane|gatt[oa]) (?:si chiama|è|vive|abita|lavora)|(?:io )?ho (?:une?|una|due|tre|\d) (?:figli[oae]?|sorell[ae]|fratell[oi]|can[ei]|gatt[oi])\b)"),
    (_PREFERENCE, r"(?:(?:io )?(?:preferisco|odio|adoro|detesto|amo)|(?:non )?mi piac(?:e|ciono)|(?:il mio|la mia) \w+ preferit[oa] è) (?!questo\b|quello\b|che\b)\w"),
)  # fmt: skip
_RULES = tuple((kind, re.compile(pattern, re.IGNORECASE)) for kind, pattern in _TABLE)
_DOUBT = re.compile(
    r"[?¿]|\b(?:wenn|falls|vielleicht|würde|könnte|hätte|wäre|glaube|quizás?|tal vez|podría|sería|gustaría|creo|si(?! chiama)|peut-être|pourrais|serais|voudrais"
    r"|talvez|seria|poderia|gostaria|acho|forse|potrei|sarei|vorrei|credo|se(?! (?:llama|chama)))\b",
    re.IGNORECASE,
)
_JOINT = re.compile(
    r",? (?:(?:und|aber) (?=(?:ich|meine?)\b)|(?:et|mais) (?=(?:je|ma|mon)\b|j')|(?:y|pero) (?=(?:mi|me|yo|vivo|trabajo|soy|tengo|no)\b)"
    r"|(?:e|mas|ma) (?=(?:minha|meu|eu|moro|trabalho|sou|tenho|abito|vivo|lavoro|sono|ho|mi|non|não)\b))",
    re.IGNORECASE,
)
_OPENERS = re.compile(
    r"^(?:(?:also|übrigens|und|aber|ja|nein|hallo|naja|hola|pues|y|pero|por cierto|salut|bonjour|et|mais|alors|au fait|olá|oi|então|e|mas|aliás"
    r"|ciao|ma|allora|comunque|a proposito)[,:!]? )+",
    re.IGNORECASE,
)


def stated(sentence: str) -> Iterator[tuple[str, Kind]]:
    """Yield the durable statements of a sentence in one of the languages, without opening words and end mark."""
    for clause in _JOINT.split(sentence.replace("’", "'")):
        text = _OPENERS.sub("", clause).rstrip(" ,.!…")
        kind = next((kind for kind, pattern in _RULES if pattern.match(text)), None)
        if kind is not None and not _DOUBT.search(text):
            yield text[:1].upper() + text[1:], kind
