"""Tells small talk, and answers that need their question, from what is worth keeping by itself.

Pure. A turn is chatter when each of its words belongs to greetings, thanks, applause and the like.
"""

import re

from recollect.extracting.sentences import sentences, shortened
from recollect.reconciling.wordlists import words

QUESTION_MAX_CHARS = 200
_LONGEST_CHATTER = 25  # words
_LONGEST_ANSWER = 8  # words; an answer that begins with yes or no may have twice as many
_WORD = re.compile(r"[^\W_]+(?:['’´`][^\W_]+)*")

_POLAR = words(
    "yes yeah yep yup yea no nope nah sure absolutely definitely exactly correct right maybe never always both neither "
    "ja jawohl nein nee doch oui non si sí claro sim não certo esatto vielleicht"
)
_CHATTER = _POLAR | words(  # greetings and farewells
    "hi hey heya hello hiya howdy yo greetings welcome back morning afternoon evening night goodnight good day evening "
    "bye goodbye cya ciao later laters see ya you u soon around next time again then till until talk chat speak "
    "ttyl take care have a an great nice lovely wonderful fun safe stay well one there "
    "how how's are is it's its things it going doing what's whats up everything been "
    # thanks
    "thanks thank thx ty cheers much many so very lot lots tons million bunch appreciate appreciated grateful for your "
    "help that this all the everything kind words support pleasure welcome worries problem prob np anytime mention "
    "nothing no not don't dont bet you're youre you've youve "
    # acknowledgements and applause
    "ok okay okey k kk alright fine cool awesome amazing perfect excellent brilliant fantastic super sweet wow whoa "
    "yay woohoo hooray oh ooh ah aha haha hahaha lol lmao rofl hehe hmm hm mm uh um huh got gotcha understood noted "
    "roger indeed true agreed deal done sounds sound looks look like plan good idea makes sense fair enough i i'm im am "
    "glad happy hear see to love loved that's thats too also as same here me and but just really totally of course "
    "congrats congratulations luck best wishes proud sorry oops my bad please go on ahead keep it up we'll we'd will "
    "be interesting beautiful gorgeous cute exciting inspiring impressive incredible let know if anything else "
    "i'll in mind no-one let's lets do did can can't cant wait "
    # other languages
    "hallo moin servus tag guten morgen abend nacht danke dankeschön vielen dank bitte gern gerne tschüss tschau bis "
    "bald später gut super klar alles prima genau wie geht's gehts dir ihnen es schön freut mich "
    "hola buenos buenas días dias tardes noches gracias muchas de nada adiós adios hasta luego pronto vale bueno bien "
    "qué que tal cómo estás genial perfecto "
    "bonjour bonsoir salut merci beaucoup rien au revoir bientôt à d'accord parfait bien ça va très super "
    "olá ola oi bom boa dia tarde noite obrigado obrigada tchau até logo tudo bem "
    "buongiorno buonasera grazie mille prego arrivederci va bene perfetto come stai"
)
_BEFORE_NAMES = words(
    "hi hey hello hiya thanks thank you bye goodbye cheers wow whoa cool yeah yes no sure ok okay congrats sorry night morning awesome "
    "great nice perfect much later haha aw aww oh hallo danke hola gracias salut merci ciao grazie olá obrigado obrigada"
)
_PRAISE = re.compile(
    r"\b(?:good|great|nice|awesome|amazing|excellent|fantastic) (?:job|work)\b|\bnot at all\b", re.IGNORECASE
)
_CLOSED_QUESTIONS = (
    "how are you", "how's it going", "how is it going", "what's up", "anything else", "how have you been",
    "how can i help", "how may i help", "what can i do for you", "how are things", "how can i assist",
    "wie geht", "qué tal", "ça va", "come stai", "tudo bem",
)  # fmt: skip


def is_chatter(text: str, question: str | None) -> bool:
    """Tell whether a turn says nothing worth keeping.

    Parameters
    ----------
    question : str or None
        What it answers; yes or no says something then.
    """
    said = _WORD.findall(_PRAISE.sub("great", text[:1_000].replace("’", "'")))
    if not any(character.isalnum() for character in text):
        return True  # nothing, marks, emoji
    if not said or len(said) > _LONGEST_CHATTER or any(character.isdigit() for character in text):
        return False
    folded = [word.casefold() for word in said]
    if question is not None and any(word in _POLAR for word in folded[:2]):
        return False
    has_stock = any(word in _CHATTER for word in folded)
    return has_stock and all(
        word in _CHATTER or (question is None and _is_name(text, said, i)) for i, word in enumerate(folded)
    )


def needs_question(text: str) -> bool:
    """Tell whether a turn is so short that only the question before it makes it understood."""
    said = _WORD.findall(text[:400])
    is_polar = bool(said) and said[0].casefold() in _POLAR
    return len(text) < 400 and "?" not in text and len(said) <= _LONGEST_ANSWER * (2 if is_polar else 1)


def question_in(text: str) -> str | None:
    """Give the last question of a turn, shortened, unless it asks for nothing but how one is."""
    last = text[-4 * QUESTION_MAX_CHARS :].rsplit("\n\n", 1)[-1]
    asked = [one for one in sentences(last) if one.rstrip("\"')*”’").endswith(("?", "？"))]
    if not asked or any(one in asked[-1].casefold().replace("’", "'") for one in _CLOSED_QUESTIONS):
        return None
    return shortened(asked[-1], QUESTION_MAX_CHARS)


def _is_name(text: str, said: list[str], index: int) -> bool:
    if not said[index][:1].isupper():
        return False
    return said[index - 1].casefold() in _BEFORE_NAMES if index else text.lstrip().startswith(f"{said[0]},")
